"""Sidecars that are broken: what is wrong is said with file and line, and the CSV's rows convert all the same."""

from __future__ import annotations

import json
import os
import string
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from kernelindex_liger import convert, table
from kernelindex_liger.cli import main
from kernelindex_liger.conversion import Options
from kernelindex_liger.conversion.validate import validate
from kernelindex_liger.documents.upstream import REHEARSAL
from tests.conftest import FIXTURES, ROW, text
from tests.conversion.sidecars import LINE, case, line, write

WriteCsv = Callable[..., Path]
RESULTS = str(FIXTURES / "sidecar" / "results.csv")
MANY = "9" * 30


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        ("not json", "Invalid JSON: expected ident at line 1 column 2"),
        ('{"schema": ', "Invalid JSON"),
        ("[]", "Input should be an object"),
        ("{}", "schema: Field required"),
        ("[" * 100_000, "Invalid JSON"),
        ("x" * (1 << 20), "Invalid JSON"),
        ("x" * ((1 << 20) + 1), "longer than 1048576 bytes"),
        ("x" * (9 << 20), "longer than 1048576 bytes"),
        ("\ud800", "Invalid JSON"),
        (line(schema="kernelindex-liger/bench-series/2"), "kernelindex-liger/bench-series/1"),
        (line(extra=1), "extra: Extra inputs are not permitted"),
        (line(series={"gpu_name": None}), "series.gpu_name: Input should be a valid string"),
        (line(gpu={"count": "1"}), "gpu.count: Input should be a valid integer"),
        (line(gpu={"count": 0}), "gpu.count: Input should be greater than 0"),
        (line(gpu={"memory_bytes": -1}), "gpu.memory_bytes: Input should be greater than or equal to 0"),
        (line(gpu={"memory_bytes": 0}), "gpu: memory_bytes: Input should be greater than 0"),
        (line(gpu={"memory_bytes": int(MANY)}), "gpu.memory_bytes: Input should be less than"),
        (line(gpu={"memory_bytes": 1.5}), "gpu.memory_bytes"),
        (line(gpu={"power_limit_watts": -5.0}), "gpu: power_limit_watts: Input should be greater than 0"),
        (json.dumps(line()).replace("700.0", "NaN"), "gpu.power_limit_watts: Input should be a finite number"),
        (json.dumps(line()).replace("700.0", "1e999"), "gpu.power_limit_watts"),
        (line(gpu={"compute_capability": "9" * 201}), "gpu: labels.compute_capability: String should have at most"),
        (line(gpu={"max_sm_clock_mhz": int("9" * 300)}), "gpu.max_sm_clock_mhz: Input should be less than"),
        (json.dumps(line()).replace('"count": 1', f'"count": {"9" * 5000}'), "at line 1"),
        (line(gpu={"name": "GPU"}), "gpu.name is 'GPU'"),
        (line(software={"driver": "5" * 101}), "software: driver: String should have at most 100 characters"),
        (line(software={"torch": "2" * 101}), "software: version: String should have at most 100 characters"),
        (line(software={"runner": 1}), "software.runner: Input should be a valid string"),
        (line(protocol={"harness": "stopwatch"}), "protocol.harness: Input should be"),
        (line(protocol={"harness": "rehearsal"}), "protocol.harness is 'rehearsal'"),
        (line(protocol={"warmup_ms": -1}), "protocol.warmup_ms: Input should be greater than or equal to 0"),
        (line(protocol={"rep_ms": int(MANY)}), "protocol.rep_ms: Input should be less than"),
        (line(protocol={"rep_ms": 86_400_001}), "protocol.rep_ms: longer than 86400000 ms"),
        (line(protocol={"iterations_per_sample": 0}), "protocol: measured_iterations: Input should be greater than 0"),
        (line(protocol={"warmup_iterations": -1}), "protocol.warmup_iterations: Input should be greater"),
        (line(protocol={"environment": {"A": "b" * 400}}), "protocol.environment: too long"),
        (line(cases=[case(1024, "slow")]), "cases.0.status: Input should be"),
        (line(cases=[case(1024, samples=0)]), "cases.0.samples: Input should be greater than 0"),
        (line(cases=[case(1024, samples=int(MANY))]), "cases.0.samples: Input should be less than"),
        (line(cases=[{"x_value": 1024, "status": "ok"}]), "cases.0.x_value: Input should be a valid string"),
        (line(cases=None), "cases: Input should be a valid"),
    ],
)
def test_a_broken_line_is_named_and_the_rows_convert(
    write_csv: WriteCsv, tmp_path: Path, broken: str | dict[str, Any], said: str
) -> None:
    csv = write_csv({}, {"x_value": "2048"})
    convert([csv], tmp_path / "plain", Options(format="jsonl"))
    plain = (tmp_path / "plain" / "runs.jsonl").read_text().splitlines()
    path = csv.with_name("in.meta.jsonl")
    lines = [broken if isinstance(broken, str) else json.dumps(broken), json.dumps(line(cases=[case(2048)]))]
    path.write_bytes("\n".join(["", *lines]).encode("utf-8", "surrogatepass"))
    report = convert([csv], tmp_path / "out", Options(format="jsonl"))
    told = report.sidecars
    assert told is not None
    assert (report.bundles, told.lines, told.faulty_lines, told.measured) == (2, 2, 1, 1)
    assert report.adds_up
    assert report.bad_input
    fault = told.faults[0]
    assert (fault.file, fault.line) == (str(path), 2)
    assert said in fault.problem
    assert fault.problem.endswith("correct the line or take it out")
    first, second = (tmp_path / "out" / "runs.jsonl").read_text().splitlines()
    assert first == plain[0]
    assert second != plain[1]


