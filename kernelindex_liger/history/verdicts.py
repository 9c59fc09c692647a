"""From windows to words: same, faster, slower, new, vanished, unknown, and why."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from kernelindex_liger.history.launches import launches_of
from kernelindex_liger.history.measure import TIMES, run_wide

if TYPE_CHECKING:
    from kernelindex_liger.history.judgement import Launches, RunWide
    from kernelindex_liger.history.thresholds import Thresholds

DRIFTED = "beyond the first runs of its segment for three runs, in steps that the latest runs do not show"
"""Reason of a case that got slower too slowly, or too long ago, for its window."""

TIMED = pl.col("metric").is_in(TIMES)


def verdicts(
    table: pl.DataFrame, before: int | None, thresholds: Thresholds
) -> tuple[pl.DataFrame, RunWide | None, Launches | None]:
    """`table` with the columns of a judgement's cases; the run-wide shift and slow or fast launches, if any.

    `before` is the index of the environment's run before the judged one. A case is slower (or faster) when its
    ratio to its window's median, the run-wide shift taken out, is beyond the larger of the least change and
    `noise` times the window's spread. It is confirmed when the case's run before was beyond its own limit in the
    same direction, and the judged run is beyond that same limit too: both runs against the runs before both.
    It is confirmed as well when its last three runs are all beyond the first window of the segment: a drift, or a
    step that nobody accepted and that has become the window's own measure. That is confirmed once; from the next
    run on its strength is `drifted`, which alarms no more.
    """
    before = -1 if before is None else before
    table = table.with_columns(
        move0=pl.col("log0") - pl.col("reference0"),
        move1=pl.col("log1") - pl.col("reference1"),
        again=pl.col("log0") - pl.col("reference1"),
        limit0=pl.max_horizontal("change", pl.col("noise") * pl.col("spread0")),
        limit1=pl.max_horizontal("change", pl.col("noise") * pl.col("spread1")),
        enough0=(pl.col("runs0") >= pl.col("least")).fill_null(value=False),
        enough1=((pl.col("runs1") >= pl.col("least")) & pl.col("log1").is_not_null()).fill_null(value=False),
        just=(pl.col("run1") == before).fill_null(value=False),
    )
    shift, taken = run_wide(table.filter("enough0"), thresholds.shift)
    table = table.with_columns(
        net0=pl.col("move0") - pl.when(TIMED).then(taken["move0"]).otherwise(0.0),
        net1=pl.col("move1") - pl.when(TIMED & pl.col("just")).then(taken["move1"]).otherwise(0.0),
        again=pl.col("again") - pl.when(TIMED & pl.col("just")).then(taken["again"]).otherwise(0.0),
    )
    now = launches_of(_moves(table.filter("enough0"), 0), thresholds)
    then = launches_of(_moves(table.filter("enough1", "just"), 1), thresholds)
    if now and then and now.direction == then.direction:
        now = replace(now, strength="confirmed")
    return _worded(table, now, then, thresholds.launch.reach), shift, now


def _moves(table: pl.DataFrame, at: int) -> pl.DataFrame:
    """The timed cases' moves in the judged run (0) or the run before (1), as `launches_of` takes them."""
    return table.filter(TIMED).select(
        "role",
        net=f"net{at}",
        limit=f"limit{at}",
        reference=pl.col(f"reference{at}").exp(),
        value=pl.col(f"log{at}").exp(),
    )


