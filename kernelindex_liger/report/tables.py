"""The tables of the page: what moved, as markup, and the numbers behind each chart, which it makes when asked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kernelindex_liger.history import cases as case_names
from kernelindex_liger.history.view import amount, change, share
from kernelindex_liger.untrusted import escape

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import polars as pl

    from kernelindex_liger.report.data import Panel, Sheet

MOST = 200
"""Moved cases that a table lists; the JSON report has them all."""


NUMBERS = {"change", "before", "now", "spread", "runs"}
"""Headings of `moved` whose cells are numbers."""


def table(headings: Sequence[str], rows: Iterable[Sequence[str]], caption: str) -> str:
    """An HTML table that scrolls in itself; the first cell of a row is its heading."""
    kinds = [' class="n"' if name in NUMBERS else "" for name in headings]
    head = "".join(f'<th scope="col"{kind}>{escape(name)}</th>' for kind, name in zip(kinds, headings, strict=True))
    body = []
    for row in rows:
        cells = [f'<th scope="row">{escape(row[0])}</th>']
        for kind, cell in zip(kinds[1:], row[1:], strict=True):
            cells.append(f"<td{kind}>{escape(cell)}</td>")
        body.append(f"<tr>{''.join(cells)}</tr>")
    return (
        f'<div class="scroll" role="region" tabindex="0" aria-label="{escape(caption)}"><table>'
        f"<thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody></table></div>"
    )


def moved(cases: pl.DataFrame, caption: str) -> str:
    """Cases that moved, the furthest first; what a narrow screen shows without scrolling stands in front."""
    rows = []
    for row in cases.head(MOST).iter_rows(named=True):
        metric = "" if row["metric"] == "speed" else f" ({row['metric']})"
        rows.append(
            (
                f"{row['kernel']} {row['pass']}{metric}", change(row["ratio"]), row["provider"], row["case_key"] or "",
                amount(row["reference"], row["metric"]), amount(row["value"], row["metric"]), share(row["spread"]),
                str(row["runs"]), ", ".join(row["caveats"] or ()), row["accepted"] or row["reason"] or "",
                row["case"][:8],
            )
        )  # fmt: skip
    headings = ("what", "change", "provider", "case", "before", "now", "spread", "runs", "caveats", "note", "id")
    more = f"<p>… and {cases.height - MOST} more.</p>" if cases.height > MOST else ""
    return table(headings, rows, caption) + more


@dataclass(frozen=True)
class Lazy:
    """A table that the page makes when it is asked for: a year of nights has too many cells to make them all."""

    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    """Cells as texts; the first of a row is its heading, the others are numbers or words."""
    caption: str

    def as_json(self) -> dict[str, Any]:
        """What the page reads: `h`, `r` and `c`."""
        return {"h": self.headings, "r": self.rows, "c": self.caption}


def values(panel: Panel) -> Lazy:
    """The latency chart's numbers."""
    rows = tuple(
        (
            point.series, point.x, amount(point.value, panel.metric), amount(point.low, panel.metric),
            amount(point.high, panel.metric), ", ".join(point.caveats) or "none",
        )
        for point in panel.points
    )  # fmt: skip
    caption = f"{panel.kernel} {panel.pass_} {panel.metric} over {panel.x_name}"
    return Lazy(("series", panel.x_name, "median", "p20", "p80", "caveats"), rows, caption)


def ratios(panel: Panel) -> Lazy:
    """The ratio chart's numbers."""
    rows = tuple((ratio.series, ratio.x, f"{ratio.value:.3g}") for ratio in panel.ratios)
    caption = f"{panel.kernel} {panel.pass_} {panel.metric}: baseline over measured"
    return Lazy(("ratio", panel.x_name, "times"), rows, caption)


def tracks(sheet: Sheet, panel: Panel) -> Lazy:
    """Each case's values, run by run, the newest first."""
    cuts = segments(sheet)
    headings = [run.label + (" (new segment)" if run.label in cuts else "") for run in reversed(sheet.runs)]
    rows = tuple(
        (track.name, *(amount(value, panel.metric) for value in reversed(track.values))) for track in panel.tracks
    )
    caption = f"{panel.kernel} {panel.pass_} {panel.metric}: history, newest run first"
    return Lazy(("case", *headings), rows, caption)


def segments(sheet: Sheet) -> dict[str, str]:
    """Labels of runs whose environment is another than the run's before, with what changed."""
    out = {}
    for before, after in zip(sheet.runs, sheet.runs[1:], strict=False):
        if before.environment_key != after.environment_key:
            out[after.label] = "; ".join(case_names.differences(before.settings, after.settings))
    return out


def facts(sheet: Sheet) -> str:
    """Environment and provenance, and the caveats of the run's rows."""
    items = "".join(f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in sheet.facts.items())
    cuts = "".join(f"<li>{escape(label)}: {escape(what)}</li>" for label, what in segments(sheet).items())
    changed = f"<h3>New segments</h3><ul>{cuts}</ul>" if cuts else ""
    known = meanings()
    caveats = "".join(
        f"<li><code>{escape(name)}</code>, {number} rows{escape(f': {known[name]}' if name in known else '')}</li>"
        for name, number in sheet.caveats.items()
    )
    noted = f"<h3>Caveats</h3><ul>{caveats}</ul>" if caveats else "<h3>Caveats</h3><p>None of the rows has one.</p>"
    return f'<section class="facts"><h3>Environment and provenance</h3><dl>{items}</dl>{changed}{noted}</section>'


def meanings() -> dict[str, str]:
    """Each caveat's sentence, from the curated facts."""
    from kernelindex_liger.catalog.load import load

    return {caveat.id: caveat.sentence for caveat in load().caveats}
