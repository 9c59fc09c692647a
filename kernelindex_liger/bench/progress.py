"""What a person sees while a run goes on: a bar on a terminal, a line a case elsewhere. On stderr."""

from __future__ import annotations

import math
import sys
import threading
import time
from typing import TYPE_CHECKING, Any, Protocol, Self

from kernelindex_liger.untrusted import safe

if TYPE_CHECKING:
    from kernelindex_liger.bench.plan import Series
    from kernelindex_liger.documents.sidecar import SeriesCase

Values = tuple[float, float, float]


class Observer(Protocol):
    """Told what happens, from several threads."""

    def planned(self, more: int) -> None:
        """So many cases more (or fewer) than were known of."""
        ...

    def started(self, series: Series, x: int | str) -> None:
        """A case begins."""
        ...

    def finished(self, series: Series, x: int | str, case: SeriesCase, values: Values | None) -> None:
        """A case ended; `values` are its (y50, y20, y80), None when it failed."""
        ...

    def note(self, text: str) -> None:
        """Something that a person should know."""
        ...


def describe(series: Series, x: int | str) -> str:
    """A case in words."""
    return f"{series.kernel} {series.tagged} {series.pass_name} {series.metric} {series.x_name}={x}"


def outcome_text(series: Series, case: SeriesCase, values: Values | None) -> str:
    """How a case ended: the median with its unit, or the status and what was said."""
    if values is None:
        return f"{case.status}: {case.error or 'no message'}"
    if math.isnan(values[0]):
        return "ran"
    unit = "ms" if series.metric == "speed" else "MB"
    return f"{values[0]:.4g} {unit}" + (" (one sample)" if case.samples == 1 else "")


def duration(seconds: float) -> str:
    """Seconds as `1:02:03` or `2:03`."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


class _Counting:
    """Counts cases and tells how long the rest will take."""

    def __init__(self) -> None:
        self.total = 0
        self.done = 0
        self._lock = threading.RLock()
        self._since = time.monotonic()

    def planned(self, more: int) -> None:
        """See Observer."""
        with self._lock:
            self.total += more

    def started(self, series: Series, x: int | str) -> None:
        """See Observer."""

    def left(self) -> str:
        """Time left, from the mean so far."""
        each = (time.monotonic() - self._since) / max(1, self.done)
        return duration(each * max(0, self.total - self.done))


class PlainProgress(_Counting):
    """A line a case, for logs."""

    def finished(self, series: Series, x: int | str, case: SeriesCase, values: Values | None) -> None:
        """See Observer."""
        with self._lock:
            self.done += 1
            place = f"[{self.done}/{max(self.total, self.done)}]"
            text = f"{place} {describe(series, x)}: {outcome_text(series, case, values)} ({self.left()} left)"
            print(safe(text), file=sys.stderr, flush=True)

    def note(self, text: str) -> None:
        """See Observer."""
        with self._lock:
            print(safe(text), file=sys.stderr, flush=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        return None


class RichProgress(_Counting):
    """One bar: the case that runs, the last median, done of all, time left. Failures stay above it."""

    def __init__(self, console: Any) -> None:
        super().__init__()
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

        self._bar = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=20),
            MofNCompleteColumn(),
            TextColumn("{task.fields[left]} left"),
            TextColumn("{task.fields[last]}", style="dim", markup=False),
            console=console,
            transient=True,
        )
        self._task = self._bar.add_task("starting", total=None, left="-:--", last="")

    def planned(self, more: int) -> None:
        """See Observer."""
        super().planned(more)
        self._bar.update(self._task, total=self.total)

    def started(self, series: Series, x: int | str) -> None:
        """See Observer."""
        self._bar.update(self._task, description=describe(series, x))

    def finished(self, series: Series, x: int | str, case: SeriesCase, values: Values | None) -> None:
        """See Observer."""
        with self._lock:
            self.done += 1
            last = safe(outcome_text(series, case, values))
            self._bar.update(self._task, completed=self.done, left=self.left(), last=last)
            if values is None:
                self.note(f"{describe(series, x)}: {last}")

    def note(self, text: str) -> None:
        """See Observer."""
        self._bar.console.print(safe(text), markup=False, highlight=False)

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()


def progress() -> PlainProgress | RichProgress:
    """A bar where stderr is a terminal, plain lines elsewhere."""
    if not sys.stderr.isatty():
        return PlainProgress()
    from rich.console import Console

    return RichProgress(Console(stderr=True))
