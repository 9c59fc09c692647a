"""A judgement as Markdown for a pull request: short on top, the rest folded."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kernelindex_liger.history.view import amount, change, share
from kernelindex_liger.report.summary import headline, sentences
from kernelindex_liger.report.text import SECTIONS
from kernelindex_liger.untrusted import safe

if TYPE_CHECKING:
    import polars as pl

    from kernelindex_liger.history.judgement import RunJudgement

MARKUP = re.compile(r"[\\`*_~\[\]|]")
"""What makes text bold, code, a link, an image or a cell."""

OPEN = 10
"""Sections of up to so many cases are not folded."""

MOST = 100
"""Cases that a section lists; the rest are counted."""


def render(judgements: list[RunJudgement], note: str | None = None) -> str:
    """All judgements as one Markdown document; `note` stands at the end."""
    if not judgements:
        return f"## Benchmarks\n\nNothing to judge: {plain(note or 'the history is empty')}.\n"
    blocks = [_one(judgement) for judgement in judgements]
    if note:
        blocks.append(f"> {plain(note[0].upper() + note[1:])}.\n")
    return "\n".join(blocks)


def _one(judgement: RunJudgement) -> str:
    mark = "❌ " if judgement.alarming else ("✅ " if judgement.judged else "❔ ")
    lines = [f"## {mark}Benchmarks: {plain(judgement.label)} on {plain(judgement.machine)}", ""]
    lines += [f"**{plain(headline(judgement))}**", ""]
    facts = sentences(judgement)
    if facts:
        lines += [*(f"- {plain(fact)}" for fact in facts), ""]
    for heading, verdict, strength in SECTIONS:
        cases = judgement.select(verdict, strength)
        if cases.is_empty():
            continue
        title = f"{heading} ({cases.height})"
        if cases.height <= OPEN:
            lines += [f"### {title}", "", *_table(cases), ""]
        else:
            lines += [f"<details><summary>{title}</summary>", "", *_table(cases), "", "</details>", ""]
    return "\n".join(lines)


def _table(cases: pl.DataFrame) -> list[str]:
    headings = ["change", "kernel", "pass", "provider", "case", "before → now", "spread", "runs"]
    rules = ["--:", "-", "-", "-", "-", "--:", "--:", "--:"]
    noted = cases["caveats"].list.len().fill_null(0).sum() > 0
    if noted:
        headings, rules = [*headings, "caveats"], [*rules, "-"]
    lines = [f"| {' | '.join(headings)} |", f"| {' | '.join(rules)} |"]
    for row in cases.head(MOST).iter_rows(named=True):
        values = f"{amount(row['reference'], row['metric'])} → {amount(row['value'], row['metric'])}"
        metric = "" if row["metric"] == "speed" else f" ({row['metric']})"
        cells = [change(row["ratio"]), row["kernel"], f"{row['pass']}{metric}", row["provider"]]
        cells += [row["case_key"], values, share(row["spread"]), str(row["runs"])]
        if noted:
            cells.append(", ".join(row["caveats"] or ()))
        cells = [plain(cell or "") for cell in cells]
        cells[4] += f" {code(row['case'][:8])}"
        lines.append("| " + " | ".join(cells) + " |")
    if cases.height > MOST:
        lines.append(f"\n… and {cases.height - MOST} more.")
    return lines


def code(digits: str) -> str:
    """A case's digits as code; what is none of ours stays text."""
    return f"`{digits}`" if digits.isalnum() else plain(digits)


def plain(text: str) -> str:
    """`text` with what Markdown tables and HTML would take for markup made harmless, and what `safe` escapes."""
    text = safe(text.replace("\n", " ")).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return MARKUP.sub(r"\\\g<0>", text)
