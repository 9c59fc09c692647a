"""What the devices of one run share."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kernelindex_liger.bench.process import WorkerFailedError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kernelindex_liger.bench.cases import Options
    from kernelindex_liger.bench.outcome import Outcome
    from kernelindex_liger.bench.plan import Selection
    from kernelindex_liger.bench.planning import Planner
    from kernelindex_liger.bench.progress import Observer
    from kernelindex_liger.bench.results import Results
    from kernelindex_liger.bench.schedule import Schedule
    from kernelindex_liger.bench.spec import Kernel


@dataclass(slots=True, kw_only=True)
class Run:
    """The order, the tools, and what became of it."""

    kernels: Mapping[str, Kernel]
    selection: Selection
    options: Options
    results: Results
    observer: Observer
    schedule: Schedule
    planner: Planner
    outcome: Outcome
    stopped: threading.Event = field(default_factory=threading.Event)
    _gpu: str | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def agree(self, gpu: str) -> None:
        """Take the GPU's name, or refuse it: all devices of a run are of one kind. Raises WorkerFailedError."""
        with self._lock:
            self._gpu = self._gpu or gpu
        if gpu != self._gpu:
            raise WorkerFailedError(f"it is a {gpu}, another is a {self._gpu}; run them apart")
