"""Dynamic tanh of hidden states [BT, H]: Liger's module against PyTorch, eager and compiled."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kernelindex_liger.bench.kernels.shared import deviations
from kernelindex_liger.bench.kernels.shared.common import (
    CUTILE_TOO,
    FORWARD_BACKWARD_FULL,
    baseline,
    both_sweeps,
)
from kernelindex_liger.bench.kernels.shared.heads import torch_compiled
from kernelindex_liger.bench.kernels.shared.rows import on_rows
from kernelindex_liger.bench.spec import Kernel, Provider, Tiny

if TYPE_CHECKING:
    from kernelindex_liger.bench.spec import Case, Sweep


def layer(case: Case) -> Any:
    """The provider's layer; its parameters are float32 whatever x's dtype is."""
    hidden, beta = case.size("hidden_size"), case.config["beta"]
    if case.provider == "liger":
        from liger_kernel.transformers.dyt import LigerDyT

        return LigerDyT(hidden_size=hidden, beta=beta).to(case.device)
    from kernelindex_liger.bench.references.norms import DyT

    plain = DyT(hidden, beta=beta).to(case.device)
    return torch_compiled(case, plain) if case.provider == "torch_compile" else plain


def sweeps(beta: bool, estimates: tuple[int, int]) -> tuple[Sweep, Sweep]:
    """Both sweeps with or without a beta."""
    return both_sweeps(
        "BT",
        "total tokens",
        model_keys=("hidden_size", "dtype"),
        extra={"beta": beta},
        probe=("torch", 1024),
        estimates=estimates,
    )


KERNELS = (
    Kernel(
        name="dyt",
        script="benchmark_dyt.py",
        liger=("liger_kernel.transformers.dyt",),
        providers=(
            Provider(
                name="liger",
                role="liger",
                cannot_rehearse="its backward asks a GPU for the number of its multiprocessors",
            ),
            baseline("torch"),
            Provider(name="torch_compile", role="other"),
        ),
        speed=FORWARD_BACKWARD_FULL,
        memory=("full",),
        sweeps=(*sweeps(False, (100696576, 402719232)), *sweeps(True, (100729344, 402784768))),
        build=on_rows(layer),
        tiny=Tiny(x={"BT": 8}, sizes={"bsz": 2, "seq_len": 4, "hidden_size": 64, "dtype": "torch.float32"}),
        impls=CUTILE_TOO,
        deterministic="cudnn",
        deviations=(
            deviations.float32_output("fp32-output", "torch", "torch_compile"),
            deviations.PARAMETER_GRADIENTS,
            deviations.gradient_drawn("gradient-drawn-in-full"),
            deviations.CUDNN_DETERMINISTIC,
        ),
    ),
)
