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
    known = counts.get("standing slower", 0) + counts.get("drifted slower", 0)
    if known:
        parts.append(f"{known} known to be slower")
    faster = sum(number for kind, number in counts.items() if kind.endswith("faster"))
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
    if judgement.repeats is not None:
        out.append(
            f"It measures the commit of {judgement.repeats} again, and stands in that run's place from here on. One "
            "commit is one night: a repetition confirms nothing."
        )
    out += _about_caveats(judgement)
    retired = judgement.cases.filter(judgement.cases["retired"]).height
    if retired:
        out.append(f"Retired cases, which do not alarm: {retired}.")
    return out


def _about_caveats(judgement: RunJudgement) -> list[str]:
    """What was left out of the judgement, what was judged with a caveat, and what a caveat sets apart."""
    out = []
    if judgement.left_out:
        out.append(f"Cases left out of the judgement: {_counted(judgement.left_out)}.")
    if judgement.other_meaning:
        out.append(
            "What a value means has changed, so it is compared with values of its own meaning only: "
            f"{_counted(judgement.other_meaning)}."
        )
    if judgement.with_caveats:
        out.append(
            "Cases judged with a caveat, which holds for the values that they are compared with too: "
            f"{_counted(judgement.with_caveats)}."
        )
    return out


def _counted(cases: dict[str, int]) -> str:
    return ", ".join(f"{number} × {what}" for what, number in cases.items())