def _worded(table: pl.DataFrame, now: Launches | None, then: Launches | None, reach: float) -> pl.DataFrame:
    """`table` with `verdict`, `strength`, `reason` and the numbers that are shown for them.

    What is shown for a case that moved twice is the window before both runs; for a drift, the segment's start.
    """
    table = table.with_columns(_excuses(now, then, reach))
    measured = pl.col("came").eq("here") & pl.col("fault").is_null() & pl.col("log0").is_not_null()
    up = pl.col("again").sign()
    both = pl.col("enough1") & (pl.min_horizontal(up * pl.col("again"), up * pl.col("net1")) > pl.col("limit1"))
    steep = pl.max_horizontal("change", pl.col("noise") * pl.col("anchor_spread"))
    table = table.with_columns(
        judged=measured & pl.col("enough0"),
        both=both.fill_null(value=False),
        crept=(pl.col("recent0") - pl.col("anchor") > steep).fill_null(value=False),
        crept_before=(pl.col("recent1") - pl.col("anchor") > steep).fill_null(value=False),
        move=pl.when(both).then("again").otherwise("net0"),
        moved=(both | (pl.col("net0").abs() > pl.col("limit0"))).fill_null(value=False),
    )
    table = table.with_columns(
        explained=pl.col("moved") & pl.col("explained"), twice=pl.col("moved") & pl.col("both") & ~pl.col("reached")
    )
    drifted = pl.col("judged") & pl.col("crept") & ~pl.col("twice") & ~pl.col("reached") & ~pl.col("explained")
    drifted &= ~pl.col("moved") | (pl.col("move") > 0)
    table = table.with_columns(drifted=drifted)
    slower = pl.col("drifted") | (pl.col("moved") & (pl.col("move") > 0))
    table = table.with_columns(
        verdict=pl.when(pl.col("came") == "gone")
        .then(pl.lit("vanished"))
        .when(pl.col("came") == "new")
        .then(pl.lit("new"))
        .when(~pl.col("judged") | pl.col("explained"))
        .then(pl.lit("unknown"))
        .when(slower)
        .then(pl.lit("slower"))
        .when("moved")
        .then(pl.lit("faster"))
        .otherwise(pl.lit("same"))
    )
    moved = pl.col("verdict").is_in(["slower", "faster"])
    known = moved | pl.col("verdict").eq("same")
    return table.with_columns(
        strength=pl.when(moved & pl.col("drifted") & pl.col("crept_before"))
        .then(pl.lit("drifted"))
        .when(moved & (pl.col("twice") | pl.col("drifted")))
        .then(pl.lit("confirmed"))
        .when(moved)
        .then(pl.lit("suspected")),
        value=pl.col("log0").exp(),
        reference=_shown("reference0", "reference1", "anchor").exp(),
        ratio=(pl.col("log0") - _shown("reference0", "reference1", "anchor")).exp(),
        against_shift=pl.when(known).then("move").exp(),
        spread=_shown("spread0", "spread1", "anchor_spread"),
        threshold=pl.when(known).then(_shown("limit0", "limit1", "limit0").exp() - 1),
        runs=_shown("runs0", "runs1", "window").fill_null(0),
        reason=_reason(),
    )


def _excuses(now: Launches | None, then: Launches | None, reach: float) -> list[pl.Expr]:
    """`explained`: moved no further than the run's launches; `reached`: short enough for launches to matter."""
    value, reference = pl.col("log0").exp(), pl.col("reference0").exp()
    explained = reached = pl.lit(value=False)
    if now is not None:
        sign = 1 if now.direction == "slower" else -1
        explained = TIMED & ((value - reference) * sign).is_between(0, now.overhead)
        reached = TIMED & (reference < reach * now.overhead)
    if then is not None:
        reached |= TIMED & pl.col("just") & (reference < reach * then.overhead)
    return [
        explained.fill_null(value=False).alias("explained"),
        reached.fill_null(value=False).alias("reached"),
    ]


def _shown(usual: str, twice: str, drifted: str) -> pl.Expr:
    return pl.when("drifted").then(drifted).when("twice").then(twice).otherwise(usual)


def _reason() -> pl.Expr:
    """Why a case has no verdict about its speed, or only a suspicion."""
    runs = pl.col("runs0").fill_null(0)
    counted = pl.format("{} earlier runs of {} needed", runs, pl.col("least"))
    meaning = pl.format("{}, its caveats having changed: {} → {}", counted, _named("was"), _named("now"))
    return (
        pl.when(pl.col("came") == "gone")
        .then(pl.coalesce("fault", pl.lit("not measured in this run")))
        .when(pl.col("fault").is_not_null())
        .then(pl.col("fault"))
        .when(pl.col("came") == "new")
        .then(pl.lit("never measured before on this machine"))
        .when(pl.col("log0").is_null())
        .then(pl.lit("still in the input from an earlier run, not measured again"))
        .when(pl.col("drifted"))
        .then(pl.lit(DRIFTED))
        .when(pl.col("explained"))
        .then(pl.lit("moved no further than this run's launches did"))
        .when(pl.col("moved") & pl.col("reached"))
        .then(pl.lit("short enough for slow or fast launches to matter, so not confirmed"))
        .when(pl.col("enough0"))
        .then(None)
        .when(pl.col("since").is_not_null())
        .then(pl.format("{} since the change was accepted", counted))
        .when(pl.col("was").is_not_null())
        .then(meaning)
        .when(runs == 0)
        .then(pl.lit("first time in this environment"))
        .otherwise(counted)
    )


def _named(caveats: str) -> pl.Expr:
    return pl.when(pl.col(caveats) == "").then(pl.lit("none")).otherwise(caveats)
