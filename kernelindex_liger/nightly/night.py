"""A night's folder and what is known of it: which steps are done, and what they found."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from kernelindex_liger.files import make_folder, write_text
from kernelindex_liger.history.errors import BadInputError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

STALE = timedelta(hours=20)
"""A night that was begun longer ago is not taken up again: its numbers would belong to two nights."""


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
        try:
            state = json.loads(path.read_text("utf-8"))
            found.append((datetime.fromisoformat(state["begun"]), path.parent.name, Night(path.parent, state)))
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise BadInputError(f"{path}: not a night's state ({error}); move its folder away") from error
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
