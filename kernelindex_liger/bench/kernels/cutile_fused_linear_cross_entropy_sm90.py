"""Head and cross entropy in one on Hopper: Liger's cuTile kernel and quack's against PyTorch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kernelindex_liger.bench.kernels.fused_linear_cross_entropy import FLCE_TINY
from kernelindex_liger.bench.kernels.shared import deviations
from kernelindex_liger.bench.kernels.shared.common import QUACK, baseline, both_sweeps, tokens
from kernelindex_liger.bench.kernels.shared.heads import cross_entropy
from kernelindex_liger.bench.spec import Deviation, Kernel, NoCaveat, Provider, Requirement

if TYPE_CHECKING:
    from collections.abc import Callable

    from kernelindex_liger.bench.spec import Case

HOPPER = "its kernel exists for GPUs of compute capability 9.0 only"
NO_BACKWARD = Deviation(
    slug="no-backward-pass",
    text="There is no backward pass: the fused kernels rescale the saved gradients in place, so that a"
    " retained graph gives another result each time.",
    decision="reproduced",
    reason="A repeated backward would not measure what its name says.",
    caveat=NoCaveat("No row has this pass."),
)


def gradients_in_forward(*providers: str) -> Deviation:
    """What the fused providers do in forward already."""
    return Deviation(
        slug="gradients-in-forward",
        text="The fused kernels compute gradients in forward; full adds the rest of them.",
        decision="reproduced",
        reason=deviations.COMPARABLE,
        caveat="gradients-in-forward-sm90",
        providers=providers,
        passes=("forward",),
    )


def loss_of(case: Case) -> Callable[[Any, Any, Any], Any]:
    """The provider's loss (weight, x, target) -> scalar."""
    from torch.nn import functional

    if case.provider == "cutile-sm90":
        from liger_kernel.ops.cutile.ops.fused_linear_cross_entropy import (
            LigerFusedLinearCrossEntropyFunction as Fused,
        )

        return lambda weight, x, target: Fused.apply(x, weight, target)[0]
    if case.provider == "quack":
        return quack_loss(case)
    return lambda weight, x, target: functional.cross_entropy(functional.linear(x, weight), target)


def quack_loss(case: Case) -> Callable[[Any, Any, Any], Any]:
    """quack's chunked loss with all tokens in one chunk."""  # noqa: D403 - a package's name
    from quack.linear_cross_entropy import chunked_linear_cross_entropy

    count = tokens(case)
    return lambda weight, x, target: chunked_linear_cross_entropy(x, weight, target, chunk_size=count)


KERNELS = (
    Kernel(
        name="cutile_fused_linear_cross_entropy_sm90",
        script="benchmark_cutile_fused_linear_cross_entropy_sm90.py",
        liger=("liger_kernel.ops.cutile.ops.fused_linear_cross_entropy",),
        providers=(
            baseline("torch"),
            Provider(
                name="cutile-sm90",
                role="liger",
                requires=(Requirement(module="cuda.tile", package="cuda-tile", capability=(9, 0)),),
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
        build=cross_entropy(loss_of, lambda _case: "normal"),
        tiny=FLCE_TINY,
        deviations=(
            NO_BACKWARD,
            gradients_in_forward("cutile-sm90", "quack"),
            deviations.HEAD_GRADIENTS,
            deviations.RANDOM_SCALAR_GRADIENT,
            deviations.gradient_drawn(),
        ),
    ),
)
