"""What must hold for every history."""

from __future__ import annotations

import tempfile
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from synthetic import night

from kernelindex_liger.history.judge import COLUMNS, judge_run
from kernelindex_liger.history.store import History
from kernelindex_liger.history.thresholds import preset

DEFAULT = preset()
SMALL = settings(max_examples=25, deadline=None)


def built(nights):
    with tempfile.TemporaryDirectory() as folder:
        history = History(Path(folder) / "history")
        for number, rows in enumerate(nights):
            history.add(rows, f"n{number}")
        return history.table(COLUMNS)


def judged(nights, shuffle=None):
    runs, rows = built(nights)
    if shuffle is not None:
        rows = rows.sample(fraction=1, shuffle=True, seed=shuffle)
    return judge_run(runs[-1], runs, rows, DEFAULT)


@SMALL
@given(seed=st.integers(0, 10**6), count=st.integers(1, 8), shuffle=st.integers(0, 10**6))
def test_the_order_of_rows_does_not_matter(seed, count, shuffle):
    nights = [night(number, seed=seed, kernels=3, xs=2, noise=0.08) for number in range(count)]
    mixed = [rows.sample(fraction=1, shuffle=True, seed=shuffle) for rows in nights]
    one, two = judged(nights), judged(mixed, shuffle)
    assert one.cases.equals(two.cases)
    assert (one.shift, one.counts) == (two.shift, two.counts)


@SMALL
@given(seed=st.integers(0, 10**6), factor=st.floats(0.2, 5).filter(lambda f: not 0.94 < f < 1.06))
def test_scaling_everything_by_one_factor_is_a_run_wide_shift_and_nothing_else(seed, factor):
    nights = [night(number, seed=seed) for number in range(6)]
    nights.append(night(6, seed=seed, factor=lambda *_: factor))
    judgement = judged(nights)
    assert judgement.shift is not None
    assert judgement.shift.ratio == pytest.approx(factor, rel=0.03)
    assert judgement.counts == {"same": 60}


@SMALL
@given(seed=st.integers(0, 10**6), factor=st.floats(0.01, 100))
def test_a_case_never_compares_with_itself(seed, factor):
    """Whatever the judged run measured, what it is measured with stays the same."""
    nights = [night(number, seed=seed, kernels=2, xs=2) for number in range(5)]
    one = judged([*nights, night(5, seed=seed, kernels=2, xs=2)])
    two = judged([*nights, night(5, seed=seed, kernels=2, xs=2, factor=lambda *_: factor)])
    assert one.cases["reference"].equals(two.cases["reference"])
    assert one.cases["spread"].equals(two.cases["spread"])
    assert set(one.cases["runs"]) == {5}


@SMALL
@given(seed=st.integers(0, 10**6), count=st.integers(2, 8))
def test_later_runs_do_not_change_an_earlier_judgement(seed, count):
    nights = [night(number, seed=seed, kernels=3, xs=2, noise=0.05) for number in range(count)]
    runs, rows = built(nights)
    at = Random(seed).randrange(count)  # noqa: S311 - which run to look at
    early_runs, early_rows = built(nights[: at + 1])
    late = judge_run(runs[at], runs, rows, DEFAULT)
    early = judge_run(early_runs[at], early_runs, early_rows, DEFAULT)
    assert late.cases.equals(early.cases)


@SMALL
@given(seed=st.integers(0, 10**6))
def test_every_case_has_one_verdict_and_a_reason_where_it_has_no_ratio(seed):
    nights = [night(number, seed=seed, kernels=2 + (number % 3), xs=2) for number in range(6)]
    cases = judged(nights).cases
    assert cases["case"].n_unique() == cases.height
    assert cases["verdict"].null_count() == 0
    open_ended = cases.filter(cases["verdict"].is_in(["new", "unknown", "vanished"]))
    assert open_ended["reason"].null_count() == 0
