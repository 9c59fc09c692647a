"""A conversion struck at every write: what is there is whole, the message is clear, and a second run completes it."""

from __future__ import annotations

import functools
import os
import shutil
import signal
import tempfile
from pathlib import Path

import pytest

from kernelindex_liger.conversion.validate import validate
from tests.faults.harness import (
    ALL,
    FORMATS,
    Files,
    csvs,
    files,
    run,
    small,
    struck,
    unfinished,
    walk,
    well_said,
    whole,
)
from tests.faults.injection import Operation

FAULTS = ("full", "denied", "interrupted", "vanished")
STARTS = {"tree": "older", "jsonl": "empty", "parquet": "older", "submission": "older"}
"""What stands in the folder at first, where not both are tried."""

Scene = tuple[Path, Path, Files, Files, Files]


@pytest.fixture(autouse=True)
def _small():
    with small():
        yield


@pytest.fixture(scope="module")
def scene(tmp_path_factory) -> functools.partial:
    """Makes, once a format: both CSVs, the files of each, and those of the rows that end up contradicted."""
    folder = tmp_path_factory.mktemp("scene")
    new, old = csvs(folder)

    @functools.cache
    def made(format_: str) -> Scene:
        with small():
            outs = []
            for source in (new, old):
                out = folder / f"{format_}-{source.parent.name}"
                run("csv", str(source), "-o", str(out), "--format", format_, "-q")
                assert validate(out).faults == []
                outs.append(files(out))
            return new, old, *outs, _contradicted(folder, new) if format_ == "tree" else {}

    return made


def _contradicted(folder: Path, source: Path) -> Files:
    """The files of the first contradicted row: complete documents, there until the contradiction is known."""
    lone = folder / "lone.csv"
    lone.write_bytes(b"".join(source.read_bytes().splitlines(keepends=True)[:2]))
    run("csv", str(lone), "-o", str(folder / "lone"), "-q")
    return {name: content for name, content in files(folder / "lone").items() if name.startswith("runs/")}


def arguments(source: Path, out: Path, format_: str) -> list[str]:
    return ["csv", str(source), "-o", str(out), "--format", format_, "-q"]


@functools.cache
def operations(format_: str, start: str, new: Path, old: Path) -> list[Operation]:
    with tempfile.TemporaryDirectory() as folder:
        out = prepared(Path(folder) / "out", format_, start, old)
        status, _, injection = struck(out, arguments(new, out, format_))
        assert status == 3  # a contradicted row is bad input; all else is converted
        return injection.operations


def prepared(out: Path, format_: str, start: str, old: Path) -> Path:
    if start == "older":
        run(*arguments(old, out, format_))
    return out


@pytest.mark.parametrize("format_", FORMATS)
def test_a_conversion_writes_as_expected(scene, format_: str) -> None:
    """The walk below is about something: files are opened, written and replaced."""
    new, old, *_ = scene(format_)
    kinds = [one.kind for one in operations(format_, "empty", new, old)]
    assert {"open", "write", "replace", "mkdir"} <= set(kinds)
    assert kinds.count("replace") >= {"tree": 15, "jsonl": 6, "parquet": 2, "submission": 3}[format_]


@pytest.mark.parametrize(
    ("format_", "start"),
    [(format_, start) for format_ in FORMATS for start in ("empty", "older") if ALL or STARTS[format_] == start],
)
def test_a_struck_conversion_is_whole_and_completed_by_the_next(
    scene, tmp_path: Path, format_: str, start: str
) -> None:
    new, old, reference, older, contradicted = scene(format_)
    faults = FAULTS if start == "empty" else FAULTS[::-1]
    for fault, at in walk(operations(format_, start, new, old), faults):
        out = prepared(tmp_path / "out", format_, start, old)
        status, said, injection = struck(out, arguments(new, out, format_), fault, at)
        about = f"{fault} at {at}: {injection.happened}"
        assert injection.happened is not None, about
        whole(out, reference, older if start == "older" else {}, contradicted)
        if status == 6:
            well_said(said, fault)
            assert unfinished(out) == [] or injection.happened.kind == "unlink", about
        else:
            # what failed was no more than tidying up, or the folder vanished before anything stood in it
            assert status == 3, about
            assert files(out) == reference, about
        completed(out, new, format_, reference, about)
        shutil.rmtree(out)


