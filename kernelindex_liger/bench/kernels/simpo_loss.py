"""Head and SimPO loss in one, x [B, T, H] -> scalar: Liger's chunked loss against plain PyTorch's CPO."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kernelindex_liger.bench.kernels.shared.common import FORWARD_BACKWARD_FULL, LIGER, baseline
from kernelindex_liger.bench.kernels.shared.deviations import COMPARABLE
from kernelindex_liger.bench.kernels.shared.heads import compiled
from kernelindex_liger.bench.kernels.shared.preferences import PAIRED, batch_sweeps, paired, tiny
from kernelindex_liger.bench.spec import Deviation, Kernel

if TYPE_CHECKING:
    from collections.abc import Callable

    from kernelindex_liger.bench.spec import Case

GAMMA = 0.5


def loss_of(case: Case) -> Callable[..., Any]:
    """The provider's loss (weight, x, target) -> (scalar, logged values): beta 0.1, alpha 1, gamma 0.5.

    The measured baseline is CPO, as upstream has it; a rehearsal (`baseline_is_simpo`) compares with SimPO.
    """
    if case.provider == "liger":
        from liger_kernel.chunked_loss import LigerFusedLinearSimPOLoss

        loss: Any = LigerFusedLinearSimPOLoss(
            ignore_index=-100,
            beta=0.1,
            alpha=1.0,
            gamma=GAMMA,
            label_smoothing=0.0,
            compiled=compiled(case),
        )
        return loss
    from kernelindex_liger.bench.references import preference

    simpo = bool(case.size("baseline_is_simpo", False))
    return lambda weight, x, target: preference.paired(
        preference.cpo(0.1, GAMMA if simpo else 0.0),
        head=preference.Head(weight),
        hidden=x,
        target=target,
        ignored=-100,
        average=simpo,
    )


KERNELS = (
    Kernel(
        name="simpo_loss",
        script="benchmark_simpo_loss.py",
        liger=("liger_kernel.chunked_loss.simpo_loss",),
        providers=(LIGER, baseline("huggingface")),
        speed=FORWARD_BACKWARD_FULL,
        memory=("full",),
        sweeps=batch_sweeps({"T": 1024}, "huggingface", (2635094016, 5327815680)),
        build=paired(loss_of),
        tiny=tiny(baseline_is_simpo=True),
        deterministic="cudnn",
        deviations=(
            Deviation(
                slug="baseline-is-cpo",
                text="The baseline computes CPO (summed log-probabilities, no margin), not SimPO "
                "(averaged ones less a margin): near in cost, but its loss is another.",
                decision="reproduced",
                reason=COMPARABLE + " The rehearsal compares Liger's loss with SimPO's own formula.",
                caveat="baseline-is-cpo",
                providers=("huggingface",),
            ),
            *PAIRED,
        ),
    ),
)
