"""Two heads and GRPO loss in one, by token or sequence: Liger's chunked loss against plain PyTorch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kernelindex_liger.bench.kernels.shared import deviations
from kernelindex_liger.bench.kernels.shared.common import (
    CUTILE_TOO,
    FORWARD_BACKWARD_FULL,
    LIGER,
    baseline,
    batch,
    dtype_of,
)
from kernelindex_liger.bench.kernels.shared.heads import compiled, linear
from kernelindex_liger.bench.kernels.shared.preferences import batch_sweeps, tiny
from kernelindex_liger.bench.spec import Deviation, Kernel, Work

if TYPE_CHECKING:
    from kernelindex_liger.bench.spec import Case


def build(case: Case) -> Work:
    """Input x [B, T, H] with a gradient, reference x without; on policy, nothing masked, mean over tokens."""
    import torch

    shape, hidden = (batch(case), case.size("T")), case.size("hidden_size")
    kind = {"dtype": dtype_of(case), "device": case.device}
    x = torch.randn(*shape, hidden, requires_grad=True, **kind)
    chosen = torch.randint(0, case.size("vocab_size"), shape, device=case.device)
    mask = torch.ones(*shape, device=case.device)
    advantages = torch.randn(shape[0], **kind)
    ref_x = torch.randn(*shape, hidden, **kind)
    head, reference = linear(case), linear(case)
    level = case.size("importance_sampling_level")
    tensors = {"x": x, "chosen": chosen, "advantages": advantages, "weight": head.weight}
    if case.provider == "liger":
        from liger_kernel.chunked_loss import LigerFusedLinearGRPOLoss

        loss = LigerFusedLinearGRPOLoss(
            beta=0.1,
            epsilon_low=0.2,
            epsilon_high=0.2,
            use_ref_model=True,
            loss_type="bnpo",
            importance_sampling_level=level,
            compiled=compiled(case),
        )
        return Work(
            forward=lambda: loss(
                x,
                head.weight,
                chosen,
                mask,
                advantages,
                ref_input=ref_x,
                ref_weight=reference.weight,
            )[0],
            reset=[x],
            tensors=tensors,
        )
    from kernelindex_liger.bench.references.policy import grpo_head
    from kernelindex_liger.bench.references.preference import Head

    policy, frozen = Head(head.weight), Head(reference.weight)
    return Work(
        forward=lambda: grpo_head(
            head=policy,
            hidden=x,
            reference_head=frozen,
            reference_hidden=ref_x,
            tokens=chosen,
            mask=mask,
            advantages=advantages,
            level=level,
        )[0],
        reset=[x],
        tensors=tensors,
    )


KERNELS = tuple(
    Kernel(
        name=f"fused_linear_grpo_loss_{level}",
        script="benchmark_grpo_loss.py",
        liger=("liger_kernel.chunked_loss.grpo_loss",),
        providers=(LIGER, baseline("torch")),
        speed=FORWARD_BACKWARD_FULL,
        memory=("full",),
        sweeps=batch_sweeps({"T": 1024, "importance_sampling_level": level}, "torch", (4219486720, 7507821056)),
        build=build,
        tiny=tiny(),
        impls=CUTILE_TOO,
        deterministic="cudnn",
        deviations=(
            deviations.T_FROM_CONFIG,
            Deviation(
                slug="backend-without-effect",
                text="The chunked loss is PyTorch under every backend; under another than the default its provider is "
                "named after the backend all the same.",
                decision="reproduced",
                reason=deviations.COMPARABLE,
                caveat="backend-without-effect",
                providers=("liger",),
            ),
            deviations.HEAD_GRADIENTS,
            deviations.RANDOM_SCALAR_GRADIENT,
            deviations.GRADIENTS_IN_FORWARD,
            deviations.gradient_drawn(),
            deviations.CUDNN_DETERMINISTIC,
        ),
    )
    for level in ("token", "sequence")
)