def completed(out: Path, new: Path, format_: str, reference: Files, about: str) -> None:
    status, said = run(*arguments(new, out, format_))
    assert (status, said) == (3, ""), about
    assert files(out) == reference, about
    assert unfinished(out) == [], about
    assert validate(out).faults == [], about


@pytest.mark.parametrize("format_", FORMATS)
def test_the_clock_going_backwards_changes_nothing(scene, tmp_path: Path, monkeypatch, format_: str) -> None:
    import time

    new, _, reference, *_ = scene(format_)
    out = tmp_path / "out"
    hours = iter(range(10_000, 0, -1))
    monkeypatch.setattr(time, "time", lambda: next(hours) * 3600.0)
    monkeypatch.setattr(time, "time_ns", lambda: next(hours) * 3600 * 10**9)
    assert run(*arguments(new, out, format_))[0] == 3
    assert files(out) == reference
    future = 4_000_000_000
    for path in out.rglob("*"):
        os.utime(path, (future, future))
    completed(out, new, format_, reference, "times in the future")
    assert all(path.stat().st_mtime == future for path in out.rglob("*") if path.name in reference)


def test_other_bytes_of_the_same_size_and_time_are_replaced(scene, tmp_path: Path) -> None:
    """A clock that stands still or goes back gives two files one time; only their bytes tell them apart."""
    new, _, reference, *_ = scene("jsonl")
    out = tmp_path / "out"
    for _ in range(2):
        run(*arguments(new, out, "jsonl"))
        runs = out / "runs.jsonl"
        times = runs.stat()
        assert runs.read_bytes() == reference["runs.jsonl"]
        runs.write_bytes(reference["runs.jsonl"].replace(b"passed", b"failed"))
        os.utime(runs, ns=(times.st_atime_ns, times.st_mtime_ns))
    run(*arguments(new, out, "jsonl"))
    assert files(out) == reference


def test_signals_interrupt_calls_and_change_nothing(scene, tmp_path: Path) -> None:
    """Real signals, many a second: what they interrupt is done again."""
    new, _, reference, *_ = scene("jsonl")
    told = []
    before = signal.signal(signal.SIGALRM, lambda *_: told.append(1))
    signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
    try:
        assert run(*arguments(new, tmp_path / "out", "jsonl")) == (3, "")
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert told
    assert files(tmp_path / "out") == reference


def test_a_link_in_a_files_place_is_replaced_and_not_followed(scene, tmp_path: Path) -> None:
    new, _, reference, *_ = scene("jsonl")
    mine = tmp_path / "mine"
    mine.write_text("mine")
    out = tmp_path / "out"
    out.mkdir()
    for name in ("runs.jsonl", "report.json", ".ligerimport-runs.jsonl", ".ligerimport-left"):
        (out / name).symlink_to(mine)
    completed(out, new, "jsonl", reference, "links")
    assert mine.read_text() == "mine"
    assert not any(path.is_symlink() for path in out.iterdir())


@pytest.mark.parametrize("format_", FORMATS)
def test_input_that_cannot_be_read_touches_nothing(scene, tmp_path: Path, format_: str) -> None:
    _, old, *_ = scene(format_)
    out = prepared(tmp_path / "out", format_, "older", old)
    before = files(out)
    bad = tmp_path / "bad.csv"
    bad.write_text("no,benchmark\n")
    status, said = run(*arguments(bad, out, format_))
    assert status == 3
    assert "not a Liger-Kernel benchmark CSV" in said
    assert files(out) == before
    assert unfinished(out) == []
