"""What a run did, counted by several threads."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kernelindex_liger.documents.sidecar import CaseStatus


@dataclass(slots=True)
class Outcome:
    """Counts of cases, and what stopped the run."""

    done: int = 0
    failed: int = 0
    present: int = 0
    """Cases that were there already."""
    fatal: list[str] = field(default_factory=list)
    """Why a device could not go on."""
    unwritable: bool = False
    """Whether a device could not go on because its results could not be written."""
    interrupted: bool = False
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def ended(self, status: CaseStatus) -> None:
        """A case ended so."""
        with self._lock:
            if status == "ok":
                self.done += 1
            else:
                self.failed += 1

    def found(self, present: int) -> None:
        """So many cases need no measuring."""
        with self._lock:
            self.present += present

    def lost(self, why: str) -> None:
        """A device is out."""
        with self._lock:
            self.fatal.append(why)
