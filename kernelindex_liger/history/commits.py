"""Which runs measured the same commit: a commit measured again is not a second night.

Two runs of one commit in a row hold the same code, so the second cannot have got slower than the first. It is a
better look at the commit: it stands in the first one's place, and confirms nothing by itself.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kernelindex_liger.history.runs import Run

COMMIT = re.compile(r"[0-9a-f]{7,40}(?![0-9A-Za-z])")
"""How a label names a commit: its digits, abbreviated or not, at the label's start; `-v0.6.4` may follow."""

MOMENT = re.compile(r"20(\d{6}|\d{10}|\d{12})")
"""Digits that are a night's date, with or without the time of day, and no commit's."""


def commit_of(label: str) -> str | None:
    """The digits of the commit that a label stands for; None for a night or any other name."""
    found = COMMIT.match(label)
    return None if found is None or MOMENT.fullmatch(found[0]) else found[0]


def same_commit(one: str, other: str) -> bool:
    """Whether two labels stand for one commit, which each may abbreviate in its own way."""
    first, second = commit_of(one), commit_of(other)
    if first is None or second is None:
        return one == other
    return first.startswith(second) or second.startswith(first)


def steps(runs: Sequence[Run], until: int | None = None) -> dict[int, int]:
    """Each run's index → the index of the first of those in a row, itself among them, that measured its commit.

    `runs` are those of one environment, oldest first. With `until`, runs up to that index and later ones are told
    apart even where they measured one commit.
    """
    out: dict[int, int] = {}
    before: Run | None = None
    for run in runs:
        parted = until is not None and before is not None and before.index <= until < run.index
        again = before is not None and not parted and same_commit(before.label, run.label)
        out[run.index] = out[before.index] if again and before is not None else run.index
        before = run
    return out
