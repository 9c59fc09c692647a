"""Conversion from end to end: formats, sums, repetition, the published digests."""

import gzip
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import duckdb
import jsonschema
import polars as pl
import pytest

from kernelindex_liger import convert, table
from kernelindex_liger.conversion import InputError, Options, Report
from kernelindex_liger.conversion.validate import validate
from tests.conftest import FIXTURES, ROOT

SEEDS = FIXTURES / "csv" / "seeds.csv"
NINE = FIXTURES / "csv" / "nine.csv"
FORMATS = ("tree", "jsonl", "parquet", "submission")


def state(folder: Path) -> dict[str, tuple[bytes, int]]:
    return {
        str(path.relative_to(folder)): (path.read_bytes(), path.stat().st_mtime_ns)
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != ".ligerimport.lock"
    }


def bundles(out: Path) -> list[dict[str, dict]]:
    return [json.loads(line) for line in (out / "runs.jsonl").read_text().splitlines()]


def test_seed_rows_give_the_published_files_byte_for_byte(tmp_path: Path) -> None:
    convert([SEEDS], tmp_path)
    made = {}
    for path in (tmp_path / "runs").rglob("*.json"):
        bundle = json.loads(path.read_text())
        assert str(path.relative_to(tmp_path / "runs")) == bundle["run"]["spec"]["sourceNative"]["externalId"] + ".json"
        made[path.read_text()] = path
    assert set(made) == {path.read_text() for path in (FIXTURES / "seeds").glob("*.json")}


def test_nine_rows_take_nine_paths(tmp_path: Path) -> None:
    report = convert([NINE], tmp_path)
    assert (report.rows_read, report.bundles, report.memory_rows) == (9, 4, 1)
    assert report.skipped_by_reason == {"unknown_kernel": 1, "unknown_shape": 1, "unknown_gpu": 1, "bad_value": 1}
    assert report.adds_up
    gpu = next(group for group in report.skipped if group.reason == "unknown_gpu")
    assert "closest: NVIDIA H100 80GB HBM3" in gpu.detail
    assert gpu.first == [f"{NINE}:9"]
    assert Report.model_validate_json((tmp_path / "report.json").read_text()).model_dump() == report.model_dump()


@pytest.mark.parametrize("format_", FORMATS)
def test_converting_twice_changes_no_byte_and_no_time(tmp_path: Path, format_: str) -> None:
    first = convert([NINE], tmp_path, Options(format=format_))
    before = state(tmp_path)
    second = convert([NINE], tmp_path, Options(format=format_))
    assert first.documents.written > 0
    assert second.documents.written == 0
    assert second.documents.unchanged == first.documents.written
    assert state(tmp_path) == before


@pytest.mark.parametrize("format_", FORMATS)
def test_output_is_sound(tmp_path: Path, format_: str) -> None:
    convert([NINE, SEEDS], tmp_path, Options(format=format_))
    outcome = validate(tmp_path)
    assert outcome.faults == []
    assert sum(outcome.documents.values()) > 0


def test_without_a_spread_there_are_no_measurements(tmp_path: Path) -> None:
    convert([NINE], tmp_path, Options(format="jsonl"))
    runs = [one["run"]["spec"] for one in bundles(tmp_path)]
    lone = [spec for spec in runs if "measurements" not in spec]
    assert [spec["sourceNative"]["metrics"] for spec in lone] == [{"ms_50": 0.125}]
    assert all(len(spec["measurements"]) == 2 for spec in runs if spec not in lone)


def test_memory_rows_become_runs_on_demand(tmp_path: Path) -> None:
    report = convert([NINE], tmp_path, Options(format="jsonl", memory=True))
    assert (report.bundles, report.memory_rows) == (5, 0)
    memory = next(one["run"]["spec"] for one in bundles(tmp_path) if "timing" not in one["run"]["spec"])
    mib = 96.5 * 1024 * 1024
    found = {one["statistic"]: (one["value"], one["unit"]) for one in memory["measurements"]}
    assert found == dict.fromkeys(("median", "p20", "p80"), (mib, "bytes"))
    assert "/memory/" in memory["sourceNative"]["externalId"]


