"""A CSV with the sidecar that the runner wrote beside it: richer documents, failed cases, sums that add up."""

from __future__ import annotations

import gzip
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import jsonschema
import polars as pl
import pytest

from kernelindex_liger import convert, table
from kernelindex_liger.bench import registry
from kernelindex_liger.bench.cases import Options as BenchOptions
from kernelindex_liger.bench.cases import protocol_of
from kernelindex_liger.bench.models import DEFAULT_MODEL, MODELS
from kernelindex_liger.bench.plan import Selection, series_of
from kernelindex_liger.bench.results import Results, sidecar_path
from kernelindex_liger.bench.spec import Request
from kernelindex_liger.catalog import load
from kernelindex_liger.conversion import InputError, Options
from kernelindex_liger.conversion.link import Linker
from kernelindex_liger.conversion.recorded import OWN_NOTES_LENGTH, facts_of
from kernelindex_liger.conversion.recorder import TIMERS, protocol
from kernelindex_liger.conversion.sources import beside
from kernelindex_liger.conversion.validate import validate
from kernelindex_liger.documents.sidecar import Gpu, SeriesCase, SeriesMeta, Software
from kernelindex_liger.documents.upstream import REHEARSAL
from tests.conftest import FIXTURES
from tests.conversion.sidecars import case, line, write

RESULTS = FIXTURES / "sidecar" / "results.csv"
FORMATS = ("tree", "jsonl", "parquet", "submission")

WriteCsv = Callable[..., Path]


def bundles(out: Path) -> list[dict[str, dict]]:
    return [json.loads(line) for line in (out / "runs.jsonl").read_text().splitlines()]


def convert_one(csv: Path, out: Path, **options: object) -> dict[str, dict]:
    convert([csv], out, Options(format="jsonl", **options))
    return bundles(out)[0]


def test_every_row_and_case_of_the_fixture_is_accounted_for(tmp_path: Path) -> None:
    report = convert([RESULTS], tmp_path / "out", Options(format="jsonl"))
    told = report.sidecars
    assert told is not None
    assert report.adds_up
    assert not report.bad_input
    assert (report.rows_read, report.bundles, report.memory_rows) == (9, 8, 1)
    assert (told.lines, told.series, told.rows, told.rows_without) == (7, 7, 8, 1)
    assert (told.cases, told.measured, told.failed_memory, told.replaced, told.without_row) == (14, 8, 1, 1, 1)
    assert told.failed_by_status == {"resource_exceeded": 1, "runtime_error": 1, "timeout": 1}
    with_memory = convert([RESULTS], None, Options(memory=True)).sidecars
    assert with_memory is not None
    assert (with_memory.failed_runs, with_memory.failed_memory) == (4, 0)


def test_the_environment_tells_hardware_software_and_settings(tmp_path: Path) -> None:
    bundle = convert_one(RESULTS, tmp_path)
    assert bundle["environment"]["spec"] == {
        "hardware": {
            "vendor": "nvidia", "product": "NVIDIA H200", "architecture": "sm_90", "memoryBytes": 150754820096,
            "count": 1,
        },
        "software": {
            "operatingSystem": "Ubuntu 24.04.2 LTS",
            "kernel": "6.8.0-60-generic",
            "driver": "570.133.20",
            "cudaToolkit": "12.8",
            "framework": {"name": "pytorch", "version": "2.8.0+cu128"},
            "libraries": {
                "python": "3.12.3", "triton": "3.4.0", "liger_kernel": "0.8.0", "transformers": "4.56.1",
            },
        },
        "settings": {"powerLimitWatts": 700.0, "persistenceMode": True, "eccEnabled": True},
    }  # fmt: skip
    assert bundle["environment"]["metadata"]["labels"] == {
        "compute_capability": "9.0",
        "max_sm_clock_mhz": "1980",
        "max_memory_clock_mhz": "3201",
        "mig_enabled": "false",
    }


