"""A judgement as plain text for a terminal or a mail."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kernelindex_liger.history.view import amount, change, share
from kernelindex_liger.report.summary import headline, sentences
from kernelindex_liger.untrusted import safe

if TYPE_CHECKING:
    import polars as pl

    from kernelindex_liger.history.judgement import RunJudgement

SECTIONS = (
    ("Confirmed slower", "slower", "confirmed"),
    ("Suspected slower", "slower", "suspected"),
    ("Slower, as confirmed when the same commit was measured first", "slower", "standing"),
    ("Slower than at the start of the segment, known already", "slower", "drifted"),
    ("Confirmed faster", "faster", "confirmed"),
    ("Faster, as confirmed when the same commit was measured first", "faster", "standing"),
    ("Suspected faster", "faster", "suspected"),
)
"""Heading, verdict and strength of what is listed case by case."""

MOST = 40
"""Cases that a section lists; the rest are counted."""


def render(judgements: list[RunJudgement], note: str | None = None) -> str:
    """All judgements, one after the other; `note` stands at the end."""
    if not judgements:
        return f"Nothing to judge: {note or 'the history is empty'}.\n"
    blocks = [_one(judgement) for judgement in judgements]
    if note:
        blocks.append(f"Note: {note}.\n")
    return safe("\n".join(blocks), keep="\n")


def _one(judgement: RunJudgement) -> str:
    lines = [f"{judgement.label} on {judgement.machine}", headline(judgement), *sentences(judgement)]
    lines = [safe(line) for line in lines]
    for heading, verdict, strength in SECTIONS:
        cases = judgement.select(verdict, strength)
        if cases.height:
            lines += ["", f"{heading} ({cases.height})", *_table(cases)]
    return "\n".join(lines) + "\n"


def _table(cases: pl.DataFrame) -> list[str]:
    lines = []
    for row in cases.head(MOST).iter_rows(named=True):
        values = f"{amount(row['reference'], row['metric'])} → {amount(row['value'], row['metric'])}"
        spread = "" if row["spread"] is None else f", spread {share(row['spread'])} of {row['runs']} runs"
        caveats = f", caveats: {', '.join(row['caveats'])}" if row["caveats"] else ""
        name = safe(row["name"])
        lines.append(f"  {change(row['ratio']):>9}  {row['case'][:8]}  {name}  {values}{spread}{caveats}")
    if cases.height > MOST:
        lines.append(f"  … and {cases.height - MOST} more")
    return lines
