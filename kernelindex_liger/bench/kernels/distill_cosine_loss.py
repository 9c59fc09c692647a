"""Two heads, cross entropy and cosine distance in one: Liger's chunked loss against plain PyTorch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kernelindex_liger.bench.kernels.shared import deviations
from kernelindex_liger.bench.kernels.shared.common import FORWARD_BACKWARD_FULL, LIGER, baseline
from kernelindex_liger.bench.kernels.shared.distillations import DISTILLED_TINY, build_with, sweeps
from kernelindex_liger.bench.spec import Deviation, Kernel, Tiny

if TYPE_CHECKING:
    from collections.abc import Callable

    from kernelindex_liger.bench.spec import Case


def function(_case: Case) -> Any:
    """Liger's loss; beta keeps its default of 0.5."""
    from liger_kernel.chunked_loss.cosine_similarity_loss import LigerFusedLinearCosineSimilarityFunction

    return LigerFusedLinearCosineSimilarityFunction


def soft(case: Case) -> Callable[[Any, Any, Any], Any]:
    """The baseline's distance; beta 1 when measured, as upstream has it, and Liger's 0.5 in a rehearsal."""
    from kernelindex_liger.bench.references.divergences import cosine_distance

    beta = case.size("baseline_beta", 1.0)
    return lambda student, teacher, _target: cosine_distance(student, teacher, beta)


KERNELS = (
    Kernel(
        name="distill_cosine_loss",
        script="benchmark_distill_cosine_loss.py",
        liger=("liger_kernel.chunked_loss.cosine_similarity_loss",),
        providers=(LIGER, baseline("torch")),
        speed=(*FORWARD_BACKWARD_FULL, "no-grad-forward"),
        memory=("full",),
        sweeps=sweeps((5791319552, 13753189888)),
        build=build_with(function, soft),
        tiny=Tiny(x=DISTILLED_TINY.x, sizes={**DISTILLED_TINY.sizes, "baseline_beta": 0.5}),
        deterministic="cudnn",
        deviations=(
            Deviation(
                slug="different-beta",
                text="The baseline weighs the cosine distance by 1, Liger by 0.5: the losses differ.",
                decision="reproduced",
                reason=deviations.COMPARABLE + " The rehearsal compares both with 0.5.",
                caveat="baseline-with-other-beta",
                providers=("torch",),
            ),
            Deviation(
                slug="baseline-does-not-print",
                text="Upstream's baseline prints the logits' shape in every timed forward; this one does not.",
                decision="corrected",
                reason="Printing measures the terminal. Against head and softmax of such sizes it is far below 1 %.",
                caveat="prints-in-forward",
                providers=("torch",),
                passes=("forward", "full", "no-grad-forward"),
            ),
            deviations.HEAD_GRADIENTS,
            deviations.RANDOM_SCALAR_GRADIENT,
            deviations.GRADIENTS_IN_FORWARD,
            Deviation(
                slug="no-grad-with-gradients",
                text="The pass without gradients still computes them in Liger's forward.",
                decision="reproduced",
                reason=deviations.COMPARABLE,
                caveat="no-grad-with-gradients-chunked",
                providers=("liger",),
                passes=("no-grad-forward",),
            ),
            deviations.gradient_drawn(),
            deviations.CUDNN_DETERMINISTIC,
        ),
    ),
)
