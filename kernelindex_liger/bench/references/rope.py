"""Rotary position embeddings in plain PyTorch."""

from __future__ import annotations

import torch
from torch import Tensor


def angles(positions: Tensor, head_dim: int, theta: float) -> Tensor:
    """Rotation angles of positions [...] in float32 -> [..., head_dim / 2]."""
    steps = torch.arange(0, head_dim, 2, device=positions.device, dtype=torch.float32) / head_dim
    return positions.float().unsqueeze(-1) / theta**steps


def tables(positions: Tensor, head_dim: int, theta: float, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    """Cosines and sines of positions [...], both halves alike -> two [..., head_dim]."""
    half = angles(positions, head_dim, theta)
    both = torch.cat((half, half), dim=-1)
    return both.cos().to(dtype), both.sin().to(dtype)


def complex_table(positions: Tensor, head_dim: int, theta: float) -> Tensor:
    """Unit complex numbers of positions [...] -> complex64 [..., head_dim / 2]."""
    half = angles(positions, head_dim, theta)
    return torch.polar(torch.ones_like(half), half)


def half_turned(x: Tensor) -> Tensor:
    """The halves of the last dimension swapped, the new first one negated."""
    first, second = x.chunk(2, dim=-1)
    return torch.cat((-second, first), dim=-1)


def sectioned(table: Tensor, section: list[int]) -> Tensor:
    """[3, B, T, D] tables of the three position axes -> [B, 1, T, D]: section by section, axis by axis."""
    parts = table.split(section * 2, dim=-1)
    return torch.cat([part[i % 3] for i, part in enumerate(parts)], dim=-1).unsqueeze(1)


def multimodal(q: Tensor, k: Tensor, cos: Tensor, sin: Tensor, section: list[int]) -> tuple[Tensor, Tensor]:
    """Multimodal rotary embedding (arXiv:2409.12191) of q, k [B, heads, T, D]; cos, sin [3, B, T, D]."""
    cos, sin = sectioned(cos, section), sectioned(sin, section)
    return q * cos + half_turned(q) * sin, k * cos + half_turned(k) * sin


def interleaved(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Rotates even and odd entries of x [B, heads, T, D] by tables [T, D / 2]; they come out as halves."""
    even, odd = x[..., ::2], x[..., 1::2]
    return torch.cat((even * cos - odd * sin, even * sin + odd * cos), dim=-1)


def turned(q: Tensor, k: Tensor, cos: Tensor, sin: Tensor) -> tuple[Tensor, Tensor]:
    """Rotary embedding (arXiv:2104.09864) of q, k [B, heads, T, D]; cos, sin [B, T, D]."""
    cos, sin = cos.unsqueeze(1), sin.unsqueeze(1)
    return q * cos + half_turned(q) * sin, k * cos + half_turned(k) * sin


def multiplied(q: Tensor, k: Tensor, table: Tensor) -> tuple[Tensor, Tensor]:
    """Pairs of neighbouring entries of q, k [B, T, heads, D] as complex numbers, times [B, T, D / 2]."""

    def product(x: Tensor) -> Tensor:
        pairs = torch.view_as_complex(x.float().reshape(*x.shape[:-1], -1, 2))
        return torch.view_as_real(pairs * table[:, :, None, :]).flatten(3).type_as(x)

    return product(q), product(k)
