"""What a report shows: series of one run over x, ratios to baselines, and every case's history."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import polars as pl

if TYPE_CHECKING:
    from kernelindex_liger.history.judgement import RunJudgement
    from kernelindex_liger.history.runs import Run

COLUMNS = [
    "kernel", "pass", "provider", "metric", "machine", "case", "name", "case_key", "x_name", "x_value", "role",
    "ns", "p20_ns", "p80_ns", "peak_bytes", "p20_bytes", "p80_bytes", "caveats", "status", "environment_key",
    "liger_version", "carried", "observed_at",
]  # fmt: skip
"""Columns of a part that a report reads."""

METRICS = ("speed", "speed_graph", "memory")
"""Order of metrics in a report."""

AXIS = re.compile(r"([a-z_]+?)(\d+)$")
"""One axis in a case key: its name, then its value."""


@dataclass(frozen=True)
class Point:
    """One measured value: nanoseconds or bytes, with the p20 to p80 band where there is one."""

    x: str
    provider: str
    variant: str
    """What else tells two series apart: other axes that vary, such as `batch2-seq512`."""
    role: str | None
    value: float
    low: float | None
    high: float | None
    caveats: tuple[str, ...]
    case: str

    @property
    def series(self) -> str:
        """The name of the line that the point belongs to."""
        return f"{self.provider} {self.variant}".strip()


@dataclass(frozen=True)
class Ratio:
    """A baseline's value over a measured provider's, at one x: above 1, the measured provider needs less."""

    x: str
    series: str
    value: float


@dataclass(frozen=True)
class Track:
    """One case through the runs."""

    case: str
    name: str
    """Provider and case key."""
    values: tuple[float | None, ...]
    """A value a run of the report, None where there is none that counts."""


@dataclass(frozen=True)
class Panel:
    """One kernel, pass, metric and sweep on one machine."""

    kernel: str
    pass_: str
    metric: str
    x_name: str
    points: tuple[Point, ...]
    ratios: tuple[Ratio, ...]
    tracks: tuple[Track, ...] = ()

    @property
    def numeric(self) -> bool:
        """Whether every x is a number."""
        return all(is_number(point.x) for point in self.points)


@dataclass(frozen=True)
class Sheet:
    """Everything that a report says about one machine's run."""

    label: str
    machine: str
    panels: tuple[Panel, ...]
    judgement: RunJudgement | None = None
    runs: tuple[Run, ...] = ()
    """The machine's runs that the histories show, oldest first."""
    facts: dict[str, str] = field(default_factory=dict)
    """Environment and provenance, name by name."""
    caveats: dict[str, int] = field(default_factory=dict)
    """Rows of this run by caveat."""


def is_number(text: str) -> bool:
    """Whether `text` is a finite number as CSVs write them."""
    return re.fullmatch(r"-?\d+(\.\d+)?", text) is not None


def panels(rows: pl.DataFrame, history: pl.DataFrame | None = None, runs: list[int] | None = None) -> list[Panel]:
    """One run's `rows` (columns of `COLUMNS`) as panels, ordered by kernel, pass, metric and x.

    `history` has `case`, `run` and `value` (nanoseconds or bytes) of all runs whose index is in `runs`, which are
    the places that tracks have.
    """
    tracks = _tracks(history, runs) if history is not None and runs is not None else {}
    value = pl.coalesce("ns", "peak_bytes")
    rows = rows.filter(~pl.col("carried"), pl.col("status") == "passed", value.is_not_null())
    rows = rows.with_columns(
        value=value, low=pl.coalesce("p20_ns", "p20_bytes"), high=pl.coalesce("p80_ns", "p80_bytes")
    ).sort("observed_at", "name", "case")
    out = []
    for (kernel, pass_, metric, x_name), group in rows.group_by("kernel", "pass", "metric", "x_name"):
        points = _points(group.unique("case", keep="last", maintain_order=True))
        cases = {point.case: f"{point.provider} · {_key(group, point.case)}" for point in points}
        out.append(
            Panel(
                kernel=str(kernel),
                pass_=str(pass_),
                metric=str(metric),
                x_name=str(x_name or "x"),
                points=tuple(points),
                ratios=tuple(_ratios(points)),
                tracks=tuple(
                    Track(case, name, tracks[case])
                    for case, name in sorted(cases.items(), key=_by_name)
                    if case in tracks
                ),
            )
        )
    order = {metric: place for place, metric in enumerate(METRICS)}
    return sorted(out, key=lambda p: (p.kernel, order.get(p.metric, len(order)), p.pass_, p.x_name))


def _by_name(item: tuple[str, str]) -> tuple[list[tuple[int, str]], str]:
    """Sorts names as people do: numbers in them by their size."""
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"(\d+)", item[1])], item[0]


def _key(group: pl.DataFrame, case: str) -> str:
    return str(group.filter(pl.col("case") == case)["case_key"][0])


def _tracks(history: pl.DataFrame, runs: list[int]) -> dict[str, tuple[float | None, ...]]:
    place = {run: index for index, run in enumerate(runs)}
    found: dict[str, list[float | None]] = {}
    for case, run, value in history.select("case", "run", "value").iter_rows():
        found.setdefault(case, [None] * len(runs))[place[run]] = value
    return {case: tuple(values) for case, values in found.items()}


def _points(group: pl.DataFrame) -> list[Point]:
    """A panel's values, by series and x."""
    rows = group.to_dicts()
    axes = [_axes(row["case_key"] or "") for row in rows]
    telling = _telling([row["x_value"] for row in rows], axes)
    points = [
        Point(
            x=row["x_value"] or "",
            provider=row["provider"],
            variant="-".join(f"{name}{of[name]}" for name in telling if name in of),
            role=row["role"],
            value=float(row["value"]),
            low=row["low"],
            high=row["high"],
            caveats=tuple(row["caveats"] or ()),
            case=row["case"],
        )
        for row, of in zip(rows, axes, strict=True)
    ]
    return sorted(points, key=lambda p: (p.series, float(p.x) if is_number(p.x) else 0.0, p.x, p.case))


def _axes(case_key: str) -> dict[str, str]:
    out = {}
    for token in case_key.split("-"):
        found = AXIS.fullmatch(token)
        out[found[1] if found else "dtype"] = found[2] if found else token
    return out


def _telling(xs: list[str], axes: list[dict[str, str]]) -> list[str]:
    """Axes that x does not decide: at one x they have several values, so they tell two lines apart."""
    out = []
    for name in sorted({name for of in axes for name in of}):
        seen: dict[str, set[str]] = {}
        for x, of in zip(xs, axes, strict=True):
            seen.setdefault(x, set()).add(of.get(name, ""))
        if any(len(values) > 1 for values in seen.values()):
            out.append(name)
    return out


def _ratios(points: list[Point]) -> list[Ratio]:
    """Each baseline over each other provider, where both have the x and the variant."""
    base = {(p.x, p.variant, p.provider): p.value for p in points if p.role == "baseline"}
    names = sorted({provider for *_, provider in base})
    out = []
    for point in points:
        if point.role == "baseline" or point.value <= 0:
            continue
        for name in names:
            other = base.get((point.x, point.variant, name))
            if other is not None:
                series = f"{name} ÷ {point.provider} {point.variant}".strip()
                out.append(Ratio(point.x, series, other / point.value))
    return out
