"""A kernel's declaration: providers, passes, sweeps, how it is sampled."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from kernelindex_liger.bench.spec.case import Case, Work
    from kernelindex_liger.bench.spec.deviation import Deviation
    from kernelindex_liger.bench.spec.sweep import Sweep

Role: TypeAlias = Literal["baseline", "liger", "other"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Requirement:
    """A package that a provider cannot do without.

    `module` is the dotted name that must exist (found on disk, never imported); `package` is what a person
    installs. `below` is the first version that no longer works, `capability` the exact (major, minor) of the
    compute capability that it needs.
    """

    module: str
    package: str
    below: str | None = None
    capability: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """One implementation that is timed. `cannot_rehearse` says why a CPU cannot run it."""

    name: str
    role: Role
    requires: tuple[Requirement, ...] = ()
    cannot_rehearse: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """How a speed case is sampled.

    `do_bench`: `triton.testing.do_bench` with `warmup` and `rep` in milliseconds. `loop`: `warmup` untimed
    steps, then `samples` times the mean of `rep` steps between two events (Megatron cross entropy).
    """

    method: Literal["do_bench", "loop"] = "do_bench"
    rep: int = 10
    warmup: int = 25
    samples: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MemorySampling:
    """How a memory case is sampled: `warmup` untimed steps, then `samples` peaks, each of one step."""

    samples: int = 10
    warmup: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Tiny:
    """Sizes for a rehearsal on a CPU: `x` per x name, and what replaces config values and model sizes."""

    x: Mapping[str, int]
    sizes: Mapping[str, Any] = field(default_factory=dict)
    rtol: float = 1e-3
    atol: float = 1e-4
    incomparable: Mapping[str, str] = field(default_factory=dict)
    """Provider -> why its output is not the reference's (it still must run)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImplRule:
    """What changes when liger-kernel's backend is not the default; None keeps the kernel's own."""

    providers: tuple[str, ...] | None = None
    speed: tuple[str, ...] | None = None
    memory: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Kernel:
    """Everything about one `kernel_name`: its rows and how each is measured. Orders are row orders."""

    name: str
    script: str
    """Upstream's script: `benchmark_rms_norm.py`."""
    liger: tuple[str, ...]
    """Dotted liger-kernel modules that the `liger` providers need (found on disk, never imported)."""
    providers: tuple[Provider, ...]
    speed: tuple[str, ...]
    memory: tuple[str, ...]
    sweeps: tuple[Sweep, ...]
    build: Callable[[Case], Work]
    tiny: Tiny
    timing: Timing = Timing()
    memory_sampling: MemorySampling = MemorySampling()
    impls: Mapping[str, ImplRule] = field(default_factory=dict)
    """Backends (`cutile`, `cutedsl`) that this kernel can be run with besides the default."""
    deterministic: Literal["off", "cudnn", "full"] = "off"
    """Process settings while it is measured; `full` is `torch.use_deterministic_algorithms(True)`."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Variables that the worker process must be started with."""
    deviations: tuple[Deviation, ...] = ()

    @property
    def baseline(self) -> str:
        """Name of the provider that others are compared with: the first whose role is `baseline`."""
        return next(p.name for p in self.providers if p.role == "baseline")
