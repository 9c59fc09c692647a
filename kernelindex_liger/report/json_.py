"""A judgement as JSON: every case, no number rounded."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from kernelindex_liger.untrusted import safe_json

if TYPE_CHECKING:
    from kernelindex_liger.history.judgement import RunJudgement

VERSION = 1
"""Of the document. 1: first."""


def document(judgements: list[RunJudgement], note: str | None = None) -> dict[str, Any]:
    """`judgements` as plain JSON values: `{version, note, runs: [...]}`."""
    return {"version": VERSION, "note": note, "runs": [_one(judgement) for judgement in judgements]}


def render(judgements: list[RunJudgement], note: str | None = None) -> str:
    """The document as text, two-space indented, with one newline at the end."""
    return safe_json(json.dumps(document(judgements, note), indent=2, ensure_ascii=False, allow_nan=False)) + "\n"


def _one(judgement: RunJudgement) -> dict[str, Any]:
    shift, launches = judgement.shift, judgement.launches
    return {
        "label": judgement.label,
        "machine": judgement.machine,
        "run": None if judgement.run is None else judgement.run.as_json(),
        "previous": judgement.previous,
        "earlierRuns": judgement.earlier,
        "environmentChanges": list(judgement.environment_changes),
        "alarming": judgement.alarming,
        "judged": judgement.judged,
        "counts": judgement.counts,
        "shift": None if shift is None else vars(shift),
        "launches": None if launches is None else vars(launches),
        "vanishedKernels": list(judgement.vanished_kernels),
        "missingKernels": judgement.missing_kernels,
        "newKernels": list(judgement.new_kernels),
        "repeats": judgement.repeats,
        "leftOut": judgement.left_out,
        "withCaveats": judgement.with_caveats,
        "otherMeaning": judgement.other_meaning,
        "cases": judgement.cases.to_dicts(),
    }
