"""Gated experts on routed tokens [T, H]: Liger's autograd function against a loop over experts in PyTorch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kernelindex_liger.bench.kernels.shared.common import FULL_FIRST, LIGER, baseline, dtype_of
from kernelindex_liger.bench.kernels.shared.deviations import COMPARABLE, gradient_drawn
from kernelindex_liger.bench.spec import Deviation, Kernel, NoCaveat, Points, Probe, Sweep, Tiny, Work
from kernelindex_liger.bench.sweeps import fixed, floor_pow2, powers, usable_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from kernelindex_liger.bench.spec import Case, Config, Request

PROBED = 8192
BY_TOKENS: Config = {
    "sweep_dim": "T",
    "T": None,
    "E": 128,
    "H": 2048,
    "intermediate_dim": 768,
    "K": 8,
    "dtype": "torch.bfloat16",
}
BY_EXPERTS: Config = BY_TOKENS | {"sweep_dim": "E", "T": PROBED, "E": None}


def inputs(case: Case) -> Mapping[str, Any]:
    """Tokens, both projections, routing and its shares; the projections are scaled copies of leaves."""
    import torch

    swept, x = case.config["sweep_dim"], int(case.x)
    count = x if swept == "T" else case.size("T")
    experts = x if swept == "E" else case.size("E")
    hidden, inner = case.size("H"), case.size("intermediate_dim")
    kind = {"dtype": dtype_of(case), "device": case.device}
    torch.manual_seed(42)
    tokens = torch.randn(count, hidden, requires_grad=True, **kind)
    gate_up_leaf = torch.randn(experts, 2 * inner, hidden, requires_grad=True, **kind)
    gate_up = gate_up_leaf * 0.02
    down_leaf = torch.randn(experts, hidden, inner, requires_grad=True, **kind)
    down = down_leaf * 0.02
    logits = torch.randn(count, experts, device=case.device)
    chosen = torch.topk(logits, case.size("K"), dim=-1).indices.to(torch.int32)
    shares = torch.softmax(torch.gather(logits, 1, chosen.long()), dim=-1)
    shares = shares.to(kind["dtype"]).requires_grad_()
    return {
        "x": tokens,
        "gate_up": gate_up,
        "down": down,
        "chosen": chosen,
        "shares": shares,
        "gate_up_leaf": gate_up_leaf,
        "down_leaf": down_leaf,
    }


def function(case: Case) -> Callable[..., Any]:
    """The provider's (x, gate_up, down, chosen, shares) -> [T, H]."""
    if case.provider == "liger":
        from liger_kernel.ops import LigerFusedMoEFunction

        apply: Any = LigerFusedMoEFunction.apply
        return apply
    from kernelindex_liger.bench.references.moe import expert_loop

    return expert_loop


def call(apply: Callable[..., Any], given: Mapping[str, Any]) -> Any:
    """One forward of the inputs."""
    return apply(given["x"], given["gate_up"], given["down"], given["chosen"], given["shares"])


def build(case: Case) -> Work:
    """Seeded inputs; on a GPU Liger runs once on a set of its own before, so that it is tuned when timed."""
    apply = function(case)
    if case.provider == "liger" and case.device != "cpu":
        call(apply, inputs(case)).sum().backward()
    given = inputs(case)
    return Work(
        forward=lambda: call(apply, given),
        reset=[given[name] for name in ("x", "gate_up", "down", "shares")],
        tensors={name: given[name] for name in ("x", "gate_up_leaf", "down_leaf", "chosen", "shares")},
    )


def probes(request: Request) -> tuple[Probe, ...]:
    """The baseline with 8192 tokens."""
    return (Probe(provider="huggingface", x=PROBED, config=BY_TOKENS, model=request.model),)


def points(request: Request, peaks: Sequence[int]) -> Points:
    """Powers of two from 128 to what fits, between 256 and 32768."""
    fits = int(usable_bytes(request.total_gib) / max(1, peaks[0] // PROBED))
    return Points(x_values=powers(128, floor_pow2(max(256, min(fits, 32768)))), configs=(BY_TOKENS,))


KERNELS = (
    Kernel(
        name="fused_moe",
        script="benchmark_fused_moe.py",
        liger=("liger_kernel.ops.fused_moe",),
        providers=(LIGER, baseline("huggingface")),
        speed=FULL_FIRST,
        memory=FULL_FIRST,
        sweeps=(
            Sweep(
                answers=("token_length",),
                x_name="T",
                x_label="num_tokens",
                points=points,
                probes=probes,
                estimate=6561725952,
            ),
            fixed(
                x_name="E",
                x_label="num_experts",
                x_values=(8, 16, 32, 64, 128),
                configs=(BY_EXPERTS,),
                answers=("num_experts",),
            ),
        ),
        build=build,
        tiny=Tiny(
            x={"T": 8, "E": 4},
            sizes={"T": 8, "E": 4, "H": 16, "intermediate_dim": 16, "K": 2, "dtype": "torch.float32"},
        ),
        deviations=(
            gradient_drawn("gradient-drawn-in-full"),
            Deviation(
                slug="weights-are-not-leaves",
                text="The experts' weights are scaled copies of leaves: each backward also "
                "differentiates the scaling, and the leaves' gradients are never dropped.",
                decision="reproduced",
                reason=COMPARABLE,
                caveat="weight-scaling-included",
                passes=("backward", "full"),
            ),
            Deviation(
                slug="warmed-before-each-case",
                text="Liger runs once before each case, not once a script.",
                decision="corrected",
                reason="Cases are measured in processes that may be fresh; what is timed is the same.",
                caveat=NoCaveat("What is timed is the same."),
                providers=("liger",),
            ),
        ),
    ),
)
