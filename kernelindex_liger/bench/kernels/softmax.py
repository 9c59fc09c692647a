"""Softmax over the last dimension of [BT, H]: Liger's module against torch.nn.Softmax."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kernelindex_liger.bench.kernels.shared import deviations
from kernelindex_liger.bench.kernels.shared.common import (
    CUTILE_TOO,
    FORWARD_BACKWARD_FULL,
    LIGER,
    baseline,
    both_sweeps,
)
from kernelindex_liger.bench.kernels.shared.rows import on_rows
from kernelindex_liger.bench.spec import Kernel, Tiny

if TYPE_CHECKING:
    from kernelindex_liger.bench.spec import Case


def layer(case: Case) -> Any:
    """The provider's softmax."""
    import torch

    if case.provider == "liger":
        from liger_kernel.transformers.softmax import LigerSoftmax

        return LigerSoftmax()
    return torch.nn.Softmax(dim=-1)


KERNELS = (
    Kernel(
        name="softmax",
        script="benchmark_softmax.py",
        liger=("liger_kernel.transformers.softmax",),
        providers=(baseline("torch"), LIGER),
        speed=FORWARD_BACKWARD_FULL,
        memory=("full",),
        sweeps=both_sweeps(
            "BT",
            "B*T",
            model_keys=("hidden_size", "dtype"),
            probe=("torch", 2048),
            estimates=(67108864, 134217728),
        ),
        build=on_rows(layer),
        tiny=Tiny(x={"BT": 8}, sizes={"bsz": 2, "seq_len": 4, "hidden_size": 64, "dtype": "torch.float32"}),
        impls=CUTILE_TOO,
        deviations=(deviations.gradient_drawn(),),
    ),
)
