"""A judgement in sentences, the same in every format."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kernelindex_liger.history.view import amount, change

if TYPE_CHECKING:
    from kernelindex_liger.history.judgement import RunJudgement


def headline(judgement: RunJudgement) -> str:
    """One sentence: what this run's judgement comes to."""
    if not judgement.judged:
        return "Nothing could be judged: too little history in this environment."
    counts = judgement.counts
    slower = judgement.confirmed_slower.height
    parts = []
    if slower:
        parts.append(f"{slower} confirmed slower")
    if counts.get("suspected slower"):
        parts.append(f"{counts['suspected slower']} suspected slower")
    faster = counts.get("confirmed faster", 0) + counts.get("suspected faster", 0)
    if faster:
        parts.append(f"{faster} faster")
    same = f"{counts.get('same', 0)} of {judgement.judged} judged cases are the same"
    return f"{', '.join(parts)}; {same}." if parts else f"Nothing slower: {same}."


def sentences(judgement: RunJudgement) -> list[str]:
    """Everything about the run as a whole, one sentence each, the most important first."""
    out = []
    shift, launches = judgement.shift, judgement.launches
    if shift is not None:
        out.append(
            f"Run-wide shift ({shift.strength}): {shift.share:.0%} of {shift.cases} cases moved together, the median "
            f"case by {change(shift.ratio)}. Cases are judged against that; those named moved against it or beyond it."
        )
    if launches is not None:
        out.append(
            f"The host launches {launches.direction} ({launches.strength}): {launches.share:.0%} of {launches.cases} "
            f"short cases are {launches.direction}, baselines too, nearly all by at most "
            f"{amount(launches.overhead, 'speed')}. Cases that moved no further are not listed, and short ones not "
            "confirmed."
        )
    if judgement.environment_changes:
        out.append(f"The environment changed since {judgement.previous}: {'; '.join(judgement.environment_changes)}.")
    if judgement.run is not None and not judgement.earlier:
        out.append("It is the first run in this environment, so a new segment of the history starts here.")
    for kernels, what in ((judgement.vanished_kernels, "vanished"), (judgement.new_kernels, "new")):
        if kernels:
            against = f" (in {judgement.previous}, not here)" if what == "vanished" else ""
            out.append(f"Kernels {what}{against}: {', '.join(kernels)}.")
    if judgement.missing_kernels:
        away = ", ".join(f"{kernel} (last in {label})" for kernel, label in judgement.missing_kernels.items())
        out.append(f"Kernels still missing: {away}.")
    if judgement.left_out:
        rows = ", ".join(f"{number} × {fault}" for fault, number in judgement.left_out.items())
        out.append(f"Rows left out: {rows}.")
    retired = judgement.cases.filter(judgement.cases["retired"]).height
    if retired:
        out.append(f"Retired cases, which do not alarm: {retired}.")
    return out
