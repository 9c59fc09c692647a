"""Two heads and KTO loss in one, x [B, T, H] -> scalar: Liger's chunked loss against plain PyTorch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kernelindex_liger.bench.kernels.shared import deviations
from kernelindex_liger.bench.kernels.shared.common import FORWARD_BACKWARD_FULL, LIGER, baseline, batch
from kernelindex_liger.bench.kernels.shared.heads import compiled, linear
from kernelindex_liger.bench.kernels.shared.preferences import (
    batch_sweeps,
    some_ignored,
    tiny,
    without_gradient,
)
from kernelindex_liger.bench.spec import Deviation, Kernel, Work

if TYPE_CHECKING:
    from collections.abc import Callable

    from kernelindex_liger.bench.spec import Case


def loss_of(case: Case, head: Any, reference: Any) -> Callable[..., Any]:
    """The provider's loss (x, reference x, target, preferred, kl) -> (scalar, logged values).

    Liger sums log-probabilities and the measured baseline averages them, as upstream has it; in a rehearsal
    (`baseline_averages` False) both sum.
    """
    beta, ignored = case.size("beta"), case.size("ignore_index")
    if case.provider == "liger":
        from liger_kernel.chunked_loss import LigerFusedLinearKTOLoss

        loss = LigerFusedLinearKTOLoss(ignore_index=ignored, beta=beta, use_ref_model=True, compiled=compiled(case))
        return lambda x, ref_x, target, preferred, kl: loss(
            _input=x,
            lin_weight=head.weight,
            target=target,
            preference_labels=preferred,
            bias=head.bias,
            ref_input=ref_x,
            ref_weight=reference.weight,
            ref_bias=reference.bias,
            kl=kl,
        )
    from kernelindex_liger.bench.references import preference

    policy = preference.Head(head.weight, head.bias)
    frozen = preference.Head(reference.weight, reference.bias)
    average = bool(case.size("baseline_averages", True))
    return lambda x, ref_x, target, preferred, kl: preference.kto(
        head=policy,
        hidden=x,
        reference_head=frozen,
        reference_hidden=ref_x,
        target=target,
        preferred=preferred,
        kl=kl,
        beta=beta,
        ignored=ignored,
        average=average,
    )


def build(case: Case) -> Work:
    """x, reference x [B, T, H] without gradients, random preferences [B]; both heads have a bias."""
    import torch

    shape = (batch(case), case.size("T"))
    x, ref_x = (without_gradient(case, *shape, case.size("hidden_size")) for _ in range(2))
    preferred = torch.randint(2, shape[:1], dtype=torch.bool, device=case.device)
    kl = without_gradient(case, 1)
    target = some_ignored(case, shape)
    head, reference = (linear(case, bias=case.size("bias")) for _ in range(2))
    loss = loss_of(case, head, reference)
    return Work(
        forward=lambda: loss(x, ref_x, target, preferred, kl)[0],
        reset=[x],
        tensors={"x": x, "target": target, "weight": head.weight, "bias": head.bias},
    )


KERNELS = (
    Kernel(
        name="kto_loss",
        script="benchmark_kto_loss.py",
        liger=("liger_kernel.chunked_loss.kto_loss",),
        providers=(LIGER, baseline("huggingface")),
        speed=FORWARD_BACKWARD_FULL,
        memory=("full",),
        sweeps=batch_sweeps(
            {"T": 1024, "bias": True, "beta": 0.1, "ignore_index": 42},
            "huggingface",
            (4482673152, 7819861504),
        ),
        build=build,
        tiny=tiny(ignore_index=3, baseline_averages=False),
        deterministic="cudnn",
        deviations=(
            Deviation(
                slug="baseline-averages",
                text="The baseline averages log-probabilities over a sequence, Liger sums them: the losses differ.",
                decision="reproduced",
                reason=deviations.COMPARABLE + " The rehearsal compares both with sums.",
                caveat="baseline-averages",
                providers=("huggingface",),
            ),
            deviations.INPUT_WITHOUT_GRADIENT,
            deviations.T_FROM_CONFIG,
            deviations.HEAD_GRADIENTS,
            deviations.RANDOM_SCALAR_GRADIENT,
            deviations.GRADIENTS_IN_FORWARD,
            deviations.gradient_drawn(),
            deviations.CUDNN_DETERMINISTIC,
        ),
    ),
)
