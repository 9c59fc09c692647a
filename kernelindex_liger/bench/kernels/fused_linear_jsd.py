"""Two heads and the Jensen-Shannon divergence in one, x [BT, H] -> scalar: Liger's module against PyTorch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kernelindex_liger.bench.kernels.fused_linear_cross_entropy import FLCE_TINY
from kernelindex_liger.bench.kernels.shared import deviations
from kernelindex_liger.bench.kernels.shared.common import (
    CUTILE_TOO,
    FORWARD_BACKWARD_FULL,
    LIGER,
    baseline,
    both_sweeps,
    dtype_of,
    tokens,
)
from kernelindex_liger.bench.kernels.shared.heads import linear
from kernelindex_liger.bench.spec import Deviation, Kernel, Work

if TYPE_CHECKING:
    from kernelindex_liger.bench.spec import Case


def build(case: Case) -> Work:
    """Student and teacher x [BT, H], the student's with a gradient; two weights [V, H], uniform in [0, 1)."""
    import torch

    dtype, hidden, vocab = dtype_of(case), case.size("hidden_size"), case.size("vocab_size")
    student, teacher = linear(case).weight, linear(case).weight
    for weight in (student, teacher):
        weight.data = torch.rand(vocab, hidden, device=case.device, dtype=dtype)
    shape = (tokens(case), hidden)
    x = torch.rand(*shape, requires_grad=True, dtype=dtype, device=case.device)
    teacher_x = torch.rand(*shape, dtype=dtype, device=case.device)
    tensors = {"x": x, "teacher_x": teacher_x, "weight": student, "teacher_weight": teacher.detach()}
    if case.provider == "liger":
        from liger_kernel.transformers.fused_linear_jsd import LigerFusedLinearJSD

        fused = LigerFusedLinearJSD(jsd_beta=0.5, ignore_index=-100, temperature=1.0)
        return Work(forward=lambda: fused(x, student, teacher_x, teacher, None), reset=[x], tensors=tensors)
    from torch.nn import functional

    from kernelindex_liger.bench.references.divergences import jensen_shannon

    def forward() -> Any:
        # The teacher's side keeps its graph, and its weight gets a gradient that nobody uses. Both logits are
        # held until this returns: the baseline's peak memory counts them.
        logits, teacher_logits = functional.linear(x, student), functional.linear(teacher_x, teacher)
        log_q = torch.log_softmax(logits / 1.0, dim=-1)
        log_p = torch.log_softmax(teacher_logits / 1.0, dim=-1)
        return jensen_shannon(log_q, log_p).to(dtype)

    return Work(forward=forward, reset=[x], tensors=tensors)


KERNELS = (
    Kernel(
        name="fused_linear_jsd",
        script="benchmark_fused_linear_jsd.py",
        liger=("liger_kernel.transformers.fused_linear_jsd",),
        providers=(baseline("torch"), LIGER),
        speed=FORWARD_BACKWARD_FULL,
        memory=("full",),
        sweeps=both_sweeps(
            "BT",
            "B * T",
            model_keys=("hidden_size", "vocab_size", "dtype"),
            probe=("torch", 1024),
            estimates=(8947503104, 21244157952),
        ),
        build=build,
        tiny=FLCE_TINY,
        impls=CUTILE_TOO,
        deviations=(
            Deviation(
                slug="teacher-gradient",
                text="The baseline differentiates the teacher's head as well; Liger does not.",
                decision="reproduced",
                reason=deviations.COMPARABLE,
                caveat="teacher-differentiated",
                providers=("torch",),
                passes=("backward", "full"),
            ),
            deviations.HEAD_GRADIENTS,
            deviations.RANDOM_SCALAR_GRADIENT,
            deviations.GRADIENTS_IN_FORWARD,
            deviations.gradient_drawn(),
        ),
    ),
)
