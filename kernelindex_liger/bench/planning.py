"""Which cases of a kernel a run has to measure: what is planned, less what is there, at sizes that fit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kernelindex_liger.bench import table
from kernelindex_liger.bench.cases import probe_of, rehearsed
from kernelindex_liger.bench.plan import estimated, series_of, sweeps_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping
    from typing import TypeAlias

    from kernelindex_liger.bench.cases import Options
    from kernelindex_liger.bench.plan import Selection, Series
    from kernelindex_liger.bench.process import Worker
    from kernelindex_liger.bench.spec import Kernel, Points, Request

    Ask: TypeAlias = Callable[[Mapping[str, Any]], tuple[str, dict[str, Any]]]
    """Sends a worker a command; (status, answer)."""

EXPECTED_GIB = 80
"""Device memory that the number of cases is estimated for, before a device was asked."""


class Planner:
    """Plans kernels for devices. `make_request(total_gib)` is what is planned for on a device of that size."""

    def __init__(
        self,
        selection: Selection,
        make_request: Callable[[int], Request],
        options: Options,
        present: Collection[tuple[str, ...]],
    ) -> None:
        """`present` are the merge keys of rows that are there."""
        self._selection = selection
        self._make_request = make_request
        self._options = options
        self._present = present

    def expected(self, kernel: Kernel) -> int:
        """How many cases the kernel will have, by the estimates."""
        series = self._series(kernel, self._make_request(EXPECTED_GIB), None, None)
        return sum(len(one.x_values) for one in series)

    def missing(
        self,
        kernel: Kernel,
        worker: Worker,
        ask: Ask,
        note: Callable[[str], None],
    ) -> tuple[list[Series], int]:
        """The kernel's series on the worker's device, with the x that are to be measured; how many cases are there.

        `ask` sends the worker a command: memory probes run first, where a sweep has them.
        """
        request = self._make_request(worker.total_gib)
        points = {} if self._options.rehearse else self._probed(kernel, request, ask, note)
        found: list[Series] = []
        seen: set[tuple[Any, ...]] = set()
        present = 0
        for series in self._series(kernel, request, points, worker.capability):
            left = self._left(series, worker.gpu.name)
            present += len(series.x_values) - len(left)
            one = (series.tagged, series.pass_name, series.metric, series.x_name, series.config_text, left)
            if left and one not in seen:
                seen.add(one)
                found.append(series.only(left))
        return found, present

    def _series(
        self,
        kernel: Kernel,
        request: Request,
        points: Mapping[int, Points] | None,
        capability: tuple[int, int] | None,
    ) -> Iterator[Series]:
        for series in series_of(kernel, self._selection, request, points, capability):
            if series.devices > 1:
                continue
            if self._options.rehearse:
                provider = next(p for p in kernel.providers if p.name == series.provider)
                if provider.cannot_rehearse is None:
                    yield rehearsed(kernel, series)
            else:
                yield series

    def _left(self, series: Series, gpu: str) -> tuple[int | str, ...]:
        rows = table.rows_of(series, gpu=gpu, liger_version="")
        return tuple(x for x, row in zip(series.x_values, rows, strict=True) if table.key(row) not in self._present)

    def _probed(self, kernel: Kernel, request: Request, ask: Ask, note: Callable[[str], None]) -> dict[int, Points]:
        """Points of the sweeps by what their memory probes need, or by the estimate where a probe fails."""
        found: dict[int, Points] = {}
        for place, sweep in sweeps_of(kernel, self._selection):
            peaks = []
            for probe in sweep.probes(request) if sweep.probes else ():
                status, answer = ask(probe_of(kernel, probe))
                if status != "ok":
                    note(
                        f"{kernel.name}: the memory probe of {probe.provider} failed ({answer['error']}); "
                        "planned with an estimate"
                    )
                    found[place] = estimated(sweep, request)
                    break
                peaks.append(int(answer["peak"]))
            else:
                found[place] = sweep.points(request, peaks)
        return found
