"""From a history, or one import, to what a report shows of each machine."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

import kernelindex_liger
from kernelindex_liger.history import cases as case_names
from kernelindex_liger.history import marks as decisions
from kernelindex_liger.history.caveats import usable
from kernelindex_liger.history.errors import UnknownNameError
from kernelindex_liger.history.judge import COLUMNS as JUDGED
from kernelindex_liger.history.judge import judge_run
from kernelindex_liger.history.observations import observations
from kernelindex_liger.report.data import COLUMNS, Sheet, panels

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kernelindex_liger.history.judgement import RunJudgement
    from kernelindex_liger.history.runs import Run
    from kernelindex_liger.history.store import History
    from kernelindex_liger.history.thresholds import Thresholds


def of_history(history: History, thresholds: Thresholds, label: str | None = None, shown: int = 60) -> list[Sheet]:
    """A sheet for each environment of the run `label` (or the newest), with the machine's last `shown` runs.

    An empty history gives none. Raises `UnknownNameError` for a label that no run has.
    """
    runs, rows = history.table(list(dict.fromkeys([*COLUMNS, *JUDGED])))
    wanted = label if label is not None else (runs[-1].label if runs else None)
    chosen = [run for run in runs if run.label == wanted]
    if label is not None and not chosen:
        raise UnknownNameError(f"{label}: no run has this label; `history list` shows them")
    told = decisions.load(history)
    return [_sheet(run, runs, rows, judge_run(run, runs, rows, thresholds, told), thresholds, shown) for run in chosen]


def of_labels(history: History, thresholds: Thresholds, labels: Sequence[str]) -> list[Sheet]:
    """The sheets of the first of `labels`, and of the others what was judged, without their charts."""
    first = of_history(history, thresholds, labels[0])
    others = [sheet for label in labels[1:] for sheet in of_history(history, thresholds, label)]
    return first + [replace(sheet, panels=()) for sheet in others]


def _sheet(
    run: Run, runs: list[Run], rows: pl.DataFrame, judgement: RunJudgement, thresholds: Thresholds, shown: int
) -> Sheet:
    machine = [other for other in runs if other.machine == run.machine and other.index <= run.index][-shown:]
    places = [other.index for other in machine]
    past = usable(rows.filter(pl.col("machine") == run.machine, pl.col("run").is_in(places)), thresholds)
    values = observations(past).with_columns(value=pl.col("log").exp())
    own = rows.filter(pl.col("run") == run.index)
    return Sheet(
        label=run.label,
        machine=run.machine,
        panels=tuple(panels(own, values, places)),
        judgement=judgement,
        runs=tuple(machine),
        facts=_facts(own, run.settings, thresholds.preset) | {"Measured": f"{run.time:%Y-%m-%d %H:%M} UTC"},
        caveats=_caveats(own),
    )


def of_table(runs: pl.DataFrame, label: str) -> list[Sheet]:
    """A sheet for each machine of one import (columns of `history.source.SCHEMA`), without judgement or history."""
    rows = case_names.with_cases(runs).with_columns(carried=pl.lit(value=False))
    out = []
    for _, own in rows.sort("machine", "environment_key").group_by("environment_key", maintain_order=True):
        settings = case_names.settings(own["environment"][0])
        facts = _facts(own, settings, None)
        out.append(Sheet(label, own["machine"][0], tuple(panels(own)), facts=facts, caveats=_caveats(own)))
    return out


def _caveats(rows: pl.DataFrame) -> dict[str, int]:
    counted = rows.filter(~pl.col("carried"))["caveats"].explode().drop_nulls().value_counts(name="rows")
    return {str(name): int(number) for name, number in counted.sort("caveats").iter_rows()}


def _facts(rows: pl.DataFrame, settings: dict[str, object], preset: str | None) -> dict[str, str]:
    own = rows.filter(~pl.col("carried"))
    facts = {name: value for name, value in case_names.flat(settings).items() if value}
    versions = ", ".join(sorted(own["liger_version"].drop_nulls().unique()))
    facts |= {"liger-kernel": versions or "not recorded", "Rows": str(own.height)}
    if preset is not None:
        facts["Thresholds"] = f"preset {preset}"
    if not settings.get("software"):
        facts["Software"] = "not recorded in the CSV"
    return facts | {"Made with": f"kernelindex-liger {kernelindex_liger.__version__}"}
