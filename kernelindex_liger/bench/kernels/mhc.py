"""Hyper-connections over streams [B, T, HC, C], three functions of Liger's against plain PyTorch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kernelindex_liger.bench.kernels.shared import deviations
from kernelindex_liger.bench.kernels.shared.common import FORWARD_BACKWARD_FULL, LIGER, baseline
from kernelindex_liger.bench.kernels.shared.fixed_gradient import scalar_steps
from kernelindex_liger.bench.models import MODELS
from kernelindex_liger.bench.spec import Deviation, Kernel, NoCaveat, Points, Probe, Sweep, Timing, Tiny, Work
from kernelindex_liger.bench.sweeps import model_config, powers, safe_length

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from kernelindex_liger.bench.models import ModelProfile
    from kernelindex_liger.bench.spec import Case, Config, Request

BATCH = 4
STREAMS = 4
PROBED = 256
CONSTANTS: Config = {
    "tmax": 20,
    "rms_eps": 1e-06,
    "pre_eps": 0.0,
    "sinkhorn_eps": 1e-06,
    "post_mult": 2.0,
}
ESTIMATES = {
    "coeffs": (437785600, 875566080),
    "pre": (251692032, 503350272),
    "post_res": (461456384, 922829824),
}


def leaves(case: Case, dtype: Any) -> Mapping[str, Any]:
    """x, phi, bias and the three scales; they require gradients in backward and full only."""
    import torch

    needs = case.pass_name in {"backward", "full"}
    streams, width = case.size("HC"), case.size("C", case.model.hidden_size)
    logits = streams * streams + 2 * streams
    kind = {"device": case.device, "dtype": dtype}
    shape = (case.size("B"), case.size("T", case.x), streams, width)
    x = torch.randn(*shape, requires_grad=needs, **kind)
    phi = (torch.randn(streams * width, logits, **kind) * 0.02).requires_grad_(needs)
    found = {"x": x, "phi": phi, "b": torch.zeros(logits, device=case.device, requires_grad=needs)}
    for name in ("alpha_pre", "alpha_post", "alpha_res"):
        found[name] = torch.tensor(1.0, device=case.device, requires_grad=needs)
    return found


def coefficients(case: Case, given: Mapping[str, Any], *, liger: bool) -> Any:
    """Reading, writing and mixing weights of the streams."""
    constants = {name: case.size(name) for name in CONSTANTS}
    if liger:
        from liger_kernel.transformers.functional import liger_mhc_coeffs

        return liger_mhc_coeffs(*given.values(), allow_fp32=case.device == "cpu", **constants)
    from kernelindex_liger.bench.references import hyper

    x, phi, bias, *alphas = given.values()
    settings = hyper.Settings(
        rounds=constants["tmax"],
        rms_eps=constants["rms_eps"],
        pre_eps=constants["pre_eps"],
        sinkhorn_eps=constants["sinkhorn_eps"],
        post_mult=constants["post_mult"],
    )
    return hyper.coefficients(x, phi, bias, (alphas[0], alphas[1], alphas[2]), settings)


def build(case: Case) -> Work:
    """One of the three functions, by the config's sub_kernel; its loss is the mean square of its outputs."""
    import torch

    sub, liger = case.config["sub_kernel"], case.provider == "liger"
    dtype = getattr(torch, case.size("mhc_dtype", "torch.bfloat16").removeprefix("torch."))
    given = leaves(case, dtype)
    if sub == "coeffs":
        return work(lambda: coefficients(case, given, liger=liger), given)
    # Upstream takes these weights from Liger for both providers: they are inputs here, not what is timed.
    with torch.no_grad():
        made = coefficients(case, {k: t.detach() for k, t in given.items()}, liger=True)
    pre, post, res = (weights.requires_grad_(given["x"].requires_grad) for weights in made)
    if sub == "pre":
        inputs = {"x": given["x"], "pre": pre}
        read = reading(liger=liger)
        return work(lambda: (read(*inputs.values()),), inputs)
    out = torch.randn_like(given["x"][..., 0, :]).requires_grad_(given["x"].requires_grad)
    inputs = {"x": given["x"], "out": out, "post": post, "res": res}
    write = writing(liger=liger)
    return work(lambda: (write(*inputs.values()),), inputs)


def reading(*, liger: bool) -> Callable[..., Any]:
    """The provider's (x, pre) -> [B, T, C]."""
    if liger:
        from liger_kernel.transformers.functional import liger_mhc_pre

        return liger_mhc_pre
    from kernelindex_liger.bench.references.hyper import read_streams

    return read_streams


