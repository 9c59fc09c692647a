"""Head and cross entropy in one on Hopper: Liger's CuTe DSL and Triton kernels, quack's and PyTorch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kernelindex_liger.bench.kernels.cutile_fused_linear_cross_entropy_sm90 import (
    HOPPER,
    NO_BACKWARD,
    gradients_in_forward,
    quack_loss,
)
from kernelindex_liger.bench.kernels.fused_linear_cross_entropy import FLCE_TINY
from kernelindex_liger.bench.kernels.shared import deviations
from kernelindex_liger.bench.kernels.shared.common import CUTEDSL, LIGER, QUACK, baseline, both_sweeps
from kernelindex_liger.bench.kernels.shared.heads import cross_entropy
from kernelindex_liger.bench.spec import Deviation, Kernel, NoCaveat, Provider, Requirement

if TYPE_CHECKING:
    from collections.abc import Callable

    from kernelindex_liger.bench.spec import Case

SM90 = "liger_kernel.ops.cutedsl.ops.fused_linear_cross_entropy_sm90"


def loss_of(case: Case) -> Callable[[Any, Any, Any], Any]:
    """The provider's loss (weight, x, target) -> scalar."""
    from torch.nn import functional

    if case.provider == "cutedsl-sm90":
        from liger_kernel.ops.cutedsl.ops.fused_linear_cross_entropy_sm90 import (
            LigerFusedLinearCrossEntropySM90Function as Fused,
        )

        return lambda weight, x, target: Fused.apply(x, weight, target)
    if case.provider == "liger":
        from liger_kernel.transformers.fused_linear_cross_entropy import LigerFusedLinearCrossEntropyLoss

        loss: Any = LigerFusedLinearCrossEntropyLoss()
        return loss
    if case.provider == "quack":
        return quack_loss(case)
    return lambda weight, x, target: functional.cross_entropy(functional.linear(x, weight), target)


KERNELS = (
    Kernel(
        name="cutedsl_fused_linear_cross_entropy_sm90",
        script="benchmark_cutedsl_fused_linear_cross_entropy_sm90.py",
        liger=("liger_kernel.transformers.fused_linear_cross_entropy",),
        providers=(
            baseline("torch"),
            LIGER,
            Provider(
                name="cutedsl-sm90",
                role="other",
                requires=(CUTEDSL, Requirement(module=SM90, package="liger-kernel")),
                cannot_rehearse=HOPPER,
            ),
            Provider(name="quack", role="other", requires=(QUACK,), cannot_rehearse="its kernels need a CUDA GPU"),
        ),
        speed=("forward", "full"),
        memory=("full",),
        sweeps=both_sweeps(
            "BT",
            "total tokens",
            model_keys=("hidden_size", "vocab_size", "dtype"),
            probe=("torch", 1024),
            estimates=(2380792832, 5672797184),
        ),
        build=cross_entropy(loss_of, lambda case: "linear" if case.provider in {"torch", "liger"} else "normal"),
        tiny=FLCE_TINY,
        deviations=(
            NO_BACKWARD,
            gradients_in_forward("liger", "cutedsl-sm90", "quack"),
            deviations.HEAD_GRADIENTS,
            deviations.RANDOM_SCALAR_GRADIENT,
            deviations.gradient_drawn(),
            Deviation(
                slug="different-initial-weights",
                text="torch and liger start from nn.Linear's weights, cutedsl-sm90 and quack from normal ones.",
                decision="reproduced",
                reason=deviations.COMPARABLE + " The values do not change the work.",
                caveat=NoCaveat("The values do not change the work."),
            ),
            Deviation(
                slug="providers-one-by-one",
                text="Upstream's script cannot be imported without the CuTe DSL; here only its provider is left out.",
                decision="corrected",
                reason="The other providers do not need it.",
                caveat=NoCaveat("It decides which rows exist, not what they mean."),
            ),
        ),
    ),
)
