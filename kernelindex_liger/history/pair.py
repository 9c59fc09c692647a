"""Two inputs side by side, without a history: what moved, and no word on whether it is noise."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import polars as pl

from kernelindex_liger.history import cases as case_names
from kernelindex_liger.history.caveats import kept, left_out, usable
from kernelindex_liger.history.judge import ABOUT, ORDER
from kernelindex_liger.history.judgement import CASES, RunJudgement, RunWide
from kernelindex_liger.history.measure import TIMES, shift_of
from kernelindex_liger.history.observations import observations

if TYPE_CHECKING:
    from kernelindex_liger.history.thresholds import Thresholds

CAUTION = "two runs alone cannot tell a change from noise: nothing here is confirmed"
"""What every comparison of two inputs says."""

MEANINGS = ("old_meaning", "new_meaning")


def compare(
    before: pl.DataFrame, after: pl.DataFrame, thresholds: Thresholds, labels: tuple[str, str]
) -> list[RunJudgement]:
    """`after` against `before` (columns of `source.SCHEMA`), one judgement a machine that `after` holds.

    Verdicts are same, faster, slower, new and vanished by the least change alone, all of them suspicions; a
    machine that only one of the two has gives no judged case.
    """
    sides = [
        usable(case_names.with_cases(rows).with_columns(carried=pl.lit(value=False)), thresholds)
        for rows in (before, after)
    ]
    return [_machine(machine, sides, thresholds, labels) for machine in sorted(sides[1]["machine"].unique())]


def _machine(machine: str, sides: list[pl.DataFrame], thresholds: Thresholds, labels: tuple[str, str]) -> RunJudgement:
    old, new = (side.filter(pl.col("machine") == machine) for side in sides)
    values = [
        observations(side.with_columns(run=pl.lit(0))).select(
            "case", pl.col("log").alias(name), pl.col("meaning").alias(f"{name}_meaning")
        )
        for side, name in ((old, "old"), (new, "new"))
    ]
    table = values[0].join(values[1], on="case", how="full", coalesce=True)
    apart = (pl.col("old_meaning") != pl.col("new_meaning")).fill_null(value=False)
    table = table.with_columns(apart=apart, move=pl.when(~apart).then(pl.col("new") - pl.col("old")))
    about = pl.concat([old.select(ABOUT), new.select(ABOUT)]).unique("case", keep="last", maintain_order=True)
    table = table.join(about, on="case", how="left")
    were, are = (pl.when(pl.col(name) == "").then(pl.lit("none")).otherwise(name) for name in MEANINGS)
    changes = table.filter("apart").group_by(pl.format("{} → {}", were, are).alias("what")).len().sort("what")
    timed = pl.col("metric").is_in(TIMES)
    moved = shift_of(table.filter(timed, pl.col("move").is_not_null()).select("move", "role"), thresholds.shift)
    net = pl.col("move") - pl.when(timed).then(moved[0] if moved else 0.0).otherwise(0.0)
    limit = pl.when(timed).then(math.log1p(thresholds.time.change)).otherwise(math.log1p(thresholds.memory.change))
    there = set(new["case"])
    table = table.with_columns(
        verdict=pl.when(pl.col("old").is_null())
        .then(pl.lit("new"))
        .when(pl.col("new").is_null())
        .then(pl.when(pl.col("case").is_in(there)).then(pl.lit("unknown")).otherwise(pl.lit("vanished")))
        .when(net > limit)
        .then(pl.lit("slower"))
        .when(net < -limit)
        .then(pl.lit("faster"))
        .otherwise(pl.lit("same")),
        value=pl.col("new").exp(),
        reference=pl.col("old").exp(),
        ratio=pl.col("move").exp(),
        against_shift=net.exp(),
        spread=pl.lit(None),
        threshold=limit.exp() - 1,
        runs=pl.col("old").is_not_null().cast(pl.Int64),
        previous=pl.lit(labels[0]),
        reason=pl.when("apart").then(pl.format("its caveats changed: {} → {}", were, are)),
        retired=pl.lit(value=False),
        accepted=pl.lit(None),
    ).with_columns(strength=pl.when(pl.col("verdict").is_in(["slower", "faster"])).then(pl.lit("suspected")))
    return RunJudgement(
        run=None,
        label=labels[1],
        machine=machine,
        cases=table.select(pl.col(name).cast(kind) for name, kind in CASES.items()).sort(ORDER),
        environment_changes=_environment_changes(old, new),
        previous=labels[0] if old.height else None,
        earlier=int(old.height > 0),
        shift=RunWide(math.exp(moved[0]), moved[1], moved[2], "suspected") if moved else None,
        vanished_kernels=tuple(sorted(set(old["kernel"]) - set(new["kernel"]))),
        new_kernels=tuple(sorted(set(new["kernel"]) - set(old["kernel"]))) if old.height else (),
        left_out=left_out(new),
        with_caveats=kept(new),
        other_meaning={str(what): int(cases) for what, cases in changes.iter_rows()},
    )


def _environment_changes(old: pl.DataFrame, new: pl.DataFrame) -> tuple[str, ...]:
    """What differs between the newest environments of the two sides; nothing when one side has none."""
    if old.is_empty():
        return ()
    newest = [case_names.settings(side.sort("observed_at")["environment"][-1]) for side in (old, new)]
    return tuple(case_names.differences(*newest))