@pytest.mark.parametrize(
    ("ms", "ns"),
    [("0.5324159860610962", 532416), ("0.0000005", 1), ("0.0000015", 2), ("0.0000025", 3), ("123456.5", 123456500000),
     ("1e-05", 10), ("529.101", 529101000)],
)  # fmt: skip
def test_latency_is_rounded_half_up(write_csv: Callable[..., Path], tmp_path: Path, ms: str, ns: int) -> None:
    path = write_csv({"y_value_50": ms, "y_value_20": "", "y_value_80": ""})
    convert([path], tmp_path / "out", Options(format="jsonl"))
    line = (tmp_path / "out" / "runs.jsonl").read_text()
    assert f'"latencyNs":{{"median":{ns}}}' in line
    assert json.loads(line)["run"]["spec"]["sourceNative"]["metrics"]["ms_50"] == float(ms)


@pytest.mark.parametrize(
    ("timestamp", "observed"),
    [
        ("2026-01-02 03:04:05", "2026-01-02T03:04:05.000Z"),
        ("2026-01-02T03:04:05Z", "2026-01-02T03:04:05.000Z"),
        ("2026-01-02 03:04:05+02:00", "2026-01-02T01:04:05.000Z"),
        ("2026-01-02 03:04:05.678912", "2026-01-02T03:04:05.678Z"),
    ],
)
def test_moments_are_utc(write_csv: Callable[..., Path], tmp_path: Path, timestamp: str, observed: str) -> None:
    convert([write_csv({"timestamp": timestamp})], tmp_path / "out", Options(format="jsonl"))
    assert bundles(tmp_path / "out")[0]["run"]["spec"]["observedAt"] == observed


def test_the_same_row_twice_gives_one_bundle(write_csv: Callable[..., Path], tmp_path: Path) -> None:
    for format_ in FORMATS:
        report = convert([write_csv({}, {}, {"x_value": "2048"})], tmp_path / format_, Options(format=format_))
        assert (report.rows_read, report.bundles) == (3, 2)
        assert report.skipped_by_reason == {"duplicate": 1}
        assert validate(tmp_path / format_).faults == []


def test_other_numbers_under_one_id_give_none_of_them(write_csv: Callable[..., Path], tmp_path: Path) -> None:
    for format_ in FORMATS:
        path = write_csv({"x_value": "2048"}, {}, {"y_value_50": "0.55"})
        report = convert([path], tmp_path / format_, Options(format=format_))
        assert report.bundles == 1
        assert report.skipped_by_reason == {"conflict": 2}
        assert report.bad_input
        assert validate(tmp_path / format_).faults == []
    assert [one["run"]["spec"]["timing"]["latencyNs"]["median"] for one in bundles(tmp_path / "jsonl")] == [500000]
    assert len(list((tmp_path / "tree" / "runs").rglob("*.json"))) == 1


def test_folders_and_compressed_files_read_as_plain_ones(tmp_path: Path) -> None:
    folder = tmp_path / "in" / "deep"
    folder.mkdir(parents=True)
    (folder / "a.csv.gz").write_bytes(gzip.compress(SEEDS.read_bytes()))
    convert([tmp_path / "in"], tmp_path / "gz", Options(format="jsonl"))
    convert([SEEDS], tmp_path / "plain", Options(format="jsonl"))
    assert (tmp_path / "gz" / "runs.jsonl").read_bytes() == (tmp_path / "plain" / "runs.jsonl").read_bytes()


def test_zstandard_files_read_as_plain_ones(tmp_path: Path) -> None:
    # Zstandard frames of one raw block need no compressor: magic, descriptor, size, block header, bytes.
    content = SEEDS.read_bytes()
    header = bytes.fromhex("28b52ffd") + bytes([0x60]) + (len(content) - 256).to_bytes(2, "little")
    block = ((len(content) << 3) | 1).to_bytes(3, "little")
    path = tmp_path / "a.csv.zst"
    path.write_bytes(header + block + content)
    convert([path], tmp_path / "zst", Options(format="jsonl"))
    convert([SEEDS], tmp_path / "plain", Options(format="jsonl"))
    assert (tmp_path / "zst" / "runs.jsonl").read_bytes() == (tmp_path / "plain" / "runs.jsonl").read_bytes()


def test_standard_input_reads_as_a_file(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "kernelindex_liger", "csv", "-", "-o", str(tmp_path), "--format", "jsonl", "-q"]
    subprocess.run(command, input=SEEDS.read_bytes(), check=True, cwd=ROOT)
    assert len(bundles(tmp_path)) == 2


def test_the_order_of_inputs_changes_nothing(write_csv: Callable[..., Path], tmp_path: Path) -> None:
    one, other = write_csv({}, name="b.csv"), write_csv({"x_value": "2048"}, name="a.csv")
    convert([one, other], tmp_path / "1", Options(format="jsonl"))
    convert([other, one], tmp_path / "2", Options(format="jsonl"))
    assert (tmp_path / "1" / "runs.jsonl").read_bytes() == (tmp_path / "2" / "runs.jsonl").read_bytes()


