"""Cross entropy of float32 logits [BT, V]: Liger's module against torch.nn.CrossEntropyLoss."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kernelindex_liger.bench.kernels.shared import deviations
from kernelindex_liger.bench.kernels.shared.common import (
    CUTILE_AND_CUTEDSL,
    FORWARD_BACKWARD_FULL,
    LIGER,
    baseline,
    both_sweeps,
    tokens,
)
from kernelindex_liger.bench.spec import Deviation, Kernel, Tiny, Work

if TYPE_CHECKING:
    from kernelindex_liger.bench.spec import Case


def loss_of(case: Case) -> Any:
    """The provider's loss."""
    import torch

    if case.provider == "liger":
        from liger_kernel.transformers.cross_entropy import LigerCrossEntropyLoss

        return LigerCrossEntropyLoss()
    return torch.nn.CrossEntropyLoss()


def build(case: Case) -> Work:
    """Logits [BT, V] in float32 with a gradient, target [BT]."""
    import torch

    rows, vocab = tokens(case), case.size("vocab_size")
    logits = torch.randn(rows, vocab, requires_grad=True, device=case.device)
    target = torch.randint(vocab, (rows,), device=case.device)
    loss = loss_of(case)
    return Work(forward=lambda: loss(logits, target), reset=[logits], tensors={"logits": logits, "target": target})


KERNELS = (
    Kernel(
        name="cross_entropy",
        script="benchmark_cross_entropy.py",
        liger=("liger_kernel.transformers.cross_entropy",),
        providers=(LIGER, baseline("torch")),
        speed=(*FORWARD_BACKWARD_FULL, "no-grad-forward"),
        memory=("full",),
        sweeps=both_sweeps(
            "BT",
            "B * T",
            model_keys=("vocab_size",),
            probe=("torch", 1024),
            estimates=(2101347328, 4982834176),
        ),
        build=build,
        tiny=Tiny(x={"BT": 8}, sizes={"bsz": 2, "seq_len": 4, "vocab_size": 64}),
        impls=CUTILE_AND_CUTEDSL,
        deviations=(
            deviations.RANDOM_SCALAR_GRADIENT,
            deviations.GRADIENTS_IN_FORWARD,
            Deviation(
                slug="no-grad-with-gradients",
                text="The pass without gradients still computes them in Liger's forward.",
                decision="reproduced",
                reason=deviations.COMPARABLE,
                caveat="no-grad-with-gradients",
                providers=("liger",),
                passes=("no-grad-forward",),
            ),
            deviations.gradient_drawn(),
        ),
    ),
)
