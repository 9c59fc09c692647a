"""From rows to observations: one value a case and run, of one meaning, one a commit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Mapping


def observations(rows: pl.DataFrame) -> pl.DataFrame:
    """One row a case and run: `log`, the logarithm of the median of what was measured, and `meaning`.

    Faulty rows are left out. Of a run that measured a case with several meanings, the last in their order counts.
    """
    value = pl.coalesce("ns", "peak_bytes").clip(lower_bound=1)
    good = rows.filter(~pl.col("carried"), pl.col("fault").is_null())
    return (
        good.group_by("case", "run", "meaning")
        .agg(value.median().log().alias("log"))
        .sort("meaning")
        .unique(["case", "run"], keep="last", maintain_order=True)
        if good["meaning"].n_unique() > 1
        else good.group_by("case", "run").agg(pl.col("meaning").first(), value.median().log().alias("log"))
    )


@dataclass(frozen=True)
class Meanings:
    """What tells a case's value in the judged run from its values before."""

    same: pl.DataFrame
    """The observations that mean what the judged run's do."""
    others: pl.DataFrame
    """`case`, `was`, `now`: cases whose run before has another meaning; caveats joined by plus signs, each."""


def of_one_meaning(observed: pl.DataFrame, run: int) -> Meanings:
    """The observations up to `run`, without those of another meaning than the case has in `run`."""
    observed = observed.filter(pl.col("run") <= run)
    if observed["meaning"].n_unique() < 2:
        return Meanings(observed.drop("meaning"), pl.DataFrame(schema=dict.fromkeys(("case", "was", "now"), pl.String)))
    now = observed.filter(pl.col("run") == run).select("case", pl.col("meaning").alias("now"))
    told = observed.join(now, on="case", how="inner")
    newest = told.filter(pl.col("run") < run).sort("run").unique("case", keep="last", maintain_order=True).sort("case")
    others = newest.filter(pl.col("meaning") != pl.col("now")).select("case", pl.col("meaning").alias("was"), "now")
    return Meanings(told.filter(pl.col("meaning") == pl.col("now")).drop("now", "meaning"), others)


def one_a_commit(observed: pl.DataFrame, steps: Mapping[int, int]) -> pl.DataFrame:
    """`observed` with the newest of a case's values of one commit, and `first`: the oldest one's `log`.

    `steps` is `commits.steps`' table. Runs that it does not hold are left out.
    """
    if all(run == step for run, step in steps.items()):
        return observed.filter(pl.col("run").is_in(list(steps))).with_columns(pl.col("log").alias("first"))
    of = pl.DataFrame({"run": list(steps), "step": list(steps.values())}, schema={"run": pl.Int64, "step": pl.Int64})
    return (
        observed.join(of, on="run", how="inner")
        .sort("run")
        .with_columns(first=pl.col("log").first().over("case", "step"))
        .unique(["case", "step"], keep="last", maintain_order=True)
        .drop("step")
    )
