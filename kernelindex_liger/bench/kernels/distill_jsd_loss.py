"""Two heads, cross entropy and Jensen-Shannon divergence in one: Liger's chunked loss against PyTorch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kernelindex_liger.bench.kernels.shared import deviations
from kernelindex_liger.bench.kernels.shared.common import FORWARD_BACKWARD_FULL, LIGER, baseline
from kernelindex_liger.bench.kernels.shared.distillations import DISTILLED_TINY, build_with, sweeps
from kernelindex_liger.bench.spec import Kernel

if TYPE_CHECKING:
    from collections.abc import Callable

    from kernelindex_liger.bench.spec import Case


def function(_case: Case) -> Any:
    """Liger's loss; beta keeps its default of 0.5."""
    from liger_kernel.chunked_loss.jsd_loss import LigerFusedLinearJSDFunction

    return LigerFusedLinearJSDFunction


def soft(case: Case) -> Callable[[Any, Any, Any], Any]:
    """The baseline's divergence, averaged over the targets that count."""
    from kernelindex_liger.bench.references.divergences import masked_jensen_shannon

    ignored = case.size("ignore_index")
    return lambda student, teacher, target: masked_jensen_shannon(student, teacher, target, ignored)


KERNELS = (
    Kernel(
        name="distill_jsd_loss",
        script="benchmark_distill_jsd_loss.py",
        liger=("liger_kernel.chunked_loss.jsd_loss",),
        providers=(LIGER, baseline("torch")),
        speed=FORWARD_BACKWARD_FULL,
        memory=("full",),
        sweeps=sweeps((9993987072, 23718806528)),
        build=build_with(function, soft),
        tiny=DISTILLED_TINY,
        deterministic="cudnn",
        deviations=(
            deviations.HEAD_GRADIENTS,
            deviations.RANDOM_SCALAR_GRADIENT,
            deviations.GRADIENTS_IN_FORWARD,
            deviations.gradient_drawn(),
            deviations.CUDNN_DETERMINISTIC,
        ),
    ),
)
