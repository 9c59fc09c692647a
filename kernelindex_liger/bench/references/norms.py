"""Normalisation layers in plain PyTorch."""

from __future__ import annotations

import torch


class RMSNorm(torch.nn.Module):
    """Llama-style RMS norm over the last dimension, computed in float32, cast back, then scaled."""

    def __init__(self, hidden_size: int, eps: float) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(hidden_size))
        self.eps = eps

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """[..., H] -> [..., H]; float32 where the weight is float32."""
        wide = x.to(torch.float32)
        normed = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + self.eps)
        return self.weight * normed.to(x.dtype)
