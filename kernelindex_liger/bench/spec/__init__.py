"""What a kernel module declares: pure data and callables, importable without torch.

A kernel module exports `KERNELS: tuple[Kernel, ...]`. Everything that decides which rows exist (providers,
passes, sweeps) is here as data; only `Kernel.build` may import torch, when a worker calls it.
"""

from __future__ import annotations

from kernelindex_liger.bench.spec.case import Case, Metric, Step, Work
from kernelindex_liger.bench.spec.deviation import Decision, Deviation, NoCaveat
from kernelindex_liger.bench.spec.kernel import (
    ImplRule,
    Kernel,
    MemorySampling,
    Provider,
    Requirement,
    Role,
    Timing,
    Tiny,
)
from kernelindex_liger.bench.spec.sweep import Config, Points, Probe, Request, Sweep

__all__ = [
    "Case",
    "Config",
    "Decision",
    "Deviation",
    "ImplRule",
    "Kernel",
    "MemorySampling",
    "Metric",
    "NoCaveat",
    "Points",
    "Probe",
    "Provider",
    "Request",
    "Requirement",
    "Role",
    "Step",
    "Sweep",
    "Timing",
    "Tiny",
    "Work",
]
