"""Gated MLPs of Llama's shape."""

from __future__ import annotations

from importlib.util import find_spec
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from kernelindex_liger.bench.kernels.shared.common import both_sweeps, dtype_of, parameters, sequence
from kernelindex_liger.bench.kernels.shared.rows import hidden_states
from kernelindex_liger.bench.spec import Tiny, Work

if TYPE_CHECKING:
    from collections.abc import Callable

    from kernelindex_liger.bench.spec import Case, Sweep

TINY = Tiny(
    x={"T": 8},
    sizes={"seq_len": 8, "bsz": 2, "hidden_size": 16, "intermediate_size": 32, "dtype": "torch.float32"},
)


def mlp_sweeps(x_label: str, activation: str) -> tuple[Sweep, Sweep]:
    """Sweeps over the sequence length with one activation."""
    return both_sweeps(
        "T",
        x_label,
        model_keys=("hidden_size", "intermediate_size", "dtype"),
        extra={"bsz": 1, "hidden_act": activation},
        probe=("huggingface", 1024),
        estimates=(830472192, 3424649216),
    )


def shape(case: Case) -> Any:
    """hidden_size, intermediate_size and hidden_act, which is all that Liger's MLPs read of a config."""
    return SimpleNamespace(
        hidden_size=case.size("hidden_size"),
        intermediate_size=case.size("intermediate_size"),
        hidden_act=case.size("hidden_act"),
    )


def llama(case: Case) -> Any:
    """LlamaMLP of transformers; a rehearsal without transformers takes the same formula of our own."""
    if case.device == "cpu" and find_spec("transformers") is None:
        from kernelindex_liger.bench.references.mlp import GatedMLP

        return GatedMLP(case.size("hidden_size"), case.size("intermediate_size"), case.size("hidden_act"))
    from transformers.models.llama.configuration_llama import LlamaConfig
    from transformers.models.llama.modeling_llama import LlamaMLP

    # The heads are not read, but a config whose width they do not divide is refused.
    return LlamaMLP(config=LlamaConfig(**vars(shape(case)), num_attention_heads=1))


def placed(case: Case, make: Callable[[Case], Any]) -> Any:
    """The module made in float32 on the case's device, then cast, which a probe's peak counts."""
    import torch

    with torch.device(case.device):
        module = make(case)
    return module.to(dtype_of(case))


def on_sequences(make: Callable[[Case], Any]) -> Callable[[Case], Work]:
    """A build for an MLP [bsz, T, H] -> [bsz, T, H]; `make(case)` gives the module."""

    def build(case: Case) -> Work:
        x = hidden_states(case, case.size("bsz"), sequence(case), case.size("hidden_size"))
        layer = placed(case, make)
        weights = {name.removeprefix("mlp."): weight for name, weight in parameters(layer).items()}
        return Work(forward=lambda: layer(x), reset=[x], tensors={"x": x, **weights})

    return build
