"""One label against the history up to another."""

from __future__ import annotations

import pytest
from synthetic import GPU, environment, night, row, table

from kernelindex_liger.history.errors import UnknownNameError
from kernelindex_liger.history.judge import judge, judge_since
from kernelindex_liger.history.thresholds import preset

DEFAULT = preset()


def since(history, before, after):
    (judgement,) = judge_since(history, DEFAULT, before, after)
    return judgement


def slow(by):
    return lambda kernel, provider, _x: by if (kernel, provider) == ("kernel_2", "liger") else 1.0


def fill(history, *levels):
    for number, by in enumerate(levels):
        history.add(night(number, factor=slow(by)), f"n{number}")


def test_the_measure_is_the_history_up_to_the_first_label_itself_among_it(history):
    for number, value in enumerate([100, 110, 120, 130, 999, 999, 240]):
        history.add(table([row("kernel_0", 1, value * 1000, number)]), f"n{number}")
    case = since(history, "n3", "n6").cases.row(0, named=True)
    assert case["runs"] == 4
    assert case["reference"] == pytest.approx(115_000, rel=0.01)
    assert case["ratio"] == pytest.approx(240 / 115, rel=0.01)
    assert case["spread"] > 0.05


def test_what_slowed_down_long_ago_is_still_seen_against_a_run_before_it(history):
    """Twenty nights later the slow level is its own window's measure, but not that of the release before."""
    fill(history, *[1.0] * 6, *[1.2] * 20)
    assert "confirmed slower" not in judge(history, DEFAULT)[0].counts
    judgement = since(history, "n5", "n25")
    assert judgement.counts == {"same": 55, "confirmed slower": 5}
    assert (judgement.previous, set(judgement.cases["runs"])) == ("n5", {6})


def test_one_run_after_the_label_is_only_suspected(history):
    fill(history, *[1.0] * 6, 1.2)
    assert since(history, "n5", "n6").counts == {"same": 55, "suspected slower": 5}


def test_a_run_between_that_did_not_move_confirms_nothing(history):
    fill(history, *[1.0] * 6, 1.2, 1.0, 1.2)
    assert since(history, "n5", "n8").counts == {"same": 55, "suspected slower": 5}


def test_too_little_history_up_to_the_label_is_unknown(history):
    fill(history, *[1.0] * 8)
    judgement = since(history, "n1", "n7")
    assert judgement.counts == {"unknown": 60}
    assert set(judgement.cases["reason"]) == {"2 earlier runs of 3 needed"}


def test_a_noisy_case_needs_a_larger_change_here_too(history):
    for number in range(12):
        history.add(night(number, noise=0.06), f"n{number}")
    for number in (12, 13):
        history.add(night(number, noise=0.06, factor=slow(1.12)), f"n{number}")
    assert since(history, "n11", "n13").confirmed_slower.is_empty()


def test_cases_and_kernels_are_new_or_gone_since_the_label(history):
    for number, kernels in enumerate([3, 3, 3, 3, 4, 5, 2]):
        history.add(night(number, kernels=kernels), f"n{number}")
    assert since(history, "n3", "n5").new_kernels == ("kernel_3", "kernel_4")
    assert since(history, "n3", "n5").counts["new"] == 20
    assert since(history, "n3", "n6").vanished_kernels == ("kernel_2",)


def test_another_environment_since_then_judges_nothing_and_is_named(history):
    for number in range(8):
        driver = "550" if number < 5 else "560"
        history.add(night(number, environment=environment(GPU, driver)), f"n{number}")
    judgement = since(history, "n4", "n7")
    assert (judgement.judged, judgement.environment_changes) == (0, ("driver 550 → 560",))


def test_the_earlier_label_stands_first_and_both_must_be_there(history):
    fill(history, *[1.0] * 3)
    for before, after in (("n2", "n1"), ("n1", "n1"), ("nope", "n1"), ("n1", "nope")):
        with pytest.raises(UnknownNameError):
            judge_since(history, DEFAULT, before, after)
