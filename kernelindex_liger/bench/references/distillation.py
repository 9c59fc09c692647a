"""Distillation losses on top of two language-model heads, in plain PyTorch."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor
from torch.nn import functional

if TYPE_CHECKING:
    from collections.abc import Callable


def distilled(
    soft: Callable[[Tensor, Tensor, Tensor], Tensor],
    *,
    student: Tensor,
    student_weight: Tensor,
    teacher: Tensor,
    teacher_weight: Tensor,
    target: Tensor,
    hard_share: float,
    soft_share: float,
    ignored: int,
) -> Tensor:
    """hard_share * cross entropy + soft_share * soft(student and teacher logits, target) -> scalar.

    student [N, H / 2], teacher [N, H], target [N]; logits are float32, the teacher's without a graph.
    """
    student_logits = (student @ student_weight.t()).float()
    with torch.no_grad():
        teacher_logits = (teacher @ teacher_weight.t()).float()
    if bool((target == ignored).all()):
        return torch.tensor(0.0)
    hard = functional.cross_entropy(student_logits, target, ignore_index=ignored)
    # Temperature one: the division is made in place on the float32 copies, as it always was.
    student_logits /= 1.0
    teacher_logits /= 1.0
    return hard_share * hard + soft_share * soft(student_logits, teacher_logits, target)
