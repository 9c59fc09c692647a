"""The arithmetic of the judgement: windows, medians, spreads, run-wide shifts. Everything in logarithms.

Observations are a table of `case`, `run` and `log` (natural logarithm of nanoseconds or bytes), one row a case
and run. Position 0 is the judged run, 1 the case's run before it, and so on; a commit that was measured several times
in a row counts once.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import polars as pl

from kernelindex_liger.history.judgement import RunWide

if TYPE_CHECKING:
    from kernelindex_liger.history.thresholds import Shift

SCALE = 1.4826
"""Makes a median absolute deviation estimate the standard deviation of normally distributed noise."""

RECENT = 3
"""A case has drifted when so many runs in a row are all beyond its limit."""

LEAST_GROUP = 5
"""Baselines, or measured kernels, fewer than these say nothing about the group that they stand for."""

TIMES = ("speed", "speed_graph")
"""Metrics whose values are nanoseconds; the run-wide shift is theirs."""


def positions(observed: pl.DataFrame, run: int, until: int | None = None) -> pl.DataFrame:
    """`observed` with `position`, for the cases that were measured in `run`; later runs are left out.

    With `until`, the case's newest run after `until` has position 1, even where there is none; those up to `until`
    follow from 2 on, and what else lies between is left out.
    """
    present = observed.filter(pl.col("run") == run).select("case")
    placed = (
        observed.filter(pl.col("run") <= run)
        .join(present, on="case", how="semi")
        .sort("run", descending=True)
        .with_columns(pl.int_range(pl.len(), dtype=pl.Int64).over("case").alias("position"))
    )
    if until is None:
        return placed
    between = (pl.col("run") > until) & (pl.col("run") < run)
    placed = placed.filter(~between | (pl.col("position") == 1))
    old = pl.col("run") <= until
    missing = (~between.any().over("case")).cast(pl.Int64)
    place = pl.int_range(pl.len(), dtype=pl.Int64).over("case") + missing
    return placed.with_columns(position=pl.when(old).then(place).otherwise("position"))


def anchors(placed: pl.DataFrame) -> pl.DataFrame:
    """One row a case: its level at the segment's start, to see what crept up on the windows.

    The `anchor` is the median of the first `window` runs, `anchor_spread` their scaled spread; `recent0` is the
    least of the last `RECENT` runs, `recent1` that of the `RECENT` runs that end with the run before, as it first
    measured its commit. Cases with too few runs after the first window have no row.
    """
    placed = placed.with_columns(total=pl.len().over("case")).filter(pl.col("total") >= pl.col("window") + RECENT)
    first = pl.col("position") >= pl.col("total") - pl.col("window")
    then = pl.when(pl.col("position") == 1).then("first").otherwise("log")
    centres = placed.group_by("case").agg(
        pl.col("log").filter(first).median().alias("anchor"),
        pl.col("log").filter(pl.col("position") < RECENT).min().alias("recent0"),
        then.filter(pl.col("position").is_between(1, RECENT)).min().alias("recent1"),
    )
    spreads = (
        placed.filter(first)
        .join(centres, on="case")
        .group_by("case")
        .agg(((pl.col("log") - pl.col("anchor")).abs().median() * SCALE).alias("anchor_spread"))
    )
    return centres.join(spreads, on="case")


def windows(placed: pl.DataFrame, first: int = 1) -> pl.DataFrame:
    """One row a case: the newest values and what they are measured with.

    `placed` is `positions`' table joined with each case's `window`. Gives `log0` and `log1` (values at positions
    0 and 1), `run1`, and for each of the two the median `reference`, the scaled `spread` and the number `runs` of
    the window before it. Position 0's window begins at `first`: 2 where position 1 is none of its measure.
    """
    inside = [pl.col("position").is_between(begin, pl.col("window") + begin - 1) for begin in (first, 2)]
    centres = placed.group_by("case").agg(
        *(pl.col("log").filter(pl.col("position") == at).first().alias(f"log{at}") for at in (0, 1)),
        pl.col("run").filter(pl.col("position") == 1).first().alias("run1"),
        *(pl.col("log").filter(inside[at]).median().alias(f"reference{at}") for at in (0, 1)),
        *(inside[at].sum().cast(pl.Int64).alias(f"runs{at}") for at in (0, 1)),
    )
    spreads = (
        placed.join(centres.select("case", "reference0", "reference1"), on="case")
        .group_by("case")
        .agg(
            ((pl.col("log") - pl.col(f"reference{at}")).abs().filter(inside[at]).median() * SCALE).alias(f"spread{at}")
            for at in (0, 1)
        )
    )
    return centres.join(spreads, on="case")


def shift_of(moves: pl.DataFrame, limits: Shift) -> tuple[float, float, int] | None:
    """How far a run moved as a whole: the median move (log), the share that went along, the cases; or None.

    `moves` has `move` (log ratio to the case's median) and `role`. Where a run holds both baselines and kernels
    under test, both have to have moved: kernels that got slower together while PyTorch stood still are no shift.
    """
    moves = moves.filter(pl.col("move").is_finite())
    if moves.height < limits.least_cases:
        return None
    middle = _median(moves)
    if abs(middle) < math.log1p(limits.change):
        return None
    along = (pl.col("move") * math.copysign(1, middle)) >= abs(middle) / 2
    share = moves.filter(along).height / moves.height
    if share < limits.share:
        return None
    baseline = pl.col("role").eq_missing("baseline")
    for group in (moves.filter(baseline), moves.filter(~baseline)):
        if group.height >= LEAST_GROUP and _median(group) * math.copysign(1, middle) < abs(middle) / 2:
            return None
    return middle, share, moves.height


def run_wide(found: pl.DataFrame, limits: Shift) -> tuple[RunWide | None, dict[str, float]]:
    """The judged run's shift, and the shifts (log) to take out of each move.

    `found` is `windows`' table of the cases with enough history, with `metric`, `role`, `enough1` and `just`: the
    case's run before is the environment's run before. The moves are `move0` (now), `move1` (the run before
    against its own window) and `again` (now against that same window).
    """
    times = found.filter(pl.col("metric").is_in(TIMES))
    previous = times.filter("just", "enough1")
    shifts = {
        "move0": shift_of(times.select("role", move="move0"), limits),
        "move1": shift_of(previous.select("role", move="move1"), limits),
        "again": shift_of(previous.select("role", move="again"), limits),
    }
    taken = {name: shift[0] if shift else 0.0 for name, shift in shifts.items()}
    now = shifts["move0"]
    if now is None:
        return None, taken
    twice = taken["move1"] * now[0] > 0 and taken["again"] * now[0] > 0
    return RunWide(math.exp(now[0]), now[1], now[2], "confirmed" if twice else "suspected"), taken


def _median(moves: pl.DataFrame) -> float:
    middle = moves["move"].median()
    assert isinstance(middle, float)  # noqa: S101 - callers pass at least one finite move
    return middle
