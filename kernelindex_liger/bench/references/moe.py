"""Mixture of experts in plain PyTorch."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional


def expert_loop(x: Tensor, gate_up: Tensor, down: Tensor, chosen: Tensor, shares: Tensor) -> Tensor:
    """Gated experts one after the other, each on the tokens that chose it.

    x [T, H], gate_up [E, 2 * I, H], down [E, H, I], chosen and shares [T, K] -> [T, H].
    """
    total = torch.zeros_like(x)
    with torch.no_grad():
        picks = functional.one_hot(chosen.long(), num_classes=gate_up.shape[0]).permute(2, 1, 0)
        used = torch.greater(picks.sum(dim=(-1, -2)), 0).nonzero()
    for row in used:
        expert = row[0]
        place, token = torch.where(picks[expert])
        gate, up = functional.linear(x[token], gate_up[expert]).chunk(2, dim=-1)
        out = functional.linear(functional.silu(gate) * up, down[expert])
        total.index_add_(0, token, (out * shares[token, place, None]).to(total.dtype))
    return total
