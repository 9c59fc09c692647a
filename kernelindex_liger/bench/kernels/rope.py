"""Rotary embedding of q and k [1, heads, T, D]: Liger's function against transformers' for Llama."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from kernelindex_liger.bench.kernels.shared.common import CUTILE_TOO, LIGER, LLAMA, baseline
from kernelindex_liger.bench.kernels.shared.rotary import (
    DEVIATIONS,
    LEAF_GRADIENTS,
    PASSES,
    TINY,
    head_dim,
    rotary_sweeps,
    rotated,
)
from kernelindex_liger.bench.spec import Kernel

if TYPE_CHECKING:
    from collections.abc import Callable

    from kernelindex_liger.bench.spec import Case


def rotation(case: Case, q: Any, length: int) -> Callable[[Any, Any], tuple[Any, Any]]:
    """The provider's rotation at positions 0 .. length - 1, base 10000."""
    import torch

    from kernelindex_liger.bench.references import rope

    positions = torch.arange(length, device=case.device).unsqueeze(0)
    cos, sin = rope.tables(positions, head_dim(case), 10000.0, q.dtype)
    if case.provider == "liger":
        from liger_kernel.transformers.rope import liger_rotary_pos_emb

        return lambda q, k: liger_rotary_pos_emb(q, k, cos, sin, positions)
    if case.device == "cpu" and find_spec("transformers") is None:
        return lambda q, k: rope.turned(q, k, cos, sin)
    from transformers.models.llama.modeling_llama import apply_rotary_pos_emb

    return lambda q, k: apply_rotary_pos_emb(q, k, cos, sin)


KERNELS = (
    Kernel(
        name="rope",
        script="benchmark_rope.py",
        liger=("liger_kernel.transformers.rope",),
        providers=(baseline("huggingface", LLAMA), LIGER),
        speed=PASSES,
        memory=("full",),
        sweeps=rotary_sweeps((101187584, 201850880)),
        build=rotated(rotation, heads_first=True),
        tiny=TINY,
        impls=CUTILE_TOO,
        deviations=(*DEVIATIONS, LEAF_GRADIENTS),
    ),
)
