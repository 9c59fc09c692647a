"""Each shape is reached by a handwritten row, and what the catalogue says holds over all of them."""

from __future__ import annotations

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
