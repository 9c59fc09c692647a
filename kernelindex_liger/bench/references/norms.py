"""Normalisation layers in plain PyTorch."""

from __future__ import annotations

import torch
from torch import Tensor, nn


def scaled_to_unit_rms(wide: Tensor, eps: float) -> Tensor:
    """[..., H] -> [..., H] divided by the root of its mean square over the last dimension."""
    return wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + eps)


class RMSNorm(nn.Module):
    """Llama-style RMS norm of the last dimension: computed in float32, cast back, scaled by the weight."""

    def __init__(self, hidden_size: int, eps: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(hidden_size))
        self.eps = eps

    def forward(self, x: Tensor) -> Tensor:
        """[..., H] -> [..., H]; float32 where the weight is float32."""
        return self.weight * scaled_to_unit_rms(x.to(torch.float32), self.eps).to(x.dtype)


class AddRMSNorm(nn.Module):
    """Residual addition in float32 followed by an RMS norm; `norm` replaces the plain normalisation."""

    def __init__(self, hidden_size: int, eps: float, norm: nn.Module | None = None) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(hidden_size))
        self.eps = eps
        self.norm = norm

    def forward(self, x: Tensor, residual: Tensor) -> tuple[Tensor, Tensor]:
        """Two [..., H] -> (normalised sum, the sum itself in x's dtype)."""
        total = x.to(torch.float32) + residual.to(torch.float32)
        normed = scaled_to_unit_rms(total, self.eps) if self.norm is None else self.norm(total)
        return self.weight * normed.to(x.dtype), total.to(x.dtype)


class ModulatedRMSNorm(nn.Module):
    """RMS norm whose result is scaled by 1 + `scale` and moved by `shift`, both given for each row."""

    def __init__(self, hidden_size: int, eps: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(hidden_size))
        self.eps = eps

    def forward(self, x: Tensor, scale: Tensor, shift: Tensor | None = None) -> Tensor:
        """[rows, H] each -> [rows, H]; float32 where the weight is float32."""
        normed = self.weight * scaled_to_unit_rms(x.to(torch.float32), self.eps).to(x.dtype)
        moved = normed * (1 + scale)
        if shift is not None:
            moved = moved + shift
        return moved


class PolyNorm(nn.Module):
    """Weighted sum of the RMS-normalised cube, square and first power, plus a bias (arXiv:2411.03884)."""

    def __init__(self, eps: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.full((3,), 1 / 3))
        self.bias = nn.Parameter(torch.tensor(1.0))
        self.eps = eps

    def forward(self, x: Tensor) -> Tensor:
        """[..., H] -> [..., H], computed in float32."""
        wide = x.to(torch.float32)
        cube, square, first = (scaled_to_unit_rms(wide**power, self.eps) for power in (3, 2, 1))
        summed = self.weight[0] * cube + self.weight[1] * square + self.weight[2] * first + self.bias
        return summed.to(x.dtype)


class DyT(nn.Module):
    """Dynamic tanh (arXiv:2503.10622): gamma * tanh(alpha * x), plus beta where asked for."""

    def __init__(self, hidden_size: int, *, beta: bool, alpha: float = 0.5) -> None:
        super().__init__()
        self.alpha = nn.Parameter(torch.full((1,), alpha))
        self.gamma = nn.Parameter(torch.ones(hidden_size))
        self.beta = nn.Parameter(torch.zeros(hidden_size)) if beta else None

    def forward(self, x: Tensor) -> Tensor:
        """[..., H] -> [..., H]."""
        squashed = self.gamma * torch.tanh(x * self.alpha)
        return squashed if self.beta is None else squashed + self.beta
