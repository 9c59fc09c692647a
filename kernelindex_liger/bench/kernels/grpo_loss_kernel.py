"""GRPO loss of logits [B, T + 1, V]: Liger's Triton kernel against plain PyTorch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kernelindex_liger.bench.kernels.shared.common import LIGER, baseline, dtype_of
from kernelindex_liger.bench.kernels.shared.deviations import COMPARABLE
from kernelindex_liger.bench.kernels.shared.fixed_gradient import scalar_steps
from kernelindex_liger.bench.spec import Deviation, Kernel, Step, Timing, Tiny, Work
from kernelindex_liger.bench.sweeps import fixed

if TYPE_CHECKING:
    from kernelindex_liger.bench.spec import Case


def build(case: Case) -> Work:
    """Logits [B, T + 1, V] with a gradient; on policy, nothing masked, random reference log-probabilities."""
    import torch

    size, length, vocab = int(case.x), case.size("T"), case.size("V")
    kind = {"dtype": dtype_of(case), "device": case.device}
    logits = torch.randn(size, length + 1, vocab, requires_grad=True, **kind)
    chosen = torch.randint(0, vocab, (size, length), device=case.device)
    advantages = torch.randn(size, **kind)
    mask = torch.ones(size, length, dtype=torch.bool, device=case.device)
    reference = torch.randn(size, length, device=case.device)
    beta, level = case.size("beta"), case.size("importance_sampling_level")
    if case.provider == "liger":
        from liger_kernel.ops import GrpoLossFunction

        def forward() -> Any:
            # temperature 1, clipping 0.2 and 0.2, not in place, mean of sequences' means, no options.
            return GrpoLossFunction.apply(
                *(logits, None, reference, chosen, advantages, mask, 1.0, beta, 0.2, 0.2),
                *(False, "grpo", None, True, level, 1.0, 1.05, None, None, False),
            )[0]
    else:
        from kernelindex_liger.bench.references.policy import grpo_logits

        detach = bool(case.size("baseline_detaches", False))

        def forward() -> Any:
            return grpo_logits(
                logits=logits,
                tokens=chosen,
                mask=mask,
                advantages=advantages,
                reference=reference,
                beta=beta,
                detach_old=detach,
            )

    steps = dict(scalar_steps(forward, forward, [logits]))
    # Upstream drops the gradient in backward only.
    return Work(
        forward=forward,
        reset=[logits],
        tensors={"logits": logits, "chosen": chosen, "advantages": advantages, "reference": reference},
        steps={
            **steps,
            "forward": lambda: Step(call=forward),
            "full": lambda: Step(call=lambda: forward().backward()),
        },
    )


IGNORES_LEVEL = Deviation(
    slug="baseline-ignores-level",
    text="The baseline computes the token-level loss for the sequence level too.",
    decision="reproduced",
    reason=COMPARABLE + " On policy both levels have one value and one gradient.",
    caveat="baseline-ignores-level",
    providers=("torch",),
)

KERNELS = tuple(
    Kernel(
        name=f"grpo_loss_kernel_{level}",
        script="benchmark_grpo_loss_kernel.py",
        liger=("liger_kernel.ops.grpo_loss",),
        providers=(LIGER, baseline("torch")),
        speed=("forward", "full", "backward"),
        memory=("full",),
        sweeps=(
            fixed(
                x_name="B",
                x_label="Batch Size",
                x_values=(2, 4, 8, 16),
                configs=(
                    {
                        "T": 512,
                        "V": 32000,
                        "beta": 0.1,
                        "dtype": "torch.bfloat16",
                        "importance_sampling_level": level,
                    },
                ),
                answers=("token_length", "model_config"),
            ),
        ),
        build=build,
        tiny=Tiny(x={"B": 2}, sizes={"T": 4, "V": 32, "dtype": "torch.float32", "baseline_detaches": True}),
        timing=Timing(rep=100),
        deviations=(
            Deviation(
                slug="baseline-has-no-policy-gradient",
                text="On policy, the baseline divides the policy by itself with its graph, so that the"
                " surrogate's gradient cancels; Liger treats the old policy as a constant. It "
                "computes log_softmax in bfloat16.",
                decision="reproduced",
                reason=COMPARABLE + " The rehearsal compares gradients with the old policy held constant.",
                caveat="surrogate-without-gradient",
                providers=("torch",),
            ),
            *((IGNORES_LEVEL,) if level == "sequence" else ()),
            Deviation(
                slug="gradient-accumulates-in-full",
                text="full does not drop the logits' gradient between repetitions.",
                decision="reproduced",
                reason=COMPARABLE,
                caveat="gradient-added-in-full-grpo-kernel",
                passes=("full",),
            ),
        ),
    )
    for level in ("token", "sequence")
)
