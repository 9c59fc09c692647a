"""The whole road with the real benchmark, rehearsed on the CPU: bench, import, history, judgement, reports."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from kernelindex_liger.history.store import History
from kernelindex_liger.nightly.night import all_nights
from tests.conftest import need

pytestmark = [pytest.mark.bench, pytest.mark.slow]

need("torch", "triton", "liger_kernel", "numpy")

SETTINGS = """
html = false
[bench]
arguments = ["--rehearse", "--kernel", "rms_norm", "--metric", "speed"]
"""
ROWS = 6
"""rms_norm: Liger and HuggingFace, forward, backward and full."""

COMMAND = [sys.executable, "-m", "kernelindex_liger", "nightly"]


@pytest.fixture
def home(tmp_path):
    folder = tmp_path / "home"
    folder.mkdir()
    (folder / "nightly.toml").write_text(SETTINGS)
    return folder


def nightly(home):
    return subprocess.run([*COMMAND, "--home", str(home)], check=False, capture_output=True, text=True)


def measured(night):
    path = night / "input" / "results.csv"
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def processes(of):
    """Ids of processes that have `of` on their command line, this one not among them."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = path.read_bytes().decode(errors="replace")
        except OSError:
            continue
        if of in line and int(path.parent.name) != os.getpid():
            found.append(int(path.parent.name))
    return found


def test_a_rehearsed_night_walks_the_whole_road_and_is_never_0(home):
    first = nightly(home)
    assert first.returncode == 5, first.stderr
    (night,) = all_nights(home)
    rows = measured(night.folder)
    assert {row["gpu_name"] for row in rows} == {"CPU (rehearsal)"}
    assert len(rows) == ROWS
    assert night.complete
    assert night.done("import")["skipped"] == ROWS
    assert json.loads((night.folder / "out" / "report.json").read_text())["skipped_by_reason"] == {"rehearsal": ROWS}
    assert json.loads((night.folder / "judgement.json").read_text())["runs"] == []
    for name in ("report.txt", "report.md"):
        assert "a rehearsal on the CPU, which measures nothing" in (night.folder / name).read_text()
    assert History(home / "history").runs() == []
    assert not (home / "latest").exists()
    steps = [line.split()[2].rstrip(":") for line in first.stderr.splitlines() if "exit status" not in line]
    assert steps == ["lock", "measure", "import", "history", "judge", "report", "latest", "retention"]

    second = nightly(home)
    assert second.returncode == 5, second.stderr
    assert [night.complete for night in all_nights(home)] == [True, True]


def test_a_night_killed_in_the_middle_of_the_benchmark_goes_on_with_the_rest(home):
    job = subprocess.Popen([*COMMAND, "--home", str(home), "--quiet"])
    ends = time.monotonic() + 300
    while not (rows := [row for night in all_nights(home) for row in measured(night.folder)]):
        assert job.poll() is None
        assert time.monotonic() < ends
        time.sleep(0.1)
    job.kill()
    assert job.wait() == -signal.SIGKILL
    (night,) = all_nights(home)
    results = str(night.folder / "input" / "results.csv")
    while processes(results):
        assert time.monotonic() < ends, "the benchmark outlives its job"
        time.sleep(0.1)
    rows = measured(night.folder)
    assert 0 < len(rows) < ROWS
    assert not night.complete

    again = nightly(home)
    assert again.returncode == 5, again.stderr
    assert "taking up an unfinished night" in again.stderr
    (night,) = all_nights(home)
    assert night.complete
    assert len(measured(night.folder)) == ROWS
    assert measured(night.folder)[: len(rows)] == rows
    assert f"{len(rows)} were there already" in (night.folder / "bench.log").read_text()
