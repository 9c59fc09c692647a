"""Total variation distance of probabilities [BT, V]: Liger's module against plain PyTorch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kernelindex_liger.bench.kernels.shared import deviations
from kernelindex_liger.bench.kernels.shared.common import FORWARD_BACKWARD_FULL, LIGER, baseline, both_sweeps
from kernelindex_liger.bench.kernels.shared.distributions import between
from kernelindex_liger.bench.spec import Kernel, Tiny

if TYPE_CHECKING:
    from kernelindex_liger.bench.spec import Case


def loss_of(case: Case) -> Any:
    """The provider's distance (probabilities, probabilities) -> scalar."""
    reduction = case.config.get("reduction", "batchmean")
    if case.provider == "liger":
        from liger_kernel.transformers.tvd import LigerTVDLoss

        return LigerTVDLoss(reduction=reduction)
    from kernelindex_liger.bench.references.divergences import total_variation

    return lambda p, q: total_variation(p, q, reduction)


KERNELS = (
    Kernel(
        name="tvd",
        script="benchmark_tvd.py",
        liger=("liger_kernel.transformers.tvd",),
        providers=(baseline("torch"), LIGER),
        speed=FORWARD_BACKWARD_FULL,
        memory=("full",),
        sweeps=both_sweeps(
            "BT",
            "total tokens",
            model_keys=("vocab_size",),
            extra={"reduction": "batchmean"},
            probe=("torch", 1024),
            estimates=(3152020480, 7474250752),
        ),
        build=between(loss_of, "softmax", "softmax"),
        tiny=Tiny(x={"BT": 8}, sizes={"bsz": 2, "seq_len": 4, "vocab_size": 64}),
        deviations=(
            deviations.INPUT_IS_NOT_A_LEAF,
            deviations.RANDOM_SCALAR_GRADIENT,
            deviations.GRADIENTS_IN_FORWARD,
            deviations.gradient_drawn(),
        ),
    ),
)
