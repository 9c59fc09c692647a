"""A commit measured several times in a row: it is one night, and confirms nothing by itself."""

from __future__ import annotations

import pytest
from synthetic import night, row, table

from kernelindex_liger.history.commits import commit_of, same_commit
from kernelindex_liger.history.judge import judge, judge_since
from kernelindex_liger.history.judgement import exit_status
from kernelindex_liger.history.thresholds import preset

DEFAULT = preset()
FIRST, AGAIN = "1a2b3c4-v0.6.4", "1a2b3c4"


def only(history, label=None):
    (judgement,) = judge(history, DEFAULT, label)
    return judgement


def slow(by):
    return lambda kernel, provider, _x: by if (kernel, provider) == ("kernel_2", "liger") else 1.0


def filled(history, *runs):
    """Six quiet nights, then runs of (label, how much slower kernel_2 is)."""
    for number in range(6):
        history.add(night(number), f"n{number}")
    for number, (label, by) in enumerate(runs, start=6):
        history.add(night(number, factor=slow(by)), label)


@pytest.mark.parametrize(
    ("label", "commit"),
    [
        ("0a62700", "0a62700"),
        ("0a62700-v0.6.4", "0a62700"),
        ("0a62700f3c1d", "0a62700f3c1d"),
        ("1234567", "1234567"),
        ("2026-03-20", None),
        ("20260320", None),
        ("20260320.2", None),
        ("202603200230", None),
        ("deadbeefs", None),
        ("n1", None),
        ("abcdef", None),
        ("v0.6.4-0a62700", None),
    ],
)
def test_commits_are_known_by_their_labels(label, commit):
    assert commit_of(label) == commit


def test_one_commit_may_be_abbreviated_in_several_ways():
    assert same_commit("0a62700-v0.6.4", "0a62700f3c1d")
    assert not same_commit("0a62700", "0a62701")
    assert not same_commit("2026-03-20", "2026-03-21")


def test_a_commit_measured_again_confirms_nothing(history):
    filled(history, (FIRST, 1.3), (AGAIN, 1.3))
    assert only(history, FIRST).counts == {"same": 55, "suspected slower": 5}
    again = only(history)
    assert again.counts == {"same": 55, "suspected slower": 5}
    assert again.repeats == FIRST
    assert exit_status([again]) == 0


def test_the_next_commit_confirms_it(history):
    filled(history, (FIRST, 1.3), (AGAIN, 1.3), ("next", 1.3))
    judgement = only(history)
    assert judgement.counts == {"same": 55, "confirmed slower": 5}
    assert (judgement.repeats, exit_status([judgement])) == (None, 1)


def test_measuring_again_withdraws_a_suspicion(history):
    filled(history, (FIRST, 1.3), (AGAIN, 1.0), ("next", 1.3))
    assert only(history, AGAIN).counts == {"same": 60}
    assert only(history).counts == {"same": 55, "suspected slower": 5}


def test_what_was_confirmed_stands_and_is_not_confirmed_anew(history):
    filled(history, ("before", 1.3), (FIRST, 1.3), (AGAIN, 1.3), ("next", 1.3))
    assert exit_status([only(history, FIRST)]) == 1
    again = only(history, AGAIN)
    assert again.counts == {"same": 55, "standing slower": 5}
    reasons = set(again.select("slower", "standing")["reason"])
    assert reasons == {"confirmed when the commit was measured first, and still so"}
    assert exit_status([again]) == 0
    assert only(history).counts["confirmed slower"] == 5


def test_what_only_the_repetition_shows_is_suspected(history):
    filled(history, ("before", 1.3), (FIRST, 1.0), (AGAIN, 1.3))
    (again,) = judge(history, DEFAULT, AGAIN)
    slower = again.select("slower")
    assert set(slower["strength"]) == {"suspected"}
    assert set(slower["reason"]) == {"the commit of the run before measured again, which confirms nothing by itself"}


def test_a_shift_of_everything_is_not_confirmed_by_a_repetition(history):
    for number in range(6):
        history.add(night(number), f"n{number}")
    for number, label in ((6, "before"), (7, FIRST), (8, AGAIN)):
        history.add(night(number, factor=lambda *_: 1.2), label)
    assert only(history, FIRST).shift.strength == "confirmed"
    again = only(history, AGAIN)
    assert (again.shift.strength, exit_status([again])) == ("suspected", 0)


def test_nights_of_one_release_are_different_nights(history):
    """A host that gets slower is confirmed although upstream did not move."""
    filled(history, ("2026-03-20", 1.3), ("2026-03-21", 1.3))
    assert only(history).counts["confirmed slower"] == 5


def test_a_commit_counts_once_in_the_window(history):
    values = [("a", 100_000), ("1a2b3c4", 200_000), ("1a2b3c4-2", 300_000), ("1a2b3c4-3", 310_000), ("b", 120_000)]
    values.append(("c", 100_000))
    for number, (label, value) in enumerate(values):
        history.add(table([row("kernel_0", 1, value, number)]), label)
    case = only(history).cases.row(0, named=True)
    assert (case["runs"], case["reference"]) == (3, pytest.approx(120_000))


def test_a_drift_that_a_repetition_sees_first_is_confirmed_by_the_next_commit(history):
    """The alarm is not lost: what only a repetition saw is news to the next commit's run."""
    levels = [1.0] * 12 + [1.05] * 8 + [1.13] * 2
    runs = [(f"n{number}", by) for number, by in enumerate(levels)]
    runs += [(FIRST, 1.0), (AGAIN, 1.13), ("next", 1.13)]
    for number, (label, by) in enumerate(runs):
        history.add(table([row("kernel_0", 1, 1e6 * by, number)]), label)
    again = only(history, AGAIN).cases.row(0, named=True)
    assert (again["verdict"], again["strength"]) == ("slower", "suspected")
    assert only(history, "next").confirmed_slower.height == 1


def test_two_labels_of_one_commit_are_compared_and_confirm_nothing(history):
    filled(history, (FIRST, 1.0), (AGAIN, 1.3))
    (judgement,) = judge_since(history, DEFAULT, FIRST, AGAIN)
    assert judgement.counts == {"same": 55, "suspected slower": 5}
    assert set(judgement.cases["runs"]) == {7}
