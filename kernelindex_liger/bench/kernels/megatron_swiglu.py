"""SwiGLU of [S, B, 2 F] as Megatron calls it: Liger's module, in place or not, PyTorch and Megatron's own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kernelindex_liger.bench.kernels.shared import deviations
from kernelindex_liger.bench.kernels.shared.common import FORWARD_BACKWARD_FULL, LIGER, baseline
from kernelindex_liger.bench.kernels.shared.fixed_gradient import summed_steps
from kernelindex_liger.bench.kernels.shared.megatrons import MEGATRON_PROVIDER
from kernelindex_liger.bench.kernels.shared.rows import hidden_states
from kernelindex_liger.bench.spec import Kernel, Provider, Timing, Tiny, Work
from kernelindex_liger.bench.sweeps import fixed

if TYPE_CHECKING:
    from collections.abc import Callable

    from kernelindex_liger.bench.spec import Case


def function(case: Case) -> Callable[[Any], Any]:
    """The provider's activation [S, B, 2 F] -> [S, B, F], gate first."""
    from torch.nn import functional

    options = (None, False, False)  # no bias, no fp8 copy, nothing offloaded
    if case.provider == "torch":

        def eager(y: Any) -> Any:
            gate, up = y.chunk(2, -1)
            return functional.silu(gate) * up

        return eager
    if case.provider == "megatron":
        from megatron.core.fusions.fused_bias_swiglu import bias_swiglu_impl

        return lambda y: bias_swiglu_impl(y, *options)
    from liger_kernel.megatron import LigerMegatronSwiGLU

    module = LigerMegatronSwiGLU(in_place=case.provider == "liger_in_place")
    return lambda y: module(y, *options)


def build(case: Case) -> Work:
    """Input x [S, B, 2 * F] in bfloat16 with a gradient, x being F; no parameters."""
    x = hidden_states(case, case.size("S"), case.size("B"), 2 * int(case.x))
    activation = function(case)
    return Work(
        forward=lambda: activation(x),
        reset=[x],
        tensors={"x": x},
        steps=summed_steps(lambda: activation(x), x, clear=("backward", "full")),
    )


KERNELS = (
    Kernel(
        name="megatron_swiglu",
        script="benchmark_megatron_swiglu.py",
        liger=("liger_kernel.megatron.swiglu",),
        providers=(
            LIGER,
            Provider(name="liger_in_place", role="liger"),
            baseline("torch"),
            MEGATRON_PROVIDER,
        ),
        speed=FORWARD_BACKWARD_FULL,
        memory=("full",),
        sweeps=(
            fixed(
                x_name="ffn_local",
                x_label="per-rank FFN hidden size",
                x_values=(1024, 2048, 4096, 8192, 16384, 32768),
                configs=({"S": 2048, "B": 4},),
                answers=("token_length", "model_config"),
            ),
        ),
        build=build,
        tiny=Tiny(x={"ffn_local": 32}, sizes={"S": 4, "B": 2, "dtype": "torch.float32"}),
        timing=Timing(rep=100),
        deviations=(deviations.backward_holds_forward("backward-includes-forward-modules"),),
    ),
)
