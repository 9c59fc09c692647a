"""Nights whose CSVs have sidecars: what was recorded of the machine decides what is compared with what."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from kernelindex_liger.cli import main
from kernelindex_liger.history.feed import feed
from kernelindex_liger.history.judge import judge
from kernelindex_liger.history.thresholds import preset
from tests.conftest import ROW, text
from tests.conversion.sidecars import case, line, write

XS = ("1024", "2048", "4096")


@pytest.fixture
def night(tmp_path):
    """Writes a night's CSV and sidecar by hand; gives its folder, whose name is its label."""

    def make(day, *, sidecar=True, failed=None, **changes):
        at = f"2026-01-{day:02d} 03:04:05"
        csv = tmp_path / f"n{day}" / "results.csv"
        csv.parent.mkdir()
        measured = [x for x in XS if x != failed]
        csv.write_text(text([ROW | {"x_value": x, "timestamp": at} for x in measured]), newline="")
        cases = [case(x, samples=9) if x in measured else case(x, "timeout") for x in XS]
        if sidecar:
            write(csv, line(series={"timestamp": at}, cases=cases, **changes))
        return csv.parent

    return make


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"software": {"driver": "575.2"}}, "driver 570.1 → 575.2"),
        ({"software": {"torch": "2.9.0"}}, "pytorch 2.8.0 → 2.9.0"),
        ({"software": {"triton": "3.5.0"}}, "triton 3.4.0 → 3.5.0"),
        ({"gpu": {"power_limit_watts": 500.0}}, "powerLimitWatts 700 → 500"),
    ],
)
def test_a_changed_driver_torch_or_triton_starts_a_new_segment(history, night, change, told):
    feed(history, [night(1), night(2), night(3, **change)])
    (third,) = judge(history, preset("default"))
    assert third.environment_changes == (told,)
    assert third.earlier == 0
    (second,) = judge(history, preset("default"), "n2")
    assert second.environment_changes == ()
    assert second.earlier == 1


def test_the_first_night_with_a_sidecar_is_a_new_segment(history, night):
    feed(history, [night(1, sidecar=False), night(2)])
    (second,) = judge(history, preset("default"))
    assert second.earlier == 0
    assert "pytorch not recorded → 2.8.0" in second.environment_changes
    assert "driver not recorded → 570.1" in second.environment_changes


def test_a_new_liger_kernel_is_compared_with_the_one_before(history, night):
    feed(history, [night(1), night(2, software={"liger_kernel": "0.8.0"})])
    (second,) = judge(history, preset("default"))
    assert second.environment_changes == ()
    assert second.earlier == 1


def test_a_case_that_fails_is_told_of_as_failed(history, night):
    feed(history, [night(1), night(2, failed="2048")])
    (second,) = judge(history, preset("default"))
    assert second.left_out == {"failed: timeout": 1}
    gone = second.cases.filter(second.cases["x_value"] == "2048")
    assert gone.height == 1
    assert history.runs()[1].measured == 3


def test_live_readings_do_not_divide_nights(history, night):
    hot = {"temperature_c": 88, "sm_clock_mhz": 1200, "clock_event_reasons": ["hw_thermal_slowdown"]}
    second = night(2)
    at = {"timestamp": "2026-01-02 03:04:05"}
    write(second / "results.csv", line(series=at, cases=[case(x, before=hot, after=hot) for x in XS]))
    feed(history, [night(1), second])
    (judgement,) = judge(history, preset("default"))
    assert judgement.earlier == 1


def test_compare_and_report_tell_what_was_recorded(tmp_path, night):
    folder = str(tmp_path / "history")

    def call(*arguments):
        return CliRunner().invoke(main, [*arguments], catch_exceptions=False)

    for one in (night(1), night(2, software={"driver": "575.2"})):
        assert call("history", "add", str(one), "--history", folder).exit_code == 0
    listed = json.loads(call("history", "list", "--history", folder, "--format", "json").stdout)
    assert [run["settings"]["software"]["driver"] for run in listed] == ["570.1", "575.2"]
    assert "driver 570.1 → 575.2" in call("report", "--history", folder, "--format", "md").stdout
    plain = call("report", str(tmp_path / "n1"), "--format", "json")
    assert plain.exit_code == 0
    assert "570.1" in plain.stdout
