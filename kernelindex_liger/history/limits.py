"""What each case is held to: the limits that its rules give it, and what people decided about it."""

from __future__ import annotations

import fnmatch
import math
from typing import TYPE_CHECKING

import polars as pl

from kernelindex_liger.history.measure import TIMES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kernelindex_liger.history.marks import Mark
    from kernelindex_liger.history.thresholds import Thresholds


def with_limits(about: pl.DataFrame, thresholds: Thresholds) -> pl.DataFrame:
    """`about` with `change` (log), `noise`, `window` and `least`, rules applied once a combination."""
    keys = ["kernel", "provider", "pass", "metric"]
    out = []
    for row in about.select(keys).unique().iter_rows(named=True):
        base = thresholds.time if row["metric"] in TIMES else thresholds.memory
        limits = {"change": base.change, "noise": base.noise, "least": base.least_runs}
        for rule in thresholds.rule:
            patterns = {"kernel": rule.kernel, "provider": rule.provider, "pass": rule.pass_, "metric": rule.metric}
            if all(fnmatch.fnmatchcase(row[key] or "", pattern) for key, pattern in patterns.items()):
                over = {"change": rule.change, "noise": rule.noise, "least": rule.least_runs}
                limits |= {key: value for key, value in over.items() if value is not None}
        out.append({**row, **limits, "change": math.log1p(limits["change"]), "window": base.window})
    schema = dict.fromkeys(keys, pl.String()) | {
        "change": pl.Float64(), "noise": pl.Float64(), "least": pl.Int64(), "window": pl.Int64(),
    }  # fmt: skip
    return about.join(pl.DataFrame(out, schema=schema), on=keys, how="left", nulls_equal=True)


def with_marks(about: pl.DataFrame, marks: Sequence[Mark]) -> pl.DataFrame:
    """`about` with `since` (from which run on earlier ones count no more), `accepted` and `retired`."""
    names = about.select("case", "name").unique() if marks else about.select("case", "name").clear()
    out = []
    for case, name in names.iter_rows():
        since, why, retired = None, None, False
        for mark in marks:
            if not mark.matches(case, name):
                continue
            if mark.kind == "accept":
                since, why = mark.since, mark.why
            else:
                retired = mark.kind == "retire"
        out.append({"case": case, "since": since, "accepted": why, "retired": retired})
    schema = {
        "case": pl.String(), "since": pl.Datetime("us", "UTC"), "accepted": pl.String(), "retired": pl.Boolean(),
    }  # fmt: skip
    marked = pl.DataFrame(out, schema=schema)
    return about.join(marked, on="case", how="left").with_columns(pl.col("retired").fill_null(value=False))