@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo, lambda path: path.with_suffix(".jsonl.gz").write_bytes(b"x")])
def test_a_sidecar_that_cannot_be_read_costs_no_row(
    write_csv: WriteCsv, tmp_path: Path, make: Callable[[Path], object]
) -> None:
    csv = write_csv({})
    make(tmp_path / "in.meta.jsonl")
    report = convert([csv], tmp_path / "out")
    assert report.sidecars is not None
    assert "cannot be read" in str(report.sidecars.files[0].error)
    assert (report.bundles, report.bad_input) == (1, True)
    assert table([csv]).height == 1


def test_a_sidecar_cut_off_keeps_what_came_before(write_csv: WriteCsv, tmp_path: Path) -> None:
    csv = write_csv({})
    path = write(csv, line(), line(cases=[case(2048, "timeout")]))
    path.write_bytes(path.read_bytes()[:-40])
    told = convert([csv], None).sidecars
    assert told is not None
    assert (told.measured, told.faulty_lines, told.cases) == (1, 1, 1)


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        ([RESULTS, "-o", "{out}"], 0, "failed, now runs: timeout"),
        ([RESULTS, "-o", "{out}", "--no-sidecar"], 0, ""),
        ([RESULTS, "-o", "{out}", "--strict"], 0, ""),
        ([RESULTS, "-o", "{out}", "--sidecar", "/no/such"], 2, "does not exist"),
        ([RESULTS, "-o", "{out}", "--sidecar", RESULTS, "--no-sidecar"], 2, "exclude one another"),
        ([RESULTS, "-o", "{out}", "--sidecar", RESULTS], 3, "results.csv:1: Invalid JSON"),
        ([RESULTS, str(FIXTURES / "csv"), "--dry-run", "--sidecar", RESULTS], 3, "one sidecar for"),
    ],
)
def test_exit_statuses(tmp_path: Path, arguments: list[str], status: int, said: str) -> None:
    done = CliRunner().invoke(main, ["csv", *(one.replace("{out}", str(tmp_path / "out")) for one in arguments)])
    assert done.exit_code == status, done.stderr
    assert said in done.stderr
    if "--no-sidecar" in arguments:
        assert "sidecar" not in done.stderr or status


def test_strict_minds_failed_cases_that_nobody_curated(write_csv: WriteCsv, tmp_path: Path) -> None:
    csv = str(write_csv({}))
    write(Path(csv), line(cases=[case(1024)]), line(series={"kernel_name": "nobody"}, cases=[case(1, "timeout")]))
    lax, strict = (CliRunner().invoke(main, ["csv", csv, "--dry-run", *more]) for more in ([], ["--strict"]))
    assert (lax.exit_code, strict.exit_code) == (0, 1)
    assert "unknown_kernel  nobody" in lax.stderr


def test_standard_input_has_none_but_takes_one_that_is_named(tmp_path: Path) -> None:
    content = text([ROW])
    path = write(tmp_path / "in.csv", line())
    for more, said in (([], ""), (["--sidecar", str(path)], "cases in sidecars")):
        done = CliRunner().invoke(main, ["csv", "-", "--dry-run", *more], input=content)
        assert done.exit_code == 0, done.stderr
        assert said in done.stderr
        assert ("sidecar" in done.stderr) == bool(more)


