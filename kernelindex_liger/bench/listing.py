"""What can be benchmarked here, and what deviates from upstream: the lines of `bench --list`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kernelindex_liger.bench.reach import said_of
from kernelindex_liger.bench.requirements import unmet_of
from kernelindex_liger.bench.spec import NoCaveat

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kernelindex_liger.bench.spec import Deviation, Kernel, Provider

HEADINGS = ("kernel", "providers", "speed", "memory", "sweeps", "backends", "missing")
DEVIATION_HEADINGS = ("deviation", "decision", "caveat", "kernels", "what")


def line_of(kernel: Kernel) -> tuple[str, ...]:
    """A kernel's texts, under HEADINGS; the baseline carries a star."""
    sweeps = dict.fromkeys(name + said_of(sweep) for sweep in kernel.sweeps for name in sweep.answers)
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


def deviations_of(kernels: Sequence[Kernel]) -> list[tuple[Deviation, tuple[str, ...]]]:
    """Each deviation once, with the kernels that share it; what differs in a text or a caveat is another."""
    found: dict[Deviation, list[str]] = {}
    for kernel in kernels:
        for deviation in kernel.deviations:
            found.setdefault(deviation, []).append(kernel.name)
    by_name = sorted(found, key=lambda one: (one.slug, found[one]))
    return [(deviation, tuple(found[deviation])) for deviation in by_name]


def caveat_of(deviation: Deviation) -> str:
    """The caveat's id; a dash where none is needed."""
    return "-" if isinstance(deviation.caveat, NoCaveat) else deviation.caveat


def scope_of(deviation: Deviation) -> str:
    """` [providers] (passes)`, each where it does not hold for all."""
    providers = f" [{', '.join(deviation.providers)}]" if deviation.providers else ""
    passes = f" ({', '.join(deviation.passes)})" if deviation.passes else ""
    return providers + passes


def deviation_line(deviation: Deviation, kernels: Sequence[str]) -> tuple[str, ...]:
    """A deviation's texts, under DEVIATION_HEADINGS."""
    return (
        deviation.slug + scope_of(deviation),
        deviation.decision,
        caveat_of(deviation),
        ", ".join(kernels),
        deviation.text,
    )
