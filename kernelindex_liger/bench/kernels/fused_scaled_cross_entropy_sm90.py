"""Head and cross entropy of each token on Hopper: three of Liger's kernels against PyTorch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kernelindex_liger.bench.kernels.cutile_fused_linear_cross_entropy_sm90 import HOPPER
from kernelindex_liger.bench.kernels.fused_linear_cross_entropy import FLCE_TINY
from kernelindex_liger.bench.kernels.shared import deviations
from kernelindex_liger.bench.kernels.shared.common import (
    CUTEDSL,
    CUTILE,
    FORWARD_BACKWARD_FULL,
    LIGER,
    baseline,
    both_sweeps,
    dtype_of,
    tokens,
)
from kernelindex_liger.bench.kernels.shared.heads import linear, normal_weight
from kernelindex_liger.bench.spec import Deviation, Kernel, NoCaveat, Points, Provider, Requirement, Step, Sweep, Work

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kernelindex_liger.bench.spec import Case, Request

CUTE = "liger_kernel.ops.cutedsl.ops.fused_scaled_cross_entropy_sm90"
TILE = "liger_kernel.ops.cutile.ops.fused_linear_scaled_cross_entropy"


def loss_of(case: Case) -> Callable[[Any, Any, Any], Any]:
    """The provider's loss (weight, x, target) -> loss of each token, at temperature one."""
    import torch
    from torch.nn import functional

    if case.provider == "cutedsl-sm90":
        from liger_kernel.ops.cutedsl.ops.fused_scaled_cross_entropy_sm90 import (
            LigerFusedScaledCrossEntropySM90Function as Cute,
        )

        return lambda weight, x, target: Cute.apply(x, weight, target, 1.0, -100, 1)
    if case.provider == "cutile":
        from liger_kernel.ops.cutile.ops.fused_linear_scaled_cross_entropy import (
            LigerFusedLinearScaledCrossEntropyFunction as Tile,
        )

        return lambda weight, x, target: Tile.apply(x, weight, target, 1.0, -100, 1, False)
    if case.provider == "liger":
        from liger_kernel.transformers.fused_linear_cross_entropy import LigerFusedLinearCrossEntropyLoss

        loss: Any = LigerFusedLinearCrossEntropyLoss(reduction="none", accum_dtype=torch.float32)
        return loss
    return lambda weight, x, target: functional.cross_entropy(
        functional.linear(x, weight).float(), target, reduction="none"
    )


def build(case: Case) -> Work:
    """Input x [BT, H] and weight [V, H] with gradients, dropped each time; one gradient [BT] for all."""
    import torch

    count, hidden = tokens(case), case.size("hidden_size")
    x = torch.randn(count, hidden, requires_grad=True, dtype=dtype_of(case), device=case.device)
    target = torch.randint(case.size("vocab_size"), (count,), device=case.device)
    weight = linear(case).weight if case.provider in {"torch", "liger"} else normal_weight(case)
    loss = loss_of(case)
    generator = torch.Generator(device=case.device).manual_seed(1234)
    gradient = torch.rand(count, generator=generator, device=case.device) + 0.25
    leaves = (x, weight)

    def forward() -> Any:
        return loss(weight, x, target)

    def clear() -> None:
        for leaf in leaves:
            leaf.grad = None

    def backward_step(*, cleared: bool) -> Step:
        out = forward()

        def call() -> None:
            if cleared:
                clear()
            out.backward(gradient, retain_graph=True)

        return Step(call=call, reset=() if cleared else leaves)

    def full_step(*, cleared: bool) -> Step:
        def call() -> None:
            if cleared:
                clear()
            forward().backward(gradient)

        return Step(call=call, reset=() if cleared else leaves)

    return Work(
        forward=forward,
        reset=leaves,
        tensors={"x": x, "target": target, "weight": weight},
        steps={"backward": lambda: backward_step(cleared=False), "full": lambda: full_step(cleared=False)},
        memory_steps={
            "backward": lambda: backward_step(cleared=True),
            "full": lambda: full_step(cleared=True),
        },
    )


def with_representative(sweep: Sweep) -> Sweep:
    """The token_length sweep with x 4096 always in it, and a second config of fixed sizes."""

    def points(request: Request, peaks: Sequence[int]) -> Points:
        found = sweep.points(request, peaks)
        numbers = sorted({int(x) for x in found.x_values} | {4096})
        shape = {"hidden_size": 4096, "vocab_size": 131072, "dtype": "torch.bfloat16"}
        return Points(x_values=tuple(numbers), configs=(*found.configs, shape))

    return Sweep(
        answers=sweep.answers,
        x_name=sweep.x_name,
        x_label=sweep.x_label,
        points=points,
        probes=sweep.probes,
        estimate=sweep.estimate,
    )


TOKEN_LENGTH, MODEL_CONFIG = both_sweeps(
    "BT",
    "total tokens",
    model_keys=("hidden_size", "vocab_size", "dtype"),
    probe=("torch", 1024),
    estimates=(2635079680, 6262112256),
)

KERNELS = (
    Kernel(
        name="fused_scaled_cross_entropy_sm90",
        script="benchmark_fused_scaled_cross_entropy_sm90.py",
        liger=("liger_kernel.transformers.fused_linear_cross_entropy",),
        providers=(
            baseline("torch"),
            LIGER,
            Provider(
                name="cutile",
                role="other",
                requires=(CUTILE, Requirement(module=TILE, package="liger-kernel")),
                cannot_rehearse="its kernel needs an NVIDIA GPU that cuTile supports",
            ),
            Provider(
                name="cutedsl-sm90",
                role="other",
                requires=(CUTEDSL, Requirement(module=CUTE, package="liger-kernel")),
                cannot_rehearse=HOPPER,
            ),
        ),
        speed=FORWARD_BACKWARD_FULL,
        memory=FORWARD_BACKWARD_FULL,
        sweeps=(with_representative(TOKEN_LENGTH), MODEL_CONFIG),
        build=build,
        tiny=FLCE_TINY,
        deviations=(
            Deviation(
                slug="fixed-gradient",
                text="One gradient, the same for all providers, replaces the shared harness's random "
                "ones; full does not retain the graph.",
                decision="reproduced",
                reason=deviations.COMPARABLE,
                caveat=NoCaveat("All rows of this kernel have it, and the pass means backward from a given one."),
                passes=("backward", "full"),
            ),
            Deviation(
                slug="different-initial-weights",
                text="torch and liger start from nn.Linear's weights, cutile and cutedsl-sm90 from normal ones.",
                decision="reproduced",
                reason=deviations.COMPARABLE + " The values do not change the work.",
                caveat=NoCaveat("The values do not change the work."),
            ),
            Deviation(
                slug="size-options-left-out",
                text="Upstream's --tokens, --hidden and --vocab have no counterpart; rows of its "
                "default run are all there.",
                decision="corrected",
                reason="--x picks among the sweep's own sizes, whose rows alone can be compared.",
                caveat=NoCaveat("It decides which rows exist, not what they mean."),
            ),
        ),
    ),
)
