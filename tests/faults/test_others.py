"""What else writes, struck at its writes: history, marks, reports, the CSV and sidecar of the benchmark."""

from __future__ import annotations

import errno
import json
import shutil
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from kernelindex_liger.bench import results as bench_results
from kernelindex_liger.bench import table
from kernelindex_liger.bench.results import Results, read_sidecar, sidecar_path
from kernelindex_liger.documents.sidecar import Gpu, Protocol, SeriesCase, Software
from kernelindex_liger.files import OutputError
from tests.bench.test_table import SERIES
from tests.faults.forks import Forks
from tests.faults.harness import ALL, csvs, files, run, small, struck, unfinished, walk, well_said, whole
from tests.faults.injection import Injection, injected

FAULTS = ("full", "denied", "interrupted", "vanished")


@pytest.fixture(autouse=True)
def _small():
    with small():
        yield


@pytest.fixture(scope="module")
def forks():
    with Forks() as started:
        yield started


Command = Callable[[Path], list[str]]


def history_add(csv: Path) -> Command:
    return lambda folder: ["history", "add", str(csv), "--history", str(folder), "--label", "a", "--quiet"]


def report(csv: Path) -> Command:
    return lambda folder: ["report", str(csv), "-o", str(folder / "deep" / "report.md")]


@pytest.mark.parametrize("make", [history_add, report])
def test_history_and_report_are_whole_and_completed_by_the_next(
    tmp_path: Path, forks: Forks, make: Callable[[Path], Command]
) -> None:
    csv, _ = csvs(tmp_path)
    command = make(csv)
    plain = tmp_path / "reference"
    status, said, injection = struck(plain, command(plain))
    assert (status, said) == (0, "")
    reference = files(plain)
    assert {one.kind for one in injection.operations} >= {"open", "write", "replace", "mkdir"}
    kills = list(walk(injection.operations, ["killed"]))
    for fault, at in [*walk(injection.operations, FAULTS), *(kills if ALL else kills[::3])]:
        folder = tmp_path / "folder"
        about = f"{fault} at {at}: {injection.operations[at]}"
        if fault == "killed":
            assert forks.killed(folder, command(folder), at) == -signal.SIGKILL
        else:
            status, said, _ = struck(folder, command(folder), fault, at)
            if status == 6:
                well_said(said, fault)
                assert unfinished(folder) == [] or injection.operations[at].kind == "unlink", about
            else:
                assert (status, said) == (0, ""), about
                assert files(folder) == reference, about
        whole(folder, reference)
        assert run(*command(folder)) == (0, ""), about
        assert files(folder) == reference, about
        assert unfinished(folder) == [], about
        assert make is report or run("history", "check", "--history", str(folder))[0] == 0, about
        shutil.rmtree(folder)


def test_a_decision_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    csv, _ = csvs(tmp_path)
    run(*history_add(csv)(tmp_path / "history"))
    decide = ["history", "retire", "rms_norm/*", "--why", "tried", "--history"]
    plain = shutil.copytree(tmp_path / "history", tmp_path / "plain")
    _, _, injection = struck(plain, [*decide, str(plain)])
    for fault, at in walk(injection.operations, FAULTS):
        folder = shutil.copytree(tmp_path / "history", tmp_path / "struck")
        status, said, _ = struck(folder, [*decide, str(folder)], fault, at)
        marks = list((folder / "marks").glob("*.json"))
        if status == 6:
            assert marks == []
            assert len(said.splitlines()) == 1
            assert unfinished(folder) == []
        else:
            assert len(marks) == 1
        for mark in marks:
            json.loads(mark.read_bytes())
        shutil.rmtree(folder, ignore_errors=True)


def add(path: Path) -> None:
    """Merge one series of two cases, of which one failed."""
    Results(path, overwrite=False).add(
        SERIES,
        {1024: (0.5, 0.4, 0.6)},
        cases=(
            SeriesCase(x_value="1024", status="ok"),
            SeriesCase(x_value="2048", status="timeout", error="no answer"),
        ),
        gpu=Gpu(name="NVIDIA H100 80GB HBM3", count=1),
        software=Software(runner="0.1.0"),
        protocol=Protocol(harness="event_loop"),
        liger_version="0.8.5",
    )


