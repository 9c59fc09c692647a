"""What a history holds, as plain values for printing and for JSON."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import polars as pl

from kernelindex_liger.history.caveats import usable
from kernelindex_liger.history.judge import COLUMNS
from kernelindex_liger.history.observations import observations
from kernelindex_liger.history.thresholds import preset

if TYPE_CHECKING:
    from kernelindex_liger.history.store import History

BARS = "▁▂▃▄▅▆▇█"


def series(history: History, kernel: str, **only: str | None) -> list[dict[str, Any]]:
    """All cases of `kernel` with their values run by run, oldest first, ordered by name.

    `only` narrows by pass, provider, metric or machine. Values are nanoseconds or bytes; a value that does not
    count (a caveat, a failure) is left out and named under `faults`.
    """
    runs, rows = history.table(COLUMNS)
    rows = rows.filter(pl.col("kernel") == kernel, ~pl.col("carried"))
    for column, value in only.items():
        if value is not None:
            rows = rows.filter(pl.col(column) == value)
    rows = usable(rows, preset())
    values = observations(rows).sort("run")
    labels = {run.index: run for run in runs}
    points: dict[str, list[dict[str, Any]]] = {}
    for case, run, log in values.select("case", "run", "log").iter_rows():
        of = labels[run]
        point = {"label": of.label, "time": of.time.isoformat(), "environment": of.environment_key}
        points.setdefault(case, []).append({**point, "value": math.exp(log)})
    fields = ["case", "name", "kernel", "pass", "provider", "metric", "machine"]
    found = rows.group_by(fields).agg(pl.col("fault").drop_nulls().unique().sort()).sort("name", "case")
    return [
        {**{field: row[field] for field in fields}, "points": points.get(row["case"], []), "faults": row["fault"]}
        for row in found.iter_rows(named=True)
    ]


def sparkline(values: list[float]) -> str:
    """The last 24 values as bars from their least to their greatest; a flat line for values within 1 %."""
    values = values[-24:]
    if not values:
        return ""
    low, high = min(values), max(values)
    if high <= low * 1.01:
        return BARS[3] * len(values)
    return "".join(BARS[round((value - low) / (high - low) * (len(BARS) - 1))] for value in values)


def amount(value: float | None, metric: str) -> str:
    """A value for people: time in µs, ms or s, memory in KiB, MiB or GiB."""
    if value is None:
        return "–"
    if metric == "memory":
        for unit, size in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
            if value >= size:
                return f"{value / size:.4g} {unit}"
        return f"{value:.0f} B"
    for unit, nanoseconds in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if value >= nanoseconds:
            return f"{value / nanoseconds:.4g} {unit}"
    return f"{value:.0f} ns"


def change(ratio: float | None) -> str:
    """A ratio for people: `+15.0 %`, and `×6.7` where per cents say little."""
    if ratio is None:
        return "–"
    if ratio >= 2:
        return f"×{ratio:.2f}"
    return f"{(ratio - 1) * 100:+.1f} %".replace("-", "−")


def share(value: float | None) -> str:
    """A spread for people: `1.2 %`."""
    return "–" if value is None else f"{value * 100:.1f} %"
