"""Layer norm of hidden states [T, H]: Liger's module against torch.nn.LayerNorm."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kernelindex_liger.bench.kernels.shared import deviations
from kernelindex_liger.bench.kernels.shared.common import (
    CUTILE_TOO,
    FORWARD_BACKWARD_FULL,
    LIGER,
    baseline,
    both_sweeps,
    dtype_of,
    sequence,
)
from kernelindex_liger.bench.kernels.shared.rows import on_rows
from kernelindex_liger.bench.spec import Kernel, Tiny

if TYPE_CHECKING:
    from kernelindex_liger.bench.spec import Case


def layer(case: Case) -> Any:
    """The provider's norm in the case's dtype."""
    import torch

    hidden, eps = case.size("hidden_size"), case.size("eps")
    if case.provider == "liger":
        from liger_kernel.transformers.layer_norm import LigerLayerNorm

        return LigerLayerNorm(hidden_size=hidden, eps=eps).to(case.device).to(dtype_of(case))
    return torch.nn.LayerNorm(hidden, eps=eps).to(case.device).to(dtype_of(case))


KERNELS = (
    Kernel(
        name="layer_norm",
        script="benchmark_layer_norm.py",
        liger=("liger_kernel.transformers.layer_norm",),
        providers=(LIGER, baseline("torch")),
        speed=FORWARD_BACKWARD_FULL,
        memory=("full",),
        sweeps=both_sweeps(
            "T",
            "Sequence length",
            model_keys=("hidden_size", "dtype"),
            extra={"eps": 1e-06},
            probe=("torch", 1024),
            estimates=(33591296, 134291456),
        ),
        build=on_rows(layer, sequence),
        tiny=Tiny(x={"T": 8}, sizes={"seq_len": 8, "hidden_size": 64, "dtype": "torch.float32"}),
        impls=CUTILE_TOO,
        deviations=(deviations.PARAMETER_GRADIENTS, deviations.gradient_drawn()),
    ),
)
