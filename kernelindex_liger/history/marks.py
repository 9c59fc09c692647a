"""What people decided: a change that was wanted, a case that nobody minds any more.

A mark is a small JSON file named by its content, beside the parts. Marks are added and never rewritten; of two
marks on one case the later one counts.
"""

from __future__ import annotations

import fnmatch
import hashlib
import json
import re
from typing import TYPE_CHECKING, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError

from kernelindex_liger import files
from kernelindex_liger.history.errors import BadInputError, UnknownNameError
from kernelindex_liger.untrusted import read_small

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kernelindex_liger.history.store import History

SIZE = 1 << 16
"""Bytes of a mark."""

CASE_ID = re.compile(r"[0-9a-f]{8,16}")


class Mark(BaseModel):
    """One decision about the cases that a pattern names."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: Literal["accept", "retire", "restore"]
    """accept: from `since` on, earlier runs are no measure any more. retire: the case stops alarming.
    restore: it alarms again."""
    case: str = Field(min_length=1, max_length=500)
    """A case's digest (or its first eight digits or more), or a pattern over its name with `*` and `?`."""
    why: str = Field(min_length=1, max_length=2000)
    """The reason, for whoever reads the report later."""
    label: str = Field(max_length=200)
    """The run from which on it holds."""
    since: AwareDatetime
    """That run's time."""
    made_at: AwareDatetime
    """When the decision was written down; the later of two marks counts."""

    def matches(self, case: str, name: str) -> bool:
        """Whether the mark is about the case with this digest and name."""
        if CASE_ID.fullmatch(self.case) and case.startswith(self.case):
            return True
        return fnmatch.fnmatchcase(name, self.case)


def load(history: History) -> list[Mark]:
    """All marks of a history, oldest first; `BadInputError` names a file that is none."""
    found = []
    for path in sorted((history.folder / "marks").glob("*.json")):
        try:
            found.append(Mark.model_validate_json(read_small(path, SIZE)))
        except OSError as error:
            raise BadInputError(f"{path}: not a mark: {error.strerror or error}") from error
        except ValidationError as error:
            first = error.errors()[0]
            raise BadInputError(f"{path}: not a mark: {'.'.join(map(str, first['loc']))} {first['msg']}") from error
    return sorted(found, key=lambda mark: (mark.made_at, mark.kind, mark.case))


def add(history: History, mark: Mark, names: Iterable[tuple[str, str]]) -> list[str]:
    """Keep `mark` and return the names of the cases that it is about.

    `names` holds (digest, name) of the history's cases. Raises `UnknownNameError` when it fits none of them.
    """
    fitting = sorted(name for case, name in names if mark.matches(case, name))
    if not fitting:
        raise UnknownNameError(f"{mark.case}: no case has this digest or name; `history show KERNEL` lists them")
    text = json.dumps(mark.model_dump(mode="json"), indent=2, sort_keys=True, ensure_ascii=False) + "\n"
    folder = files.unlinked(history.folder / "marks")
    files.make_folder(folder)
    files.write_text(folder / f"{hashlib.sha256(text.encode()).hexdigest()}.json", text)
    return fitting
