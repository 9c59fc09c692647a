"""A gated MLP in plain PyTorch."""

from __future__ import annotations

from torch import Tensor, nn
from torch.nn import functional


class GatedMLP(nn.Module):
    """down(act(gate(x)) * up(x)) without biases; `activation` as transformers names it.

    Raises ValueError for an activation other than silu and gelu_pytorch_tanh.
    """

    def __init__(self, hidden_size: int, inner_size: int, activation: str) -> None:
        super().__init__()
        if activation not in {"silu", "gelu_pytorch_tanh"}:
            raise ValueError(f"activation {activation!r} is neither silu nor gelu_pytorch_tanh")
        self.tanh_gelu = activation == "gelu_pytorch_tanh"
        self.gate_proj = nn.Linear(hidden_size, inner_size, bias=False)
        self.up_proj = nn.Linear(hidden_size, inner_size, bias=False)
        self.down_proj = nn.Linear(inner_size, hidden_size, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """[..., H] -> [..., H]."""
        gate = self.gate_proj(x)
        opened = functional.gelu(gate, approximate="tanh") if self.tanh_gelu else functional.silu(gate)
        found: Tensor = self.down_proj(opened * self.up_proj(x))
        return found
