"""The judgement on made-up histories: steps, outliers, drift, missing nights, new machines, decisions."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta

import polars as pl
import pytest
from synthetic import GPU, START, environment, night, row, table

from kernelindex_liger.history import marks
from kernelindex_liger.history.caveats import with_leave_out
from kernelindex_liger.history.errors import BadInputError, UnknownNameError
from kernelindex_liger.history.judge import judge
from kernelindex_liger.history.judgement import exit_status
from kernelindex_liger.history.marks import Mark
from kernelindex_liger.history.thresholds import load, preset

DEFAULT = preset()


def only(history, label=None, thresholds=DEFAULT):
    (judgement,) = judge(history, thresholds, label)
    return judgement


def slow(kernel, by, *, provider="liger"):
    return lambda name, who, _x: by if (name, who) == (kernel, provider) else 1.0


def fill(history, nights, **over):
    for number in range(nights):
        history.add(night(number, **over), f"n{number}")


def test_quiet_nights_are_the_same(history):
    fill(history, 6)
    judgement = only(history)
    assert judgement.counts == {"same": 60}
    assert judgement.shift is None
    assert exit_status([judgement]) == 0


def test_the_first_night_is_new_and_the_next_are_unknown_until_there_is_enough(history):
    fill(history, 1)
    assert only(history).counts == {"new": 60}
    assert exit_status([only(history)]) == 5
    history.add(night(1), "n1")
    judgement = only(history)
    assert judgement.counts == {"unknown": 60}
    assert set(judgement.cases["reason"]) == {"1 earlier runs of 3 needed"}
    assert exit_status([judgement]) == 5


def test_a_step_is_suspected_first_and_confirmed_on_the_second_night(history):
    fill(history, 6)
    history.add(night(6, factor=slow("kernel_2", 1.15)), "n6")
    first = only(history)
    assert first.counts == {"same": 55, "suspected slower": 5}
    assert exit_status([first]) == 0
    history.add(night(7, factor=slow("kernel_2", 1.15)), "n7")
    second = only(history)
    assert second.counts == {"same": 55, "confirmed slower": 5}
    assert set(second.confirmed_slower["kernel"]) == {"kernel_2"}
    assert second.confirmed_slower["ratio"].to_list() == pytest.approx([1.15] * 5, abs=0.05)
    assert exit_status([second]) == 1


def test_an_outlier_confirms_nothing(history):
    fill(history, 6)
    history.add(night(6, factor=slow("kernel_2", 1.5)), "n6")
    history.add(night(7), "n7")
    assert only(history, "n6").counts["suspected slower"] == 5
    assert only(history).counts == {"same": 60}


def test_up_one_night_and_down_the_next_confirms_nothing(history):
    fill(history, 6)
    history.add(night(6, factor=slow("kernel_2", 1.5)), "n6")
    history.add(night(7, factor=slow("kernel_2", 0.6)), "n7")
    judgement = only(history)
    assert judgement.counts == {"same": 55, "suspected faster": 5}


def test_faster_is_confirmed_too_and_alarms_nobody(history):
    fill(history, 6)
    for number in (6, 7):
        history.add(night(number, factor=slow("kernel_1", 0.8)), f"n{number}")
    judgement = only(history)
    assert judgement.counts == {"same": 55, "confirmed faster": 5}
    assert exit_status([judgement]) == 0


def test_a_noisy_case_needs_a_larger_change(history):
    fill(history, 12, noise=0.06)
    for number in (12, 13):
        history.add(night(number, noise=0.06, factor=slow("kernel_1", 1.12)), f"n{number}")
    assert only(history).confirmed_slower.is_empty()


def test_a_missing_night_does_not_break_a_row_of_two(history):
    fill(history, 6)
    history.add(night(6, factor=slow("kernel_2", 1.2)), "n6")
    history.add(night(9, factor=slow("kernel_2", 1.2)), "n9")
    assert only(history).counts["confirmed slower"] == 5


def test_drift_is_seen_once_the_window_is_left_behind(history):
    for number in range(30):
        history.add(night(number, noise=0.003, factor=slow("kernel_0", 1.01**number)), f"n{number}")
    alarms = [set(only(history, f"n{number}").confirmed_slower["kernel"]) for number in range(30)]
    assert set().union(*alarms) == {"kernel_0"}
    drifted = only(history).select("slower", "drifted")
    assert (set(drifted["kernel"]), drifted.height) == ({"kernel_0"}, 5)
    assert exit_status([only(history)]) == 0
    marks.add(history, mark("accept", "kernel_0/*", 25), names(history))
    assert only(history).counts == {"same": 60}


def test_a_new_gpu_is_new_and_compared_with_nothing(history):
    fill(history, 6)
    history.add(night(6, gpu="NVIDIA H200", environment=environment("NVIDIA H200"), factor=lambda *_: 2.0), "n6")
    judgement = only(history)
    assert (judgement.machine, judgement.counts) == ("NVIDIA H200", {"new": 60})
    assert exit_status([judgement]) == 5


def test_a_new_driver_starts_a_segment_and_is_named(history):
    for number in range(6):
        history.add(night(number, environment=environment(driver="550.54")), f"n{number}")
    history.add(night(6, environment=environment(driver="560.35"), factor=lambda *_: 1.3), "n6")
    judgement = only(history)
    assert judgement.environment_changes == ("driver 550.54 → 560.35",)
    assert judgement.counts == {"unknown": 60}
    assert set(judgement.cases["reason"]) == {"first time in this environment"}
    assert exit_status([judgement]) == 5


def test_another_protocol_is_never_compared(history):
    fill(history, 6)
    history.add(night(6, protocol_digest="sha256:other", factor=lambda *_: 2.0), "n6")
    judgement = only(history)
    assert judgement.counts == {"new": 60, "vanished": 60}


def test_most_cases_moving_together_is_said_once(history):
    fill(history, 6)
    history.add(night(6, factor=lambda *_: 1.2), "n6")
    judgement = only(history)
    assert judgement.shift is not None
    assert judgement.shift.ratio == pytest.approx(1.2, abs=0.02)
    assert judgement.shift.strength == "suspected"
    assert judgement.counts == {"same": 60}
    history.add(night(7, factor=lambda *_: 1.2), "n7")
    again = only(history)
    assert again.shift.strength == "confirmed"
    assert (again.counts, exit_status([again])) == ({"same": 60}, 1)


def test_a_case_that_moved_against_the_shift_is_named(history):
    fill(history, 6)
    for number in (6, 7):
        history.add(
            night(number, factor=lambda kernel, who, x: 0.9 if (kernel, who) == ("kernel_3", "liger") else 1.2),
            f"n{number}",
        )
    judgement = only(history)
    assert judgement.counts == {"same": 55, "confirmed faster": 5}
    assert set(judgement.select("faster")["kernel"]) == {"kernel_3"}


def test_kernels_slowing_together_while_their_baselines_stand_still_are_no_shift(history):
    fill(history, 6, kernels=6)
    for number in (6, 7):
        history.add(night(number, factor=lambda _k, who, _x: 1.2 if who == "liger" else 1.0), f"n{number}")
    judgement = only(history)
    assert judgement.shift is None
    assert judgement.counts == {"same": 30, "confirmed slower": 30}


def short(number, added=0.0, *, liger_only=False):
    """Cases of 10 µs to 1 ms, to which a slow host adds microseconds."""
    rows = []
    for k in range(40):
        base = 10_000 + 2_000 * k
        for who in ("liger", "torch"):
            extra = added if who == "liger" or not liger_only else 0.0
            rows.append(row(f"kernel_{k}", 1, base + extra, number, provider=who))
    rows.append(row("long", 1, 100_000_000, number))
    return table(rows)


def test_a_slow_host_is_one_fact_and_confirms_no_short_case(history):
    for number in range(6):
        history.add(short(number), f"n{number}")
    for number in (6, 7):
        history.add(short(number, 15_000), f"n{number}")
    judgement = only(history)
    assert judgement.launches is not None or judgement.shift is not None
    assert judgement.confirmed_slower.is_empty()


def test_launches_alone_do_not_excuse_liger(history):
    for number in range(6):
        history.add(short(number), f"n{number}")
    for number in (6, 7):
        history.add(short(number, 30_000, liger_only=True), f"n{number}")
    judgement = only(history)
    assert judgement.launches is None
    assert set(judgement.confirmed_slower["provider"]) == {"liger"}
    assert judgement.confirmed_slower.height == 40


def test_a_vanished_kernel_is_named_once_and_then_counted_as_missing(history):
    fill(history, 4)
    history.add(night(4, kernels=5), "n4")
    history.add(night(5, kernels=5), "n5")
    first, second = only(history, "n4"), only(history, "n5")
    assert first.vanished_kernels == ("kernel_5",)
    assert first.counts["vanished"] == 10
    assert (second.vanished_kernels, second.missing_kernels) == ((), {"kernel_5": "n3"})


def test_a_kernel_vanishes_even_when_the_driver_changed_the_same_night(history):
    fill(history, 4)
    history.add(night(4, kernels=5, environment=environment(driver="560")), "n4")
    assert only(history).vanished_kernels == ("kernel_5",)


def test_a_failure_counts_as_gone_with_its_reason(history):
    fill(history, 4)
    rows = night(4).to_dicts()
    rows[0] |= {"ns": None, "status": "timeout"}
    history.add(table(rows), "n4")
    gone = only(history).select("vanished")
    assert gone["reason"].to_list() == ["failed: timeout"]


def test_what_an_input_still_holds_has_not_vanished(history):
    fill(history, 4)
    history.add(pl.concat([night(3), night(4, kernels=1)]), "n4")
    judgement = only(history)
    assert judgement.vanished_kernels == ()
    assert judgement.counts == {"same": 10, "unknown": 50}


def test_rows_with_caveats_are_left_out_and_said_so(history):
    fill(history, 6)
    history.add(night(6, caveats=["set-up-timed"], factor=lambda *_: 3.0), "n6")
    judgement = only(history)
    assert judgement.left_out == {"caveat: set-up-timed": 60}
    assert judgement.counts == {"unknown": 60}
    assert exit_status([judgement]) == 5


def test_a_caveat_about_meaning_leaves_a_case_comparable_with_itself(history, tmp_path):
    file = tmp_path / "t.toml"
    file.write_text('[caveats]\nleave_out = ["number", "meaning", "record"]\n')
    fill(history, 6, caveats=["unit-gradient"])
    judgement = only(history)
    assert judgement.counts == {"same": 60}
    assert (judgement.left_out, judgement.with_caveats) == ({}, {"unit-gradient": 60})
    assert set(judgement.cases["caveats"].explode()) == {"unit-gradient"}
    without = only(history, thresholds=load(file))
    assert (without.left_out, without.with_caveats) == ({"caveat: unit-gradient": 60}, {})
    assert exit_status([without]) == 5


@pytest.mark.parametrize("caveat", ["gradient-drawn-in-full-helper", "unit-gradient"])
def test_a_case_whose_meaning_changes_starts_anew(history, caveat):
    """The numbers jump with what they mean; that is no slow-down, in whichever direction the caveat goes."""
    fill(history, 6)
    for number in range(6, 10):
        history.add(night(number, caveats=[caveat], factor=lambda *_: 1.5), f"n{number}")
    history.add(night(10), "n10")
    first = only(history, "n6")
    assert first.counts == {"unknown": 60}
    assert first.other_meaning == {f"none → {caveat}": 60}
    assert set(first.cases["reason"]) == {f"0 earlier runs of 3 needed, its caveats having changed: none → {caveat}"}
    assert only(history, "n8").counts == {"unknown": 60}
    assert only(history, "n9").counts == {"same": 60}
    assert only(history, "n9").other_meaning == {}
    back = only(history, "n10")
    assert (back.counts, back.other_meaning) == ({"same": 60}, {f"{caveat} → none": 60})


def test_a_caveat_about_a_record_tells_nothing_apart(history):
    fill(history, 6)
    for number in (6, 7):
        history.add(night(number, caveats=["local-time"], factor=slow("kernel_2", 1.2)), f"n{number}")
    judgement = only(history)
    assert judgement.counts == {"same": 55, "confirmed slower": 5}
    assert (judgement.with_caveats, judgement.other_meaning) == ({"local-time": 60}, {})


def test_one_caveat_can_be_left_out_by_its_id(history):
    fill(history, 6)
    both = [night(6, kernels=3, caveats=["local-time"]), night(6).filter(~pl.col("kernel").is_in(names_of(3)))]
    history.add(pl.concat(both), "n6")
    judgement = only(history, thresholds=with_leave_out(DEFAULT, ("local-time",)))
    assert judgement.counts == {"same": 30, "unknown": 30}
    assert judgement.left_out == {"caveat: local-time": 30}
    assert only(history, thresholds=with_leave_out(DEFAULT, ("all",))).left_out == judgement.left_out
    assert only(history, thresholds=with_leave_out(DEFAULT, ("none",))).counts == {"same": 60}
    with pytest.raises(BadInputError, match="no-such-caveat"):
        with_leave_out(DEFAULT, ("no-such-caveat",))


def names_of(count):
    return [f"kernel_{number}" for number in range(count)]


def test_a_tolerated_caveat_is_judged(history, tmp_path):
    file = tmp_path / "t.toml"
    file.write_text('[caveats]\ntolerate = ["single-sample"]\n')
    fill(history, 6)
    history.add(night(6, caveats=["single-sample"]), "n6")
    assert only(history, thresholds=load(file)).counts == {"same": 60}


def test_memory_is_judged_strictly(history):
    for number in range(4):
        history.add(table([row("kernel_0", x, 1e9, number, metric="memory") for x in range(5)]), f"n{number}")
    for number in (4, 5):
        grown = [row("kernel_0", x, 1e9 * (1.02 if x == 3 else 1), number, metric="memory") for x in range(5)]
        history.add(table(grown), f"n{number}")
    judgement = only(history)
    assert judgement.counts == {"confirmed slower": 1, "same": 4}
    assert judgement.confirmed_slower["value"].to_list() == pytest.approx([1.02e9])


def mark(kind, case, number, *, minute=0):
    since = START + timedelta(days=number)
    made = datetime(2026, 6, 1, 0, minute, tzinfo=UTC)
    return Mark(kind=kind, case=case, why="wanted", label=f"n{number}", since=since, made_at=made)


def names(history):
    return history.rows(["case", "name"]).unique().iter_rows()


def test_an_accepted_change_is_the_new_measure(history):
    fill(history, 6)
    for number in range(6, 10):
        history.add(night(number, factor=slow("kernel_2", 1.3)), f"n{number}")
    before = only(history)
    assert before.confirmed_slower.height == 5
    marks.add(history, mark("accept", "kernel_2/*/liger/*", 6), names(history))
    after = only(history)
    assert after.counts == {"same": 60}
    assert after.cases.filter(pl.col("accepted") == "wanted").height == 5
    assert only(history, "n5").cases["accepted"].null_count() == 60


def test_a_retired_case_does_not_alarm_until_it_is_restored(history):
    fill(history, 6)
    for number in (6, 7):
        history.add(night(number, factor=slow("kernel_2", 1.3)), f"n{number}")
    marks.add(history, mark("retire", "kernel_2/*", 7), names(history))
    judgement = only(history)
    assert judgement.cases.filter("retired").height == 10
    assert exit_status([judgement]) == 0
    marks.add(history, mark("restore", "kernel_2/*", 7, minute=1), names(history))
    assert exit_status([only(history)]) == 1


def test_a_mark_by_digits_is_about_one_case(history):
    fill(history, 6)
    case = history.rows(["case"])["case"][0]
    assert len(marks.add(history, mark("retire", case[:8], 3), names(history))) == 1
    with pytest.raises(UnknownNameError):
        marks.add(history, mark("retire", "no_such/*", 3), names(history))


def test_a_rule_changes_the_limits_of_some_cases(history, tmp_path):
    file = tmp_path / "t.toml"
    file.write_text('[[rule]]\nkernel = "kernel_2"\npass = "forward"\nchange = 0.5\n')
    fill(history, 6)
    for number in (6, 7):
        history.add(
            night(number, factor=lambda kernel, who, _x: 1.2 if who == "liger" and kernel < "kernel_3" else 1.0),
            f"n{number}",
        )
    assert set(only(history, thresholds=load(file)).confirmed_slower["kernel"]) == {"kernel_0", "kernel_1"}


def test_an_unknown_label_is_refused_and_an_empty_history_has_nothing(history):
    assert judge(history, DEFAULT) == []
    assert exit_status([]) == 5
    fill(history, 1)
    with pytest.raises(UnknownNameError, match="nope"):
        judge(history, DEFAULT, "nope")


def test_windows_hold_the_runs_before_and_nothing_else(history):
    values = [100_000, 200_000, 400_000, 800_000]
    for number, value in enumerate(values):
        history.add(table([row("kernel_0", 1, value, number)]), f"n{number}")
    judgement = only(history)
    case = judgement.cases.row(0, named=True)
    assert case["reference"] == pytest.approx(200_000)
    assert case["ratio"] == pytest.approx(4.0)
    assert case["spread"] == pytest.approx(1.4826 * math.log(2))
    assert case["runs"] == 3
    assert judgement.machine == GPU
