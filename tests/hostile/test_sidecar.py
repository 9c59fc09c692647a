"""Sidecars that somebody else wrote: each line is used or is a counted fault, and the CSV converts all the same."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from kernelindex_liger.bench.results import read_sidecar
from kernelindex_liger.conversion import convert
from kernelindex_liger.documents.sidecar import SCHEMA
from tests.conftest import ROW, text
from tests.hostile.files import sparse
from tests.hostile.measured import MIB, run

SERIES = {name: ROW[name] for name in ROW if not name.startswith(("y_", "x_value"))}
LINE = {
    "schema": SCHEMA,
    "series": SERIES,
    "gpu": {"name": ROW["gpu_name"], "count": 1},
    "software": {"runner": "1"},
    "protocol": {"harness": "triton.testing.do_bench"},
    "cases": [{"x_value": ROW["x_value"], "status": "ok", "samples": 100}],
}
SOUND = json.dumps(LINE).encode()


@pytest.fixture
def csv(tmp_path: Path) -> Path:
    path = tmp_path / "in.csv"
    path.write_text(text([ROW]), newline="")
    return path


def test_the_line_that_the_others_vary_is_sound(csv: Path) -> None:
    path = csv.with_name("in.meta.jsonl")
    path.write_bytes(SOUND)
    report = convert([csv], None)
    assert report.sidecars is not None
    assert (report.sidecars.measured, report.sidecars.faulty_lines, report.bad_input) == (1, 0, False)
    assert len(read_sidecar(path)) == 1


def case(**over: object) -> bytes:
    return json.dumps(LINE | {"cases": [{"x_value": "1", "status": "ok"} | over]}).encode()


@pytest.mark.parametrize(
    "line",
    [
        b"\xff\xfe",
        b"null",
        b"[" * 500_000,
        b'{"a":' * 100_000,
        SOUND[:-1],
        SOUND + SOUND,
        b'{"schema": ' + b"9" * 10**5 + b"}",
        b"x" * (2 * MIB),
        json.dumps(LINE | {"more": 1}).encode(),
        json.dumps(LINE | {"series": SERIES | {"kernel_name": "k" * 10_001}}).encode(),
        json.dumps(LINE | {"gpu": {"name": ROW["gpu_name"], "count": 0}}).encode(),
        json.dumps(LINE | {"gpu": {"name": ROW["gpu_name"], "count": 10**400}}).encode(),
        json.dumps(LINE | {"gpu": {"name": ROW["gpu_name"], "count": 1, "power_limit_watts": float("nan")}}).encode(),
        json.dumps(LINE | {"gpu": {"name": ROW["gpu_name"], "count": 1, "power_limit_watts": 1e300}}).encode(),
        json.dumps(LINE | {"protocol": {"harness": "triton.testing.do_bench", "rep_ms": -1}}).encode(),
        json.dumps(
            LINE | {"protocol": {"harness": "triton.testing.do_bench", "environment": {"A": "x" * 9999}}}
        ).encode(),
        case(samples=10**30),
        case(samples=True),
        case(seconds=float("inf")),
        case(error="\ud800"),
        case(x_value=["1"]),
        case(before={"temperature_c": 10**20}),
    ],
)
def test_a_line_that_is_none_is_counted(csv: Path, line: bytes) -> None:
    path = csv.with_name("in.meta.jsonl")
    path.write_bytes(line + b"\n" + SOUND + b"\n")
    report = convert([csv], None)
    assert report.sidecars is not None
    assert report.sidecars.adds_up
    assert (report.bundles, report.sidecars.measured, report.sidecars.faulty_lines) == (1, 1, 1)
    fault = report.sidecars.faults[0]
    assert (fault.file, fault.line) == (str(path), 1)
    assert len(fault.problem) < 500
    assert len(read_sidecar(path)) in {1, 2}


def test_line_ends_are_line_feeds_alone(csv: Path) -> None:
    path = csv.with_name("in.meta.jsonl")
    error = "a\u2028b\u0085c\u2029d"
    cases = [*LINE["cases"], {"x_value": "2", "status": "runtime_error", "error": error}]  # type: ignore[misc]
    path.write_text(json.dumps(LINE | {"cases": cases}, ensure_ascii=False) + "\r\n", newline="")
    assert read_sidecar(path)[0].cases[1].error == error
    report = convert([csv], None)
    assert report.sidecars is not None
    assert (report.sidecars.failed_runs, report.sidecars.faulty_lines) == (1, 0)


def test_a_pipe_beside_a_csv_is_not_waited_for(csv: Path) -> None:
    path = csv.with_name("in.meta.jsonl")
    os.mkfifo(path)
    report = convert([csv], None)
    assert report.sidecars is not None
    assert "not a regular file" in str(report.sidecars.files[0].error)
    assert read_sidecar(path) == []


def test_a_sidecar_of_a_gibibyte(csv: Path, tmp_path: Path) -> None:
    sparse(tmp_path / "in.meta.jsonl", SOUND + b"\n", 1024 * MIB, b"\n" + SOUND)
    done = run("csv", csv, "-o", tmp_path / "out")
    assert done.status == 3
    assert "larger than 128 MiB; the rest was not read" in done.errors
    assert done.peak < 800 * MIB


def test_many_small_cases(csv: Path, tmp_path: Path) -> None:
    cases = json.dumps([{"x_value": str(x), "status": "timeout"} for x in range(5_000)])
    line = json.dumps(LINE | {"cases": []}).replace('"cases": []', f'"cases": {cases}') + "\n"
    path = tmp_path / "in.meta.jsonl"
    path.write_text(line * (32 * MIB // len(line)))
    done = run("csv", csv, "-o", tmp_path / "out", seconds=300)
    found = json.loads((tmp_path / "out" / "report.json").read_text())["sidecars"]
    assert found["replaced"] == found["cases"] - 5_000
    assert found["cases"] == 505_000
    assert "more than 500,000 cases; the rest was not read" in done.errors
    assert done.peak < 900 * MIB
