"""Losses between two token distributions [BT, V] in float32."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kernelindex_liger.bench.kernels.shared.common import tokens
from kernelindex_liger.bench.spec import Work

if TYPE_CHECKING:
    from collections.abc import Callable

    from kernelindex_liger.bench.spec import Case


def between(make: Callable[[Case], Callable[[Any, Any], Any]], student: str, teacher: str) -> Callable[[Case], Work]:
    """A build for loss(student, teacher); `student` and `teacher` name the tensor method that makes them.

    Both are computed from normal random logits before timing (`softmax`, `log_softmax`); only the student's
    logits have a gradient.
    """

    def build(case: Case) -> Work:
        import torch

        shape = (tokens(case), case.size("vocab_size"))
        logits = torch.randn(*shape, device=case.device, requires_grad=True)
        x = getattr(logits, student)(dim=-1)
        target = getattr(torch.randn(*shape, device=case.device), teacher)(dim=-1)
        loss = make(case)
        return Work(forward=lambda: loss(x, target), reset=[x], tensors={"logits": logits, "target": target})

    return build
