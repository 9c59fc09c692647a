"""What is planned but not measured: cases that need several GPUs at once, while a worker has one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kernelindex_liger.bench.plan import series_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kernelindex_liger.bench.plan import Selection
    from kernelindex_liger.bench.spec import Kernel, Request, Sweep


@dataclass(frozen=True, slots=True)
class Beyond:
    """Cases of a kernel that are out of reach, and the GPUs that each of them needs."""

    kernel: str
    devices: int
    cases: int

    def __str__(self) -> str:
        return (
            f"{self.kernel}: {self.cases} cases are planned but not measured: each needs {self.devices} GPUs at once, "
            "and a worker has one"
        )


def beyond(kernels: Iterable[Kernel], selection: Selection, request: Request) -> list[Beyond]:
    """What the selection asks for and no device can measure, by kernel and number of GPUs."""
    cases: dict[tuple[str, int], int] = {}
    for kernel in kernels:
        for series in series_of(kernel, selection, request):
            if series.devices > 1:
                place = (kernel.name, series.devices)
                cases[place] = cases.get(place, 0) + len(series.x_values)
    return [Beyond(kernel, devices, count) for (kernel, devices), count in cases.items()]


def said_of(sweep: Sweep) -> str:
    """What a listing adds to the names of a sweep that is out of reach; empty for others."""
    return f" (planned only: {sweep.devices} GPUs)" if sweep.devices > 1 else ""