def test_the_protocol_tells_warm_up_window_and_caches(tmp_path: Path) -> None:
    spec = convert_one(RESULTS, tmp_path)["protocol"]["spec"]
    assert spec["measurement"] == {"timer": "cuda_events", "warmupDuration": 25_000_000, "primaryStatistic": "median"}
    assert spec["harness"] == {"name": "kernelindex-liger"}
    notes = spec["comparability"]["notes"]
    assert "window was 10 ms" in notes
    assert "L2 cache was overwritten" in notes
    assert "records no" not in notes


def test_runs_tell_their_number_of_samples_and_what_held_clocks_back(tmp_path: Path) -> None:
    convert([RESULTS], tmp_path, Options(format="jsonl", memory=True))
    first, second, *_ = (one["run"] for one in bundles(tmp_path))
    assert first["spec"]["timing"]["samples"] == 480
    assert [one["sampleCount"] for one in first["spec"]["measurements"]] == [480, 480]
    assert second["metadata"]["labels"]["clock_events"] == "before: none; after: sw_power_cap"
    memory = next(one["run"]["spec"] for one in bundles(tmp_path) if "metrics" in str(one) and "mib_50" in str(one))
    assert [one["sampleCount"] for one in memory["measurements"]] == [10, 10, 10]
    digested = json.dumps([first["spec"], [one["environment"]["spec"] for one in bundles(tmp_path)]])
    assert not any(word in digested for word in ("clock_mhz", "temperature", "sw_power_cap", "122.5"))


def test_failed_cases_are_runs_without_timing(tmp_path: Path) -> None:
    convert([RESULTS], tmp_path, Options(format="jsonl"))
    failed = [one["run"] for one in bundles(tmp_path) if one["run"]["spec"]["status"] != "passed"]
    ids = [one["spec"]["sourceNative"]["externalId"] for one in failed]
    prefix = "cross_entropy/full/huggingface/nvidia-h200/tokens16384-vocab128256-fp32"
    assert f"{prefix}/2026-09-30-02-02-20-failed" in ids
    assert all("timing" not in one["spec"] and "measurements" not in one["spec"] for one in failed)
    assert all("metrics" not in one["spec"]["sourceNative"] for one in failed)
    crashed = next(one for one in failed if one["spec"]["status"] == "runtime_error")
    assert crashed["metadata"]["description"] == "crashed: the worker ended by SIGKILL"
    assert crashed["spec"]["observedAt"] == "2026-09-30T02:02:20.000Z"


@pytest.mark.parametrize("format_", FORMATS)
def test_output_is_sound_and_repeatable(tmp_path: Path, format_: str) -> None:
    first = convert([RESULTS], tmp_path, Options(format=format_, memory=True))
    again = convert([RESULTS], tmp_path, Options(format=format_, memory=True))
    assert validate(tmp_path).faults == []
    assert again.documents.written == 0
    assert again.documents.unchanged == first.documents.written


@pytest.mark.parametrize("edition", ["published", "corrected"])
def test_richer_documents_fit_the_published_schemas(shared: Path, tmp_path: Path, edition: str) -> None:
    validators = {}
    for path in (shared / "kernelindex" / "schemas").glob("*.json"):
        schema = json.loads(path.read_text())
        validators[schema["title"]] = jsonschema.Draft202012Validator(schema)
    convert([RESULTS], tmp_path, Options(format="jsonl", memory=True, edition=edition))
    kinds = set()
    for path in tmp_path.glob("*.jsonl"):
        for text in path.read_text().splitlines():
            value = json.loads(text)
            for document in value.values() if path.name == "runs.jsonl" else [value]:
                kinds.add(document["kind"])
                assert not list(validators[document["kind"]].iter_errors(document)), document
    assert kinds == set(validators)


def test_the_table_tells_the_status(tmp_path: Path) -> None:
    frame = table([RESULTS])
    assert frame["status"].value_counts().sort("status").rows() == [
        ("passed", 9), ("resource_exceeded", 2), ("runtime_error", 1), ("timeout", 1),
    ]  # fmt: skip
    failed = frame.filter(pl.col("status") != "passed")
    assert failed.select("ns", "p20_ns", "p80_ns", "peak_bytes", "line").null_count().row(0) == (4,) * 5
    assert failed["file"].unique().to_list() == [str(RESULTS)]
    convert([RESULTS], tmp_path, Options(format="parquet", memory=True))
    assert pl.read_parquet(tmp_path / "runs.parquet").equals(frame)


