"""Each shape is reached by a handwritten row, and what the catalogue says holds over all of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from kernelindex_liger.catalog import EDITIONS, load
from kernelindex_liger.conversion import Options, convert, table
from kernelindex_liger.conversion.authoring import check, cover
from tests.conftest import FIXTURES

ROWS = sorted((FIXTURES / "csv").glob("shapes-*.csv"))


@pytest.mark.parametrize("edition", EDITIONS)
def test_every_handwritten_row_becomes_a_bundle(edition: str) -> None:
    report = convert(ROWS, None, Options(edition=edition, memory=True))
    assert report.skipped_by_reason == {}, [group.detail for group in report.skipped]
    assert report.bundles == report.rows_read > 80


def test_every_shape_is_reached() -> None:
    facts = load()
    unreached = {
        (coverage.kernel, shape)
        for coverage in cover(facts, list(facts.kernels), ROWS)
        for shape, count in coverage.taken.items()
        if not count and facts.kernels[coverage.kernel].shape(shape).edition == "both"
    }
    assert unreached == set()


def test_editions_differ_only_where_a_correction_says_so(tmp_path: Path) -> None:
    published, corrected = table(ROWS), table(ROWS, edition="corrected")
    assert published["external_id"].n_unique() == published.height
    assert corrected["external_id"].n_unique() == corrected.height
    columns = [name for name in published.columns if name.endswith("_digest")]
    same = published.select(columns).rows()
    other = corrected.select(columns).rows()
    assert any(one != two for one, two in zip(same, other, strict=True))
    assert any(one == two for one, two in zip(same, other, strict=True))


@pytest.mark.parametrize("edition", EDITIONS)
def test_a_name_never_stands_for_two_documents(tmp_path: Path, edition: str) -> None:
    convert(ROWS, tmp_path, Options(format="jsonl", edition=edition, memory=True))
    for folder in ("projects", "operations", "workloads", "implementations"):
        names = pl.read_ndjson(tmp_path / f"{folder}.jsonl", schema={"metadata": pl.Struct({"name": pl.String})})
        found = names["metadata"].struct.field("name")
        assert found.is_duplicated().sum() == 0, found.filter(found.is_duplicated()).to_list()


def test_every_speed_row_of_the_upstream_files_converts(shared: Path) -> None:
    for name, speed in (("", 1649), ("_cutedsl", 132), ("_cutile", 888)):
        report = convert([shared / "upstream" / f"all_benchmark_data{name}.csv"], None)
        assert (report.bundles, report.skipped_rows) == (speed, 0)


def test_an_author_sees_what_a_file_takes(tmp_path: Path) -> None:
    source = FIXTURES / "csv" / "nine.csv"
    file = Path(str(__import__("kernelindex_liger").__path__[0])) / "catalog" / "data" / "kernels" / "rms_norm.toml"
    _, (coverage,) = check(file, [source])
    assert coverage.taken["H"] == 3
    assert "liger-rms-norm-hidden2048-rows2048-bf16" in coverage.example["H"]
    assert {reason for reason, _ in coverage.missed} == {"unknown_shape", "unknown_gpu", "bad_value"}


def model_row(**config: object) -> dict[str, str]:
    """A row of a sweep over models whose config brings the models' sizes."""
    sizes = {"tiny": {"hidden_size": 48, "dtype": "torch.float16"}, "llama_3_8b": {"hidden_size": 64, "dtype": "fp32"}}
    known = {"model_configs": sizes, "BT": 32, "eps": 1e-06, "has_shift": True} | config
    return {
        "kernel_name": "modulated_rms_norm",
        "x_name": "model_config",
        "x_value": "tiny",
        "extra_benchmark_config_str": json.dumps(known),
    }


def test_models_that_a_row_brings_are_read_from_it(write_csv: Callable[..., Path]) -> None:
    other = model_row() | {"x_value": "llama_3_8b"}
    rows = table([write_csv(model_row(), other)])
    # llama_3_8b has 4096 in the catalogue; the row's own word counts
    assert rows.select("axis_rows", "axis_hidden", "dtype").rows() == [(32, 48, "fp16"), (32, 64, "fp32")]
    assert rows["external_id"].str.contains("tiny").to_list() == [True, False]


@pytest.mark.parametrize(
    ("change", "reason", "said"),
    [
        ({"x_value": "llama_2_7b"}, "bad_x", "no model 'llama_2_7b' under config key 'model_configs'"),
        (model_row(model_configs={"tiny": 48}), "bad_x", "no model 'tiny'"),
        (model_row(model_configs=["tiny"]), "bad_config", "'model_configs' holds a nested value"),
        (model_row(model_configs=5), "bad_x", "no model 'tiny'"),
        (model_row(model_configs={"tiny": {"dtype": "fp16"}}), "unmet_condition", "model_hidden_size"),
        (
            model_row(model_configs={"tiny": {"hidden_size": [48]}}),
            "bad_config",
            "'model_configs' holds a nested value",
        ),
        (model_row(model_configs={"tiny": {"hidden_size": 1e999}}), "bad_config", ""),
        (model_row(BT={"tiny": {"rows": 32}}), "bad_config", "'BT' holds a nested value"),
        (model_row() | {"kernel_name": "rms_norm"}, "bad_config", "'model_configs' holds a nested value"),
    ],
)
def test_models_that_a_row_does_not_bring_well_are_told(
    write_csv: Callable[..., Path], change: dict[str, str], reason: str, said: str
) -> None:
    report = convert([write_csv(model_row(), model_row() | change)], None)
    assert (report.bundles, report.skipped_by_reason) == (1, {reason: 1})
    assert said in report.skipped[0].detail


def test_a_name_that_is_not_read_tells_runs_of_one_workload_apart() -> None:
    rows = table(ROWS).filter(kernel="fused_neighborhood_attention", x_name="model_config")
    assert rows.height == 2
    assert rows["workload_digest"].n_unique() == 1
    assert rows["external_id"].n_unique() == 2


@pytest.mark.parametrize("edition", EDITIONS)
def test_code_that_changed_under_one_name_is_told_apart_in_both_editions(
    tmp_path: Path, write_csv: Callable[..., Path], edition: str
) -> None:
    config = {"bsz": 2, "hidden_size": 64, "intermediate_size": 96, "hidden_act": "silu", "activation_type": "swiglu",
              "num_shards": 4, "dtype": "torch.bfloat16"}  # fmt: skip
    row = {"kernel_name": "tiled_swiglu", "kernel_provider": "liger_cutile", "x_name": "T", "x_value": "32",
           "extra_benchmark_config_str": json.dumps(config)}  # fmt: skip
    path = write_csv(row | {"timestamp": "2026-06-26 06:50:00"}, row | {"timestamp": "2026-08-30 06:50:00"})
    convert([path], tmp_path / "out", Options(format="jsonl", edition=edition))
    lines = (tmp_path / "out" / "implementations.jsonl").read_text().splitlines()
    assert [json.loads(line)["spec"]["callable"]["language"] for line in lines] == ["triton", "cutile"]
