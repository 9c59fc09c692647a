"""Group norm of [samples, channels, positions]: Liger's module against torch.nn.GroupNorm.

The tokens become BT // H samples with H (512) positions and hidden_size channels.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kernelindex_liger.bench.kernels.shared import deviations
from kernelindex_liger.bench.kernels.shared.common import (
    CUTILE_TOO,
    FULL_FIRST,
    LIGER,
    baseline,
    both_sweeps,
    dtype_of,
    parameters,
    tokens,
)
from kernelindex_liger.bench.kernels.shared.rows import hidden_states
from kernelindex_liger.bench.spec import Kernel, Tiny, Work

if TYPE_CHECKING:
    from kernelindex_liger.bench.spec import Case


def build(case: Case) -> Work:
    """Input x [BT // H, hidden_size, H] with a gradient; groups of channels_per_group channels."""
    import torch

    positions, channels = case.size("H"), case.size("hidden_size")
    x = hidden_states(case, max(1, tokens(case) // positions), channels, positions)
    groups = channels // case.size("channels_per_group")
    if case.provider == "liger":
        from liger_kernel.transformers.group_norm import LigerGroupNorm

        layer = LigerGroupNorm(num_channels=channels, num_groups=groups, eps=case.size("eps"))
    else:
        layer = torch.nn.GroupNorm(groups, channels, eps=case.size("eps"))
    layer = layer.to(device=case.device, dtype=dtype_of(case))
    return Work(forward=lambda: layer(x), reset=[x], tensors={"x": x, **parameters(layer)})


KERNELS = (
    Kernel(
        name="group_norm",
        script="benchmark_group_norm.py",
        liger=("liger_kernel.transformers.group_norm",),
        providers=(LIGER, baseline("torch")),
        speed=FULL_FIRST,
        memory=("full",),
        sweeps=both_sweeps(
            "BT",
            "B*T",
            model_keys=("hidden_size", "dtype"),
            extra={"channels_per_group": 4, "eps": 1e-06, "H": 512},
            probe=("torch", 1024),
            estimates=(33595392, 134316032),
        ),
        build=build,
        tiny=Tiny(
            x={"BT": 32},
            sizes={"bsz": 2, "seq_len": 16, "hidden_size": 8, "H": 16, "dtype": "torch.float32"},
        ),
        impls=CUTILE_TOO,
        deviations=(deviations.PARAMETER_GRADIENTS, deviations.gradient_drawn()),
    ),
)