def test_without_its_sidecar_a_csv_gives_what_it_always_gave(tmp_path: Path) -> None:
    alone = tmp_path / "alone" / "results.csv"
    alone.parent.mkdir()
    shutil.copy(RESULTS, alone)
    for format_ in FORMATS:
        plain = convert([alone], tmp_path / "1" / format_, Options(format=format_))
        ignored = convert([RESULTS], tmp_path / "2" / format_, Options(format=format_, sidecar=None))
        assert plain.sidecars is ignored.sidecars is None
        assert "sidecars" not in json.loads((tmp_path / "1" / format_ / "report.json").read_text())
    one, two = (
        {str(path.relative_to(tmp_path / name)): path.read_bytes() for path in (tmp_path / name).rglob("*.json*")
         if path.name != "report.json"} for name in ("1", "2")
    )  # fmt: skip
    assert one == two


def test_a_row_without_a_series_converts_as_without_a_sidecar(write_csv: WriteCsv, tmp_path: Path) -> None:
    csv = write_csv({}, {"x_value": "2048"})
    plain = {one["run"]["spec"]["sourceNative"]["externalId"]: one for one in (
        convert([csv], tmp_path / "plain", Options(format="jsonl")) and bundles(tmp_path / "plain"))}  # fmt: skip
    for change in ({"timestamp": "2026-01-02 03:04:06"}, {"kernel_provider": "torch"}, {"liger_version": "0.8.0"}):
        write(csv, line(series=change))
        told = convert([csv], tmp_path / "out", Options(format="jsonl")).sidecars
        assert told is not None
        assert (told.rows, told.rows_without, told.without_row) == (0, 2, 1)
        assert bundles(tmp_path / "out") == list(plain.values())
    write(csv, line())
    convert([csv], tmp_path / "out", Options(format="jsonl"))
    first, second = bundles(tmp_path / "out")
    assert first["environment"]["spec"]["software"]["driver"] == "570.1"
    assert second in plain.values()


def test_of_two_lines_for_a_case_the_later_counts(write_csv: WriteCsv, tmp_path: Path) -> None:
    csv = write_csv({})
    write(csv, line(cases=[case(1024, samples=7)]), line(cases=[case(1024, samples=8)]))
    told = convert([csv], tmp_path, Options(format="jsonl")).sidecars
    assert told is not None
    assert (told.measured, told.replaced) == (1, 1)
    assert bundles(tmp_path)[0]["run"]["spec"]["timing"]["samples"] == 8


@pytest.mark.parametrize(
    ("first", "then", "runs"),
    [
        ("timeout", "ok", ["passed"]),
        ("ok", "timeout", ["passed", "timeout"]),
        ("timeout", "crashed", ["runtime_error"]),
    ],
)
def test_a_case_measured_again(write_csv: WriteCsv, tmp_path: Path, first: str, then: str, runs: list[str]) -> None:
    moments = ("2026-01-02 03:04:05", "2026-01-02 04:04:05")
    csv = write_csv(*({"timestamp": at} for at, how in zip(moments, (first, then), strict=True) if how == "ok"))
    write(
        csv,
        *(
            line(series={"timestamp": at}, cases=[case(1024, how)])
            for at, how in zip(moments, (first, then), strict=True)
        ),
    )
    report = convert([csv], tmp_path, Options(format="jsonl"))
    assert [one["run"]["spec"]["status"] for one in bundles(tmp_path)] == runs
    assert report.adds_up


def test_a_failed_case_of_a_row_that_is_there_is_a_contradiction(write_csv: WriteCsv, tmp_path: Path) -> None:
    csv = write_csv({})
    plain = convert_one(csv, tmp_path / "plain")
    path = write(csv, line(cases=[case(1024, "timeout")]))
    report = convert([csv], tmp_path / "out", Options(format="jsonl"))
    assert report.sidecars is not None
    assert (report.sidecars.contradicted, report.sidecars.failed_runs) == (1, 0)
    assert report.bad_input
    assert [(one.file, one.line) for one in report.sidecars.faults] == [(str(path), 1)]
    assert bundles(tmp_path / "out") == [plain]


