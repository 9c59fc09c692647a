"""What the runner and its worker processes say to each other: JSON lines, and the device behind a worker."""

from __future__ import annotations

import importlib
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from kernelindex_liger.bench.models import MODELS
from kernelindex_liger.bench.spec import Case, Kernel, Metric, Probe, Timing

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kernelindex_liger.documents.sidecar import Gpu, Readings, Software


@dataclass(frozen=True, slots=True, kw_only=True)
class Hello:
    """What a worker says of itself: the device it has, as documents want it, and what planning needs."""

    gpu: Gpu
    software: Software
    total_gib: int
    capability: tuple[int, int] | None
    liger_version: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """A case that ended well."""

    y: tuple[float, float, float]
    samples: int


class IncorrectError(Exception):
    """A rehearsed provider's output or gradient is not the reference's."""


class Backend(Protocol):
    """A device as a worker uses it. Made once a process; everything heavy is imported by its module."""

    def hello(self) -> Hello:
        """Describe the device and the software."""
        ...

    def readings(self) -> Readings | None:
        """Live state of the device, where it tells."""
        ...

    def probe(self, kernel: Kernel, probe: Probe) -> int:
        """Peak bytes of one forward and backward."""
        ...

    def measure(self, kernel: Kernel, case: Case, timing: Timing) -> Measured:
        """Run a case. Any exception is a failed case."""
        ...

    def failure(self, error: BaseException) -> tuple[str, bool]:
        """(status, whether this process must not go on) of a failed case."""
        ...

    def settle(self) -> None:
        """Free what the last case left, before the next."""
        ...


def backend_of(name: str) -> Backend:
    """The backend `module:factory`."""
    module, _, factory = name.partition(":")
    made: Backend = getattr(importlib.import_module(module), factory)()
    return made


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseMessage:
    """A case on its way to a worker."""

    kernel: str
    provider: str
    pass_name: str
    metric: Metric
    x_name: str
    x: int | str
    config: Mapping[str, Any]
    model: str
    sizes: Mapping[str, Any] = field(default_factory=dict)
    rep: int | None = None
    warmup: int | None = None

    def to_json(self) -> dict[str, Any]:
        """As the line's object."""
        return {"op": "case", **asdict(self)}

    def case(self, device: str) -> Case:
        """As a kernel's `build` takes it."""
        return Case(
            kernel=self.kernel,
            provider=self.provider,
            pass_name=self.pass_name,
            metric=self.metric,
            x_name=self.x_name,
            x=self.x,
            config=dict(self.config),
            model=MODELS.get(str(self.x), MODELS[self.model]) if self.x_name == "model_config" else MODELS[self.model],
            device=device,
            sizes=dict(self.sizes),
        )

    def timing(self, own: Timing) -> Timing:
        """The kernel's timing, with what the user asked for instead."""
        return Timing(
            method=own.method,
            rep=own.rep if self.rep is None else self.rep,
            warmup=own.warmup if self.warmup is None else self.warmup,
            samples=own.samples,
        )
