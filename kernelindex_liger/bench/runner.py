"""Runs series on devices: who does what next, what a case's end means, what is kept.

A thread a device holds the device's lock and one worker process. Kernels are planned when a device gets to
them (their memory probes need it); their series go to whichever device is free.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from kernelindex_liger.bench import table
from kernelindex_liger.bench.cases import Options, message_of, protocol_of, rehearsed
from kernelindex_liger.bench.locks import Target, lock_of
from kernelindex_liger.bench.plan import Selection, Series, estimated, series_of, sweeps_of
from kernelindex_liger.bench.process import Worker, WorkerDiedError, WorkerFailedError, WorkerTimeoutError
from kernelindex_liger.bench.results import Results
from kernelindex_liger.bench.schedule import Schedule
from kernelindex_liger.bench.spec import Kernel, Points, Request
from kernelindex_liger.documents.sidecar import SeriesCase
from kernelindex_liger.files import OutputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from kernelindex_liger.bench.progress import Observer


@dataclass(slots=True)
class Outcome:
    """What a run did."""

    done: int = 0
    failed: int = 0
    present: int = 0
    """Cases that were there already."""
    fatal: list[str] = field(default_factory=list)
    """Why a device could not go on."""
    unwritable: bool = False
    """Whether a device could not go on because its results could not be written."""
    interrupted: bool = False


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
        self._selection = selection
        self._make_request = make_request
        self._results = results
        self._options = options
        self._observer = observer
        self._kernels = {kernel.name: kernel for kernel in kernels}
        self._schedule = Schedule(kernels)
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._workers: dict[str, Worker] = {}
        self._gpu_name: str | None = None
        self._present: set[tuple[str, ...]] = set()
        self.outcome = Outcome()

    def run(self, targets: Sequence[Target]) -> Outcome:
        """Measure everything on the targets; returns when done, stopped, or no device can go on.

        Raises table.BadTableError when the output is no benchmark CSV.
        """
        if not self._results.overwrite:
            self._present = self._results.present()
        skipped = self._results.failed() if self._options.skip_failed else set()
        self._present |= skipped
        self._observer.planned(sum(self._cases_of(kernel) for kernel in self._kernels.values()))
        # Events, not join: an interrupted join takes its thread for ended (until Python 3.13).
        ends = [threading.Event() for _ in targets]
        for target, end in zip(targets, ends, strict=True):
            threading.Thread(target=self._until_the_end, args=(target, end), daemon=True).start()
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

    def _until_the_end(self, target: Target, end: threading.Event) -> None:
        try:
            self._serve(target)
        finally:
            end.set()

    def stop(self) -> None:
        """End the cases that run now; what their series have measured is kept."""
        self._stopped.set()
        for worker in list(self._workers.values()):
            worker.kill()
        self._schedule.stop()

    def _cases_of(self, kernel: Kernel) -> int:
        request = self._make_request(80)
        return sum(len(s.x_values) for s in self._planned(kernel, request, None, None))

    # A device's thread.

    def _serve(self, target: Target) -> None:
        lock = lock_of(target.lock) if target.lock else None
        try:
            if lock:
                self._acquire(lock, target)
            current: Kernel | None = None
            while not self._stopped.is_set():
                job = self._schedule.next(current)
                if job is None:
                    break
                if isinstance(job, Kernel):
                    current = job
                    self._plan(target, job)
                else:
                    current = self._kernels[job.kernel]
                    self._measure(target, job)
        except (WorkerFailedError, OSError) as error:
            self._give_up(target, str(error))
        except OutputError as error:
            self.outcome.unwritable = True
            self._give_up(target, str(error))
        except (WorkerDiedError, WorkerTimeoutError) as error:
            self._give_up(target, f"the worker does not start: {error or 'no answer'}")
        finally:
            worker = self._workers.pop(target.label, None)
            if worker:
                worker.kill()
            if lock and lock.is_locked:
                lock.release()

    def _acquire(self, lock: Any, target: Target) -> None:
        from filelock import Timeout

        told = False
        while not self._stopped.is_set():
            try:
                lock.acquire(timeout=0.5)
                return
            except Timeout:
                if not told:
                    self._observer.note(f"device {target.label} is in use by another run; waiting for it")
                    told = True

    def _give_up(self, target: Target, why: str) -> None:
        if not self._stopped.is_set():
            self.outcome.fatal.append(f"device {target.label}: {why}")
            self._observer.note(self.outcome.fatal[-1])

    def _worker(self, target: Target, kernel: Kernel) -> Worker:
        """The device's worker; where memory is measured a fresh one a script, without another's leftovers."""
        label = target.label
        worker = self._workers.get(label)
        memory = not self._options.rehearse and self._selection.metrics != ("speed",)
        script = kernel.script if memory else ""
        wanted = (script, tuple(sorted(kernel.environment.items())))
        if worker and worker.alive and worker.serves == wanted:
            return worker
        if worker:
            worker.kill()
        options = self._options
        environment = {**target.environment, **options.environment, **kernel.environment}
        worker = Worker(
            options.backend,
            options.table,
            environment,
            serves=wanted,
            started=lambda new: self._register(label, new),
        )
        with self._lock:
            self._gpu_name = self._gpu_name or worker.gpu.name
        if worker.gpu.name != self._gpu_name:
            raise WorkerFailedError(f"it is a {worker.gpu.name}, another is a {self._gpu_name}; run them apart")
        return worker

    def _register(self, label: str, worker: Worker) -> None:
        self._workers[label] = worker
        if self._stopped.is_set():
            worker.kill()

    # Planning.

    def _planned(
        self,
        kernel: Kernel,
        request: Request,
        points: Mapping[int, Points] | None,
        capability: tuple[int, int] | None,
    ) -> Iterable[Series]:
        for series in series_of(kernel, self._selection, request, points, capability):
            if series.devices > 1:
                continue
            if self._options.rehearse:
                provider = next(p for p in kernel.providers if p.name == series.provider)
                if provider.cannot_rehearse is None:
                    yield rehearsed(kernel, series)
            else:
                yield series

    def _plan(self, target: Target, kernel: Kernel) -> None:
        found: list[Series] = []
        expected = self._cases_of(kernel)
        try:
            worker = self._worker(target, kernel)
            request = self._make_request(worker.total_gib)
            points = {} if self._options.rehearse else self._probed(target, kernel, request)
            seen: set[tuple[Any, ...]] = set()
            for series in self._planned(kernel, request, points, worker.capability):
                missing = self._missing(series, worker)
                self.outcome.present += len(series.x_values) - len(missing)
                identity = (series.tagged, series.pass_name, series.metric, series.x_name, series.config_text)
                if missing and (identity, missing) not in seen:
                    seen.add((identity, missing))
                    found.append(series.only(missing))
        except BaseException:
            self._schedule.returned(kernel)
            raise
        self._observer.planned(sum(len(s.x_values) for s in found) - expected)
        self._schedule.planned(found)

    def _missing(self, series: Series, worker: Worker) -> tuple[int | str, ...]:
        rows = table.rows_of(series, gpu=worker.gpu.name, liger_version="")
        return tuple(x for x, row in zip(series.x_values, rows, strict=True) if table.key(row) not in self._present)

    def _probed(self, target: Target, kernel: Kernel, request: Request) -> dict[int, Points]:
        """Points of the sweeps whose memory probes could be made; the others go by their estimate."""
        found: dict[int, Points] = {}
        for place, sweep in sweeps_of(kernel, self._selection):
            peaks = []
            for probe in sweep.probes(request) if sweep.probes else ():
                message = {
                    "op": "probe",
                    "of": probe.kernel or kernel.name,
                    "provider": probe.provider,
                    "x": probe.x,
                    "config": probe.config,
                    "model": probe.model.name,
                }
                status, answer = self._ask(self._worker(target, kernel), message)
                if status != "ok":
                    self._observer.note(
                        f"{kernel.name}: the memory probe of {probe.provider} failed ({answer['error']}); "
                        "planned with an estimate"
                    )
                    break
                peaks.append(int(answer["peak"]))
            else:
                found[place] = sweep.points(request, peaks)
                continue
            found[place] = estimated(sweep, request)
        return found

    # Measuring.

    def _ask(self, worker: Worker, message: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
        """A worker's answer, or what its end means: (status, answer)."""
        try:
            answer = worker.ask(message, self._options.timeout)
        except WorkerTimeoutError:
            return "timeout", {"error": f"no answer within {self._options.timeout:g} s"}
        except WorkerDiedError as error:
            return "crashed", {"error": str(error)}
        return str(answer["status"]), answer

    def _measure(self, target: Target, series: Series) -> None:
        kernel = self._kernels[series.kernel]
        values: dict[int | str, tuple[float, float, float]] = {}
        cases: list[SeriesCase] = []
        worker = self._worker(target, kernel)
        try:
            for x in series.x_values:
                if self._stopped.is_set():
                    break
                worker = self._worker(target, kernel)
                self._observer.started(series, x)
                started = time.monotonic()
                status, answer = self._ask(worker, message_of(kernel, series, x, self._options))
                if self._stopped.is_set() and status != "ok":
                    break
                case = SeriesCase(
                    x_value=str(x),
                    status=status,
                    samples=answer.get("samples"),
                    seconds=answer.get("seconds", round(time.monotonic() - started, 3)),
                    error=answer.get("error"),
                    before=answer.get("before"),
                    after=answer.get("after"),
                )
                cases.append(case)
                if status == "ok":
                    y50, y20, y80 = answer["y"]
                    values[x] = (y50, y20, y80)
                self._count(status)
                self._observer.finished(series, x, case, values.get(x))
        finally:
            if cases:
                self._results.add(
                    series,
                    values,
                    cases=tuple(cases),
                    gpu=worker.gpu,
                    software=worker.software,
                    protocol=protocol_of(kernel, series, self._options, self._selection.impl),
                    liger_version=worker.liger_version,
                )

    def _count(self, status: str) -> None:
        with self._lock:
            if status == "ok":
                self.outcome.done += 1
            else:
                self.outcome.failed += 1


def output_of(path: Path, *, overwrite: bool) -> Results:
    """The results at `path`. Raises OSError when its folder cannot be written."""
    path.parent.mkdir(parents=True, exist_ok=True)
    return Results(path, overwrite=overwrite)
