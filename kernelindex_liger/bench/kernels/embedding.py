"""Embedding lookup [B, T] -> [B, T, H]: Liger's module against torch.nn.Embedding, eager and compiled."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kernelindex_liger.bench.kernels.shared import deviations
from kernelindex_liger.bench.kernels.shared.common import (
    FORWARD_BACKWARD_FULL,
    LIGER,
    baseline,
    both_sweeps,
    dtype_of,
    tokens,
)
from kernelindex_liger.bench.kernels.shared.heads import torch_compiled
from kernelindex_liger.bench.spec import Deviation, Kernel, Provider, Tiny, Work

if TYPE_CHECKING:
    from kernelindex_liger.bench.spec import Case


def build(case: Case) -> Work:
    """Ids [BT // T, T]; the weight [V, H] is drawn in float32 on the device, which a probe's peak counts."""
    import torch

    length, vocab, hidden = case.size("T"), case.size("vocab_size"), case.size("hidden_size")
    ids = torch.randint(0, vocab, (max(1, tokens(case) // length), length), device=case.device)
    with torch.device(case.device):
        if case.provider == "liger":
            from liger_kernel.transformers.experimental.embedding import LigerEmbedding

            layer = LigerEmbedding(vocab, hidden)
        else:
            layer = torch.nn.Embedding(vocab, hidden)
    layer = layer.to(dtype_of(case))
    weight = layer.weight
    called = torch_compiled(case, layer) if case.provider == "torch_compile" else layer
    return Work(forward=lambda: called(ids), reset=[ids], tensors={"ids": ids, "weight": weight})


KERNELS = (
    Kernel(
        name="embedding",
        script="benchmark_embedding.py",
        liger=("liger_kernel.transformers.experimental.embedding",),
        providers=(baseline("torch"), Provider(name="torch_compile", role="other"), LIGER),
        speed=FORWARD_BACKWARD_FULL,
        memory=("full",),
        sweeps=both_sweeps(
            "BT",
            "total tokens",
            model_keys=("hidden_size", "vocab_size", "dtype"),
            extra={"T": 1024},
            probe=("torch", 1024),
            estimates=(3152027648, 7474266112),
        ),
        build=build,
        tiny=Tiny(
            x={"BT": 8},
            sizes={
                "bsz": 2,
                "seq_len": 4,
                "T": 4,
                "vocab_size": 32,
                "hidden_size": 16,
                "dtype": "torch.float32",
            },
        ),
        deviations=(
            deviations.gradient_drawn("gradient-drawn-in-full"),
            Deviation(
                slug="weight-gradient-accumulates",
                text="What is cleared between repetitions is the integer ids, which have no gradient: "
                "the weight's accumulates, so that backward includes an addition over the whole "
                "table after the first call.",
                decision="reproduced",
                reason=deviations.COMPARABLE,
                caveat="weight-gradients-added",
                passes=("backward", "full"),
            ),
        ),
    ),
)
