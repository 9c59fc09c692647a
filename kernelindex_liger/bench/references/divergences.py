"""Divergences between token distributions in plain PyTorch."""

from __future__ import annotations

import math

import torch
from torch import Tensor
from torch.nn import functional


def jensen_shannon(log_q: Tensor, log_p: Tensor, beta: float = 0.5) -> Tensor:
    """Generalised Jensen-Shannon divergence of log-probabilities [N, V], averaged over N -> scalar.

    It is summed over V. beta weighs p: beta * KL(p || m) + (1 - beta) * KL(q || m) with
    m = beta * p + (1 - beta) * q, in float32.
    """
    log_p, log_q = log_p.to(torch.float32), log_q.to(torch.float32)
    mean = torch.lerp(torch.exp(log_q), torch.exp(log_p), beta)
    # The logarithm is taken for each term, as the timed baseline does: it is part of what that costs.
    from_p = functional.kl_div(torch.log(mean), log_p, reduction="none", log_target=True).sum(dim=-1)
    from_q = functional.kl_div(torch.log(mean), log_q, reduction="none", log_target=True).sum(dim=-1)
    return ((beta * from_p + (1 - beta) * from_q) / log_q.shape[0]).sum()


def masked_jensen_shannon(student: Tensor, teacher: Tensor, target: Tensor, ignored: int, beta: float = 0.5) -> Tensor:
    """Jensen-Shannon divergence of float32 logits [N, V] in log space -> scalar.

    Averaged over the targets that count. beta weighs the teacher:
    beta * KL(teacher || m) + (1 - beta) * KL(student || m).
    """
    log_s, log_t = functional.log_softmax(student, dim=-1), functional.log_softmax(teacher, dim=-1)
    log_m = torch.logsumexp(torch.stack([log_s + math.log(1 - beta), log_t + math.log(beta)]), dim=0)
    from_student = functional.kl_div(log_m, log_s, reduction="none", log_target=True)
    from_teacher = functional.kl_div(log_m, log_t, reduction="none", log_target=True)
    each = (beta * from_teacher + (1 - beta) * from_student).sum(dim=-1)
    counts = target != ignored
    return (each * counts.float()).sum() / counts.sum().clamp_min(1)


def cosine_distance(student: Tensor, teacher: Tensor, beta: float) -> Tensor:
    """One minus the cosine similarity, times beta, of logits [N, V], averaged over N -> scalar."""
    student_unit = functional.normalize(student, p=2, dim=-1)
    teacher_unit = functional.normalize(teacher, p=2, dim=-1)
    return (beta * (1 - functional.cosine_similarity(student_unit, teacher_unit, dim=-1))).mean()


def total_variation(p: Tensor, q: Tensor, reduction: str) -> Tensor:
    """Half the absolute difference of probabilities [N, V], reduced: none, sum, mean or batchmean (over N).

    Raises ValueError for another reduction.
    """
    each = torch.abs(p - q) / 2
    if reduction == "none":
        return each
    if reduction == "sum":
        return each.sum()
    if reduction == "mean":
        return each.sum() / each.numel()
    if reduction == "batchmean":
        return each.sum() / each.shape[0]
    raise ValueError(f"reduction {reduction!r} is none of: none, sum, mean, batchmean")
