"""Group-relative policy losses (arXiv:2402.03300) in plain PyTorch."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor

from kernelindex_liger.bench.references.preference import Head, picked, token_logps


def clipped(ratio: Tensor, advantage: Tensor, low: float, high: float) -> Tensor:
    """The pessimistic of the plain and the clipped surrogate, negated; shapes broadcast."""
    return -torch.min(ratio * advantage, torch.clamp(ratio, 1 - low, 1 + high) * advantage)


def divergence(reference: Tensor, logps: Tensor) -> Tensor:
    """The unbiased, always positive estimate of KL(policy || reference) for each token."""
    difference = reference - logps
    return torch.exp(difference) - difference - 1.0


def grpo_head(
    *,
    head: Head,
    hidden: Tensor,
    reference_head: Head,
    reference_hidden: Tensor,
    tokens: Tensor,
    mask: Tensor,
    advantages: Tensor,
    level: Literal["token", "sequence"],
    beta: float = 0.1,
    low: float = 0.2,
    high: float = 0.2,
) -> tuple[Tensor, tuple[Tensor, ...]]:
    """On-policy loss of a head, averaged over all unmasked of [B, T] tokens -> (scalar, logged values).

    `level` sequence (GSPO, arXiv:2507.18071) weighs a whole sequence by its mean log-ratio.
    """
    # Logits and log-probabilities of both heads are held to the end: the baseline's peak memory counts them.
    logits = head.logits(hidden)
    all_logps = torch.log_softmax(logits.float(), dim=-1)
    logps = picked(all_logps, tokens)
    with torch.no_grad():
        reference_logits = reference_head.logits(reference_hidden)
        all_reference = torch.log_softmax(reference_logits.float(), dim=-1)
        reference = picked(all_reference, tokens)
    log_ratio = logps - logps.detach()
    if level == "sequence":
        log_ratio = ((log_ratio * mask).sum(-1) / mask.sum(-1).clamp(min=1.0)).unsqueeze(-1)
    ratio = torch.exp(log_ratio)
    advantage = advantages.unsqueeze(1)
    kl = divergence(reference.float(), logps)
    each = clipped(ratio, advantage, low, high) + beta * kl
    count = torch.clamp(mask.sum(), min=1.0)
    outside = ((ratio < 1 - low) & (advantage < 0)) | ((ratio > 1 + high) & (advantage > 0))
    logged = ((kl * mask).sum() / count, (outside.expand_as(mask).float() * mask).sum() / count)
    return (each * mask).sum() / count, logged


def grpo_logits(
    *,
    logits: Tensor,
    tokens: Tensor,
    mask: Tensor,
    advantages: Tensor,
    reference: Tensor,
    beta: float,
    low: float = 0.2,
    high: float = 0.2,
    detach_old: bool,
) -> Tensor:
    """Token-level loss from logits [B, T + 1, V] in their own dtype, mean of the sequences' means -> scalar.

    `detach_old` False divides the policy by itself with its graph, so that the surrogate has no gradient.
    """
    logps = token_logps(logits[:, :-1, :] / 1.0, tokens)
    ratio = torch.exp(logps - (logps.detach() if detach_old else logps))
    each = clipped(ratio, advantages.unsqueeze(-1).expand(-1, logps.shape[1]), low, high)
    each = each + beta * divergence(reference, logps)
    weights = mask.float()
    return ((each * weights).sum(-1) / weights.sum(-1).clamp(min=1.0)).mean()