def test_a_dry_run_writes_nothing_and_reports_the_same(tmp_path: Path) -> None:
    dry = convert([NINE], None)
    wet = convert([NINE], tmp_path / "out")
    assert dry.model_copy(update={"documents": wet.documents}) == wet


def test_the_table_is_typed_and_reads_in_duckdb(tmp_path: Path) -> None:
    convert([NINE], tmp_path, Options(format="parquet", memory=True))
    frame = pl.read_parquet(tmp_path / "runs.parquet")
    assert frame.equals(table([NINE]))
    assert frame.schema["ns"] == pl.Int64
    assert frame.schema["observed_at"] == pl.Datetime("us", "UTC")
    rows = duckdb.sql(
        f"select kernel, axis_hidden, ns, line from '{tmp_path}/runs.parquet' where ns is not null order by ns"  # noqa: S608
    ).fetchall()
    assert (
        rows
        == [
            ("group_norm", 512, 71712, 2),
            ("rms_norm", 2048, 125000, 5),
            ("fused_add_rms_norm", 1024, 125920, 3),
            ("rms_norm", 2048, 250000, 4),
        ]
        or rows[0][0] == "group_norm"
    )
    assert frame.filter(pl.col("metric") == "memory")["peak_bytes"].to_list() == [int(96.5 * 1024 * 1024)]


def test_a_user_kernel_converts(tmp_path: Path, write_csv: Callable[..., Path]) -> None:
    facts = tmp_path / "mine.toml"
    facts.write_text(
        """kernel = "my_kernel"
[[operations]]
slug = "liger-my-kernel"
family = "softmax"
title = "My kernel"
description = "A kernel that a user added on the command line."
inputs = [{ name = "x", shape = ["rows", "hidden"], dtype = "float" }]
outputs = [{ name = "y", shape = ["rows", "hidden"], dtype = "float" }]
[[shapes]]
id = "H"
x = "H"
config = ["M", "dtype", "eps"]
revision = "0000000"
axes = { rows = "M", hidden = "2 * x" }
dtype = { key = "dtype" }
"""
    )
    path = write_csv({"kernel_name": "my_kernel"})
    assert convert([path], None).skipped_by_reason == {"unknown_kernel": 1}
    convert([path], tmp_path / "out", Options(format="jsonl", catalog=[facts]))
    assert "my_kernel/forward/liger/nvidia-h100-80gb-hbm3/hidden2048-rows2048-bf16/" in str(bundles(tmp_path / "out"))


@pytest.mark.parametrize("csv", ["all_benchmark_data.csv", "all_benchmark_data_cutile.csv"])
def test_published_runs_agree(shared: Path, tmp_path: Path, csv: str) -> None:
    convert([shared / "upstream" / csv], tmp_path, Options(format="jsonl"))
    check = [sys.executable, str(shared / "check" / "parity.py"), str(tmp_path / "runs.jsonl"), csv]
    done = subprocess.run(check, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_as_many_files_as_bundles(shared: Path, tmp_path: Path) -> None:
    report = convert([shared / "upstream" / "all_benchmark_data.csv"], tmp_path)
    assert report.bundles == 1649
    assert len(list((tmp_path / "runs").rglob("*.json"))) == 1649
    assert validate(tmp_path).faults == []


def test_every_document_fits_the_published_schemas(shared: Path, tmp_path: Path) -> None:
    validators = {}
    for path in (shared / "kernelindex" / "schemas").glob("*.json"):
        schema = json.loads(path.read_text())
        validators[schema["title"]] = jsonschema.Draft202012Validator(schema)
    inputs = [NINE, *sorted((FIXTURES / "csv").glob("shapes-*.csv"))]
    convert([*inputs, shared / "upstream"], tmp_path, Options(format="jsonl", memory=True))
    seen = set()
    for path in tmp_path.glob("*.jsonl"):
        for line in path.read_text().splitlines():
            value = json.loads(line)
            for document in value.values() if path.name == "runs.jsonl" else [value]:
                name = document["metadata"]["name"]
                if document["kind"] == "BenchmarkRun" or (document["kind"], name) not in seen:
                    seen.add((document["kind"], name))
                    assert not list(validators[document["kind"]].iter_errors(document)), name
    assert {kind for kind, _ in seen} == set(validators)


def test_nothing_can_be_read(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        convert([tmp_path / "none.csv"], tmp_path / "out")
    with pytest.raises(InputError, match="no CSV below this folder"):
        convert([tmp_path], tmp_path / "out")
