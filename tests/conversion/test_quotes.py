"""Quotes: polars, which reads fast, takes some where no CSV has one; then rows are what the csv module reads."""

from __future__ import annotations

from pathlib import Path

import pytest

from kernelindex_liger.conversion.read import _fast, read
from kernelindex_liger.conversion.rows import COLUMNS
from kernelindex_liger.conversion.sources import find
from tests.conftest import ROW, text


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize(
    "change",
    [
        {},
        {"extra_benchmark_config_str": '{"M": 2048}'},
        {"extra_benchmark_config_str": ""},
        {"x_label": 'hidden, "size"', "gpu_name": "", "liger_version": "0.7.0,"},
    ],
)
def test_what_is_well_quoted_is_read_fast(change: dict[str, str], end: str) -> None:
    body = text([ROW, ROW | change], end=end).partition(end)[2]
    frame = _fast(body.encode(), list(COLUMNS))
    assert frame is not None
    assert frame.rows(named=True) == [ROW, ROW | change]


@pytest.mark.parametrize(
    ("column", "written", "value"),
    [
        ("extra_benchmark_config_str", '"{""M"": 2048, ""dtype"": 1}"x', None),
        ("extra_benchmark_config_str", '"{"M"": 2048, ""dtype": 1}"', None),
        ("extra_benchmark_config_str", '"{"M": 2048}"', None),
        ("extra_benchmark_config_str", '{"M": 2048}', '{"M": 2048}'),
        ("extra_benchmark_config_str", '"{"M": 2, N: 1}"', None),
        ("x_label", '"hidden"size', None),
        ("x_label", '"hidden"size"', None),
        ("x_label", 'hidden "size"', 'hidden "size"'),
        ("x_label", 'hidden ""size""', 'hidden ""size""'),
        ("x_label", '""hidden""', None),
        ("x_label", '""', ""),
    ],
)
@pytest.mark.parametrize("others", ["none", "plain"])
def test_a_quote_means_what_it_means_to_the_csv_module(
    tmp_path: Path, column: str, written: str, value: str | None, others: str
) -> None:
    marked = text([ROW | {column: "HERE"}] + [ROW] * (others == "plain"), end="\n").replace("HERE", written)
    path = tmp_path / "in.csv"
    path.write_text(marked)
    batches = [batch for source in find([path]) for batch in read(source, 0)]
    rows = [row for batch in batches for row in batch.frame.select(COLUMNS).rows(named=True)]
    faults = [fault.line for batch in batches for fault in batch.faults]
    assert faults == ([2] if value is None else [])
    assert rows == ([] if value is None else [ROW | {column: value}]) + [ROW] * (others == "plain")
