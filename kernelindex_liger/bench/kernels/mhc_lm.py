"""A small Llama-like model whose blocks have hyper-connections: Liger's module against plain PyTorch."""

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
from kernelindex_liger.bench.kernels.shared.fixed_gradient import scalar_steps
from kernelindex_liger.bench.models import MODELS
from kernelindex_liger.bench.spec import Deviation, Kernel, NoCaveat, Points, Probe, Sweep, Timing, Tiny, Work
from kernelindex_liger.bench.sweeps import model_config, powers, safe_length

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kernelindex_liger.bench.models import ModelProfile
    from kernelindex_liger.bench.spec import Case, Config, Request

BATCH = 2
PROBED = 256
SHAPE: Config = {"HC": 4, "layers": 2, "heads": 8, "vocab": 4096, "tmax": 8, "intermediate_mult": 4}


def wrap(case: Case, layer: Any) -> Any:
    """The provider's hyper-connections around a block."""
    hidden, streams, dtype = case.size("hidden_size"), case.size("HC"), dtype_of(case)
    constants = {"rms_eps": 1e-06, "pre_eps": 1e-04, "sinkhorn_eps": 1e-06, "post_mult": 2.0}
    if case.provider == "liger":
        from liger_kernel.transformers.mhc import LigerMHC

        return LigerMHC(
            layer,
            hc=streams,
            c=hidden,
            tmax=case.size("tmax"),
            phi_dtype=dtype,
            allow_fp32=case.device == "cpu",
            **constants,
        )
    from kernelindex_liger.bench.references.hyper import HyperConnection, Settings

    settings = Settings(rounds=case.size("tmax"), **constants)
    return HyperConnection(layer, streams=streams, width=hidden, settings=settings, dtype=dtype)


def build(case: Case) -> Work:
    """Random ids [B, T]; the loss is the mean logit; every parameter's gradient is dropped each time."""
    import torch

    from kernelindex_liger.bench.references.hyper_lm import LanguageModel, Sizes

    sizes = Sizes(
        vocab=case.size("vocab"),
        hidden=case.size("hidden_size"),
        streams=case.size("HC"),
        layers=case.size("layers"),
        heads=case.size("heads"),
        mlp_factor=case.size("intermediate_mult"),
        dtype=dtype_of(case),
    )
    with torch.device(case.device):
        model = LanguageModel(sizes, lambda layer: wrap(case, layer))
    ids = torch.randint(0, sizes.vocab, (case.size("B"), case.size("T", case.x)), device=case.device)

    def forward() -> Any:
        return model(ids)

    def loss() -> Any:
        return forward().float().mean()

    weights = parameters(model)
    return Work(
        forward=loss,
        reset=list(weights.values()),
        tensors={"ids": ids, **weights},
        outputs=lambda: (forward(),),
        steps=scalar_steps(forward, loss, list(weights.values())),
    )


def config_of(model: ModelProfile) -> Config:
    """The token_length config."""
    return {"hidden_size": model.hidden_size, "B": BATCH, "dtype": model.dtype, **SHAPE}


def probes(request: Request) -> tuple[Probe, ...]:
    """The baseline at 256 positions, two sequences."""
    config = config_of(request.model) | {"T": PROBED}
    return (Probe(provider="torch", x=0, config=config, model=request.model),)


def points(request: Request, peaks: Sequence[int]) -> Points:
    """Powers of two from 128; the probe's two sequences count as one, as those of the cases do."""
    longest = request.model.max_position_embeddings
    length = safe_length(request.total_gib, peaks[0], batch=1, length=PROBED, longest=longest)
    return Points(x_values=powers(128, length), configs=(config_of(request.model),))


def probe_config(request: Request, model: ModelProfile) -> Config:
    """The token_length config at half of the probed tokens."""
    return config_of(model) | {"T": max(1, min(request.bt, 1024) // BATCH)}


def model_configs(_request: Request, bsz: int, seq_len: int) -> tuple[Config, ...]:
    """One config that holds every model's sizes."""
    models = {m.name: {"hidden_size": m.hidden_size, "dtype": m.dtype} for m in MODELS.values()}
    return ({"model_configs": models, "B": bsz, "T": seq_len, **SHAPE},)


KERNELS = (
    Kernel(
        name="mhc_llama_like_lm",
        script="benchmark_mhc_lm.py",
        liger=("liger_kernel.transformers.mhc",),
        providers=(LIGER, baseline("torch")),
        speed=FORWARD_BACKWARD_FULL,
        memory=("full",),
        sweeps=(
            Sweep(
                answers=("token_length",),
                x_name="T",
                x_label="sequence length",
                points=points,
                probes=probes,
                estimate=2583566336,
            ),
            model_config(
                model_keys=(),
                probe_provider="torch",
                probe_config=probe_config,
                probe_x=lambda _request: 0,
                config=model_configs,
                estimate=9915593728,
            ),
        ),
        build=build,
        tiny=Tiny(
            x={"T": 4},
            sizes={
                "B": 1,
                "T": 4,
                "HC": 2,
                "layers": 1,
                "heads": 2,
                "vocab": 16,
                "tmax": 3,
                "intermediate_mult": 2,
                "hidden_size": 16,
                "dtype": "torch.float32",
            },
        ),
        timing=Timing(rep=100),
        deviations=(
            deviations.MEAN_OF_SQUARES,
            deviations.REPAIRED_SWEEP,
            Deviation(
                slug="model-around-the-kernel",
                text="Attention, MLP, norms and head of both providers are the same plain PyTorch: the"
                " difference between them is that of the hyper-connections alone.",
                decision="reproduced",
                reason=deviations.COMPARABLE,
                caveat=NoCaveat("The workload is the whole model, and its name says so."),
            ),
        ),
    ),
)
