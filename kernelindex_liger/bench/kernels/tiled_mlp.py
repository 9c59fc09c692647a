"""Gated MLP of [bsz, T, H] in tiles: Liger's modules and DeepSpeed's scheme against LlamaMLP."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kernelindex_liger.bench.kernels.shared import deviations
from kernelindex_liger.bench.kernels.shared.common import (
    CUTILE_TOO,
    FORWARD_BACKWARD_FULL,
    FULL_FIRST,
    LIGER,
    LLAMA,
    baseline,
    parameters,
)
from kernelindex_liger.bench.kernels.shared.mlps import llama, placed, shape
from kernelindex_liger.bench.kernels.shared.rows import hidden_states
from kernelindex_liger.bench.models import MODELS
from kernelindex_liger.bench.spec import Deviation, Kernel, NoCaveat, Points, Probe, Provider, Sweep, Tiny, Work
from kernelindex_liger.bench.sweeps import model_config, powers, safe_length

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kernelindex_liger.bench.models import ModelProfile
    from kernelindex_liger.bench.spec import Case, Config, Request

ACTIVATIONS = {"geglu": "gelu_pytorch_tanh", "swiglu": "silu"}
SHARDS = 4
BATCH = 2
PROBED = 2048


def module(case: Case) -> Any:
    """The provider's MLP."""
    geglu = case.config["activation_type"] == "geglu"
    if case.provider == "liger":
        from liger_kernel.transformers.geglu import LigerGEGLUMLP
        from liger_kernel.transformers.swiglu import LigerSwiGLUMLP

        return (LigerGEGLUMLP if geglu else LigerSwiGLUMLP)(config=shape(case))
    if case.provider == "liger_tiled":
        from liger_kernel.transformers.tiled_mlp import LigerTiledGEGLUMLP, LigerTiledSwiGLUMLP

        made = LigerTiledGEGLUMLP if geglu else LigerTiledSwiGLUMLP
        return made(config=shape(case), num_shards=case.size("num_shards"))
    if case.provider == "deepspeed_tiled":
        from kernelindex_liger.bench.references.tiled import TiledMLP

        return TiledMLP(llama(case), case.size("num_shards"))
    return llama(case)


def build(case: Case) -> Work:
    """Input x [bsz, T, H] with a gradient."""
    x = hidden_states(case, case.size("bsz"), case.size("seq_len", case.x), case.size("hidden_size"))
    layer = placed(case, module)
    weights = {name.removeprefix("mlp."): weight for name, weight in parameters(layer).items()}
    return Work(forward=lambda: layer(x), reset=[x], tensors={"x": x, **weights})


def sizes_of(model: ModelProfile, kind: str) -> Config:
    """The part of a config that comes from the model."""
    return {
        "hidden_size": model.hidden_size,
        "intermediate_size": model.intermediate_size,
        "hidden_act": ACTIVATIONS[kind],
        "dtype": model.dtype,
    }


def token_sweep(kind: str) -> Sweep:
    """Powers of two from 1024; the probe's two sequences count as one, as those of the cases do."""

    def config(request: Request) -> Config:
        return sizes_of(request.model, kind) | {
            "activation_type": kind,
            "num_shards": SHARDS,
            "bsz": BATCH,
        }

    def probes(request: Request) -> tuple[Probe, ...]:
        given = config(request) | {"seq_len": PROBED}
        return (Probe(provider="huggingface", x=0, config=given, model=request.model),)

    def points(request: Request, peaks: Sequence[int]) -> Points:
        longest = request.model.max_position_embeddings
        length = safe_length(request.total_gib, peaks[0], batch=1, length=PROBED, longest=longest)
        return Points(x_values=powers(1024, length), configs=(config(request),))

    return Sweep(
        answers=("token_length",),
        x_name="T",
        x_label="sequence length",
        points=points,
        probes=probes,
        estimate=1275068416,
    )


def model_sweep(kind: str) -> Sweep:
    """All models at --bt tokens, probed with half of them in each of two sequences."""
    fixed = {"activation_type": kind, "num_shards": SHARDS}

    def probe_config(request: Request, model: ModelProfile) -> Config:
        length = min(request.bt, 1024) // BATCH
        return sizes_of(model, kind) | fixed | {"bsz": BATCH, "seq_len": length}

    def config(_request: Request, bsz: int, seq_len: int) -> tuple[Config, ...]:
        models = {m.name: sizes_of(m, kind) for m in MODELS.values()}
        return ({"model_configs": models, **fixed, "bsz": bsz, "seq_len": seq_len},)

    return model_config(
        model_keys=(),
        probe_provider="huggingface",
        probe_config=probe_config,
        probe_x=lambda _request: 0,
        config=config,
        estimate=3407872000,
    )


KERNELS = tuple(
    Kernel(
        name=f"tiled_{kind}",
        script="benchmark_tiled_mlp.py",
        liger=(f"liger_kernel.transformers.{kind}", "liger_kernel.transformers.tiled_mlp"),
        providers=(
            baseline("huggingface", LLAMA),
            LIGER,
            Provider(name="liger_tiled", role="liger"),
            Provider(name="deepspeed_tiled", role="other", requires=(LLAMA,)),
        ),
        speed=FORWARD_BACKWARD_FULL,
        memory=FULL_FIRST,
        sweeps=(token_sweep(kind), model_sweep(kind)),
        build=build,
        tiny=Tiny(
            x={"T": 8},
            sizes={
                "seq_len": 8,
                "bsz": 2,
                "hidden_size": 16,
                "intermediate_size": 32,
                "hidden_act": ACTIVATIONS[kind],
                "dtype": "torch.float32",
            },
        ),
        impls=CUTILE_TOO,
        deviations=(
            deviations.WEIGHT_GRADIENTS,
            deviations.gradient_drawn("gradient-drawn-in-full"),
            deviations.REPAIRED_SWEEP,
            Deviation(
                slug="deepspeed-scheme",
                text="deepspeed_tiled is DeepSpeed's scheme (forward without a graph, tiles repeated "
                "in backward) written here around LlamaMLP, without the bookkeeping for its "
                "optimizer.",
                decision="reproduced",
                reason="Upstream's copy needs no deepspeed either; on one GPU its bookkeeping does nothing.",
                caveat=NoCaveat("The catalogue says so of the provider."),
                providers=("deepspeed_tiled",),
            ),
        ),
    )
    for kind in ACTIVATIONS
)
