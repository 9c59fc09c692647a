"""Who does what next: kernels wait to be planned, series wait to be measured, devices take turns."""

from __future__ import annotations

import threading
from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kernelindex_liger.bench.plan import Series
    from kernelindex_liger.bench.spec import Kernel


class Schedule:
    """A queue of kernels and of series, for several threads."""

    def __init__(self, kernels: Sequence[Kernel]) -> None:
        self._kernels = deque(kernels)
        self._series: deque[Series] = deque()
        self._planning = 0
        self._turn = threading.Condition()
        self._stopped = False

    def next(self, current: Kernel | None) -> Kernel | Series | None:
        """A series of the kernel at hand, else a kernel to plan, else any series; None when nothing is left.

        A kernel that was taken must be given to `planned` or to `returned`, or others wait for it.
        """
        with self._turn:
            while not self._stopped:
                for series in self._series:
                    if current and series.kernel == current.name:
                        self._series.remove(series)
                        return series
                if self._kernels:
                    self._planning += 1
                    return self._kernels.popleft()
                if self._series:
                    return self._series.popleft()
                if not self._planning:
                    return None
                self._turn.wait()
            return None

    def planned(self, series: Iterable[Series]) -> None:
        """A kernel that was taken has these series."""
        with self._turn:
            self._series.extend(series)
            self._planning -= 1
            self._turn.notify_all()

    def returned(self, kernel: Kernel) -> None:
        """A kernel that was taken could not be planned there; another device may manage."""
        with self._turn:
            self._kernels.appendleft(kernel)
            self._planning -= 1
            self._turn.notify_all()

    def stop(self) -> None:
        """Hand out nothing more."""
        with self._turn:
            self._stopped = True
            self._turn.notify_all()

    def left(self) -> tuple[list[Kernel], list[Series]]:
        """What nobody took."""
        with self._turn:
            return list(self._kernels), list(self._series)