def test_two_failed_cases_of_one_workload_are_one_run_or_none(write_csv: WriteCsv, tmp_path: Path) -> None:
    # two config texts that read as one workload: eps is written in two ways
    other = {"extra_benchmark_config_str": '{"M": 2048, "dtype": "torch.bfloat16", "eps": 0.000001}'}
    csv = write_csv({"x_value": "4096"})
    for status, reason in (("timeout", "duplicate"), ("crashed", "conflict")):
        write(csv, line(cases=[case(1024, "timeout")]), line(series=other, cases=[case(1024, status)]))
        report = convert([csv], tmp_path / status, Options(format="tree"))
        assert report.sidecars is not None
        # the description is no part of what is compared, the status is
        assert set(report.sidecars.failed_skipped_by_reason) == {reason}
        assert report.adds_up
        assert validate(tmp_path / status).faults == []


def test_failed_cases_are_skipped_for_the_same_reasons_as_rows(write_csv: WriteCsv) -> None:
    csv = write_csv({})
    write(
        csv,
        line(series={"kernel_name": "nobody"}, cases=[case(1, "timeout")]),
        line(series={"kernel_provider": "nobody"}, cases=[case(1, "timeout")]),
        line(series={"timestamp": "yesterday"}, cases=[case(1, "timeout")]),
        line(cases=[case("many", "timeout")]),
    )
    told = convert([csv], None).sidecars
    assert told is not None
    assert told.failed_skipped_by_reason == {
        "unknown_kernel": 1, "unknown_provider": 1, "bad_x": 1, "bad_timestamp": 1,
    }  # fmt: skip
    assert [one.first[0].rpartition("/")[2] for one in told.skipped] == [f"in.meta.jsonl:{n}" for n in (1, 2, 4, 3)]


def test_rehearsals_stay_refused(write_csv: WriteCsv, tmp_path: Path) -> None:
    csv = write_csv({"gpu_name": REHEARSAL})
    write(
        csv,
        line(
            series={"gpu_name": REHEARSAL},
            gpu={"name": REHEARSAL},
            protocol={"harness": "rehearsal"},
            cases=[case(1024), case(2048, "incorrect_numerical"), case(4096, "timeout")],
        ),
    )
    report = convert([csv], tmp_path, Options(format="jsonl"))
    assert report.sidecars is not None
    assert report.skipped_by_reason == {"rehearsal": 1}
    assert report.sidecars.failed_skipped_by_reason == {"rehearsal": 2}
    assert (report.bundles, report.sidecars.failed_runs, report.bad_input) == (0, 0, True)
    assert bundles(tmp_path) == []


def test_one_rank_of_megatron_is_what_the_runner_says(tmp_path: Path, write_csv: WriteCsv) -> None:
    # the published reading takes these rows for do_bench's; the runner measured them in loops
    change = {
        "kernel_name": "megatron_cross_entropy", "x_name": "V", "x_label": "vocab size", "x_value": "4096",
        "extra_benchmark_config_str": '{"S": 2048, "B": 4, "TP": 1}',
    }  # fmt: skip
    csv = write_csv(change)
    assert convert_one(csv, tmp_path / "plain")["protocol"]["spec"]["measurement"]["timer"] == "cuda_events"
    series = {name: value for name, value in change.items() if name != "x_value"}
    loop = {"harness": "event_loop", "warmup_iterations": 10, "iterations_per_sample": 50, "l2_policy": "warm",
            "warmup_ms": None, "rep_ms": None}  # fmt: skip
    write(csv, line(series=series, protocol=loop, cases=[case(4096, samples=5)]))
    spec = convert_one(csv, tmp_path / "out")["protocol"]["spec"]
    assert spec["measurement"] == {
        "timer": "cuda_event_loop", "primaryStatistic": "median", "warmupIterations": 10, "measuredIterations": 50,
    }  # fmt: skip
    assert "mean of 50 calls" in spec["comparability"]["notes"]


