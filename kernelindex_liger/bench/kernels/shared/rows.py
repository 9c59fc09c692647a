"""Kernels that take one tensor of hidden states [rows, H] and give one back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kernelindex_liger.bench.kernels.shared.common import dtype_of, parameters, tokens
from kernelindex_liger.bench.spec import Work

if TYPE_CHECKING:
    from collections.abc import Callable

    from kernelindex_liger.bench.spec import Case


def hidden_states(case: Case, *shape: int) -> Any:
    """Normal random [*shape] on the case's device, in its dtype, with a gradient."""
    import torch

    return torch.randn(*shape, dtype=dtype_of(case), device=case.device, requires_grad=True)


def on_rows(make: Callable[[Case], Any], rows: Callable[[Case], int] = tokens) -> Callable[[Case], Work]:
    """A build for a layer [rows, hidden_size] -> [rows, hidden_size]; `make(case)` gives it."""

    def build(case: Case) -> Work:
        x = hidden_states(case, rows(case), case.size("hidden_size"))
        layer = make(case)
        named = parameters(layer) if hasattr(layer, "named_parameters") else {}
        return Work(forward=lambda: layer(x), reset=[x], tensors={"x": x, **named})

    return build
