"""The judgement: each case of a run against its own earlier runs on the same machine and environment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from kernelindex_liger.history import cases as case_names
from kernelindex_liger.history import marks as decisions
from kernelindex_liger.history.caveats import kept, left_out, usable
from kernelindex_liger.history.commits import steps
from kernelindex_liger.history.errors import UnknownNameError
from kernelindex_liger.history.judgement import CASES, RunJudgement
from kernelindex_liger.history.limits import with_limits, with_marks
from kernelindex_liger.history.measure import anchors, positions, windows
from kernelindex_liger.history.observations import observations, of_one_meaning, one_a_commit
from kernelindex_liger.history.presence import Presence, presence
from kernelindex_liger.history.repeats import nothing_new
from kernelindex_liger.history.verdicts import verdicts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kernelindex_liger.history.marks import Mark
    from kernelindex_liger.history.runs import Run
    from kernelindex_liger.history.store import History
    from kernelindex_liger.history.thresholds import Thresholds

COLUMNS = [
    "kernel", "pass", "provider", "metric", "case_key", "x_name", "x_value", "role", "case", "name", "carried",
    "ns", "peak_bytes", "status", "caveats", "environment_key", "machine",
]  # fmt: skip
"""Columns of a part that the judgement reads."""

ABOUT = [
    "case", "name", "kernel", "pass", "provider", "metric", "case_key", "x_name", "x_value", "role", "caveats",
]  # fmt: skip
"""What a judgement says of a case beside numbers."""

ORDER = ["kernel", "pass", "provider", "metric", "name", "case"]


@dataclass(frozen=True)
class _Told:
    """What the judgement is told from outside the rows."""

    thresholds: Thresholds
    marks: Sequence[Mark]
    runs: Sequence[Run]
    steps: Mapping[int, int]
    """Runs of the judged one's environment, itself among them, and the first of the same commit."""
    until: int | None


def judge(history: History, thresholds: Thresholds, label: str | None = None) -> list[RunJudgement]:
    """Judge all runs with `label`, or with the newest run's label; one judgement an environment.

    An empty history gives an empty list. Raises `UnknownNameError` for a label that no run has.
    """
    return judge_each(history, thresholds, [label])


def judge_each(history: History, thresholds: Thresholds, labels: Sequence[str | None]) -> list[RunJudgement]:
    """Judge all runs with each of `labels`, in their order; None is the newest run's label, if there is a run.

    Raises `UnknownNameError` for a label that no run has.
    """
    runs, rows = history.table(COLUMNS)
    newest = runs[-1].label if runs else None
    chosen = [label or newest for label in labels]
    told = decisions.load(history)
    return [
        judge_run(run, runs, rows, thresholds, told)
        for label in chosen
        if label is not None
        for run in labelled(runs, label)
    ]


def judge_since(history: History, thresholds: Thresholds, before: str, after: str) -> list[RunJudgement]:
    """Judge all runs labelled `after` against the history up to the runs labelled `before`, these included.

    What lies between is no part of the measure; the run just before the judged one may confirm what it shows. Raises
    `UnknownNameError` for a label that no run has, and where `before` is the later one.
    """
    runs, rows = history.table(COLUMNS)
    old, new = labelled(runs, before), labelled(runs, after)
    told = decisions.load(history)
    out = []
    for run in new:
        measured = [other.index for other in old if other.machine == run.machine]
        until = max(measured or (other.index for other in old))
        if until >= run.index:
            raise UnknownNameError(f"{before} is no earlier run than {after}: name the earlier one first")
        out.append(judge_run(run, runs, rows, thresholds, told, until))
    return out


def labelled(runs: Sequence[Run], label: str) -> list[Run]:
    """The runs with `label`; `UnknownNameError` when there is none."""
    chosen = [run for run in runs if run.label == label]
    if not chosen:
        raise UnknownNameError(f"{label}: no run has this label; `history list` shows them")
    return chosen


