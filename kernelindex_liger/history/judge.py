"""The judgement: each case of a run against its own earlier runs on the same machine and environment."""

from __future__ import annotations

import fnmatch
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from kernelindex_liger.history import cases as case_names
from kernelindex_liger.history import marks as decisions
from kernelindex_liger.history.caveats import harmless
from kernelindex_liger.history.errors import UnknownNameError
from kernelindex_liger.history.judgement import CASES, RunJudgement
from kernelindex_liger.history.measure import TIMES, anchors, positions, windows
from kernelindex_liger.history.presence import Presence, presence
from kernelindex_liger.history.verdicts import verdicts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kernelindex_liger.history.marks import Mark
    from kernelindex_liger.history.runs import Run
    from kernelindex_liger.history.store import History
    from kernelindex_liger.history.thresholds import Thresholds

COLUMNS = [
    "kernel", "pass", "provider", "metric", "case_key", "x_name", "x_value", "role", "case", "name", "carried",
    "ns", "peak_bytes", "status", "caveats", "environment_key", "machine",
]  # fmt: skip
"""Columns of a part that the judgement reads."""

ORDER = ["kernel", "pass", "provider", "metric", "name", "case"]


@dataclass(frozen=True)
class _Told:
    """What the judgement is told from outside the runs."""

    thresholds: Thresholds
    marks: Sequence[Mark]


def judge(history: History, thresholds: Thresholds, label: str | None = None) -> list[RunJudgement]:
    """Judge all runs with `label`, or with the newest run's label; one judgement an environment.

    An empty history gives an empty list. Raises `UnknownNameError` for a label that no run has.
    """
    runs, rows = history.table(COLUMNS)
    if not runs:
        if label is not None:
            raise UnknownNameError(f"{label}: the history is empty")
        return []
    wanted = label if label is not None else runs[-1].label
    chosen = [run for run in runs if run.label == wanted]
    if not chosen:
        raise UnknownNameError(f"{wanted}: no run has this label; `history list` shows them")
    told = decisions.load(history)
    return [judge_run(run, runs, rows, thresholds, told) for run in chosen]


def judge_run(
    run: Run, runs: list[Run], rows: pl.DataFrame, thresholds: Thresholds, marks: Sequence[Mark] = ()
) -> RunJudgement:
    """Judge one run; `rows` are the history's with at least `COLUMNS` and `run`, in any order.

    Later runs and other machines are not looked at.
    """
    told = _Told(thresholds, [mark for mark in marks if mark.since <= run.time])
    machine = [other for other in runs if other.machine == run.machine and other.index < run.index]
    same = [other for other in machine if other.environment_key == run.environment_key]
    rows = rows.filter(pl.col("machine") == run.machine, pl.col("run") <= run.index)
    rows = usable(rows, thresholds)
    here = presence(run, machine, rows)
    table = _cases(run, same, rows, here, told, runs)
    found, shift, launches = verdicts(table, same[-1].index if same else None, thresholds)
    return RunJudgement(
        run=run,
        label=run.label,
        machine=run.machine,
        cases=found.select(pl.col(name).cast(kind) for name, kind in CASES.items()).sort(ORDER),
        environment_changes=tuple(case_names.differences(machine[-1].settings, run.settings)) if machine else (),
        previous=machine[-1].label if machine else None,
        earlier=len(same),
        shift=shift,
        launches=launches,
        vanished_kernels=here.vanished_kernels,
        missing_kernels=here.missing_kernels,
        new_kernels=here.new_kernels,
        left_out=_left_out(rows.filter(pl.col("run") == run.index)),
    )


def usable(rows: pl.DataFrame, thresholds: Thresholds) -> pl.DataFrame:
    """`rows` with `fault`: why a row is no measure (its status or caveats), or null."""
    blocking = pl.col("caveats").list.set_difference(pl.lit(harmless(thresholds.caveats), pl.List(pl.String)))
    return rows.with_columns(
        pl.when(pl.col("status") != "passed")
        .then("failed: " + pl.col("status"))
        .when(blocking.list.len() > 0)
        .then("caveat: " + blocking.list.sort().list.join(", "))
        .when(pl.coalesce("ns", "peak_bytes").is_null())
        .then(pl.lit("no value"))
        .alias("fault")
    )


def _left_out(rows: pl.DataFrame) -> dict[str, int]:
    faults = rows.filter(~pl.col("carried"))["fault"].drop_nulls().value_counts(sort=True, name="rows")
    return {str(fault): int(number) for fault, number in faults.sort("fault").iter_rows()}


def observations(rows: pl.DataFrame) -> pl.DataFrame:
    """One row a case and run: `log`, the logarithm of the median of what was measured; faulty rows left out."""
    value = pl.coalesce("ns", "peak_bytes").clip(lower_bound=1)
    return (
        rows.filter(~pl.col("carried"), pl.col("fault").is_null())
        .group_by("case", "run")
        .agg(value.median().log().alias("log"))
    )


def _cases(run: Run, same: list[Run], rows: pl.DataFrame, here: Presence, told: _Told, runs: list[Run]) -> pl.DataFrame:
    """All cases that the run's judgement speaks of: what they are, their limits, values and windows."""
    about = (
        rows.sort("run", "fault", nulls_last=True)
        .select("case", "name", "kernel", "pass", "provider", "metric", "case_key", "x_name", "x_value", "role")
        .unique("case", keep="last", maintain_order=True)
        .join(here.cases, on="case", how="inner")
    )
    about = _with_limits(about, told.thresholds)
    about = _with_marks(about, told.marks)
    environment = [run.index, *(other.index for other in same)]
    observed = observations(rows.filter(pl.col("run").is_in(environment)))
    times = pl.DataFrame(
        {"run": [other.index for other in runs], "run_time": [other.time for other in runs]},
        schema={"run": pl.Int64, "run_time": pl.Datetime("us", "UTC")},
    )
    observed = observed.join(about.select("case", "window", "since"), on="case").join(times, on="run")
    observed = observed.filter(pl.col("since").is_null() | (pl.col("run_time") >= pl.col("since")))
    labels = {other.index: other.label for other in runs}
    placed = positions(observed, run.index)
    return (
        about.join(windows(placed), on="case", how="left")
        .join(anchors(placed), on="case", how="left")
        .with_columns(pl.col("run1").replace_strict(labels, default=None, return_dtype=pl.String).alias("previous"))
    )  # fmt: skip


def _with_limits(about: pl.DataFrame, thresholds: Thresholds) -> pl.DataFrame:
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


def _with_marks(about: pl.DataFrame, marks: Sequence[Mark]) -> pl.DataFrame:
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
