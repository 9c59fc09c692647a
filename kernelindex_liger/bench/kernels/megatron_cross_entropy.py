"""Vocabulary-parallel cross entropy of logits [S, B, V / TP]: Liger's module against Megatron's two."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kernelindex_liger.bench.kernels.shared import deviations
from kernelindex_liger.bench.kernels.shared.common import FORWARD_BACKWARD_FULL, LIGER, MEGATRON, dtype_of
from kernelindex_liger.bench.kernels.shared.megatrons import NEEDS_GPU
from kernelindex_liger.bench.spec import Deviation, Kernel, MemorySampling, NoCaveat, Provider, Step, Timing, Tiny, Work
from kernelindex_liger.bench.sweeps import fixed

if TYPE_CHECKING:
    from collections.abc import Callable

    from kernelindex_liger.bench.spec import Case, Sweep


def loss_of(case: Case, group: Any) -> Callable[[Any, Any], Any]:
    """The provider's (logits, target) -> loss of each token; on a CPU plain PyTorch stands for Megatron's."""
    if case.provider == "liger":
        from liger_kernel.megatron import LigerMegatronCrossEntropy

        loss = LigerMegatronCrossEntropy()
        return lambda logits, target: loss(logits, target, tp_group=group)
    if case.device == "cpu":
        from torch.nn import functional

        return lambda logits, target: functional.cross_entropy(
            logits.flatten(0, 1).float(), target.flatten(), reduction="none"
        ).view(target.shape)
    if case.provider == "megatron-fused":
        from megatron.core.fusions.fused_cross_entropy import fused_vocab_parallel_cross_entropy

        return lambda logits, target: fused_vocab_parallel_cross_entropy(logits, target, group)
    from megatron.core.tensor_parallel.cross_entropy import vocab_parallel_cross_entropy

    return lambda logits, target: vocab_parallel_cross_entropy(logits, target, 0.0, group)


def build(case: Case) -> Work:
    """Logits [S, B, V / TP] in bfloat16 with a gradient, x being V, and targets [S, B] below V.

    On a GPU a process group of this process alone is opened: Megatron's functions ask for one. Raises
    ValueError for a TP above one, which needs as many processes as GPUs.
    """
    import torch

    shape = (case.size("S"), case.size("B"))
    vocab = int(case.x)
    if case.size("TP") != 1:
        raise ValueError(f"{case.kernel}: TP {case.size('TP')} is planned, but only one GPU is measured here")
    group, close = (None, None) if case.device == "cpu" else alone()
    logits = torch.randn(*shape, vocab, device=case.device, dtype=dtype_of(case), requires_grad=True)
    target = torch.randint(0, vocab, shape, device=case.device)
    loss = loss_of(case, group)

    def both() -> None:
        logits.grad = None
        loss(logits, target).sum().backward()

    def both_step() -> Step:
        return Step(call=both)

    def forward_step() -> Step:
        return Step(call=lambda: loss(logits, target))

    return Work(
        forward=lambda: loss(logits, target),
        reset=[logits],
        tensors={"logits": logits, "target": target},
        steps={"forward": forward_step, "backward": both_step, "full": both_step},
        close=close,
    )


def alone() -> tuple[Any, Callable[[], None]]:
    """A process group of one rank on the GPU, and what closes it."""
    from tempfile import TemporaryDirectory

    from torch import distributed

    folder = TemporaryDirectory()
    distributed.init_process_group("nccl", init_method=f"file://{folder.name}/store", rank=0, world_size=1)

    def close() -> None:
        distributed.destroy_process_group()
        folder.cleanup()

    return distributed.group.WORLD, close


def tp_sweep(size: int) -> Sweep:
    """The sweep over the vocabulary on `size` GPUs; one GPU is upstream's default."""
    return fixed(
        x_name="V",
        x_label="vocab size",
        x_values=tuple(2**power for power in range(12, 18)),
        configs=({"S": 2048, "B": 4, "TP": size},),
        answers=("token_length",) if size == 1 else (f"tp{size}",),
        devices=size,
    )


KERNELS = (
    Kernel(
        name="megatron_cross_entropy",
        script="benchmark_megatron_cross_entropy.py",
        liger=("liger_kernel.megatron.cross_entropy",),
        providers=(
            LIGER,
            Provider(name="megatron-fused", role="baseline", requires=(MEGATRON,), cannot_rehearse=NEEDS_GPU),
            Provider(name="megatron-unfused", role="other", requires=(MEGATRON,), cannot_rehearse=NEEDS_GPU),
        ),
        speed=FORWARD_BACKWARD_FULL,
        memory=("full",),
        sweeps=tuple(tp_sweep(size) for size in (1, 2, 4, 8)),
        build=build,
        tiny=Tiny(x={"V": 64}, sizes={"S": 4, "B": 2, "TP": 1, "dtype": "torch.float32"}),
        timing=Timing(method="loop", warmup=10, rep=50, samples=5),
        memory_sampling=MemorySampling(samples=5, warmup=1),
        deviations=(
            deviations.backward_holds_forward("backward-includes-forward"),
            Deviation(
                slug="one-rank-only",
                text="Rows at TP 2, 4 and 8 are planned but not measured: they need a process for each GPU.",
                decision="corrected",
                reason="A worker has one GPU. Upstream's rows on its main branch are at TP 1 as well.",
                caveat="several-gpus",
            ),
            Deviation(
                slug="fixed-loop",
                text="Five means of fifty calls are taken instead of do_bench's samples, without "
                "flushing the L2 cache.",
                decision="reproduced",
                reason=deviations.COMPARABLE + " Every rank has to make the same number of calls.",
                caveat="timed-in-loops",
            ),
            Deviation(
                slug="one-timestamp-a-series",
                text="Each series has its own timestamp; upstream writes one, taken before it measures, on all rows.",
                decision="corrected",
                reason="A timestamp says when a row was measured, for this kernel as for all others.",
                caveat="one-time-for-all",
            ),
            Deviation(
                slug="tagged-like-the-others",
                text="Providers are tagged under another backend; upstream's script ignores the tag.",
                decision="corrected",
                reason="An untagged row would claim the default backend.",
                caveat=NoCaveat("No row of upstream is known to be of another backend."),
            ),
        ),
    ),
)
