"""Upstream's sweep rules as builders: which x values and config texts follow from memory, model and options.

All pure arithmetic; the formulas are those of upstream's `benchmark_model_configs.py` at ead96b61.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from kernelindex_liger.bench.models import MODELS, ModelProfile
from kernelindex_liger.bench.spec import Config, Points, Probe, Request, Sweep

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

UTILIZATION = 0.4
"""Share of the device's memory that upstream plans with."""

SHORTEST = 1024
"""No probed sweep is cut below this length."""

Scaling: TypeAlias = Literal["linear", "quadratic"]


def floor_pow2(value: int) -> int:
    """Largest power of two that is not above `value` (>= 1)."""
    return 1 << (value.bit_length() - 1)


def powers(first: int, last: int) -> tuple[int, ...]:
    """Powers of two from `first` (a power of two) to `last`, both included."""
    return tuple(1 << i for i in range(first.bit_length() - 1, last.bit_length()))


def usable_bytes(total_gib: int) -> float:
    """Bytes that a sweep may plan with on a device of `total_gib`."""
    return total_gib * 2**30 * UTILIZATION


def safe_length(
    total_gib: int, peak: int, *, batch: int, length: int, longest: int, scaling: Scaling = "linear"
) -> int:
    """Longest power-of-two length (>= 1024) that fits, given `peak` bytes of a `batch` x `length` probe."""
    usable = usable_bytes(total_gib)
    each = max(1.0, peak / (batch * length * (length if scaling == "quadratic" else 1)))
    fits = usable / (probe_batch(batch) * each)
    limit = min(max(1, int(math.sqrt(fits) if scaling == "quadratic" else fits)), longest)
    return floor_pow2(limit) if limit >= SHORTEST else SHORTEST


def probe_batch(batch: int) -> int:
    """The batch that a sweep is planned for: the probe's, between 1 and 32."""
    return max(1, min(32, batch))


def safe_tokens(total_gib: int, worst_peak: int, bt: int) -> tuple[int, int]:
    """(bsz, seq_len) of a model_config sweep: `worst_peak` bytes is the largest model's probe at `bt` tokens.

    Upstream divides by min(bt, 1024) although it probes with bt tokens; so do we, or rows would not match.
    """
    per_token = max(1, worst_peak // min(bt, 1024))
    safe = min(bt, max(1, int(usable_bytes(total_gib) / per_token)))
    limit = min(safe, 8192)
    seq_len = floor_pow2(limit) if limit >= SHORTEST else SHORTEST
    return max(1, safe // seq_len), seq_len


def model_config_values(model: ModelProfile, keys: Iterable[str], extra: Mapping[str, Any]) -> Config:
    """Config from a model's attributes, then the extra values (an existing key keeps its place)."""
    return {key: getattr(model, key) for key in keys} | dict(extra)


def token_length(
    *,
    x_name: Literal["T", "B", "BT"],
    x_label: str = "sequence length",
    model_keys: tuple[str, ...],
    extra: Mapping[str, Any] | None = None,
    probe_provider: str,
    probe_x: int,
    estimate: int,
    scaling: Scaling = "linear",
    first: int = 1024,
) -> Sweep:
    """The sweep of upstream's shared token-length helper: powers of two up to what memory allows.

    `x_name` B needs `extra["T"]`. `estimate` is the probe's peak in bytes for the default model.
    """
    given = dict(extra or {})

    def probes(request: Request) -> tuple[Probe, ...]:
        config = model_config_values(request.model, model_keys, given)
        return (Probe(provider=probe_provider, x=probe_x, config=config, model=request.model),)

    def points(request: Request, peaks: Sequence[int]) -> Points:
        batch = probe_x if x_name == "B" else int(given.get("B", 1)) if x_name == "T" else 1
        length = int(given["T"]) if x_name == "B" else probe_x
        seq_len = safe_length(
            request.total_gib,
            peaks[0],
            batch=batch,
            length=length,
            longest=request.model.max_position_embeddings,
            scaling=scaling,
        )
        bsz = probe_batch(batch)
        if x_name == "T":
            x_values = powers(first, seq_len)
        elif x_name == "B":
            x_values = powers(1, max(2, bsz * seq_len // length))
        else:
            x_values = powers(first, bsz * seq_len)
        config = model_config_values(request.model, model_keys, given) | {"bsz": bsz, "seq_len": seq_len}
        return Points(x_values=x_values, configs=(config,))

    return Sweep(
        answers=("token_length",),
        x_name=x_name,
        x_label=x_label,
        probes=probes,
        points=points,
        estimate=estimate,
    )


def model_config(
    *,
    model_keys: tuple[str, ...],
    extra: Mapping[str, Any] | None = None,
    probe_provider: str,
    estimate: int,
    probe_dim: Literal["T", "B", "BT"] = "T",
    config: Callable[[Request, int, int], tuple[Config, ...]] | None = None,
    probe_config: Callable[[Request, ModelProfile], Config] | None = None,
    probe_x: Callable[[Request], int] | None = None,
    x_values: tuple[str, ...] = tuple(MODELS),
) -> Sweep:
    """The sweep over all model profiles at a fixed number of tokens (--bt).

    `estimate` is the largest probe's peak in bytes at bt 2048. `config(request, bsz, seq_len)` replaces
    upstream's `{bsz, seq_len, **extra}`; `probe_config` and `probe_x` replace what is probed.
    """
    given = dict(extra or {})

    def probes(request: Request) -> tuple[Probe, ...]:
        x = probe_x(request) if probe_x else 1 if probe_dim == "B" else request.bt
        return tuple(
            Probe(
                provider=probe_provider,
                x=x,
                config=probe_config(request, m) if probe_config else model_config_values(m, model_keys, given),
                model=m,
            )
            for m in MODELS.values()
        )

    def points(request: Request, peaks: Sequence[int]) -> Points:
        bsz, seq_len = safe_tokens(request.total_gib, max(peaks), request.bt)
        base: Config = {"bsz": bsz, "seq_len": seq_len} | given
        configs = config(request, bsz, seq_len) if config else (base,)
        return Points(x_values=x_values, configs=configs)

    return Sweep(
        answers=("model_config",),
        x_name="model_config",
        x_label="model configuration",
        probes=probes,
        points=points,
        estimate=estimate,
    )


def fixed(
    *,
    x_name: str,
    x_label: str,
    x_values: Sequence[int | str],
    configs: Sequence[Config],
    answers: tuple[str, ...] = ("token_length",),
    devices: int = 1,
) -> Sweep:
    """A sweep whose sizes are constants: nothing is probed, no option changes it."""
    found = Points(x_values=tuple(x_values), configs=tuple(configs))
    return Sweep(
        answers=answers,
        x_name=x_name,
        x_label=x_label,
        points=lambda _request, _peaks: found,
        devices=devices,
    )
