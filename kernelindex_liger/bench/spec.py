"""What a kernel module declares: pure data and callables, importable without torch.

A kernel module exports `KERNELS: tuple[Kernel, ...]`. Everything that decides which rows exist (providers,
passes, sweeps) is here as data; only `Kernel.build` may import torch, when a worker calls it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from kernelindex_liger.bench.models import ModelProfile

Config: TypeAlias = dict[str, Any]
"""What becomes the CSV's config text, in key order. dtypes are their text (`"torch.bfloat16"`)."""

Metric: TypeAlias = Literal["speed", "memory"]
Role: TypeAlias = Literal["baseline", "liger", "other"]
Decision: TypeAlias = Literal["reproduced", "corrected", "renamed"]


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
class Request:
    """What the user asked for, and the device that it is planned for."""

    model: ModelProfile
    bt: int
    total_gib: int
    """Device memory integer-divided by 2**30, as upstream counts it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """A forward and backward whose peak memory decides how far a sweep goes.

    `x` and `config` are handed to `build` as they stand (no bsz, no seq_len unless the kernel puts them in).
    """

    provider: str
    x: int | str
    config: Config
    model: ModelProfile
    kernel: str | None = None
    """Kernel whose `build` is probed when it is not the kernel itself (upstream probes one for several)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Points:
    """What a sweep measures: every x for every config."""

    x_values: tuple[int | str, ...]
    configs: tuple[Config, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sweep:
    """One way of going through sizes.

    `answers` are the `--sweep` names that run it. `probes` are measured on a device (their peaks in bytes go
    to `points`, in order); without a device the one number `estimate` takes their place: the probe's peak
    (the largest, where there are several) for the default model and --bt. A sweep without probes is fixed.
    `devices` is the number of GPUs that one case needs.
    """

    answers: tuple[str, ...]
    x_name: str
    x_label: str
    points: Callable[[Request, Sequence[int]], Points]
    probes: Callable[[Request], tuple[Probe, ...]] | None = None
    estimate: int | None = None
    devices: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Deviation:
    """Something odd about what upstream measures, what we do about it and why: a caveat in the catalogue.

    `reproduced`: rows mean what upstream's mean. `corrected`: ours differ on purpose (say how in `text`).
    `renamed`: done right under another provider or kernel name. Empty `providers`/`passes` mean all.
    """

    slug: str
    text: str
    decision: Decision
    reason: str
    providers: tuple[str, ...] = ()
    passes: tuple[str, ...] = ()


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
class Case:
    """One x of one series, as `build` sees it."""

    kernel: str
    provider: str
    """The spec's provider name, before any backend tag."""
    pass_name: str
    metric: Metric
    x_name: str
    x: int | str
    config: Config
    model: ModelProfile
    """`MODELS[x]` in a model_config sweep, else the --model profile."""
    device: str = "cuda"
    sizes: Mapping[str, Any] = field(default_factory=dict)
    """Rehearsal sizes, which win over config and model; empty when measuring."""

    def size(self, name: str, default: Any = None) -> Any:
        """A size by name: rehearsal size, else config value, else the model's attribute, else `default`.

        Raises KeyError when nothing has it and `default` is None.
        """
        for source in (self.sizes, self.config):
            if name in source:
                return source[name]
        value = getattr(self.model, name, default)
        if value is None:
            raise KeyError(f"{self.kernel}: neither config nor model has {name!r}")
        return value

    @property
    def by_model(self) -> bool:
        """Whether x is a model's name (a model_config sweep)."""
        return self.x_name == "model_config"


@dataclass(slots=True, kw_only=True)
class Step:
    """What is timed: `call` once per sample; the gradients of `reset` are dropped before each call."""

    call: Callable[[], Any]
    reset: Sequence[Any] = ()


@dataclass(slots=True, kw_only=True)
class Work:
    """Inputs and modules of one case, on its device.

    The shared harness (see `harness.py`) derives every pass from `forward` and `reset`: upstream's rule for
    most scripts. Where a script has its own measuring code, `steps[pass]()` returns the `Step` instead; it
    runs once, outside the timing.
    """

    forward: Callable[[], Any]
    """One forward call -> the one tensor that backward starts from."""
    reset: Sequence[Any] = ()
    """Tensors whose gradients are dropped before each timed call (usually the first input)."""
    tensors: Mapping[str, Any] = field(default_factory=dict)
    """Inputs and parameters by name, leaves wherever a gradient is wanted. Same names, and for one seed the
    same values, for each provider that is compared: a rehearsal checks both and compares their gradients."""
    outputs: Callable[[], Sequence[Any]] | None = None
    """What a rehearsal compares when that is more than the one tensor `forward` returns."""
    steps: Mapping[str, Callable[[], Step]] = field(default_factory=dict)
    memory_steps: Mapping[str, Callable[[], Step]] = field(default_factory=dict)
    """As `steps`, for memory; a pass that is only in `steps` uses that, else the shared rule."""
    close: Callable[[], None] | None = None
    """Called after the case: what must be undone (process groups)."""


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
