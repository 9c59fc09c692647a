"""RMS norm of [S, B, H] as Megatron calls it: Liger's module against torch.nn.RMSNorm and Megatron's own."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from kernelindex_liger.bench.kernels.shared import deviations
from kernelindex_liger.bench.kernels.shared.common import (
    FORWARD_BACKWARD_FULL,
    LIGER,
    baseline,
    dtype_of,
    parameters,
)
from kernelindex_liger.bench.kernels.shared.fixed_gradient import summed_steps
from kernelindex_liger.bench.kernels.shared.megatrons import MEGATRON_PROVIDER
from kernelindex_liger.bench.kernels.shared.rows import hidden_states
from kernelindex_liger.bench.spec import Deviation, Kernel, Timing, Tiny, Work
from kernelindex_liger.bench.sweeps import fixed

if TYPE_CHECKING:
    from kernelindex_liger.bench.spec import Case

EPS = 1e-06


def layer(case: Case, hidden: int) -> Any:
    """The provider's norm; Liger's and Megatron's read these five settings of a transformer's config."""
    import torch

    config = SimpleNamespace(
        normalization="RMSNorm",
        sequence_parallel=False,
        layernorm_zero_centered_gamma=False,
        persist_layer_norm=False,
        memory_efficient_layer_norm=False,
    )
    if case.provider == "liger":
        from liger_kernel.megatron import LigerMegatronRMSNorm

        return LigerMegatronRMSNorm(config=config, hidden_size=hidden, eps=EPS)
    if case.provider == "megatron":
        from megatron.core.transformer.torch_norm import WrappedTorchNorm

        return WrappedTorchNorm(config=config, hidden_size=hidden, eps=EPS)
    return torch.nn.RMSNorm(hidden, eps=EPS)


def build(case: Case) -> Work:
    """Input x [S, B, H] with a gradient, x being H; bfloat16, weight included."""
    hidden = int(case.x)
    norm = layer(case, hidden).to(case.device, dtype_of(case))
    x = hidden_states(case, case.size("S"), case.size("B"), hidden)
    return Work(
        forward=lambda: norm(x),
        reset=[x],
        tensors={"x": x, **parameters(norm)},
        steps=summed_steps(lambda: norm(x), x, clear=("backward",)),
    )


KERNELS = (
    Kernel(
        name="megatron_rms_norm",
        script="benchmark_megatron_rms_norm.py",
        liger=("liger_kernel.megatron.rms_norm",),
        providers=(LIGER, baseline("torch"), MEGATRON_PROVIDER),
        speed=FORWARD_BACKWARD_FULL,
        memory=("full",),
        sweeps=(
            fixed(
                x_name="H",
                x_label="hidden size",
                x_values=(1024, 2048, 4096, 8192, 16384),
                configs=({"S": 4096, "B": 1},),
                answers=("token_length", "model_config"),
            ),
        ),
        build=build,
        tiny=Tiny(x={"H": 64}, sizes={"S": 4, "B": 2, "dtype": "torch.float32"}),
        timing=Timing(rep=100),
        deviations=(
            deviations.backward_holds_forward("backward-includes-forward-modules"),
            Deviation(
                slug="one-module-twice",
                text="Megatron's norm is torch.nn.RMSNorm: torch and megatron measure one module.",
                decision="reproduced",
                reason=deviations.COMPARABLE,
                caveat="same-module-twice",
                providers=("torch", "megatron"),
            ),
            Deviation(
                slug="gradient-accumulates-in-full",
                text="full does not drop the input's gradient between repetitions, backward does.",
                decision="reproduced",
                reason=deviations.COMPARABLE,
                caveat="gradient-added-in-full-megatron-norm",
                passes=("full",),
            ),
        ),
    ),
)
