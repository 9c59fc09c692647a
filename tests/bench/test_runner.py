"""The runner with real worker processes, fake kernels and a fake device."""

import csv
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from fakes.main import runner

from kernelindex_liger.bench.locks import Target
from kernelindex_liger.bench.plan import Selection
from kernelindex_liger.bench.results import read_sidecar, sidecar_path

HERE = Path(__file__).parent
ONE = [Target("0", {}, "fake-0")]


def rows(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def statuses(path):
    return {
        (m.series.kernel_provider, m.series.kernel_operation_mode, c.x_value): c.status
        for m in read_sidecar(sidecar_path(path))
        for c in m.cases
    }


class Notes:
    """An observer that keeps what it is told."""

    def __init__(self):
        self.total = 0
        self.ended = []
        self.notes = []

    def planned(self, more):
        self.total += more

    def started(self, series, x):
        pass

    def finished(self, series, x, case, values):
        self.ended.append((series.tagged, series.pass_name, x, case.status))

    def note(self, text):
        self.notes.append(text)


def test_rows_sidecar_and_counts_of_a_run_without_trouble(tmp_path):
    out, notes = tmp_path / "results.csv", Notes()
    outcome = runner(out, ["steady"], notes).run(ONE)
    assert (outcome.done, outcome.failed, outcome.fatal) == (12, 0, [])
    assert notes.total == len(notes.ended) == 12
    assert out.read_bytes().count(b"\r\n") == 13
    assert out.read_bytes().count(b"\n") == 13
    found = rows(out)
    assert [(r["kernel_operation_mode"], r["kernel_provider"], r["x_value"]) for r in found] == [
        (p, provider, x) for p in ("forward", "full") for provider in ("base", "other") for x in "123"
    ]
    assert {r["extra_benchmark_config_str"] for r in found} == {'{"a": 1, "b": null}'}
    assert [found[1][f"y_value_{q}"] for q in (50, 20, 80)] == ["2.5", "2.25", "2.75"]
    line = read_sidecar(sidecar_path(out))[0]
    assert line.series.timestamp == found[0]["timestamp"]
    assert line.cases[0].samples == 10
    assert line.cases[0].before.clock_event_reasons == ("sw_power_cap",)
    assert (line.protocol.harness, line.protocol.rep_ms, line.protocol.warmup_ms) == (
        "triton.testing.do_bench",
        10,
        25,
    )


def test_each_failure_costs_its_case_alone(tmp_path, monkeypatch):
    trace = tmp_path / "trace"
    monkeypatch.setenv("FAKE_TRACE", str(trace))
    out = tmp_path / "results.csv"
    outcome = runner(out, ["faulty"], Notes(), Selection(passes=("forward",)), timeout=3).run(ONE)
    expected = {
        "raises": "runtime_error",
        "exits": "crashed",
        "killed": "crashed",
        "sleeps": "timeout",
        "allocates": "resource_exceeded",
        "exhausts": "resource_exceeded",
        "poisons": "runtime_error",
    }
    found = statuses(out)
    assert {p: s for (p, _, x), s in found.items() if x == "2" and s != "ok"} == expected
    assert [k for k, s in found.items() if k[2] != "2" and s != "ok"] == []
    assert (outcome.done, outcome.failed) == (9 * 3 - 7, 7)
    measured = {(r["kernel_provider"], r["x_value"]) for r in rows(out)}
    assert all(((p, "2") in measured) == (p not in expected) for p in ("base", *expected, "last"))
    errors = {m.series.kernel_provider: c.error for m in read_sidecar(sidecar_path(out)) for c in m.cases if c.error}
    assert errors["raises"] == "RuntimeError: this case raises"
    assert errors["exits"] == "the worker exited with status 7: about to exit"
    assert "SIGKILL" in errors["killed"]
    assert "3 s" in errors["sleeps"]
    # A fresh process goes on after what ends or spoils one, the same process after what does not.
    lines = [line.split() for line in trace.read_text().splitlines()]
    pids = {(line[1], line[3]): line[4] for line in lines}
    for provider in ("exits", "killed", "sleeps", "poisons"):
        assert pids[provider, "2"] != pids[provider, "3"], provider
    for provider in ("raises", "allocates", "exhausts"):
        assert pids[provider, "2"] == pids[provider, "3"], provider


def test_running_again_does_only_what_is_missing(tmp_path, monkeypatch):
    trace = tmp_path / "trace"
    monkeypatch.setenv("FAKE_TRACE", str(trace))
    out = tmp_path / "results.csv"
    only = Selection(passes=("forward",), providers=("base", "raises"))
    runner(out, ["faulty"], Notes(), only).run(ONE)
    before = out.read_bytes()
    trace.unlink()
    again = runner(out, ["faulty"], Notes(), only).run(ONE)
    assert (again.done, again.failed, again.present) == (0, 1, 5)
    assert [line.split()[1:4] for line in trace.read_text().splitlines()] == [["raises", "forward", "2"]]
    assert out.read_bytes() == before
    trace.unlink()
    skipped = runner(out, ["faulty"], Notes(), only, skip_failed=True).run(ONE)
    assert (skipped.done, skipped.failed) == (0, 0)
    assert not trace.exists()
    over = runner(out, ["faulty"], Notes(), only, overwrite=True).run(ONE)
    assert (over.done, over.failed, over.present) == (5, 1, 0)
    assert len(rows(out)) == 5


def test_memory_probes_decide_what_is_measured(tmp_path):
    out, notes = tmp_path / "results.csv", Notes()
    outcome = runner(out, ["probed"], notes, Selection(passes=("full",))).run(ONE)
    assert outcome.done == 2
    assert [r["x_value"] for r in rows(out)] == ["1", "2"]
    assert notes.total == 2  # 5 by the estimate, corrected by the probe


def test_a_device_that_cannot_be_used_is_said(tmp_path, monkeypatch):
    monkeypatch.setenv("FAKE_BROKEN", "1")
    outcome = runner(tmp_path / "results.csv", ["steady"], Notes()).run(ONE)
    assert outcome.fatal == ["device 0: RuntimeError: no fake device here"]
    assert not (tmp_path / "results.csv").exists()


def test_series_are_spread_over_devices(tmp_path, monkeypatch):
    trace = tmp_path / "trace"
    monkeypatch.setenv("FAKE_TRACE", str(trace))
    monkeypatch.setenv("FAKE_SECONDS", "0.4")
    out = tmp_path / "results.csv"
    outcome = runner(out, ["steady"], Notes()).run([Target("0", {}, "a"), Target("1", {}, "b")])
    assert outcome.done == 12
    assert len(rows(out)) == 12
    assert len({line.split()[4] for line in trace.read_text().splitlines()}) == 2


def test_devices_of_two_kinds_are_not_mixed(tmp_path):
    targets = [Target("0", {}, "a"), Target("1", {"FAKE_GPU": "NVIDIA Other"}, "b")]
    outcome = runner(tmp_path / "results.csv", ["steady"], Notes()).run(targets)
    assert len({r["gpu_name"] for r in rows(tmp_path / "results.csv")}) == 1
    assert len(outcome.fatal) <= 1


def start(out, *kernels, seconds="0.5", lock="fake-0", **more):
    environment = {**os.environ, "FAKE_SECONDS": seconds, **more}
    return subprocess.Popen(
        [sys.executable, "-m", "fakes.main", str(out), lock, *kernels],
        env=environment,
        stderr=subprocess.PIPE,
        text=True,
    )


def wait_for(condition, seconds=30):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return
        time.sleep(0.05)
    pytest.fail("it did not happen in time")


def alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    # A zombie that nobody waits for is gone too.
    return Path(f"/proc/{pid}/stat").read_text().split(")")[1].split()[0] != "Z"


def test_a_killed_run_keeps_its_series_leaves_no_worker_and_goes_on(tmp_path, monkeypatch):
    trace = tmp_path / "trace"
    monkeypatch.setenv("FAKE_TRACE", str(trace))
    out = tmp_path / "results.csv"
    process = start(out, "steady")
    wait_for(lambda: out.exists() and len(rows(out)) >= 3)
    process.send_signal(signal.SIGKILL)
    process.wait()
    worker = int(trace.read_text().splitlines()[-1].split()[4])
    wait_for(lambda: not alive(worker))
    kept = rows(out)
    assert 3 <= len(kept) < 12
    outcome = runner(out, ["steady"], Notes()).run(ONE)
    assert outcome.present == len(kept)
    assert outcome.done == 12 - len(kept)
    found = rows(out)
    assert found[: len(kept)] == kept
    assert len({tuple(r[c] for c in ("kernel_provider", "kernel_operation_mode", "x_value")) for r in found}) == 12


def test_an_interrupted_run_keeps_what_its_series_measured(tmp_path):
    out = tmp_path / "results.csv"
    process = start(out, "steady", seconds="1")
    assert process.stderr is not None
    process.stderr.readline()  # the first case is done
    process.send_signal(signal.SIGINT)
    assert process.wait(20) == 1
    assert 1 <= len(rows(out)) <= 2
    assert read_sidecar(sidecar_path(out))[0].cases[0].status == "ok"


def test_two_runs_do_not_time_on_one_device_at_once(tmp_path, monkeypatch):
    trace = tmp_path / "trace"
    monkeypatch.setenv("FAKE_TRACE", str(trace))
    gate = tmp_path / "gate"
    first = start(tmp_path / "a.csv", "steady", seconds="0", FAKE_GATE=str(gate))
    wait_for(trace.exists)
    second = start(tmp_path / "b.csv", "steady", seconds="0")
    assert "in use by another run" in second.stderr.readline()
    gate.touch()
    assert first.wait(60) == 0
    assert second.wait(60) == 0
    order = [line.split()[4] for line in trace.read_text().splitlines()]
    assert order == [order[0]] * 12 + [order[-1]] * 12
    assert order[0] != order[-1]


def test_two_runs_into_one_file_lose_nothing(tmp_path):
    out = tmp_path / "results.csv"
    runs = [start(out, kernel, seconds="0.05", lock=kernel) for kernel in ("steady", "probed")]
    assert [run.wait(30) for run in runs] == [0, 0]
    assert len(rows(out)) == 12 + 4
    lines = sidecar_path(out).read_text().splitlines()
    assert len([json.loads(line) for line in lines]) == 4 + 2
