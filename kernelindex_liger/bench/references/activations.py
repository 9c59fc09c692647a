"""Activations and simplex projections in plain PyTorch."""

from __future__ import annotations

import torch
from torch import Tensor


def relu_squared(x: Tensor) -> Tensor:
    """max(x, 0) squared, elementwise."""
    return torch.square(torch.relu(x))


def sparsemax(x: Tensor, dim: int = -1) -> Tensor:
    """Euclidean projection onto the simplex along `dim` (arXiv:1602.02068), in x's own dtype.

    With the values sorted downwards, the support is every k whose 1 + k * value exceeds the running sum; the
    threshold makes the supported values sum to one.
    """
    ordered, _ = torch.sort(x, dim=dim, descending=True)
    running = torch.cumsum(ordered, dim=dim)
    shape = [1] * x.dim()
    shape[dim] = -1
    ranks = torch.arange(1, x.size(dim) + 1, device=x.device, dtype=x.dtype).view(shape)
    supported = 1 + ranks * ordered > running
    count = supported.sum(dim=dim, keepdim=True).clamp(min=1)
    threshold = ((ordered * supported).sum(dim=dim, keepdim=True) - 1) / count
    return torch.clamp(x - threshold, min=0)


def causal_sparsemax(scores: Tensor) -> tuple[Tensor, ...]:
    """Sparsemax of float32 scores [..., L, L] over the keys that a causal mask leaves, and its origins.

    The intermediate tensors follow the result: a caller that holds them has the timed baseline's peak memory.
    """
    length = scores.size(-1)
    allowed = causal_mask(length, scores.device)
    masked = scores.masked_fill(~allowed, torch.tensor(-1e9, device=scores.device, dtype=scores.dtype))
    ordered, _ = torch.sort(masked, dim=-1, descending=True)
    running = torch.cumsum(ordered, dim=-1)
    ranks = torch.arange(1, length + 1, device=scores.device, dtype=scores.dtype)
    seen = ordered > -1e8
    supported = (1 + ranks * ordered > running) & seen
    count = supported.sum(dim=-1, keepdim=True)
    at_least_one = torch.maximum(count, torch.ones_like(count))
    threshold = (running.gather(-1, at_least_one - 1) - 1) / at_least_one.to(scores.dtype)
    threshold = torch.where(count == 0, torch.full_like(threshold, float("inf")), threshold)
    return torch.clamp(masked - threshold, min=0), scores, masked, ordered, running, seen, supported


def causal_mask(length: int, device: torch.device) -> Tensor:
    """Boolean [length, length]: True where a query may see a key, itself included."""
    return torch.tril(torch.ones(length, length, dtype=torch.bool, device=device))
