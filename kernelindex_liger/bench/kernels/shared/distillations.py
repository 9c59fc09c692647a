"""Distillation losses over two heads: a student of half the width, and a frozen teacher."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kernelindex_liger.bench.kernels.shared.common import both_sweeps, dtype_of, tokens
from kernelindex_liger.bench.kernels.shared.heads import compiled, linear
from kernelindex_liger.bench.spec import Tiny, Work

if TYPE_CHECKING:
    from collections.abc import Callable

    from kernelindex_liger.bench.spec import Case, Sweep

DISTILLED_TINY = Tiny(
    x={"BT": 8},
    sizes={"bsz": 2, "seq_len": 4, "hidden_size": 16, "vocab_size": 32, "dtype": "torch.float32"},
)


def sweeps(estimates: tuple[int, int]) -> tuple[Sweep, Sweep]:
    """Sweeps over the tokens with equal shares of hard and soft loss."""
    return both_sweeps(
        "BT",
        "B * T",
        model_keys=("hidden_size", "vocab_size", "dtype"),
        extra={"bias": False, "weight_hard_loss": 0.5, "weight_soft_loss": 0.5, "ignore_index": -100},
        probe=("torch", 1024),
        estimates=estimates,
    )


def build_with(
    function: Callable[[Case], Any], soft: Callable[[Case], Callable[[Any, Any, Any], Any]]
) -> Callable[[Case], Work]:
    """A build for student [BT, H / 2] (with a gradient), teacher [BT, H] and target [BT] -> scalar.

    `function(case)` is Liger's autograd function, `soft(case)` the baseline's loss between logits and target.
    """

    def build(case: Case) -> Work:
        import torch

        count, hidden, dtype = tokens(case), case.size("hidden_size"), dtype_of(case)
        student = torch.rand(count, hidden // 2, device=case.device, dtype=dtype).requires_grad_()
        teacher = torch.rand(count, hidden, device=case.device, dtype=dtype)
        target = torch.randint(0, case.size("vocab_size"), (count,), device=case.device)
        bias = case.size("bias")
        heads = linear(case, hidden // 2, bias=bias), linear(case, bias=bias)
        weights = [head.weight for head in heads]
        shares = case.size("weight_hard_loss"), case.size("weight_soft_loss")
        tensors = {"student": student, "teacher": teacher, "target": target, "weight": weights[0]}
        if case.provider == "liger":
            apply = function(case).apply
            inputs = (student, weights[0], teacher, weights[1], target, heads[0].bias, heads[1].bias)
            # The defaults up to the switch that has to be off on a CPU: beta, ignored label, temperature.
            options = () if compiled(case) else (0.5, case.size("ignore_index"), 1.0, False)
            return Work(forward=lambda: apply(*inputs, *shares, *options), reset=[student], tensors=tensors)
        from kernelindex_liger.bench.references.distillation import distilled

        between = soft(case)
        return Work(
            forward=lambda: distilled(
                between,
                student=student,
                student_weight=weights[0],
                teacher=teacher,
                teacher_weight=weights[1],
                target=target,
                hard_share=shares[0],
                soft_share=shares[1],
                ignored=case.size("ignore_index"),
            ),
            reset=[student],
            tensors=tensors,
        )

    return build
