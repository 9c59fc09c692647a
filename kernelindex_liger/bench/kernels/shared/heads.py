"""Losses fused with the language-model head: inputs, heads and the way each provider calls them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from kernelindex_liger.bench.kernels.shared.common import dtype_of, tokens
from kernelindex_liger.bench.spec import Work

if TYPE_CHECKING:
    from collections.abc import Callable

    from kernelindex_liger.bench.spec import Case


def linear(case: Case, inputs: int | None = None, *, bias: bool = False) -> Any:
    """A head hidden_size (or `inputs`) -> vocab_size with PyTorch's own initial values."""
    import torch

    return torch.nn.Linear(
        inputs or case.size("hidden_size"),
        case.size("vocab_size"),
        bias=bias,
        dtype=dtype_of(case),
        device=case.device,
    )


def normal_weight(case: Case) -> Any:
    """A head's weight [V, H], normal with deviation H ** -0.5."""
    import torch

    hidden = case.size("hidden_size")
    weight = torch.empty(case.size("vocab_size"), hidden, dtype=dtype_of(case), device=case.device)
    return torch.nn.Parameter(torch.nn.init.normal_(weight, std=hidden**-0.5))


def cross_entropy(
    losses: Callable[[Case], Callable[[Any, Any, Any], Any]],
    weights: Callable[[Case], Literal["linear", "normal"]],
) -> Callable[[Case], Work]:
    """A build for loss(weight [V, H], x [BT, H], target [BT]) -> scalar.

    `weights(case)` says whether the provider's head starts as nn.Linear does or normal.
    """

    def build(case: Case) -> Work:
        import torch

        count, hidden = tokens(case), case.size("hidden_size")
        x = torch.randn(count, hidden, requires_grad=True, dtype=dtype_of(case), device=case.device)
        target = torch.randint(case.size("vocab_size"), (count,), device=case.device)
        weight = linear(case).weight if weights(case) == "linear" else normal_weight(case)
        loss = losses(case)
        return Work(
            forward=lambda: loss(weight, x, target),
            reset=[x],
            tensors={"x": x, "target": target, "weight": weight},
        )

    return build


def compiled(case: Case) -> bool:
    """Whether Liger's chunked losses go through torch.compile: as upstream has it, but not on a CPU."""
    return case.device != "cpu"


def torch_compiled(case: Case, layer: Any) -> Any:
    """The layer under torch.compile with its default backend; on a CPU it is only traced."""
    import torch

    return torch.compile(layer, backend="eager" if case.device == "cpu" else "inductor")
