"""Residual addition and RMS norm of [BT, H]: Liger's fused module, its norm alone, and plain PyTorch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kernelindex_liger.bench.kernels.shared import deviations
from kernelindex_liger.bench.kernels.shared.common import (
    CUTILE_TOO,
    FORWARD_BACKWARD_FULL,
    baseline,
    both_sweeps,
    tokens,
)
from kernelindex_liger.bench.kernels.shared.rows import hidden_states
from kernelindex_liger.bench.spec import Deviation, Kernel, Provider, Tiny, Work

if TYPE_CHECKING:
    from kernelindex_liger.bench.spec import Case


def layer(case: Case) -> Any:
    """The provider's layer (x, residual) -> (normalised sum, sum); weights are float32."""
    hidden, eps = case.size("hidden_size"), case.size("eps")
    if case.provider == "liger_fused_add_rms_norm":
        from liger_kernel.transformers.fused_add_rms_norm import LigerFusedAddRMSNorm

        return LigerFusedAddRMSNorm(hidden_size=hidden, eps=eps).to(case.device)
    from kernelindex_liger.bench.references.norms import AddRMSNorm

    if case.provider == "liger_rms_norm":
        from liger_kernel.transformers.rms_norm import LigerRMSNorm

        return AddRMSNorm(hidden, eps, LigerRMSNorm(hidden, eps, in_place=False)).to(case.device)
    return AddRMSNorm(hidden, eps).to(case.device)


def build(case: Case) -> Work:
    """Inputs x, residual [BT, H], both with a gradient; the normalised sum is what backward starts from."""
    shape = (tokens(case), case.size("hidden_size"))
    x, residual = hidden_states(case, *shape), hidden_states(case, *shape)
    norm = layer(case)
    return Work(
        forward=lambda: norm(x, residual)[0],
        reset=[x],
        tensors={"x": x, "residual": residual, "weight": norm.weight},
        outputs=lambda: norm(x, residual),
    )


KERNELS = (
    Kernel(
        name="fused_add_rms_norm",
        script="benchmark_fused_add_rms_norm.py",
        liger=("liger_kernel.transformers.fused_add_rms_norm", "liger_kernel.transformers.rms_norm"),
        providers=(
            baseline("torch"),
            Provider(name="liger_rms_norm", role="liger"),
            Provider(name="liger_fused_add_rms_norm", role="liger"),
        ),
        speed=FORWARD_BACKWARD_FULL,
        memory=("full",),
        sweeps=both_sweeps(
            "BT",
            "total tokens",
            model_keys=("hidden_size", "intermediate_size", "dtype"),
            extra={"eps": 1e-06},
            probe=("torch", 1024),
            estimates=(151027712, 604045312),
        ),
        build=build,
        tiny=Tiny(x={"BT": 8}, sizes={"bsz": 2, "seq_len": 4, "hidden_size": 64, "dtype": "torch.float32"}),
        impls=CUTILE_TOO,
        deviations=(
            deviations.float32_output("fp32-output-add", "torch", "liger_rms_norm"),
            deviations.PARAMETER_GRADIENTS,
            deviations.gradient_drawn(),
            Deviation(
                slug="gradient-of-norm-only",
                text="Only the normalised output is differentiated; the sum, the second output, gets no gradient.",
                decision="reproduced",
                reason=deviations.COMPARABLE,
                caveat="first-output-gradient",
                passes=deviations.BACKWARD_AND_FULL,
            ),
            Deviation(
                slug="second-weight",
                text="liger_rms_norm multiplies by a weight of its own after Liger's norm has multiplied by one.",
                decision="reproduced",
                reason=deviations.COMPARABLE,
                caveat="second-weight",
                providers=("liger_rms_norm",),
            ),
        ),
    ),
)
