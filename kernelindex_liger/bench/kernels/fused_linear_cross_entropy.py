"""Head and cross entropy in one: Liger's module, with float32 sums or not, against PyTorch."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from kernelindex_liger.bench.kernels.shared import deviations
from kernelindex_liger.bench.kernels.shared.common import FORWARD_BACKWARD_FULL, LIGER, baseline, both_sweeps
from kernelindex_liger.bench.kernels.shared.heads import cross_entropy
from kernelindex_liger.bench.spec import Deviation, ImplRule, Kernel, NoCaveat, Provider, Tiny

if TYPE_CHECKING:
    from collections.abc import Callable

    from kernelindex_liger.bench.spec import Case


def loss_of(case: Case) -> Callable[[Any, Any, Any], Any]:
    """The provider's loss (weight, x, target) -> scalar."""
    import torch
    from torch.nn import functional

    if case.provider == "torch":
        return lambda weight, x, target: functional.cross_entropy(functional.linear(x, weight), target)
    from liger_kernel.transformers.fused_linear_cross_entropy import LigerFusedLinearCrossEntropyLoss

    accumulator = torch.float32 if case.provider == "liger-fp32-accum" else None
    loss: Any = LigerFusedLinearCrossEntropyLoss(ignore_index=-100, reduction="mean", accum_dtype=accumulator)
    return loss


FLCE_TINY = Tiny(
    x={"BT": 8},
    sizes={"bsz": 2, "seq_len": 4, "hidden_size": 16, "vocab_size": 32, "dtype": "torch.float32"},
)

KERNELS = (
    Kernel(
        name="fused_linear_cross_entropy",
        script="benchmark_fused_linear_cross_entropy.py",
        liger=("liger_kernel.transformers.fused_linear_cross_entropy",),
        providers=(baseline("torch"), LIGER, Provider(name="liger-fp32-accum", role="liger")),
        speed=FORWARD_BACKWARD_FULL,
        memory=("full",),
        sweeps=both_sweeps(
            "BT",
            "total tokens",
            model_keys=("hidden_size", "vocab_size", "dtype"),
            extra={"eps": 1e-06},
            probe=("torch", 1024),
            estimates=(2380792832, 5672797184),
        ),
        build=cross_entropy(loss_of, lambda _case: "linear"),
        tiny=FLCE_TINY,
        impls={
            "cutile": ImplRule(providers=("torch", "liger"), speed=("forward", "full")),
            "cutedsl": ImplRule(),
        },
        deviations=(
            deviations.HEAD_GRADIENTS,
            deviations.RANDOM_SCALAR_GRADIENT,
            deviations.gradient_drawn(),
            Deviation(
                slug="eps-unused",
                text="The config carries an eps that nothing reads.",
                decision="reproduced",
                reason="It is part of the config text by which rows are told apart.",
                caveat=NoCaveat("Nothing depends on it, and the catalogue does not read it into the workload."),
            ),
            replace(deviations.GRADIENTS_IN_FORWARD, providers=("liger", "liger-fp32-accum")),
        ),
    ),
)
