"""One case as a worker sees it, and what a kernel's `build` makes of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from kernelindex_liger.bench.models import ModelProfile
    from kernelindex_liger.bench.spec.sweep import Config

Metric: TypeAlias = Literal["speed", "memory"]


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
