"""Multi-token attention over maps of scores [B, C, L, L], softmax or sparsemax."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from kernelindex_liger.bench.kernels.shared.common import dtype_of, parameters
from kernelindex_liger.bench.kernels.shared.deviations import COMPARABLE, PARAMETER_GRADIENTS
from kernelindex_liger.bench.kernels.shared.fixed_gradient import steps
from kernelindex_liger.bench.kernels.shared.rows import hidden_states
from kernelindex_liger.bench.spec import Deviation, Points, Probe, Sweep, Tiny, Work
from kernelindex_liger.bench.sweeps import powers, safe_length

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kernelindex_liger.bench.models import ModelProfile
    from kernelindex_liger.bench.spec import Case, Config, Request

SHAPE: Config = {"C_in": 4, "C_out": 4, "K": 3, "groups": 1, "bias": True}
TINY = Tiny(x={"L": 8}, sizes={"B": 1, "L": 8, "C_in": 2, "C_out": 2, "dtype": "torch.float32"})
BATCH = 2
PROBED = 256

DEVIATIONS = (
    Deviation(
        slug="idle-module-in-memory",
        text="Both providers' modules exist at once, and one forward and backward precede the "
        "measurement: peak memory includes the idle module's parameters and the gradients.",
        decision="reproduced",
        reason=COMPARABLE,
        caveat="idle-module-in-memory",
        passes=("full",),
    ),
    PARAMETER_GRADIENTS,
)


def side(tokens: int) -> int:
    """Side of a score map with so many entries."""
    return int(math.sqrt(tokens))


def probe_config(request: Request, model: ModelProfile) -> Config:
    """What a model_config probe builds: the map of half the tokens, twice."""
    return SHAPE | {"dtype": model.dtype, "B": BATCH, "L": side(min(request.bt, 1024) // BATCH)}


def token_sweep(dtype: Callable[[ModelProfile], str], *, estimate: int) -> Sweep:
    """Powers of two from 32 to the length that fits when memory is quadratic in it."""

    def probes(request: Request) -> tuple[Probe, ...]:
        config = SHAPE | {"dtype": request.model.dtype, "B": BATCH, "L": PROBED}
        return (Probe(provider="torch", x=0, config=config, model=request.model),)

    def points(request: Request, peaks: Sequence[int]) -> Points:
        length = safe_length(
            request.total_gib,
            peaks[0],
            batch=BATCH,
            length=PROBED,
            longest=request.model.max_position_embeddings,
            scaling="quadratic",
        )
        config = SHAPE | {"dtype": dtype(request.model), "B": BATCH}
        return Points(x_values=powers(32, length), configs=(config,))

    return Sweep(
        answers=("token_length",),
        x_name="L",
        x_label="sequence length",
        points=points,
        probes=probes,
        estimate=estimate,
    )


def build_with(*, sparse: bool) -> Callable[[Case], Work]:
    """A build for scores [B, C_in, L, L] with a gradient; both modules exist, with the same weights."""

    def build(case: Case) -> Work:
        import torch
        from liger_kernel.transformers.multi_token_attention import LigerMultiTokenAttention

        from kernelindex_liger.bench.references.attention import MultiTokenAttention

        channels, out, size, groups, bias = (case.size(name) for name in ("C_in", "C_out", "K", "groups", "bias"))
        liger = LigerMultiTokenAttention(
            in_channels=channels,
            out_channels=out,
            kernel_size=size,
            stride=1,
            padding=size // 2,
            dilation=1,
            groups=groups,
            bias=bias,
            sparse=sparse,
        ).to(case.device, dtype_of(case))
        plain = MultiTokenAttention(channels, out, size, groups=groups, bias=bias, sparse=sparse)
        plain = plain.to(case.device, dtype_of(case))
        with torch.no_grad():
            if sparse:
                torch.nn.init.kaiming_uniform_(liger.weight, a=math.sqrt(5))
                if bias:
                    torch.nn.init.zeros_(liger.bias)
            ours = parameters(plain)
            for name, weight in parameters(liger).items():
                ours[name].copy_(weight)
        length = case.size("L", case.x)
        x = hidden_states(case, case.size("B"), channels, length, length)
        gradient = torch.randn_like(x)
        # Both are held by what is timed: peak memory counts the idle one, as upstream's does.
        held = {"liger": liger, "torch": plain}

        def forward() -> Any:
            return held[case.provider](x)

        if case.device != "cpu":
            forward().backward(gradient, retain_graph=True)
        return Work(
            forward=forward,
            reset=[x],
            tensors={"x": x, **parameters(held[case.provider])},
            steps=steps(forward, gradient, [x]),
        )

    return build
