"""GEGLU MLP of [bsz, T, H]: Liger's module against transformers' LlamaMLP."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kernelindex_liger.bench.kernels.shared import deviations
from kernelindex_liger.bench.kernels.shared.common import (
    CUTILE_TOO,
    FORWARD_BACKWARD_FULL,
    LIGER,
    LLAMA,
    baseline,
)
from kernelindex_liger.bench.kernels.shared.mlps import TINY, llama, mlp_sweeps, on_sequences, shape
from kernelindex_liger.bench.spec import Kernel

if TYPE_CHECKING:
    from kernelindex_liger.bench.spec import Case


def module(case: Case) -> Any:
    """The provider's MLP."""
    if case.provider == "liger":
        from liger_kernel.transformers.geglu import LigerGEGLUMLP

        return LigerGEGLUMLP(config=shape(case))
    return llama(case)


KERNELS = (
    Kernel(
        name="geglu",
        script="benchmark_geglu.py",
        liger=("liger_kernel.transformers.geglu",),
        providers=(LIGER, baseline("huggingface", LLAMA)),
        speed=FORWARD_BACKWARD_FULL,
        memory=("full",),
        sweeps=mlp_sweeps("sequence length", "gelu_pytorch_tanh"),
        build=on_sequences(module),
        tiny=TINY,
        impls=CUTILE_TOO,
        deviations=(deviations.WEIGHT_GRADIENTS, deviations.gradient_drawn("gradient-drawn-in-full")),
    ),
)
