"""What stays: the newest complete nights. The history is never touched."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from kernelindex_liger.nightly.night import all_nights

if TYPE_CHECKING:
    from pathlib import Path

    from kernelindex_liger.nightly.night import Night

TRASH = ".trash-"


def publish(home: Path, night: Night) -> None:
    """Point `latest` at `night`, in one step; the night must be complete."""
    from pathlib import Path as _Path

    from kernelindex_liger.files import refusal

    waiting = home / ".latest-new"
    try:
        waiting.unlink(missing_ok=True)
        waiting.symlink_to(_Path("nights") / night.name, target_is_directory=True)
        waiting.replace(home / "latest")
    except OSError as error:
        raise refusal(home / "latest", error) from error


def tidy(home: Path, keep: int, working: str) -> list[str]:
    """Delete complete nights beyond the newest `keep`, and unfinished ones older than those; return their names.

    A folder is first renamed, so that a night is there as a whole or not at all; `working` and what `latest` points
    at always stay.
    """
    for left in (home / "nights").glob(f"{TRASH}*"):
        shutil.rmtree(left, ignore_errors=True)
    nights = list(all_nights(home))
    complete = [night for night in nights if night.complete]
    staying = {night.name for night in complete[-keep:]} | {working}
    latest = home / "latest"
    if latest.is_symlink():
        staying.add(latest.readlink().name)
    oldest = min((night.begun for night in nights if night.name in staying), default=None)
    gone = []
    for night in nights:
        if night.name in staying or (not night.complete and oldest is not None and night.begun >= oldest):
            continue
        trash = night.folder.with_name(f"{TRASH}{night.name}")
        night.folder.replace(trash)
        shutil.rmtree(trash, ignore_errors=True)
        gone.append(night.name)
    return gone