def test_bench_results_are_whole_and_completed_by_the_next(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(bench_results, "utc_now", lambda: "2026-01-02 03:04:05")
    plain = tmp_path / "reference" / "results.csv"
    plain.parent.mkdir()
    with injected(Injection(plain.parent)) as injection:
        add(plain)
    assert injection.strays == []
    reference = files(plain.parent)
    assert set(reference) == {"results.csv", "results.meta.jsonl"}
    for fault, at in walk(injection.operations, FAULTS):
        path = tmp_path / "out" / "results.csv"
        path.parent.mkdir()
        about = f"{fault} at {at}: {injection.operations[at]}"
        with injected(Injection(path.parent, fault, at)):
            try:
                add(path)
            except OutputError as error:
                assert "cannot be written" in str(error)  # noqa: PT017 - some faults are survived
                assert unfinished(path.parent) == [], about
        whole(path.parent, reference)
        rows = {row["x_value"] for row in table.read(path)}
        lines = {case.x_value for meta in read_sidecar(sidecar_path(path)) for case in meta.cases}
        assert rows <= lines, f"{about}: a row without a line that says how it was measured"
        path.parent.mkdir(exist_ok=True)
        add(path)
        assert path.read_bytes() == reference["results.csv"], about
        assert set(sidecar_path(path).read_bytes().splitlines()) == set(reference["results.meta.jsonl"].splitlines())
        assert unfinished(path.parent) == [], about
        shutil.rmtree(path.parent)


def test_bench_tells_that_its_results_cannot_be_written(tmp_path: Path) -> None:
    """`bench --plan` writes the same file by the same road; a folder in its place stands for what is refused."""
    (tmp_path / "plan.csv").mkdir()
    status, said = run("bench", "--plan", "-k", "rms_norm", "-o", str(tmp_path / "plan.csv"), "--overwrite")
    assert status == 2  # the option itself takes no folder
    status, said = run("bench", "--plan", "-k", "rms_norm", "-o", "/dev/null/plan.csv", "--all-providers")
    assert status == 6
    assert "cannot be written" in said


def test_a_link_or_a_device_is_not_written_through(tmp_path: Path) -> None:
    csv, _ = csvs(tmp_path)
    target, link = tmp_path / "target.md", tmp_path / "link.md"
    target.write_text("mine")
    link.symlink_to(target)
    for place in (link, Path("/dev/full")):
        status, said = run("report", str(csv), "-o", str(place), "--format", "md")
        assert status == 6, said
        assert "cannot be written: it is" in said
    assert target.read_text() == "mine"
    assert link.is_symlink()


def test_permissions_of_a_file_that_is_written_anew_stay(tmp_path: Path) -> None:
    path = tmp_path / "results.csv"
    table.write(path, [])
    path.chmod(0o640)
    table.write(path, table.rows_of(SERIES, gpu="G", liger_version=""))
    assert path.stat().st_mode & 0o777 == 0o640


def test_a_living_writers_file_is_not_swept(tmp_path: Path) -> None:
    from kernelindex_liger import files as writing

    path = tmp_path / "a.txt"
    left = tmp_path / f"{writing.SINGLE}left"
    left.write_text("half")
    with writing.replacing(path) as file:
        file.write(b"one")
        assert not left.exists()
        writing.write_text(tmp_path / "b.txt", "two")
        writing.sweep(tmp_path)
    assert path.read_bytes() == b"one"
    assert {one.name for one in tmp_path.iterdir()} == {"a.txt", "b.txt"}


def test_a_full_standard_output_is_said(tmp_path: Path) -> None:
    import subprocess
    import sys

    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full here")
    csv, _ = csvs(tmp_path)
    command = [sys.executable, "-m", "kernelindex_liger", "report", str(csv), "--format", "md"]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 6, done.stderr
    assert done.stderr.count("\n") == 1
    assert "standard output: cannot be written: No space left on device" in done.stderr
    assert errno.ENOSPC == 28
