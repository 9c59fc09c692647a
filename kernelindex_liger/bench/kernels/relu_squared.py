"""Squared ReLU of [BT, H]: Liger's module against plain PyTorch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kernelindex_liger.bench.kernels.shared import deviations
from kernelindex_liger.bench.kernels.shared.common import FORWARD_BACKWARD_FULL, LIGER, baseline, both_sweeps
from kernelindex_liger.bench.kernels.shared.rows import on_rows
from kernelindex_liger.bench.spec import Kernel, Tiny

if TYPE_CHECKING:
    from kernelindex_liger.bench.spec import Case


def layer(case: Case) -> Any:
    """The provider's activation; it has no parameters."""
    if case.provider == "liger":
        from liger_kernel.transformers.relu_squared import LigerReLUSquared

        return LigerReLUSquared()
    from kernelindex_liger.bench.references.activations import relu_squared

    return relu_squared


KERNELS = (
    Kernel(
        name="relu_squared",
        script="benchmark_relu_squared.py",
        liger=("liger_kernel.transformers.relu_squared",),
        providers=(LIGER, baseline("torch")),
        speed=FORWARD_BACKWARD_FULL,
        memory=("full",),
        sweeps=both_sweeps(
            "BT",
            "total tokens",
            model_keys=("hidden_size", "dtype"),
            probe=("torch", 1024),
            estimates=(58720256, 234881024),
        ),
        build=on_rows(layer),
        tiny=Tiny(x={"BT": 8}, sizes={"bsz": 2, "seq_len": 4, "hidden_size": 64, "dtype": "torch.float32"}),
        deviations=(deviations.gradient_drawn(),),
    ),
)