def judge_run(
    run: Run,
    runs: Sequence[Run],
    rows: pl.DataFrame,
    thresholds: Thresholds,
    marks: Sequence[Mark] = (),
    until: int | None = None,
) -> RunJudgement:
    """Judge one run; `rows` are the history's with at least `COLUMNS` and `run`, in any order.

    Later runs and other machines are not looked at. With `until`, runs up to that index are the measure.
    """
    machine = [other for other in runs if other.machine == run.machine and other.index < run.index]
    same = [other for other in machine if other.environment_key == run.environment_key]
    measures = [other for other in same if until is None or other.index <= until]
    of = steps([*same, run], until)
    told = _Told(thresholds, [mark for mark in marks if mark.since <= run.time], runs, of, until)
    own = usable(rows.filter(pl.col("machine") == run.machine, pl.col("run") <= run.index), thresholds)
    seen = own if until is None else own.filter((pl.col("run") <= until) | (pl.col("run") == run.index))
    before = [other for other in machine if until is None or other.index <= until]
    here = presence(run, before, seen)
    table, meanings = _cases(run, own, here, told)
    earlier = [index for index, step in of.items() if step != of[run.index] and (until is None or index > until)]
    found, shift, launches = verdicts(table, earlier[-1] if earlier else None, thresholds)
    judgement = RunJudgement(
        run=run,
        label=run.label,
        machine=run.machine,
        cases=found.select(pl.col(name).cast(kind) for name, kind in CASES.items()).sort(ORDER),
        environment_changes=tuple(case_names.differences(before[-1].settings, run.settings)) if before else (),
        previous=before[-1].label if before else None,
        earlier=len(measures),
        shift=shift,
        launches=launches,
        vanished_kernels=here.vanished_kernels,
        missing_kernels=here.missing_kernels,
        new_kernels=here.new_kernels,
        left_out=left_out(now := own.filter(pl.col("run") == run.index, ~pl.col("carried"))),
        with_caveats=kept(now),
        other_meaning=meanings,
    )
    first = of[run.index]
    if until is not None or first == run.index:
        return judgement
    again = next(other for other in same if other.index == first)
    return nothing_new(judgement, judge_run(again, runs, rows, thresholds, marks))


def _cases(run: Run, rows: pl.DataFrame, here: Presence, told: _Told) -> tuple[pl.DataFrame, dict[str, int]]:
    """All cases that the run's judgement speaks of: what they are, their limits, values and windows.

    And how many of them have another meaning than in their run before, by what changed.
    """
    about = (
        rows.sort("run", "fault", "meaning", nulls_last=True)
        .select(ABOUT)
        .unique("case", keep="last", maintain_order=True)
        .join(here.cases, on="case", how="inner")
    )
    about = with_marks(with_limits(about, told.thresholds), told.marks)
    meanings = of_one_meaning(observations(rows.filter(pl.col("run").is_in(list(told.steps)))), run.index)
    times = pl.DataFrame(
        {"run": [other.index for other in told.runs], "run_time": [other.time for other in told.runs]},
        schema={"run": pl.Int64, "run_time": pl.Datetime("us", "UTC")},
    )
    observed = one_a_commit(meanings.same, told.steps).join(times, on="run")
    observed = observed.join(about.select("case", "window", "since"), on="case")
    observed = observed.filter(pl.col("since").is_null() | (pl.col("run_time") >= pl.col("since")))
    labels = {other.index: other.label for other in told.runs}
    placed = positions(observed, run.index, told.until)
    since_start = placed if told.until is None else placed.clear()
    table = (
        about.join(windows(placed, 1 if told.until is None else 2), on="case", how="left")
        .join(anchors(since_start), on="case", how="left")
        .join(meanings.others, on="case", how="left")
        .with_columns(pl.col("run1").replace_strict(labels, default=None, return_dtype=pl.String).alias("previous"))
    )
    changes = meanings.others.group_by("was", "now").len().sort("was", "now")
    return table, {f"{was or 'none'} → {now or 'none'}": int(cases) for was, now, cases in changes.iter_rows()}