@pytest.mark.parametrize("harness", ["peak_allocation", "event_loop"])
def test_a_way_of_measuring_that_cannot_be_is_a_contradiction(
    write_csv: WriteCsv, tmp_path: Path, harness: str
) -> None:
    csv = write_csv({})
    write(csv, line(protocol={"harness": harness}, cases=[case(1024), case(2048, "timeout")]))
    report = convert([csv], tmp_path, Options(format="jsonl"))
    assert report.sidecars is not None
    assert (report.sidecars.contradicted, report.sidecars.measured, report.sidecars.failed_runs) == (2, 0, 0)
    assert report.bundles == 1
    assert "software" in bundles(tmp_path)[0]["environment"]["spec"]
    assert bundles(tmp_path)[0]["environment"]["spec"]["software"] == {}
    assert report.bad_input


def test_no_note_of_the_catalogue_says_any_more_that_nothing_is_recorded() -> None:
    catalog = load()
    linker = Linker(catalog)
    harness = {timer: name for name, timer in TIMERS.items()}
    variables = {"CUBLAS_WORKSPACE_CONFIG": ":4096:8"}
    seen = 0
    for key, one in catalog.protocols.items():
        for pass_ in one.passes:
            base = linker.protocol(key, pass_)
            more = {"harness": harness.get(one.timer, "event_loop"), "deterministic": "full", "environment": variables}
            facts = facts_of(SeriesMeta.model_validate(line(protocol=more)))
            notes = protocol(base, facts).document["spec"]["comparability"]["notes"]
            assert "not recorded" not in notes
            assert "records no" not in notes
            assert notes.endswith("Set for the process: CUBLAS_WORKSPACE_CONFIG=:4096:8.")
            # the catalogue's own part is never cut, however much a sidecar tells
            assert len(notes) - len(facts.notes) + OWN_NOTES_LENGTH <= 1000
            seen += 1
    assert seen > 30


def test_what_differs_gives_other_digests_and_live_readings_do_not(write_csv: WriteCsv, tmp_path: Path) -> None:
    csv = write_csv({})
    found = {}
    for name, change in {
        "same": {},
        "readings": {"cases": [case(1024, samples=42, before={"temperature_c": 60, "sm_clock_mhz": 1200})]},
        "runner": {"software": {"runner": "0.2.0"}},
        "driver": {"software": {"driver": "575.1"}},
        "power": {"gpu": {"power_limit_watts": 500.0}},
        "window": {"protocol": {"rep_ms": 100}},
        "warm-up": {"protocol": {"warmup_ms": 50}},
    }.items():
        write(csv, line(**change))
        spec = convert_one(csv, tmp_path / name)["run"]["spec"]
        found[name] = (spec["environmentDigest"], spec["protocolDigest"])
    assert found["same"] == found["readings"] == found["runner"]
    assert len({found[name] for name in ("same", "driver", "power", "window", "warm-up")}) == 5
    assert found["driver"][1] == found["same"][1]
    assert found["window"][0] == found["same"][0]


@pytest.mark.parametrize("suffix", ["", ".gz"])
@pytest.mark.parametrize("csv_suffix", ["", ".gz"])
def test_compressed_ones_and_folders(tmp_path: Path, suffix: str, csv_suffix: str) -> None:
    def put(source: Path, target: Path) -> None:
        content = source.read_bytes()
        target.write_bytes(gzip.compress(content, mtime=0) if target.suffix == ".gz" else content)

    folder = tmp_path / "in" / "night"
    folder.mkdir(parents=True)
    put(RESULTS, folder / f"results.csv{csv_suffix}")
    put(RESULTS.with_name("results.meta.jsonl"), folder / f"results.meta.jsonl{suffix}")
    (tmp_path / "in" / "other.csv").write_bytes((FIXTURES / "csv" / "seeds.csv").read_bytes())
    report = convert([tmp_path / "in"], tmp_path / "out", Options(format="jsonl"))
    assert report.sidecars is not None
    assert report.sidecars.measured == 8
    assert report.sidecars.failed_runs == 3
    assert report.bundles == 10
    lines = set((tmp_path / "out" / "runs.jsonl").read_text().splitlines())
    convert([RESULTS], tmp_path / "plain", Options(format="jsonl"))
    assert set((tmp_path / "plain" / "runs.jsonl").read_text().splitlines()) < lines


