"""Two heads and DPO loss in one, x [B, T, H] -> scalar: Liger's chunked loss against plain PyTorch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kernelindex_liger.bench.kernels.shared import deviations
from kernelindex_liger.bench.kernels.shared.common import FORWARD_BACKWARD_FULL, LIGER, baseline, batch
from kernelindex_liger.bench.kernels.shared.heads import compiled, linear
from kernelindex_liger.bench.kernels.shared.preferences import (
    PAIRED,
    batch_sweeps,
    some_ignored,
    tiny,
    without_gradient,
)
from kernelindex_liger.bench.spec import Kernel, Work

if TYPE_CHECKING:
    from collections.abc import Callable

    from kernelindex_liger.bench.spec import Case


def loss_of(case: Case, head: Any, reference: Any) -> Callable[..., Any]:
    """The provider's loss (x, reference x, target) -> (scalar, logged), of averaged log-probabilities."""
    beta, ignored = case.size("beta"), case.size("ignore_index")
    if case.provider == "liger":
        from liger_kernel.chunked_loss import LigerFusedLinearDPOLoss

        loss = LigerFusedLinearDPOLoss(
            ignore_index=ignored,
            beta=beta,
            compute_nll_loss=False,
            compiled=compiled(case),
            use_ref_model=True,
            average_log_prob=True,
        )
        return lambda x, ref_x, target: loss(head.weight, x, target, head.bias, ref_x, reference.weight, reference.bias)
    from kernelindex_liger.bench.references import preference

    policy = preference.Head(head.weight, head.bias)
    frozen = preference.Head(reference.weight, reference.bias)
    return lambda x, ref_x, target: preference.paired_dpo(
        beta, head=policy, hidden=x, frozen=frozen, frozen_hidden=ref_x, target=target, ignored=ignored
    )


def build(case: Case) -> Work:
    """x, reference x [B, T, H] without gradients; a policy head with a bias, a reference head without."""
    shape = (batch(case), case.size("T"))
    x, ref_x = (without_gradient(case, *shape, case.size("hidden_size")) for _ in range(2))
    target = some_ignored(case, shape)
    head, reference = linear(case, bias=case.size("bias")), linear(case)
    loss = loss_of(case, head, reference)
    return Work(
        forward=lambda: loss(x, ref_x, target)[0],
        reset=[x],
        tensors={"x": x, "target": target, "weight": head.weight, "bias": head.bias},
    )


KERNELS = (
    Kernel(
        name="dpo_loss",
        script="benchmark_dpo_loss.py",
        liger=("liger_kernel.chunked_loss.dpo_loss",),
        providers=(LIGER, baseline("torch")),
        speed=FORWARD_BACKWARD_FULL,
        memory=("full",),
        sweeps=batch_sweeps(
            {"T": 512, "bias": True, "beta": 0.1, "ignore_index": 42}, "torch", (2898012160, 5934211584)
        ),
        build=build,
        tiny=tiny(ignore_index=3),
        deterministic="cudnn",
        deviations=(deviations.INPUT_WITHOUT_GRADIENT, *PAIRED),
    ),
)
