"""A small Llama-like language model whose blocks are wrapped by hyper-connections."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn
from torch.nn import functional

from kernelindex_liger.bench.references.norms import scaled_to_unit_rms
from kernelindex_liger.bench.references.rope import angles, interleaved

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """Sizes of the model; the MLP is `mlp_factor` times as wide as the model."""

    vocab: int
    hidden: int
    streams: int
    layers: int
    heads: int
    mlp_factor: int
    dtype: torch.dtype


class Norm(nn.Module):
    """RMS norm in the model's own dtype."""

    def __init__(self, sizes: Sizes) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(sizes.hidden, dtype=sizes.dtype))

    def forward(self, x: Tensor) -> Tensor:
        """[..., H] -> [..., H]."""
        return scaled_to_unit_rms(x, 1e-6) * self.weight


class Attention(nn.Module):
    """Norm, then causal attention with rotary positions whose tables are built on each call."""

    def __init__(self, sizes: Sizes) -> None:
        super().__init__()
        self.heads = sizes.heads
        self.norm = Norm(sizes)
        self.q_proj, self.k_proj, self.v_proj, self.o_proj = (
            nn.Linear(sizes.hidden, sizes.hidden, bias=False, dtype=sizes.dtype) for _ in range(4)
        )

    def forward(self, x: Tensor) -> Tensor:
        """[B, T, H] -> [B, T, H]."""
        x = self.norm(x)
        batch, length, hidden = x.shape
        split = (batch, length, self.heads, hidden // self.heads)
        q, k, v = (layer(x).view(split).transpose(1, 2) for layer in (self.q_proj, self.k_proj, self.v_proj))
        turns = angles(torch.arange(length, device=x.device), hidden // self.heads, 10000.0)
        cos, sin = turns.cos().to(q.dtype), turns.sin().to(q.dtype)
        mixed = functional.scaled_dot_product_attention(
            interleaved(q, cos, sin), interleaved(k, cos, sin), v, is_causal=True
        )
        found: Tensor = self.o_proj(mixed.transpose(1, 2).contiguous().view(batch, length, hidden))
        return found


class MLP(nn.Module):
    """Norm, then a gated MLP."""

    def __init__(self, sizes: Sizes) -> None:
        super().__init__()
        wide = sizes.hidden * sizes.mlp_factor
        self.norm = Norm(sizes)
        self.gate_proj = nn.Linear(sizes.hidden, wide, bias=False, dtype=sizes.dtype)
        self.up_proj = nn.Linear(sizes.hidden, wide, bias=False, dtype=sizes.dtype)
        self.down_proj = nn.Linear(wide, sizes.hidden, bias=False, dtype=sizes.dtype)

    def forward(self, x: Tensor) -> Tensor:
        """[B, T, H] -> [B, T, H]."""
        x = self.norm(x)
        found: Tensor = self.down_proj(functional.silu(self.gate_proj(x)) * self.up_proj(x))
        return found


class LanguageModel(nn.Module):
    """Token ids [B, T] -> logits [B, T, vocab]; `wrap` puts hyper-connections around each block."""

    def __init__(self, sizes: Sizes, wrap: Callable[[nn.Module], nn.Module]) -> None:
        super().__init__()
        self.sizes = sizes
        self.embed = nn.Embedding(sizes.vocab, sizes.streams * sizes.hidden, dtype=sizes.dtype)
        self.blocks = nn.ModuleList()
        for _ in range(sizes.layers):
            attention, mlp = Attention(sizes), MLP(sizes)
            self.blocks.extend((wrap(attention), wrap(mlp)))
        self.final_norm = Norm(sizes)
        self.lm_head = nn.Linear(sizes.hidden, sizes.vocab, bias=False, dtype=sizes.dtype)

    def forward(self, ids: Tensor) -> Tensor:
        """[B, T] -> [B, T, vocab]; the streams are averaged before the head."""
        x = self.embed(ids)
        x = x.view(*ids.shape, self.sizes.streams, self.sizes.hidden)
        for block in self.blocks:
            x = block(x)
        found: Tensor = self.lm_head(self.final_norm(x.mean(dim=-2)))
        return found
