"""Attention over depth blocks (attention residuals): Liger's autograd function against plain PyTorch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kernelindex_liger.bench.kernels.shared import deviations
from kernelindex_liger.bench.kernels.shared.common import (
    FORWARD_BACKWARD_FULL,
    LIGER,
    baseline,
    both_sweeps,
    dtype_of,
    sequence,
)
from kernelindex_liger.bench.kernels.shared.rows import hidden_states
from kernelindex_liger.bench.spec import Deviation, Kernel, Tiny, Work

if TYPE_CHECKING:
    from kernelindex_liger.bench.spec import Case


def build(case: Case) -> Work:
    """Blocks [N, bsz, T, H] with a gradient; the query [H] and the norm's weight [H] have none."""
    import torch

    hidden, dtype, eps = case.size("hidden_size"), dtype_of(case), case.size("eps")
    blocks = hidden_states(case, case.size("N"), case.size("bsz"), sequence(case), hidden)
    query = torch.randn(hidden, device=case.device, dtype=dtype) * 0.02
    weight = torch.ones(hidden, device=case.device, dtype=dtype)
    tensors = {"blocks": blocks, "query": query, "weight": weight}
    if case.provider == "liger":
        from liger_kernel.ops import LigerAttnResFunction

        apply = LigerAttnResFunction.apply
        return Work(forward=lambda: apply(blocks, query, weight, eps), reset=[blocks], tensors=tensors)
    from kernelindex_liger.bench.references.attention import attention_residual

    return Work(forward=lambda: attention_residual(blocks, query, weight, eps), reset=[blocks], tensors=tensors)


KERNELS = (
    Kernel(
        name="attn_res",
        script="benchmark_attn_res.py",
        liger=("liger_kernel.ops.attn_res",),
        providers=(baseline("pytorch"), LIGER),
        speed=FORWARD_BACKWARD_FULL,
        memory=("full",),
        sweeps=both_sweeps(
            "T",
            "sequence length",
            model_keys=("hidden_size", "dtype"),
            extra={"N": 8, "bsz": 1, "eps": 1e-06},
            probe=("pytorch", 1024),
            estimates=(956334080, 3825270784),
        ),
        build=build,
        tiny=Tiny(x={"T": 4}, sizes={"N": 3, "bsz": 2, "seq_len": 4, "hidden_size": 32, "dtype": "torch.float32"}),
        deterministic="full",
        environment={"CUBLAS_WORKSPACE_CONFIG": ":4096:8"},
        deviations=(
            deviations.gradient_drawn(),
            deviations.FULLY_DETERMINISTIC,
            Deviation(
                slug="gradient-of-blocks-only",
                text="Neither the query nor the norm's weight requires a gradient, though training would need both: "
                "the baseline leaves theirs out. Liger computes them all the same.",
                decision="reproduced",
                reason=deviations.COMPARABLE,
                caveat="blocks-gradient-only",
                passes=("backward", "full"),
            ),
        ),
    ),
)
