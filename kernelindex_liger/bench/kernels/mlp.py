"""Gated MLP of [bsz, T, H], projections fused: Liger's module against transformers' LlamaMLP."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kernelindex_liger.bench.kernels.shared import deviations
from kernelindex_liger.bench.kernels.shared.common import (
    FORWARD_BACKWARD_FULL,
    FULL_FIRST,
    LLAMA,
    baseline,
)
from kernelindex_liger.bench.kernels.shared.mlps import TINY, llama, mlp_sweeps, on_sequences, shape
from kernelindex_liger.bench.spec import Kernel, Provider

if TYPE_CHECKING:
    from kernelindex_liger.bench.spec import Case


def module(case: Case) -> Any:
    """The provider's MLP."""
    if case.provider == "liger":
        from liger_kernel.transformers.mlp import LigerMLP

        return LigerMLP(config=shape(case))
    return llama(case)


KERNELS = (
    Kernel(
        name="mlp",
        script="benchmark_mlp.py",
        liger=("liger_kernel.transformers.mlp",),
        providers=(
            baseline("huggingface", LLAMA),
            Provider(
                name="liger",
                role="liger",
                cannot_rehearse="it asserts that its tensors are on a CUDA device",
            ),
        ),
        speed=FORWARD_BACKWARD_FULL,
        memory=FULL_FIRST,
        sweeps=mlp_sweeps("total tokens", "silu"),
        build=on_sequences(module),
        tiny=TINY,
        deviations=(deviations.WEIGHT_GRADIENTS, deviations.gradient_drawn()),
    ),
)
