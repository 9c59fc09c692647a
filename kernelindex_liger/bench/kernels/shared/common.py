"""Sizes, dtypes, parameters, providers and the pair of sweeps that most kernels have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from kernelindex_liger.bench.spec import ImplRule, Provider, Requirement
from kernelindex_liger.bench.sweeps import model_config, token_length

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kernelindex_liger.bench.spec import Case, Sweep

FORWARD_BACKWARD_FULL = ("forward", "backward", "full")
FULL_FIRST = ("full", "forward", "backward")

LLAMA = Requirement(module="transformers.models.llama.modeling_llama", package="transformers")
LLAMA4 = Requirement(module="transformers.models.llama4.modeling_llama4", package="transformers")
MEGATRON = Requirement(module="megatron.core", package="megatron-core")
QUACK = Requirement(module="quack.linear_cross_entropy", package="quack-kernels")
CUTEDSL = Requirement(module="cutlass", package="nvidia-cutlass-dsl", capability=(9, 0))
CUTILE = Requirement(module="cuda.tile", package="cuda-tile")

LIGER = Provider(name="liger", role="liger")

CUTILE_TOO: Mapping[str, ImplRule] = {"cutile": ImplRule()}
"""liger-kernel has the operator for cuTile too, and upstream's data has rows of it or its driver takes it."""

CUTILE_AND_CUTEDSL: Mapping[str, ImplRule] = {"cutile": ImplRule(), "cutedsl": ImplRule()}
"""The same for cuTile and for the CuTe DSL."""


def baseline(name: str, *requires: Requirement) -> Provider:
    """The provider that others are compared with."""
    return Provider(name=name, role="baseline", requires=requires)


def dtype_of(case: Case) -> Any:
    """The case's dtype (config, else model) as torch's object."""
    import torch

    return getattr(torch, str(case.size("dtype")).removeprefix("torch."))


def named(case: Case) -> bool:
    """Whether x is a model's name: a model_config point, but not its memory probe, whose x is a number."""
    return isinstance(case.x, str)


def sequence(case: Case) -> int:
    """Tokens of one sequence: x, or the config's seq_len where x is a model."""
    return int(case.size("seq_len") if named(case) else case.x)


def tokens(case: Case) -> int:
    """Tokens of the whole batch: x, or bsz * seq_len where x is a model."""
    return int(case.size("bsz") * case.size("seq_len") if named(case) else case.x)


def batch(case: Case) -> int:
    """Sequences: x, or the config's bsz where x is a model."""
    return int(case.size("bsz") if named(case) else case.x)


def parameters(module: Any, prefix: str = "") -> dict[str, Any]:
    """The module's parameters by name, each name after `prefix`; a compiled module's as its own."""
    return {f"{prefix}{name.removeprefix('_orig_mod.')}": parameter for name, parameter in module.named_parameters()}


def both_sweeps(
    x_name: Literal["T", "B", "BT"],
    x_label: str,
    *,
    model_keys: tuple[str, ...],
    extra: Mapping[str, Any] | None = None,
    probe: tuple[str, int],
    estimates: tuple[int, int],
) -> tuple[Sweep, Sweep]:
    """Upstream's token_length and model_config sweeps of one kernel.

    `probe` is the provider and x of the token_length probe; `estimates` are the probes' peaks in bytes, for
    the default model and for the largest one.
    """
    provider, probe_x = probe
    return (
        token_length(
            x_name=x_name,
            x_label=x_label,
            model_keys=model_keys,
            extra=extra,
            probe_provider=provider,
            probe_x=probe_x,
            estimate=estimates[0],
        ),
        model_config(
            model_keys=model_keys,
            extra=extra,
            probe_provider=provider,
            probe_dim=x_name,
            estimate=estimates[1],
        ),
    )
