"""Multimodal rotary embedding of q and k [1, heads, T, D]: Liger's function against plain PyTorch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kernelindex_liger.bench.kernels.shared.common import CUTILE_TOO, LIGER, baseline
from kernelindex_liger.bench.kernels.shared.rotary import (
    DEVIATIONS,
    LEAF_GRADIENTS,
    PASSES,
    TINY,
    head_dim,
    rotary_sweeps,
    rotated,
)
from kernelindex_liger.bench.spec import Deviation, Kernel, NoCaveat

if TYPE_CHECKING:
    from collections.abc import Callable

    from kernelindex_liger.bench.spec import Case


def rotation(case: Case, q: Any, length: int) -> Callable[[Any, Any], tuple[Any, Any]]:
    """The provider's rotation; the three axes' positions are thirds of one range, base 1000000."""
    import torch

    from kernelindex_liger.bench.references import rope

    width = head_dim(case)
    side = width * 3 // 16
    section = [width // 2 - 2 * side, side, side]
    positions = torch.arange(3 * length, device=case.device).view(3, 1, length)
    cos, sin = rope.tables(positions, width, 1000000.0, q.dtype)
    if case.provider == "liger":
        from liger_kernel.transformers.qwen2vl_mrope import liger_multimodal_rotary_pos_emb

        return lambda q, k: liger_multimodal_rotary_pos_emb(q, k, cos, sin, section)
    return lambda q, k: rope.multimodal(q, k, cos, sin, section)


KERNELS = (
    Kernel(
        name="qwen2vl_mrope",
        script="benchmark_qwen2vl_mrope.py",
        liger=("liger_kernel.transformers.qwen2vl_mrope",),
        providers=(baseline("huggingface"), LIGER),
        speed=PASSES,
        memory=("full",),
        sweeps=rotary_sweeps((101187584, 201850880)),
        build=rotated(rotation, heads_first=True),
        tiny=TINY,
        impls=CUTILE_TOO,
        deviations=(
            *DEVIATIONS,
            LEAF_GRADIENTS,
            Deviation(
                slug="baseline-of-our-own",
                text="The baseline is transformers' formula written here: transformers 5 no longer has the function.",
                decision="corrected",
                reason="The same operations in the same order, with any version of transformers or none.",
                caveat=NoCaveat("It does the same operations in the same order."),
                providers=("huggingface",),
            ),
        ),
    ),
)
