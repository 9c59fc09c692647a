"""What scripts/gpu_check computes and how it goes about its time, without a GPU."""

import importlib.machinery
import importlib.util
import json
import sys
import time
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "gpu_check"


@pytest.fixture(scope="module")
def gpu_check():
    loader = importlib.machinery.SourceFileLoader("gpu_check", str(SCRIPT))
    spec = importlib.util.spec_from_loader("gpu_check", loader)
    module = importlib.util.module_from_spec(spec)
    sys.dont_write_bytecode, before = True, sys.dont_write_bytecode
    loader.exec_module(module)
    sys.dont_write_bytecode = before
    return module


def row(module, x, y, provider="liger"):
    return {**dict.fromkeys(module.KEY, "k"), "kernel_provider": provider, "x_value": x, "y_value_50": y}


def test_rows_are_paired_by_key_and_judged_by_five_percent(gpu_check):
    ours = [row(gpu_check, "1", "1.04"), row(gpu_check, "2", "0.9"), row(gpu_check, "3", "7")]
    theirs = [row(gpu_check, "2", "1.0"), row(gpu_check, "1", "1.0"), row(gpu_check, "1", "5", "torch")]
    found = gpu_check.ratios(ours, theirs)
    assert [(key[5], mine, yours) for key, mine, yours in found] == [("1", 1.04, 1.0), ("2", 0.9, 1.0)]
    assert gpu_check.within(found) == 1
    lines = gpu_check.ratio_table(found).splitlines()
    assert lines[2].endswith("| 1.040 |")
    assert lines[3].endswith("| 0.900 ** |")


def test_failed_cases_and_samples_are_read_from_a_sidecar(gpu_check, tmp_path):
    series = {"kernel_name": "a", "kernel_provider": "b", "kernel_operation_mode": "full", "x_name": "T"}
    cases = [
        {"x_value": "1", "status": "ok", "samples": 1, "after": {"clock_event_reasons": ["sw_power_cap"]}},
        {"x_value": "2", "status": "timeout", "error": "no answer"},
    ]
    path = tmp_path / "all.meta.jsonl"
    path.write_text(json.dumps({"series": series, "cases": cases}) + "\n")
    assert gpu_check.failures(path) == ["a b full T=2: timeout: no answer"]
    assert gpu_check.samples(path) == {"one sample": 1, "several samples": 1, "sw_power_cap": 1}
    assert gpu_check.failures(tmp_path / "none") == []


def test_a_command_that_takes_too_long_is_interrupted_and_may_tidy_up(gpu_check, tmp_path):
    check = gpu_check.Check(tmp_path, 100)
    code = "import time\ntry: time.sleep(60)\nexcept KeyboardInterrupt: print('kept')"
    started = time.monotonic()
    assert check.call("log", sys.executable, "-c", code, limit=1) is None
    assert time.monotonic() - started < 15
    assert (tmp_path / "log").read_text() == "kept\n"
    assert check.call("log", sys.executable, "-c", "raise SystemExit(3)", limit=20) == 3


def test_the_report_is_kept_step_by_step_and_a_failure_counts(gpu_check, tmp_path):
    check = gpu_check.Check(tmp_path, 100)
    check.say("one")
    assert not check.failed
    check.fail("two")
    assert check.failed
    assert (tmp_path / "report.md").read_text() == "one\n\nFAILED: two\n"
