"""Complex rotary embedding of q and k [1, T, heads, D]: Liger's function and transformers' for Llama 4."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from kernelindex_liger.bench.kernels.shared.common import CUTILE_TOO, LIGER, LLAMA4, baseline
from kernelindex_liger.bench.kernels.shared.rotary import (
    DEVIATIONS,
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


def rotation(case: Case, _q: Any, length: int) -> Callable[[Any, Any], tuple[Any, Any]]:
    """The provider's rotation at positions 0 .. length - 1, base 500000."""
    import torch

    from kernelindex_liger.bench.references import rope

    positions = torch.arange(length, device=case.device).unsqueeze(0)
    table = rope.complex_table(positions, head_dim(case), 500000.0)
    if case.provider == "liger":
        from liger_kernel.transformers.llama4_rope import liger_llama4_text_rotary_pos_emb

        return lambda q, k: liger_llama4_text_rotary_pos_emb(q, k, table)
    if case.device == "cpu" and find_spec("transformers") is None:
        return lambda q, k: rope.multiplied(q, k, table)
    from transformers.models.llama4.modeling_llama4 import apply_rotary_emb

    return lambda q, k: apply_rotary_emb(q, k, table)


KERNELS = (
    Kernel(
        name="llama4_rope",
        script="benchmark_llama4_rope.py",
        liger=("liger_kernel.transformers.llama4_rope",),
        providers=(baseline("huggingface", LLAMA4), LIGER),
        speed=PASSES,
        memory=("full",),
        sweeps=rotary_sweeps((126877696, 352780288)),
        build=rotated(rotation, heads_first=False),
        tiny=TINY,
        impls=CUTILE_TOO,
        deviations=DEVIATIONS,
    ),
)
