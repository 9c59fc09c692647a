"""Preference losses over a head: CPO, ORPO and SimPO, which differ in the loss alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kernelindex_liger.bench.kernels.shared.common import batch, both_sweeps, dtype_of
from kernelindex_liger.bench.kernels.shared.deviations import (
    CUDNN_DETERMINISTIC,
    EMPTY_CHOSEN_HALF,
    GRADIENTS_IN_FORWARD,
    HEAD_GRADIENTS,
    RANDOM_SCALAR_GRADIENT,
    T_FROM_CONFIG,
    gradient_drawn,
)
from kernelindex_liger.bench.kernels.shared.heads import linear
from kernelindex_liger.bench.spec import Tiny, Work

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from kernelindex_liger.bench.spec import Case, Sweep

PAIRED = (
    EMPTY_CHOSEN_HALF,
    T_FROM_CONFIG,
    HEAD_GRADIENTS,
    RANDOM_SCALAR_GRADIENT,
    GRADIENTS_IN_FORWARD,
    gradient_drawn(),
    CUDNN_DETERMINISTIC,
)

TINY_SIZES: Mapping[str, Any] = {
    "bsz": 4,
    "seq_len": 8,
    "T": 8,
    "hidden_size": 16,
    "vocab_size": 32,
    "dtype": "torch.float32",
}


def tiny(**sizes: Any) -> Tiny:
    """Rehearsal sizes: four sequences of eight tokens, so that both halves have some."""
    return Tiny(x={"B": 4}, sizes={**TINY_SIZES, **sizes})


def batch_sweeps(extra: Mapping[str, Any], probe_provider: str, estimates: tuple[int, int]) -> tuple[Sweep, Sweep]:
    """Sweeps over the batch size at the T of `extra`."""
    return both_sweeps(
        "B",
        "batch size",
        model_keys=("hidden_size", "vocab_size", "dtype"),
        extra=extra,
        probe=(probe_provider, 1),
        estimates=estimates,
    )


def paired(losses: Callable[[Case], Callable[..., Any]], *, nll_target: bool = False) -> Callable[[Case], Work]:
    """A build for loss(weight [V, H], x [B, T, H], target [B, T], ...) -> (scalar, logged values).

    With `nll_target` a second target for the chosen half's cross entropy follows.
    """

    def build(case: Case) -> Work:
        import torch

        shape = (batch(case), case.size("T"))
        vocab = case.size("vocab_size")
        x = torch.randn(*shape, case.size("hidden_size"), requires_grad=True, dtype=dtype_of(case), device=case.device)
        targets = [torch.randint(vocab, shape, device=case.device) for _ in range(2 if nll_target else 1)]
        weight = linear(case).weight
        loss = losses(case)
        return Work(
            forward=lambda: loss(weight, x, *targets)[0],
            reset=[x],
            tensors={"x": x, "target": targets[0], "weight": weight},
        )

    return build


def some_ignored(case: Case, shape: tuple[int, int]) -> Any:
    """Random labels [B, T], a random number of them, below half, replaced by the config's ignore_index."""
    import torch

    target = torch.randint(case.size("vocab_size"), shape, device=case.device)
    count = int(torch.randint(1, target.numel() // 2, (1,)).item())
    target.view(-1)[torch.randperm(target.numel())[:count]] = case.size("ignore_index")
    return target


def without_gradient(case: Case, *shape: int) -> Any:
    """Normal random [*shape] in the case's dtype that requires no gradient."""
    import torch

    return torch.randn(*shape, dtype=dtype_of(case), device=case.device)