def writing(*, liger: bool) -> Callable[..., Any]:
    """The provider's (x, out, post, res) -> [B, T, HC, C]."""
    if liger:
        from liger_kernel.transformers.functional import liger_mhc_post_res

        return liger_mhc_post_res
    from kernelindex_liger.bench.references.hyper import write_streams

    return write_streams


def work(outputs: Callable[[], Sequence[Any]], inputs: Mapping[str, Any]) -> Work:
    """Forward gives the outputs, backward starts from the sum of their mean squares."""

    def loss() -> Any:
        first, *others = (found.square().mean() for found in outputs())
        for other in others:
            first = first + other
        return first

    reset = list(inputs.values())
    steps = scalar_steps(outputs, loss, reset)
    return Work(forward=loss, reset=reset, tensors=inputs, outputs=outputs, steps=steps)


def token_sweep(sub: str) -> Sweep:
    """Powers of two from 128; the probe's four sequences count as one, as those of the cases do."""

    def config(model: ModelProfile) -> Config:
        return {"B": BATCH, "HC": STREAMS, "C": model.hidden_size, "sub_kernel": sub, **CONSTANTS}

    def probes(request: Request) -> tuple[Probe, ...]:
        given = config(request.model) | {"T": PROBED}
        return (Probe(provider="torch", x=0, config=given, model=request.model),)

    def points(request: Request, peaks: Sequence[int]) -> Points:
        longest = request.model.max_position_embeddings
        length = safe_length(request.total_gib, peaks[0], batch=1, length=PROBED, longest=longest)
        return Points(x_values=powers(128, length), configs=(config(request.model),))

    return Sweep(
        answers=("token_length",),
        x_name="T",
        x_label="Sequence Length (T)",
        points=points,
        probes=probes,
        estimate=ESTIMATES[sub][0],
    )


def model_sweep(sub: str) -> Sweep:
    """All models at --bt tokens."""

    def probe_config(request: Request, model: ModelProfile) -> Config:
        length = max(1, min(request.bt, 1024) // BATCH)
        sizes = {"B": BATCH, "HC": STREAMS, "C": model.hidden_size, "T": length}
        return sizes | {"sub_kernel": sub} | CONSTANTS

    def config(_request: Request, bsz: int, seq_len: int) -> tuple[Config, ...]:
        models = {m.name: {"hidden_size": m.hidden_size, "dtype": m.dtype} for m in MODELS.values()}
        sizes = {"model_configs": models, "B": bsz, "HC": STREAMS, "T": seq_len}
        return (sizes | {"sub_kernel": sub} | CONSTANTS,)

    return model_config(
        model_keys=(),
        probe_provider="torch",
        probe_config=probe_config,
        probe_x=lambda _request: 0,
        config=config,
        estimate=ESTIMATES[sub][1],
    )


KERNELS = tuple(
    Kernel(
        name=f"mhc_{sub}",
        script="benchmark_mhc.py",
        liger=("liger_kernel.ops.mhc",),
        providers=(LIGER, baseline("torch")),
        speed=FORWARD_BACKWARD_FULL,
        memory=("full",),
        sweeps=(token_sweep(sub), model_sweep(sub)),
        build=build,
        tiny=Tiny(
            x={"T": 4},
            sizes={"B": 2, "T": 4, "HC": 2, "C": 16, "tmax": 4, "mhc_dtype": "torch.float32"},
        ),
        timing=Timing(rep=100),
        deviations=(
            Deviation(
                slug="forward-without-gradients",
                text="No input requires a gradient in the forward pass, so that nothing is saved for a backward.",
                decision="reproduced",
                reason=deviations.COMPARABLE,
                caveat="forward-without-gradients",
                passes=("forward",),
            ),
            Deviation(
                slug="always-bfloat16",
                text="x is bfloat16 whatever the model's dtype is.",
                decision="reproduced",
                reason=deviations.COMPARABLE,
                caveat=NoCaveat("Every model's dtype here is bfloat16."),
            ),
            deviations.MEAN_OF_SQUARES,
            deviations.REPAIRED_SWEEP,
            *(
                ()
                if sub == "coeffs"
                else (
                    deviations.float32_output("fp32-output-hyper", "torch"),
                    Deviation(
                        slug="coefficients-from-liger",
                        text="The weights of the streams come from Liger's kernel for both providers.",
                        decision="reproduced",
                        reason="They are inputs; both providers get the same.",
                        caveat=NoCaveat("They are made before anything is timed, and both providers get the same."),
                    ),
                )
            ),
        ),
    )
    for sub in ESTIMATES
)
