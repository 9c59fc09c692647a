"""Neighbourhood attention of [B, S, H], projections included: Liger's module against a masked dense one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kernelindex_liger.bench.kernels.shared import deviations
from kernelindex_liger.bench.kernels.shared.common import (
    FORWARD_BACKWARD_FULL,
    LIGER,
    baseline,
    dtype_of,
    parameters,
)
from kernelindex_liger.bench.kernels.shared.fixed_gradient import steps
from kernelindex_liger.bench.kernels.shared.rows import hidden_states
from kernelindex_liger.bench.spec import Deviation, Kernel, NoCaveat, Points, Probe, Sweep, Timing, Tiny, Work
from kernelindex_liger.bench.sweeps import powers, safe_length, safe_tokens

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kernelindex_liger.bench.models import ModelProfile
    from kernelindex_liger.bench.spec import Case, Config, Request

PROBED = 256
PRESETS: tuple[Config, ...] = tuple(
    {
        "name": f"{name}_{suffix}",
        "batch_size": batch,
        "hidden_size": hidden,
        "num_heads": heads,
        "kernel_size": size,
        "dilation": dilation,
        "bias": True,
        "dtype": dtype,
    }
    for suffix, dtype in (("fp32", "torch.float32"), ("bf16", "torch.bfloat16"))
    for name, batch, hidden, heads, size, dilation in (
        ("small", 2, 512, 8, 7, 1),
        ("medium", 4, 768, 12, 7, 1),
        ("large", 2, 1024, 16, 9, 1),
        ("small_dilated", 2, 512, 8, 7, 2),
    )
)


def build(case: Case) -> Work:
    """Input x [batch_size, S, H] with a gradient; both providers' modules exist, with the same weights."""
    import torch
    from liger_kernel.transformers.fused_neighborhood_attention import LigerFusedNeighborhoodAttention

    from kernelindex_liger.bench.references.attention import NeighborhoodAttention

    hidden, heads, size, dilation, bias = (
        case.size(name) for name in ("hidden_size", "num_heads", "kernel_size", "dilation", "bias")
    )
    liger = LigerFusedNeighborhoodAttention(
        hidden_size=hidden,
        num_heads=heads,
        kernel_size=size,
        dilation=dilation,
        bias=bias,
        dropout=0.0,
    ).to(case.device, dtype_of(case))
    dense = NeighborhoodAttention(hidden, heads, size=size, dilation=dilation, bias=bias)
    dense = dense.to(case.device, dtype_of(case))
    with torch.no_grad():
        ours = parameters(dense)
        for name, weight in parameters(liger).items():
            ours[name].copy_(weight)
    x = hidden_states(case, case.size("batch_size"), case.size("seq_len", case.x), hidden)
    gradient = torch.randn_like(x)
    # Both are held by what is timed: peak memory counts the idle one, as upstream's does.
    held = {"liger": liger, "torch": dense}

    def forward() -> Any:
        return held[case.provider](x)

    return Work(
        forward=forward,
        reset=[x],
        tensors={"x": x, **parameters(held[case.provider])},
        steps=steps(forward, gradient, [x]),
    )


def config_of(model: ModelProfile) -> Config:
    """The token_length config."""
    return {
        "hidden_size": model.hidden_size,
        "num_heads": model.num_attention_heads,
        "dtype": model.dtype,
        "batch_size": 2,
        "kernel_size": 7,
        "dilation": 1,
        "bias": True,
    }


def probes(request: Request) -> tuple[Probe, ...]:
    """The baseline at 256 positions, two sequences."""
    config = config_of(request.model) | {"seq_len": PROBED}
    return (Probe(provider="torch", x=0, config=config, model=request.model),)


def points(request: Request, peaks: Sequence[int]) -> Points:
    """Powers of two from 64; the limit counts the probe's two sequences as one, and memory as linear."""
    longest = request.model.max_position_embeddings
    length = safe_length(request.total_gib, peaks[0], batch=1, length=PROBED, longest=longest)
    return Points(x_values=powers(64, length), configs=(config_of(request.model),))


def preset_probes(request: Request) -> tuple[Probe, ...]:
    """The baseline with each preset."""
    tokens = min(request.bt, 1024)
    return tuple(
        Probe(
            provider="torch",
            x=0,
            config=preset | {"seq_len": tokens // preset["batch_size"]},
            model=request.model,
        )
        for preset in PRESETS
    )


def preset_points(request: Request, peaks: Sequence[int]) -> Points:
    """Every preset's name for every preset: x is not read, so that each config is measured eight times."""
    _, seq_len = safe_tokens(request.total_gib, max(peaks), request.bt)
    return Points(
        x_values=tuple(preset["name"] for preset in PRESETS),
        configs=tuple(preset | {"seq_len": seq_len} for preset in PRESETS),
    )


KERNELS = (
    Kernel(
        name="fused_neighborhood_attention",
        script="benchmark_fused_neighborhood_attention.py",
        liger=("liger_kernel.transformers.fused_neighborhood_attention",),
        providers=(LIGER, baseline("torch")),
        speed=FORWARD_BACKWARD_FULL,
        memory=("full",),
        sweeps=(
            Sweep(
                answers=("token_length",),
                x_name="seq_len",
                x_label="sequence length",
                points=points,
                probes=probes,
                estimate=436314112,
            ),
            Sweep(
                answers=("model_config",),
                x_name="model_config",
                x_label="model configuration",
                points=preset_points,
                probes=preset_probes,
                estimate=147083264,
            ),
        ),
        build=build,
        tiny=Tiny(
            x={"seq_len": 16},
            sizes={
                "batch_size": 1,
                "seq_len": 16,
                "hidden_size": 32,
                "num_heads": 2,
                "kernel_size": 3,
                "dtype": "torch.float32",
            },
        ),
        timing=Timing(rep=100),
        deviations=(
            Deviation(
                slug="mask-built-in-python",
                text="The baseline sets its mask element by element in every timed forward: at long "
                "sequences that is most of its time.",
                decision="reproduced",
                reason=deviations.COMPARABLE,
                caveat="mask-built-in-forward",
                providers=("torch",),
                passes=("forward", "full"),
            ),
            Deviation(
                slug="idle-module-in-memory",
                text="Both providers' modules exist at once: peak memory includes the idle one's parameters.",
                decision="reproduced",
                reason=deviations.COMPARABLE,
                caveat="idle-module-in-memory",
                passes=("full",),
            ),
            Deviation(
                slug="quadratic-baseline",
                text="The sweep is planned as if memory were linear in the length; the dense baseline "
                "is quadratic and may run out of memory at the last x. Such a case costs itself "
                "alone.",
                decision="reproduced",
                reason="The x values are part of what upstream's rows are.",
                caveat=NoCaveat("It decides which rows exist, not what they mean."),
                providers=("torch",),
            ),
            deviations.WEIGHT_GRADIENTS,
            deviations.REPAIRED_SWEEP,
            Deviation(
                slug="presets-measured-eight-times",
                text="In the model_config sweep x is not read: each of eight presets is measured under eight names.",
                decision="reproduced",
                reason="These are the rows that the repaired sweep would write; repeats show the noise.",
                caveat="preset-not-read",
            ),
        ),
    ),
)
