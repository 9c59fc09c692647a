"""Kullback-Leibler divergence of [BT, V]: Liger's module against torch.nn.KLDivLoss."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kernelindex_liger.bench.kernels.shared import deviations
from kernelindex_liger.bench.kernels.shared.common import (
    CUTILE_TOO,
    FORWARD_BACKWARD_FULL,
    LIGER,
    baseline,
    both_sweeps,
)
from kernelindex_liger.bench.kernels.shared.distributions import between
from kernelindex_liger.bench.spec import Kernel, Tiny

if TYPE_CHECKING:
    from kernelindex_liger.bench.spec import Case


def loss_of(case: Case) -> Any:
    """The provider's loss (log-probabilities, probabilities) -> scalar."""
    import torch

    if case.provider == "liger":
        from liger_kernel.transformers.kl_div import LigerKLDIVLoss

        return LigerKLDIVLoss(reduction=case.config.get("reduction", "batchmean"))
    return torch.nn.KLDivLoss(reduction=case.config.get("reduction", "batchmean"))


KERNELS = (
    Kernel(
        name="kl_div",
        script="benchmark_kl_div.py",
        liger=("liger_kernel.transformers.kl_div",),
        providers=(baseline("torch"), LIGER),
        speed=FORWARD_BACKWARD_FULL,
        memory=("full",),
        sweeps=both_sweeps(
            "BT",
            "total tokens",
            model_keys=("vocab_size",),
            extra={"reduction": "batchmean"},
            probe=("torch", 1024),
            estimates=(3152019456, 7474249728),
        ),
        build=between(loss_of, "log_softmax", "softmax"),
        tiny=Tiny(x={"BT": 8}, sizes={"bsz": 2, "seq_len": 4, "vocab_size": 64}),
        impls=CUTILE_TOO,
        deviations=(
            deviations.INPUT_IS_NOT_A_LEAF,
            deviations.RANDOM_SCALAR_GRADIENT,
            deviations.gradient_drawn(),
        ),
    ),
)
