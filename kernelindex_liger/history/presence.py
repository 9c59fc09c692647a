"""What came, what went: cases and kernels of a run against the machine's runs before it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import polars as pl

if TYPE_CHECKING:
    from kernelindex_liger.history.runs import Run

REMEMBERED = 12
"""Runs back in which a kernel that is away now is still looked for."""


@dataclass(frozen=True)
class Presence:
    """Cases and kernels that are new, gone, or away for longer."""

    cases: pl.DataFrame
    """`case` with `came` (here, new, gone) and `fault` (why its rows here are no measure, or null)."""
    vanished_kernels: tuple[str, ...] = ()
    missing_kernels: dict[str, str] = field(default_factory=dict)
    new_kernels: tuple[str, ...] = ()


def presence(run: Run, before: list[Run], rows: pl.DataFrame) -> Presence:
    """What of `rows` (with `run` and `fault`) is here in `run`, and what of the machine's runs before is not.

    A row that an input still holds from an earlier run counts as here, and so does one with a caveat; a case
    whose rows all failed does not, when it was measured before.
    """
    now = rows.filter(pl.col("run") == run.index)
    failed = pl.col("fault").fill_null("").str.starts_with("failed: ")
    here = now.group_by("case").agg(
        pl.when(pl.col("fault").is_null().any())
        .then(None)
        .otherwise(pl.col("fault").drop_nulls().sort().first())
        .alias("fault"),
        failed.all().alias("failed"),
    )
    earlier = rows.filter(pl.col("run") < run.index)
    last = before[-1].index if before else -1
    worked = earlier.filter(~failed)
    ever, just = worked.select("case").unique(), worked.filter(pl.col("run") == last).select("case").unique()
    gone = just.join(here.filter(~pl.col("failed")), on="case", how="anti")
    rest = here.join(gone, on="case", how="anti").join(
        ever.with_columns(known=pl.lit(value=True)), on="case", how="left"
    )
    cases = pl.concat(
        [
            gone.join(here, on="case", how="left").select("case", pl.lit("gone").alias("came"), "fault"),
            rest.select(
                "case", pl.when(pl.col("known")).then(pl.lit("here")).otherwise(pl.lit("new")).alias("came"), "fault"
            ),
        ]
    )
    kernels = set(now.filter(~failed)["kernel"])
    vanished = set(worked.filter(pl.col("run") == last)["kernel"]) - kernels
    missing = {}
    for other in before[-REMEMBERED:-1]:
        for kernel in set(worked.filter(pl.col("run") == other.index)["kernel"]) - kernels - vanished:
            missing[kernel] = other.label
    return Presence(
        cases,
        tuple(sorted(vanished)),
        dict(sorted(missing.items())),
        tuple(sorted(kernels - set(worked["kernel"]))) if before else (),
    )
