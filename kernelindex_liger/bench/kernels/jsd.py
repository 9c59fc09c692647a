"""Jensen-Shannon divergence of log-probabilities [BT, V]: Liger's module against plain PyTorch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kernelindex_liger.bench.kernels.shared import deviations
from kernelindex_liger.bench.kernels.shared.common import CUTILE_TOO, FULL_FIRST, LIGER, baseline, both_sweeps
from kernelindex_liger.bench.kernels.shared.distributions import between
from kernelindex_liger.bench.spec import Kernel, Tiny

if TYPE_CHECKING:
    from kernelindex_liger.bench.spec import Case


def loss_of(case: Case) -> Any:
    """The provider's divergence with equal weights."""
    if case.provider == "liger":
        from liger_kernel.transformers.jsd import LigerJSD

        return LigerJSD()
    from kernelindex_liger.bench.references.divergences import jensen_shannon

    return jensen_shannon


KERNELS = (
    Kernel(
        name="jsd",
        script="benchmark_jsd.py",
        liger=("liger_kernel.transformers.jsd",),
        providers=(baseline("torch"), LIGER),
        speed=FULL_FIRST,
        memory=("full",),
        sweeps=both_sweeps(
            "BT",
            "total tokens",
            model_keys=("vocab_size",),
            probe=("torch", 1024),
            estimates=(5253369856, 12457091072),
        ),
        build=between(loss_of, "log_softmax", "log_softmax"),
        tiny=Tiny(x={"BT": 8}, sizes={"bsz": 2, "seq_len": 4, "vocab_size": 64}),
        impls=CUTILE_TOO,
        deviations=(
            deviations.INPUT_IS_NOT_A_LEAF,
            deviations.RANDOM_SCALAR_GRADIENT,
            deviations.GRADIENTS_IN_FORWARD,
            deviations.gradient_drawn(),
        ),
    ),
)
