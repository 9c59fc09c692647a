"""The order of the input files, how they are named together, and how they are cut into blocks."""

from __future__ import annotations

import itertools
import os
from pathlib import Path

import polars as pl
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from kernelindex_liger import convert
from kernelindex_liger.conversion import Options, sources
from kernelindex_liger.conversion import read as reading
from kernelindex_liger.conversion.read import read
from kernelindex_liger.conversion.rows import COLUMNS, Fault, InputError
from kernelindex_liger.conversion.sources import Source
from tests.conftest import FIXTURES, ROW, text
from tests.faults.harness import files
from tests.same_bytes.everything import FORMATS

BLOCKS = (1000, 4096, 1 << 20)


def converted(given_: list[Path], out: Path, format_: str) -> dict[str, bytes]:
    convert(given_, out, Options(format=format_, memory=True))
    return files(out)


@pytest.mark.usefixtures("one_catalogue")
@pytest.mark.parametrize("format_", FORMATS)
def test_any_order_of_files_gives_the_same_bytes(inputs: Path, tmp_path: Path, format_: str) -> None:
    names = sorted(path for path in inputs.iterdir() if ".csv" in path.suffixes)
    reference = converted([inputs], tmp_path / "folder", format_)
    assert {"report.json"} < set(reference)
    orders = [names[::-1], [*names[2:], *names[:2], names[2]], [names[3], inputs]]
    for number, order in enumerate(orders):
        assert converted(order, tmp_path / str(number), format_) == reference, order


@pytest.mark.usefixtures("one_catalogue")
def test_any_order_of_rows_gives_the_same_documents(tmp_path: Path) -> None:
    """Runs stand in the order of their rows; which they are, and all that they name, does not depend on it."""
    header, *lines = (FIXTURES / "csv" / "shapes-losses.csv").read_bytes().splitlines(keepends=True)
    found = []
    for number, order in enumerate((lines, lines[::-1], lines[5:] + lines[:5])):
        path = tmp_path / str(number) / "in.csv"
        path.parent.mkdir()
        path.write_bytes(header + b"".join(order))
        out = converted([path], tmp_path / f"out{number}", "jsonl")
        out.pop("report.json")
        found.append(out | {"runs.jsonl": b"".join(sorted(out["runs.jsonl"].splitlines(keepends=True)))})
    assert found[0] == found[1] == found[2]


@pytest.mark.usefixtures("one_catalogue")
@pytest.mark.parametrize("format_", FORMATS)
def test_any_block_size_gives_the_same_bytes(inputs: Path, tmp_path: Path, monkeypatch, format_: str) -> None:
    reference = converted([inputs], tmp_path / "reference", format_)
    for block in BLOCKS if format_ != "jsonl" else (64, *BLOCKS):
        monkeypatch.setattr(sources, "BLOCK", block)
        assert converted([inputs], tmp_path / str(block), format_) == reference, block


HEADER = ",".join(COLUMNS).encode() + b"\r\n"
GOOD = text([ROW]).encode().splitlines(keepends=True)[1]
PIECES = (
    GOOD, GOOD.replace(b"\r\n", b"\n"), b"\r\n", b"\n", b"\r", b'"', b",", b"\xff", b"too,few\n", b'"a\nb"', GOOD[:40],
    GOOD[40:], b'x"y,' + GOOD, b"," + GOOD,
)  # fmt: skip


def rows_of(path: Path, block: int) -> tuple[list[tuple[object, ...]], list[Fault], str]:
    """Everything that reading gives: rows with their line numbers, lines that are none, and why it ended early."""
    said = ""
    frames: list[pl.DataFrame] = []
    faults: list[Fault] = []
    before, sources.BLOCK = sources.BLOCK, block
    try:
        for batch in read(Source("in.csv", path), 0):
            frames.append(batch.frame.select(*COLUMNS, "file", "line"))
            faults += batch.faults
    except InputError as error:
        said = str(error)
    finally:
        sources.BLOCK = before
    return (pl.concat(frames).rows() if frames else []), faults, said


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.sampled_from((HEADER, b"\n\r\n" + HEADER, b"\n\n", b"")),
    st.lists(st.sampled_from(PIECES), max_size=12),
    st.sampled_from((1, 7, 64, 300)),
)
@example(HEADER, [GOOD, b'"', GOOD, GOOD, b'"', GOOD], 64)
@example(HEADER, [b'x"y\n', b'a"b\n', GOOD, GOOD, b'c"d\n', GOOD], 7)
@example(HEADER, [GOOD, b"\r", GOOD], 1)
@example(HEADER, [b'"a"b"c",' + GOOD.partition(b",")[2], b"too,few\n", GOOD], 1)
@example(b"\n\n", [], 1)
def test_any_cut_of_any_text_reads_the_same(tmp_path: Path, head: bytes, pieces: list[bytes], block: int) -> None:
    path = tmp_path / "in.csv"
    path.write_bytes(head + b"".join(pieces))
    assert rows_of(path, block) == rows_of(path, 4 << 20)


def test_too_many_malformed_lines_end_the_reading_at_the_same_line(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(reading, "MALFORMED", 3)
    path = tmp_path / "in.csv"
    path.write_bytes(HEADER + (GOOD + b"too,few\n" + GOOD + b'"a"b,c\n') * 6)
    rows, faults, said = rows_of(path, 4 << 20)
    assert len(faults) == 4
    assert rows
    assert "more than 3 malformed lines" in said
    for block in (1, 64, 1000):
        assert rows_of(path, block) == (rows, faults, said)


def test_names_are_told_as_utf_8(tmp_path: Path) -> None:
    """Names that are no UTF-8 are told with their bytes escaped, and do not stop a report."""
    name = tmp_path / os.fsdecode(b"\xff\xe9.csv")
    name.write_text(text([ROW]), newline="")
    report = convert([name], tmp_path / "out", Options(format="jsonl"))
    assert report.inputs[0].file.endswith("\\xff\\xe9.csv")
    assert report.bundles == 1
    assert len(list(itertools.islice((tmp_path / "out").glob("*.jsonl"), 9))) == 5
