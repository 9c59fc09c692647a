"""Manifold-constrained hyper-connections (arXiv:2512.24880) in plain PyTorch.

x [..., S, C] carries S residual streams of width C.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Constants of the coefficients: Sinkhorn rounds, epsilons and the factor of the post weights."""

    rounds: int
    rms_eps: float
    pre_eps: float
    sinkhorn_eps: float
    post_mult: float


def doubly_stochastic(logits: Tensor, rounds: int, eps: float) -> Tensor:
    """Sinkhorn normalisation of [N, S, S] logits: columns and rows in turn, columns last."""
    found = torch.softmax(logits, dim=-1) + eps
    found = found / (found.sum(dim=-2, keepdim=True) + eps)
    for _ in range(rounds - 1):
        found = found / (found.sum(dim=-1, keepdim=True) + eps)
        found = found / (found.sum(dim=-2, keepdim=True) + eps)
    return found


def coefficients(
    x: Tensor, phi: Tensor, bias: Tensor, alphas: tuple[Tensor, Tensor, Tensor], settings: Settings
) -> tuple[Tensor, Tensor, Tensor]:
    """Weights of reading [..., S], writing [..., S] and mixing [..., S, S] the streams, in float32.

    phi [S * C, S * S + 2 * S], bias [S * S + 2 * S]; alphas scale the three groups of logits.
    """
    streams, width = x.shape[-2:]
    flat = x.contiguous().view(-1, streams * width).float()
    root = torch.rsqrt(flat.pow(2).mean(dim=-1, keepdim=True) + settings.rms_eps)
    mix = (flat @ phi.float()) * root
    groups = (slice(0, streams), slice(streams, 2 * streams), slice(2 * streams, None))
    read, write, blend = (mix[:, part] * alpha + bias[part] for part, alpha in zip(groups, alphas, strict=True))
    outer = x.shape[:-2]
    pre = torch.sigmoid(read) + settings.pre_eps
    post = torch.sigmoid(write) * settings.post_mult
    res = doubly_stochastic(blend.view(-1, streams, streams), settings.rounds, settings.sinkhorn_eps)
    return pre.view(*outer, streams), post.view(*outer, streams), res.view(*outer, streams, streams)


def read_streams(x: Tensor, pre: Tensor) -> Tensor:
    """Weighted sum of the streams: [..., S, C], [..., S] -> [..., C] in float32."""
    return (x.float() * pre.unsqueeze(-1)).sum(dim=-2)


def write_streams(x: Tensor, out: Tensor, post: Tensor, res: Tensor) -> Tensor:
    """Mixed streams plus the layer's output on each: [..., S, C] in float32."""
    mixed = torch.einsum("...oi,...ic->...oc", res, x.float())
    return mixed + post.unsqueeze(-1) * out.float().unsqueeze(-2)


class HyperConnection(nn.Module):
    """Wraps a layer [..., C] -> [..., C] with S streams; parameters are named as Liger names them."""

    def __init__(self, layer: nn.Module, *, streams: int, width: int, settings: Settings, dtype: torch.dtype) -> None:
        super().__init__()
        self.layer = layer
        self.settings = settings
        first = next(layer.parameters())
        self.layer_dtype = first.dtype
        logits = streams * streams + 2 * streams
        self.phi = nn.Parameter(torch.randn(streams * width, logits, dtype=dtype, device=first.device) * 0.02)
        self.b = nn.Parameter(torch.zeros(logits, device=first.device))
        self.alpha_pre = nn.Parameter(torch.tensor(1.0, device=first.device))
        self.alpha_post = nn.Parameter(torch.tensor(1.0, device=first.device))
        self.alpha_res = nn.Parameter(torch.tensor(1.0, device=first.device))

    def forward(self, x: Tensor) -> Tensor:
        """[..., S, C] -> [..., S, C] in x's dtype."""
        alphas = (self.alpha_pre, self.alpha_post, self.alpha_res)
        pre, post, res = coefficients(x, self.phi, self.b, alphas, self.settings)
        out = self.layer(read_streams(x, pre).to(self.layer_dtype))
        return write_streams(x, out, post, res).to(x.dtype)