def test_nothing_of_a_sidecar_drives_a_terminal(write_csv: WriteCsv, tmp_path: Path) -> None:
    csv = write_csv({})
    write(csv, line(**{"\x1b[31m\u202e": 1}), line(series={"kernel_name": "\x1b[31m"}, cases=[case("\x1b", "timeout")]))
    done = CliRunner().invoke(main, ["csv", str(csv), "--dry-run"])
    assert "\x1b" not in done.stderr
    assert "\u202e" not in done.stderr


SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner))
TOLERANT = settings(
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)


def checked(csv: Path, out: Path) -> None:
    """Whatever stands beside the CSV, its row converts, the sums add up, and the documents are sound."""
    report = convert([csv], out, Options(format="jsonl"))
    assert report.adds_up
    assert report.bundles == 1
    assert validate(out).faults == []


@TOLERANT
@given(st.binary(max_size=300) | st.text(string.printable, max_size=300).map(str.encode))
@example(b"\xef\xbb\xbf" + json.dumps(LINE).encode())
@example(json.dumps(LINE).encode() + b"\r\n\r\n" + json.dumps(LINE).encode())
@example(b"\x1f\x8b")
@example(b"\x00")
def test_any_bytes_as_a_sidecar(tmp_path: Path, noise: bytes) -> None:
    csv = tmp_path / "in.csv"
    csv.write_text(text([ROW]), newline="")
    csv.with_name("in.meta.jsonl").write_bytes(noise)
    checked(csv, tmp_path / "out")


@TOLERANT
@given(st.sampled_from(["series", "gpu", "software", "protocol"]), st.data())
def test_any_value_anywhere_in_a_line(tmp_path: Path, part: str, data: st.DataObject) -> None:
    csv = tmp_path / "in.csv"
    csv.write_text(text([ROW]), newline="")
    field = data.draw(st.sampled_from([*LINE[part], "environment", "kernel", "deterministic"]))
    write(csv, line(**{part: {field: data.draw(VALUES)}}), line(cases=data.draw(VALUES)))
    checked(csv, tmp_path / "out")


STATUSES = ["ok", "resource_exceeded", "runtime_error", "timeout", "crashed", "incorrect_numerical"]
LINES = st.builds(
    lambda gpu, kernel, second, metric, cases: line(
        series={
            "kernel_name": kernel,
            "gpu_name": gpu,
            "timestamp": f"2026-01-02 03:04:0{second}",
            "metric_name": metric,
            "metric_unit": "ms" if metric == "speed" else "MB",
        },
        gpu={"name": gpu},
        protocol={"harness": "rehearsal"} if gpu == REHEARSAL else {},
        cases=cases,
    ),
    st.sampled_from([ROW["gpu_name"], REHEARSAL, "unheard of"]),
    st.sampled_from(["rms_norm", "nobody"]),
    st.sampled_from("56"),
    st.sampled_from(["speed", "memory"]),
    st.lists(st.builds(case, st.sampled_from([1024, 2048, "x"]), st.sampled_from(STATUSES)), max_size=4),
)


@TOLERANT
@given(
    st.lists(LINES | st.just("{"), max_size=5), st.lists(st.sampled_from(["1024", "2048"]), max_size=3), st.booleans()
)
def test_any_lines_and_rows_are_accounted_for(tmp_path: Path, lines: list[Any], xs: list[str], memory: bool) -> None:
    csv = tmp_path / "in.csv"
    csv.write_text(text([ROW | {"x_value": x} for x in xs]), newline="")
    write(csv, *lines)
    report = convert([csv], tmp_path / "out", Options(format="jsonl", memory=memory))
    told = report.sidecars
    assert told is not None
    assert report.adds_up
    assert told.rows + told.rows_without == report.rows_read == len(xs)
    assert told.cases == sum(len(one["cases"]) for one in lines if isinstance(one, dict))
    assert validate(tmp_path / "out").faults == []
    runs = [json.loads(one)["run"]["spec"] for one in (tmp_path / "out" / "runs.jsonl").read_text().splitlines()]
    assert sum(run["status"] == "passed" for run in runs) == report.bundles == len(set(xs))
    assert sum(run["status"] != "passed" for run in runs) == told.failed_runs
    assert all(("timing" in run) == (run["status"] == "passed") for run in runs)
    assert len({run["sourceNative"]["externalId"] for run in runs}) == len(runs)
