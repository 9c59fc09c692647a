"""Ways of going through sizes: what is asked for, what decides how far, which points are measured."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kernelindex_liger.bench.models import ModelProfile

Config: TypeAlias = dict[str, Any]
"""What becomes the CSV's config text, in key order. dtypes are their text (`"torch.bfloat16"`)."""


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
