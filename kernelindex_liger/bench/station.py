"""One device of a run: its lock, its worker process, and the thread that plans and measures there."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from kernelindex_liger.bench.cases import message_of, protocol_of
from kernelindex_liger.bench.locks import lock_of
from kernelindex_liger.bench.process import Worker, WorkerDiedError, WorkerFailedError, WorkerTimeoutError
from kernelindex_liger.bench.spec import Kernel
from kernelindex_liger.documents.sidecar import SeriesCase
from kernelindex_liger.files import OutputError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kernelindex_liger.bench.locks import Target
    from kernelindex_liger.bench.plan import Series
    from kernelindex_liger.bench.progress import Values
    from kernelindex_liger.bench.run import Run


class Station:
    """A device at work. `serve` blocks; `kill` may be called from any thread."""

    def __init__(self, target: Target, run: Run) -> None:
        self._target = target
        self._run = run
        self._process: Worker | None = None

    def kill(self) -> None:
        """End the case that runs now."""
        worker = self._process
        if worker:
            worker.kill()

    def serve(self) -> None:
        """Plan and measure until nothing is left, the run is stopped, or the device cannot go on."""
        lock = lock_of(self._target.lock) if self._target.lock else None
        try:
            if lock:
                self._acquire(lock)
            self._work()
        except (WorkerFailedError, OSError) as error:
            self._give_up(str(error))
        except OutputError as error:
            self._run.outcome.unwritable = True
            self._give_up(str(error))
        except (WorkerDiedError, WorkerTimeoutError) as error:
            self._give_up(f"the worker does not start: {error or 'no answer'}")
        finally:
            self.kill()
            if lock and lock.is_locked:
                lock.release()

    def _work(self) -> None:
        current: Kernel | None = None
        while not self._run.stopped.is_set():
            job = self._run.schedule.next(current)
            if job is None:
                break
            if isinstance(job, Kernel):
                current = job
                self._plan(job)
            else:
                current = self._run.kernels[job.kernel]
                self._measure(current, job)

    def _acquire(self, lock: Any) -> None:
        from filelock import Timeout

        told = False
        while not self._run.stopped.is_set():
            try:
                lock.acquire(timeout=0.5)
                return
            except Timeout:
                if not told:
                    label = self._target.label
                    self._run.observer.note(f"device {label} is in use by another run; waiting for it")
                    told = True

    def _give_up(self, why: str) -> None:
        if not self._run.stopped.is_set():
            said = f"device {self._target.label}: {why}"
            self._run.outcome.lost(said)
            self._run.observer.note(said)

    # The worker.

    def _worker(self, kernel: Kernel) -> Worker:
        """The device's worker; where memory is measured a fresh one a script, without another's leftovers."""
        options = self._run.options
        memory = not options.rehearse and self._run.selection.metrics != ("speed",)
        wanted = (kernel.script if memory else "", tuple(sorted(kernel.environment.items())))
        worker = self._process
        if worker and worker.alive and worker.serves == wanted:
            return worker
        if worker:
            worker.kill()
        environment = {**self._target.environment, **options.environment, **kernel.environment}
        worker = Worker(options.backend, options.table, environment, serves=wanted, started=self._register)
        self._run.agree(worker.gpu.name)
        return worker

    def _register(self, worker: Worker) -> None:
        self._process = worker
        if self._run.stopped.is_set():
            worker.kill()

    def _ask(self, kernel: Kernel, message: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
        return self._worker(kernel).outcome(message, self._run.options.timeout)

    # Planning and measuring.

    def _plan(self, kernel: Kernel) -> None:
        run = self._run
        try:
            found, present = run.planner.missing(
                kernel, self._worker(kernel), lambda message: self._ask(kernel, message), run.observer.note
            )
        except BaseException:
            run.schedule.returned(kernel)
            raise
        run.outcome.found(present)
        run.observer.planned(sum(len(s.x_values) for s in found) - run.planner.expected(kernel))
        run.schedule.planned(found)

    def _measure(self, kernel: Kernel, series: Series) -> None:
        run = self._run
        values: dict[int | str, Values] = {}
        cases: list[SeriesCase] = []
        worker = self._worker(kernel)
        try:
            for x in series.x_values:
                if run.stopped.is_set():
                    break
                worker = self._worker(kernel)
                run.observer.started(series, x)
                ended = self._case(kernel, series, x, worker)
                if ended is None:
                    break
                case, y = ended
                cases.append(case)
                if y:
                    values[x] = y
                run.outcome.ended(case.status)
                run.observer.finished(series, x, case, y)
        finally:
            if cases:
                run.results.add(
                    series,
                    values,
                    cases=tuple(cases),
                    gpu=worker.gpu,
                    software=worker.software,
                    protocol=protocol_of(kernel, series, run.options, run.selection.impl),
                    liger_version=worker.liger_version,
                )

    def _case(
        self, kernel: Kernel, series: Series, x: int | str, worker: Worker
    ) -> tuple[SeriesCase, Values | None] | None:
        """How one case ended, with its numbers if it was measured; None where the run was stopped meanwhile."""
        options = self._run.options
        started = time.monotonic()
        status, answer = worker.outcome(message_of(kernel, series, x, options), options.timeout)
        if self._run.stopped.is_set() and status != "ok":
            return None
        told = {name: answer.get(name) for name in ("samples", "error", "before", "after")}
        seconds = answer.get("seconds", round(time.monotonic() - started, 3))
        case = SeriesCase.model_validate({"x_value": str(x), "status": status, "seconds": seconds, **told})
        if status != "ok":
            return case, None
        y50, y20, y80 = answer["y"]
        return case, (y50, y20, y80)
