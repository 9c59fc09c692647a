"""A gated MLP computed in tiles along the sequence, forward again in the backward pass."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn


class Tiles(torch.autograd.Function):
    """Forward tile by tile without a graph; backward repeats each tile with one, as DeepSpeed's does."""

    @staticmethod
    def forward(ctx: Any, mlp: nn.Module, x: Tensor, shards: int) -> Tensor:
        """Output [..., T, H] of x [..., T, H]."""
        ctx.mlp, ctx.shards = mlp, shards
        ctx.save_for_backward(x)
        with torch.no_grad():
            return torch.cat([mlp(tile) for tile in x.chunk(shards, dim=-2)], dim=-2)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        """Gradient of x; those of the weights are accumulated into them tile by tile."""
        (x,) = ctx.saved_tensors
        flat = x.detach().reshape(-1, x.shape[-1])
        incoming = gradients[0].reshape(-1, x.shape[-1])
        found = torch.zeros_like(flat)
        tiles = zip(*(whole.chunk(ctx.shards, dim=0) for whole in (flat, incoming, found)), strict=True)
        for tile, gradient, place in tiles:
            leaf = tile.detach().requires_grad_(x.requires_grad)
            leaf.grad = place
            with torch.enable_grad():
                out = ctx.mlp(leaf)
            torch.autograd.backward(out, gradient)
        return None, found.view(x.shape), None


class TiledMLP(nn.Module):
    """`mlp` in `shards` tiles."""

    def __init__(self, mlp: nn.Module, shards: int) -> None:
        super().__init__()
        self.mlp = mlp
        self.shards = shards

    def forward(self, x: Tensor) -> Tensor:
        """[B, T, H] -> [B, T, H]."""
        found: Tensor = Tiles.apply(self.mlp, x, self.shards)
        return found
