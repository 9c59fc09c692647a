"""A night's folder and what is known of it: which steps are done, and what they found."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, ValidationError, field_validator

from kernelindex_liger.files import make_folder, write_text
from kernelindex_liger.history.errors import BadInputError
from kernelindex_liger.untrusted import read_small

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SIZE = 1 << 20
"""Bytes of a night's state."""

STALE = timedelta(hours=20)
"""A night that was begun longer ago is not taken up again: its numbers would belong to two nights."""


class _State(BaseModel):
    """What stands in `state.json`."""

    model_config = ConfigDict(extra="allow", strict=True)

    begun: str
    kind: str
    steps: dict[str, dict[str, Any]]
    tries: dict[str, int] = {}
    complete: bool
    status: int = 0

    @field_validator("begun")
    @classmethod
    def _moment(cls, text: str) -> str:
        if datetime.fromisoformat(text).tzinfo is None:
            raise ValueError("begun names no time zone")
        return text

    @field_validator("steps")
    @classmethod
    def _found(cls, steps: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
        labels = steps.get("history", {}).get("labels", [])
        if not isinstance(labels, list) or not all(isinstance(label, str) for label in labels):
            raise ValueError("labels are not a list of texts")
        if not all(type(found.get("status", 0)) is int for found in steps.values()):
            raise ValueError("a status is not a number")
        return steps


class Night:
    """`HOME/nights/<name>/`, with `state.json` written anew after each step."""

    def __init__(self, folder: Path, state: dict[str, Any]) -> None:
        self.folder = folder
        self.state = state

    @property
    def name(self) -> str:
        """The folder's name: the date, and a number when the day has several."""
        return self.folder.name

    @property
    def complete(self) -> bool:
        """Whether all steps are done."""
        return bool(self.state.get("complete"))

    @property
    def measured(self) -> bool:
        """Whether the night is complete and its runs are in the history; a rehearsal has none."""
        return self.complete and bool((self.done("history") or {}).get("labels"))

    @property
    def begun(self) -> datetime:
        """When the night was begun (UTC)."""
        return datetime.fromisoformat(self.state["begun"])

    def done(self, step: str) -> dict[str, Any] | None:
        """What a finished step found; None when it is still to be done."""
        found = self.state["steps"].get(step)
        return found if isinstance(found, dict) else None

    def finish(self, step: str, found: dict[str, Any]) -> None:
        """Note that `step` is done, in one atomic write."""
        self.state["steps"][step] = found
        self.save()

    def close(self, status: int) -> None:
        """Note that the night is complete."""
        self.state |= {"complete": True, "status": status}
        self.save()

    def save(self) -> None:
        """Write the state."""
        write_text(self.folder / "state.json", json.dumps(self.state, indent=2, ensure_ascii=False) + "\n")


def all_nights(home: Path) -> Iterator[Night]:
    """The nights in `home` that have a state, oldest first."""
    found = []
    for path in (home / "nights").glob("*/state.json"):
        if path.parent.is_symlink():
            raise BadInputError(f"{path.parent}: a symbolic link in place of a night; move it away")
        try:
            state = _State.model_validate_json(read_small(path, SIZE)).model_dump(exclude_unset=True)
            found.append((datetime.fromisoformat(state["begun"]), path.parent.name, Night(path.parent, state)))
        except (OSError, ValueError) as error:
            why = error.errors()[0]["msg"] if isinstance(error, ValidationError) else error
            raise BadInputError(f"{path}: not a night's state ({why}); move its folder away") from error
    yield from (night for *_, night in sorted(found, key=lambda item: item[:2]))


def _unbegun(path: Path) -> bool:
    """Whether a night's folder was made and nothing could be written to it any more."""
    return path.is_dir() and all(child.name.startswith(".") for child in path.iterdir())


def take_up(
    home: Path, kind: str, now: datetime | None = None, labels: frozenset[str] = frozenset()
) -> tuple[Night, bool]:
    """The unfinished night to go on with, or a new one; and whether it is an old one.

    `kind` is what measures (`bench`, or the CSV source): a night that was begun with something else is left alone.
    `labels` are the history's: a new night's name is none of them, even where its namesake's folder is gone.
    """
    now = now or datetime.now(UTC)
    nights = list(all_nights(home))
    if nights and not nights[-1].complete and nights[-1].state["kind"] == kind and now - nights[-1].begun < STALE:
        return nights[-1], True
    taken = labels | {path.name for path in (home / "nights").glob("*") if not _unbegun(path)}
    name = day = f"{now:%Y-%m-%d}"
    number = 2
    while name in taken:
        name, number = f"{day}.{number}", number + 1
    night = Night(home / "nights" / name, {"begun": now.isoformat(), "kind": kind, "steps": {}, "complete": False})
    make_folder(night.folder, parents=True)
    night.save()
    return night, False
