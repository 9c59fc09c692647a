"""RMS norm of hidden states [T, H]: Liger's module against a Llama-style norm in plain PyTorch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kernelindex_liger.bench.kernels.shared import deviations
from kernelindex_liger.bench.kernels.shared.common import (
    CUTILE_AND_CUTEDSL,
    FORWARD_BACKWARD_FULL,
    LIGER,
    baseline,
    both_sweeps,
    sequence,
)
from kernelindex_liger.bench.kernels.shared.rows import on_rows
from kernelindex_liger.bench.spec import Kernel, Tiny

if TYPE_CHECKING:
    from kernelindex_liger.bench.spec import Case


def layer(case: Case) -> Any:
    """The provider's norm; its weight is float32 whatever x's dtype is."""
    if case.provider == "liger":
        from liger_kernel.transformers.rms_norm import LigerRMSNorm

        return LigerRMSNorm(hidden_size=case.size("hidden_size"), eps=case.size("eps")).to(case.device)
    from kernelindex_liger.bench.references.norms import RMSNorm

    return RMSNorm(case.size("hidden_size"), case.size("eps")).to(case.device)


KERNELS = (
    Kernel(
        name="rms_norm",
        script="benchmark_rms_norm.py",
        liger=("liger_kernel.transformers.rms_norm",),
        providers=(baseline("huggingface"), LIGER),
        speed=FORWARD_BACKWARD_FULL,
        memory=("full",),
        sweeps=both_sweeps(
            "T",
            "Sequence length",
            model_keys=("hidden_size", "dtype"),
            extra={"eps": 1e-06},
            probe=("huggingface", 1024),
            estimates=(142639104, 570490880),
        ),
        build=on_rows(layer, sequence),
        tiny=Tiny(x={"T": 8}, sizes={"seq_len": 8, "hidden_size": 64, "dtype": "torch.float32"}),
        impls=CUTILE_AND_CUTEDSL,
        deviations=(
            deviations.float32_output("fp32-output", "huggingface"),
            deviations.PARAMETER_GRADIENTS,
            deviations.gradient_drawn(),
        ),
    ),
)
