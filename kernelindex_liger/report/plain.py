"""One import without a history, as Markdown, text or JSON: what each provider measured, and against what."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

from kernelindex_liger.report.markdown import plain
from kernelindex_liger.untrusted import safe, safe_json

if TYPE_CHECKING:
    from kernelindex_liger.report.data import Panel, Sheet

HEADINGS = ("kernel", "pass", "metric", "ratio", "mean", "least", "most", "cases")


def _lines(sheet: Sheet) -> list[tuple[str, ...]]:
    """One line a ratio of a panel: baseline over measured, the geometric mean over x, and its ends."""
    out = []
    for panel in sheet.panels:
        found: dict[str, list[float]] = {}
        for ratio in panel.ratios:
            found.setdefault(ratio.series, []).append(ratio.value)
        for series, values in found.items():
            middle = math.exp(sum(map(math.log, values)) / len(values))
            numbers = [f"{value:.3g}×" for value in (middle, min(values), max(values))]
            out.append((panel.kernel, panel.pass_, panel.metric, series, *numbers, str(len(values))))
    return out


def markdown(sheets: list[Sheet]) -> str:
    """A table a machine of how many times a baseline needs what the measured provider needs."""
    blocks = []
    for sheet in sheets:
        lines = [f"## {plain(sheet.label)} on {plain(sheet.machine)}", ""]
        lines += ["Baseline ÷ measured (geometric mean over x): above 1, the measured provider needs less.", ""]
        lines += ["| " + " | ".join(HEADINGS) + " |", "| - | - | - | - | --: | --: | --: | --: |"]
        lines += ["| " + " | ".join(plain(cell) for cell in line) + " |" for line in _lines(sheet)]
        if sheet.caveats:
            rows = ", ".join(f"{number} × {plain(name)}" for name, number in sheet.caveats.items())
            lines += ["", f"Rows with caveats: {rows}."]
        blocks.append("\n".join(lines) + "\n")
    return "\n".join(blocks) or "No runs.\n"


def text(sheets: list[Sheet]) -> str:
    """The same as columns for a terminal."""
    blocks = []
    for sheet in sheets:
        lines = [HEADINGS, *(tuple(map(safe, line)) for line in _lines(sheet))]
        widths = [max(len(line[place]) for line in lines) for place in range(len(HEADINGS))]
        body = [
            "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines
        ]
        blocks.append("\n".join([f"{safe(sheet.label)} on {safe(sheet.machine)}: baseline ÷ measured", *body]) + "\n")
    return "\n".join(blocks) or "No runs.\n"


def json_(sheets: list[Sheet]) -> str:
    """Every value of every panel."""
    document = {"version": 1, "machines": [_sheet(sheet) for sheet in sheets]}
    return safe_json(json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False)) + "\n"


def _sheet(sheet: Sheet) -> dict[str, Any]:
    return {
        "label": sheet.label,
        "machine": sheet.machine,
        "facts": sheet.facts,
        "caveats": sheet.caveats,
        "panels": [_panel(panel) for panel in sheet.panels],
    }


def _panel(panel: Panel) -> dict[str, Any]:
    return {
        "kernel": panel.kernel,
        "pass": panel.pass_,
        "metric": panel.metric,
        "xName": panel.x_name,
        "points": [vars(point) for point in panel.points],
        "ratios": [vars(ratio) for ratio in panel.ratios],
    }
