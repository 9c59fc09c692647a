"""Attention variants in plain PyTorch."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional

from kernelindex_liger.bench.references.activations import causal_mask, causal_sparsemax


def attention_residual(blocks: Tensor, query: Tensor, weight: Tensor, eps: float) -> Tensor:
    """Softmax attention over depth (arXiv:2603.15031): blocks [N, B, T, H], two [H] -> [B, T, H]."""
    wide = blocks.float()
    root = torch.sqrt(wide.pow(2).mean(dim=-1, keepdim=True) + eps)
    keys = (wide / root).to(blocks.dtype) * weight
    scores = torch.einsum("h,nbth->nbt", query.float(), keys.float())
    return torch.einsum("nbt,nbth->bth", scores.softmax(dim=0), blocks.float()).to(blocks.dtype)


def neighborhood_mask(length: int, size: int, dilation: int, device: torch.device) -> Tensor:
    """Boolean [length, length]: True for keys within size // 2 dilated steps of the query.

    Set one element at a time: slow on purpose, since the baseline that this stands for builds its mask so.
    """
    reach = size // 2 * dilation
    mask = torch.zeros(length, length, device=device, dtype=torch.bool)
    for query in range(length):
        for key in range(max(0, query - reach), min(length, query + reach + 1)):
            if (key - query) % dilation == 0:
                mask[query, key] = True
    return mask


class NeighborhoodAttention(nn.Module):
    """Attention of each position to its neighbourhood (arXiv:2204.07143), dense with a mask."""

    def __init__(self, hidden_size: int, heads: int, *, size: int, dilation: int, bias: bool) -> None:
        super().__init__()
        self.heads = heads
        self.size = size
        self.dilation = dilation
        self.scale = 1.0 / math.sqrt(hidden_size // heads)
        self.q_proj = nn.Linear(hidden_size, hidden_size, bias=bias)
        self.k_proj = nn.Linear(hidden_size, hidden_size, bias=bias)
        self.v_proj = nn.Linear(hidden_size, hidden_size, bias=bias)
        self.out_proj = nn.Linear(hidden_size, hidden_size, bias=bias)

    def forward(self, x: Tensor) -> Tensor:
        """[B, S, H] -> [B, S, H]; the mask is built anew each time, inside what is timed."""
        batch, length, hidden = x.shape
        split = (batch, length, self.heads, hidden // self.heads)
        q, k, v = (layer(x).view(split).transpose(1, 2) for layer in (self.q_proj, self.k_proj, self.v_proj))
        scores = torch.matmul(q, k.transpose(-2, -1)) * self.scale
        mask = neighborhood_mask(length, self.size, self.dilation, x.device)
        weights = torch.softmax(scores.masked_fill(~mask, float("-inf")), dim=-1)
        mixed = torch.matmul(weights, v).transpose(1, 2).contiguous().view(batch, length, hidden)
        found: Tensor = self.out_proj(mixed)
        return found


class MultiTokenAttention(nn.Module):
    """Causal softmax (or sparsemax) of scores, then a convolution of queries and keys (arXiv:2504.00927)."""

    def __init__(
        self, channels_in: int, channels_out: int, size: int, *, groups: int, bias: bool, sparse: bool = False
    ) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(channels_out, channels_in // groups, size, size))
        self.bias = nn.Parameter(torch.empty(channels_out)) if bias else None
        self.size = size
        self.groups = groups
        self.sparse = sparse

    def forward(self, scores: Tensor) -> Tensor:
        """[B, C_in, L, L] -> [B, C_out, L, L]; the sparse form computes in float32."""
        allowed = causal_mask(scores.size(-1), scores.device)
        if self.sparse:
            weights, *_held = causal_sparsemax(scores.to(torch.float32))
        else:
            low = torch.tensor(-1e9, device=scores.device, dtype=scores.dtype)
            weights = functional.softmax(scores.masked_fill(~allowed, low), dim=-1)
        kernel = self.weight.to(weights.dtype)
        bias = None if self.bias is None else self.bias.to(weights.dtype)
        mixed = functional.conv2d(weights, kernel, bias, padding=self.size // 2, groups=self.groups)
        zero = torch.tensor(0.0, device=mixed.device, dtype=mixed.dtype)
        return mixed.masked_fill(~allowed, zero).to(scores.dtype)
