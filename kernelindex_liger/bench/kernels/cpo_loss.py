"""Head and CPO loss in one, x [B, T, H] -> scalar: Liger's chunked loss against plain PyTorch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kernelindex_liger.bench.kernels.shared.common import FORWARD_BACKWARD_FULL, LIGER, baseline
from kernelindex_liger.bench.kernels.shared.heads import compiled
from kernelindex_liger.bench.kernels.shared.preferences import PAIRED, batch_sweeps, paired, tiny
from kernelindex_liger.bench.spec import Kernel

if TYPE_CHECKING:
    from collections.abc import Callable

    from kernelindex_liger.bench.spec import Case


def loss_of(case: Case) -> Callable[..., Any]:
    """The provider's loss (weight, x, target) -> (scalar, logged values): beta 0.1, alpha 1."""
    if case.provider == "liger":
        from liger_kernel.chunked_loss import LigerFusedLinearCPOLoss

        loss: Any = LigerFusedLinearCPOLoss(
            ignore_index=-100, beta=0.1, alpha=1.0, label_smoothing=0.0, compiled=compiled(case)
        )
        return loss
    from kernelindex_liger.bench.references import preference

    return lambda weight, x, target: preference.paired(
        preference.cpo(0.1),
        head=preference.Head(weight),
        hidden=x,
        target=target,
        ignored=-100,
        average=False,
    )


KERNELS = (
    Kernel(
        name="cpo_loss",
        script="benchmark_cpo_loss.py",
        liger=("liger_kernel.chunked_loss.cpo_loss",),
        providers=(LIGER, baseline("huggingface")),
        speed=FORWARD_BACKWARD_FULL,
        memory=("full",),
        sweeps=batch_sweeps({"T": 1024}, "huggingface", (2635094016, 5327815680)),
        build=paired(loss_of),
        tiny=tiny(),
        deterministic="cudnn",
        deviations=PAIRED,
    ),
)
