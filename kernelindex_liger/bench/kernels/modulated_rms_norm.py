"""RMS norm of [BT, H] with a scale and shift for each row: Liger's module against plain PyTorch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kernelindex_liger.bench.kernels.shared import deviations
from kernelindex_liger.bench.kernels.shared.common import FULL_FIRST, LIGER, baseline, dtype_of
from kernelindex_liger.bench.models import MODELS
from kernelindex_liger.bench.spec import Deviation, Kernel, NoCaveat, Points, Probe, Sweep, Tiny, Work
from kernelindex_liger.bench.sweeps import model_config, powers, safe_length

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kernelindex_liger.bench.models import ModelProfile
    from kernelindex_liger.bench.spec import Case, Config, Request

PROBED = 1024


def build(case: Case) -> Work:
    """x, scale, shift [BT, H], all with a gradient that is dropped each time; weight ones[H] in float32."""
    import torch

    rows, hidden = case.size("BT", case.x), case.size("hidden_size")
    x = torch.randn(rows, hidden, device=case.device, dtype=dtype_of(case), requires_grad=True)
    scale = (torch.randn_like(x) * 0.1).requires_grad_()
    shift = (torch.randn_like(x) * 0.1).requires_grad_() if case.config["has_shift"] else None
    if case.provider == "liger":
        from liger_kernel.transformers.modulated_rms_norm import LigerModulatedRMSNorm

        layer = LigerModulatedRMSNorm(hidden_size=hidden, eps=case.size("eps"), in_place=False)
    else:
        from kernelindex_liger.bench.references.norms import ModulatedRMSNorm

        layer = ModulatedRMSNorm(hidden, case.size("eps"))
    layer = layer.to(case.device)
    inputs = {"x": x, "scale": scale} | ({} if shift is None else {"shift": shift})
    return Work(
        forward=lambda: layer(x, scale, shift),
        reset=list(inputs.values()),
        tensors={**inputs, "weight": layer.weight},
    )


def config_of(model: ModelProfile) -> Config:
    """The token_length config, which is also what both sweeps probe."""
    return {"hidden_size": model.hidden_size, "dtype": model.dtype, "eps": 1e-06, "has_shift": True}


def probes(request: Request) -> tuple[Probe, ...]:
    """The baseline with 1024 rows."""
    return (Probe(provider="huggingface", x=PROBED, config=config_of(request.model), model=request.model),)


def points(request: Request, peaks: Sequence[int]) -> Points:
    """Powers of two from 1024 to the length that fits, at one sequence."""
    longest = request.model.max_position_embeddings
    length = safe_length(request.total_gib, peaks[0], batch=1, length=PROBED, longest=longest)
    return Points(x_values=powers(1024, length), configs=(config_of(request.model),))


def model_configs(_request: Request, bsz: int, seq_len: int) -> tuple[Config, ...]:
    """One config that holds every model's sizes."""
    sizes = {m.name: {"hidden_size": m.hidden_size, "dtype": m.dtype} for m in MODELS.values()}
    return ({"model_configs": sizes, "BT": bsz * seq_len, "eps": 1e-06, "has_shift": True},)


KERNELS = (
    Kernel(
        name="modulated_rms_norm",
        script="benchmark_modulated_rms_norm.py",
        liger=("liger_kernel.transformers.modulated_rms_norm",),
        providers=(LIGER, baseline("huggingface")),
        speed=FULL_FIRST,
        memory=("full",),
        sweeps=(
            Sweep(
                answers=("token_length",),
                x_name="BT",
                x_label="B * T",
                points=points,
                probes=probes,
                estimate=176193536,
            ),
            model_config(
                model_keys=("hidden_size", "dtype"),
                probe_provider="huggingface",
                probe_config=lambda _request, model: config_of(model),
                probe_x=lambda request: min(request.bt, 1024),
                config=model_configs,
                estimate=352387072,
            ),
        ),
        build=build,
        tiny=Tiny(x={"BT": 8}, sizes={"BT": 8, "hidden_size": 64, "dtype": "torch.float32"}),
        deterministic="full",
        environment={"CUBLAS_WORKSPACE_CONFIG": ":4096:8"},
        deviations=(
            deviations.REPAIRED_SWEEP,
            Deviation(
                slug="token-length-sweep-repaired",
                text="Upstream's token_length sweep raises TypeError before it measures anything (it "
                "passes an argument that its helper no longer takes); it runs here, planned from "
                "the same probe.",
                decision="corrected",
                reason="No upstream row can exist to compare with.",
                caveat=NoCaveat("Upstream has no such rows, and ours mean what they say."),
            ),
            deviations.float32_output("fp32-output", "huggingface"),
            deviations.PARAMETER_GRADIENTS,
            deviations.gradient_drawn(),
            deviations.FULLY_DETERMINISTIC,
        ),
    ),
)
