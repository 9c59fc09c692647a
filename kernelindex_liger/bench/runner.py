"""Runs series on devices: each device has a thread of its own, what they share goes through a schedule.

Kernels are planned when a device gets to them (their memory probes need it); their series go to whichever device
is free.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from kernelindex_liger.bench.outcome import Outcome
from kernelindex_liger.bench.planning import Planner
from kernelindex_liger.bench.run import Run
from kernelindex_liger.bench.schedule import Schedule
from kernelindex_liger.bench.station import Station

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kernelindex_liger.bench.cases import Options
    from kernelindex_liger.bench.locks import Target
    from kernelindex_liger.bench.plan import Selection
    from kernelindex_liger.bench.progress import Observer
    from kernelindex_liger.bench.results import Results
    from kernelindex_liger.bench.spec import Kernel, Request


class Runner:
    """One run. `run` blocks; `stop` may be called from a signal handler or another thread."""

    def __init__(
        self,
        kernels: Sequence[Kernel],
        selection: Selection,
        make_request: Callable[[int], Request],
        results: Results,
        options: Options,
        observer: Observer,
    ) -> None:
        """`make_request(total_gib)` is what is planned for on a device of that size."""
        self._present: set[tuple[str, ...]] = set()
        self._stations: list[Station] = []
        self.outcome = Outcome()
        self._run = Run(
            kernels={kernel.name: kernel for kernel in kernels},
            selection=selection,
            options=options,
            results=results,
            observer=observer,
            schedule=Schedule(kernels),
            planner=Planner(selection, make_request, options, self._present),
            outcome=self.outcome,
        )

    def run(self, targets: Sequence[Target]) -> Outcome:
        """Measure everything on the targets; returns when done, stopped, or no device can go on.

        Raises table.BadTableError when the output is no benchmark CSV.
        """
        run = self._run
        if not run.results.overwrite:
            self._present.update(run.results.present())
        if run.options.skip_failed:
            self._present.update(run.results.failed())
        run.observer.planned(sum(run.planner.expected(kernel) for kernel in run.kernels.values()))
        self._stations = [Station(target, run) for target in targets]
        # Events, not join: an interrupted join takes its thread for ended (until Python 3.13).
        ends = [threading.Event() for _ in targets]
        for station, end in zip(self._stations, ends, strict=True):
            threading.Thread(target=_until_the_end, args=(station, end), daemon=True).start()
        try:
            for end in ends:
                while not end.wait(0.2):
                    pass
        except KeyboardInterrupt:
            self.outcome.interrupted = True
            self.stop()
            for end in ends:
                end.wait()
        return self.outcome

    def stop(self) -> None:
        """End the cases that run now; what their series have measured is kept."""
        self._run.stopped.set()
        for station in self._stations:
            station.kill()
        self._run.schedule.stop()


def _until_the_end(station: Station, end: threading.Event) -> None:
    try:
        station.serve()
    finally:
        end.set()