@pytest.mark.parametrize("name", ["results.csv", "all.csv", "gpu.2026.csv", "results", "b/results.csv"])
def test_it_stands_where_the_runner_puts_it(tmp_path: Path, name: str) -> None:
    csv = tmp_path / name
    csv.parent.mkdir(exist_ok=True)
    assert beside(csv) is None
    sidecar_path(csv).write_text("")
    assert beside(csv) == sidecar_path(csv)
    assert beside(csv.with_name(csv.name + ".gz")) == sidecar_path(csv)


def test_a_sidecar_whose_csv_is_not_there_tells_of_failed_cases(tmp_path: Path) -> None:
    # nothing could be measured, so the runner wrote no CSV
    write(tmp_path / "night" / "results.csv", line(cases=[case(1024, "timeout"), case(2048)]))
    for place in (tmp_path / "night" / "results.csv", tmp_path):
        report = convert([place], tmp_path / "out", Options(format="jsonl"))
        assert report.sidecars is not None
        assert (report.sidecars.failed_runs, report.sidecars.without_row) == (1, 1)
        assert [(one.file, one.rows) for one in report.inputs] == [(str(tmp_path / "night" / "results.csv"), 0)]
        assert validate(tmp_path / "out").faults == []
        with pytest.raises(InputError, match=r"no (such file|CSV below)"):
            convert([place], None, Options(sidecar=None))
    assert table([tmp_path])["status"].to_list() == ["timeout"]


def test_one_that_is_named(tmp_path: Path) -> None:
    csv, named = tmp_path / "a.csv", RESULTS.with_name("results.meta.jsonl")
    shutil.copy(RESULTS, csv)
    report = convert([csv], None, Options(sidecar=named))
    assert report.sidecars is not None
    assert report.sidecars.files[0].file == str(named)
    assert report.sidecars.measured == 8
    with pytest.raises(InputError, match="one sidecar for 2 CSVs"):
        convert([csv, RESULTS], None, Options(sidecar=named))


def test_no_document_names_where_things_stand(write_csv: WriteCsv, tmp_path: Path) -> None:
    csv = write_csv({})
    said = "FileNotFoundError: '/home/someone/.cache/kernel.cubin' (see https://example.org/a/b), 3/4 of it at /opt/x/y"
    write(csv, line(cases=[case(2048, "runtime_error", error=said)]))
    convert([csv], tmp_path, Options(format="jsonl"))
    told = bundles(tmp_path)[1]["run"]["metadata"]["description"]
    assert told == (
        "runtime_error: FileNotFoundError: '…/kernel.cubin' (see https://example.org/a/b), 3/4 of it at …/y"
    )


def test_what_the_runner_writes_is_read(tmp_path: Path) -> None:
    kernel = registry.kernel("rms_norm")
    selection = Selection(sweeps=("token_length",), metrics=("speed", "memory"), all_providers=True)
    request = Request(model=MODELS[DEFAULT_MODEL], bt=2048, total_gib=80)
    results = Results(tmp_path / "results.csv", overwrite=False)
    versions = line()["software"] | {"python": "3.12.3"}
    cases = 0
    for series in series_of(kernel, selection, request):
        measured = dict.fromkeys(series.x_values[1:], (0.5, 0.25, 0.75))
        results.add(
            series,
            measured,
            cases=tuple(
                SeriesCase(
                    x_value=str(x), status="ok" if x in measured else "timeout", samples=9 if x in measured else None
                )
                for x in series.x_values
            ),
            gpu=Gpu(name="NVIDIA H200", count=1),
            software=Software.model_validate(versions),
            protocol=protocol_of(kernel, series, BenchOptions(), "default"),
            liger_version="0.8.0",
        )
        cases += len(series.x_values)
    report = convert([results.path], tmp_path / "out", Options(format="jsonl", memory=True))
    told = report.sidecars
    assert told is not None
    assert not report.bad_input
    assert (told.cases, told.rows_without, told.without_row, told.replaced) == (cases, 0, 0, 0)
    assert told.measured == report.bundles == report.rows_read
    assert told.measured + told.failed_runs == cases
    assert told.failed_by_status == {"timeout": told.failed_runs}
    assert validate(tmp_path / "out").faults == []
