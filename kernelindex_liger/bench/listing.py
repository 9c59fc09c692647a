"""What can be benchmarked here: the lines of `bench --list`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kernelindex_liger.bench.requirements import unmet_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kernelindex_liger.bench.spec import Kernel, Provider

HEADINGS = ("kernel", "providers", "speed", "memory", "sweeps", "backends", "missing")


def line_of(kernel: Kernel) -> tuple[str, ...]:
    """A kernel's texts, under HEADINGS; the baseline carries a star."""
    sweeps = dict.fromkeys(name for sweep in kernel.sweeps for name in sweep.answers)
    missing = "; ".join(f"{p.name}: {', '.join(reasons)}" for p, reasons in _unmet(kernel))
    return (
        kernel.name,
        ", ".join(p.name + ("*" if p.name == kernel.baseline else "") for p in kernel.providers),
        ", ".join(kernel.speed),
        ", ".join(kernel.memory),
        ", ".join(sweeps),
        ", ".join(kernel.impls),
        missing,
    )


def _unmet(kernel: Kernel) -> Iterable[tuple[Provider, tuple[str, ...]]]:
    for provider in kernel.providers:
        reasons = unmet_of(kernel, provider)
        if reasons:
            yield provider, reasons
