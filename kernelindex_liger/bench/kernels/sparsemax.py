"""Sparsemax over one dimension of [BT, H]: Liger's module against a sorting one in plain PyTorch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kernelindex_liger.bench.kernels.shared.common import (
    CUTILE_TOO,
    FORWARD_BACKWARD_FULL,
    LIGER,
    baseline,
    both_sweeps,
)
from kernelindex_liger.bench.kernels.shared.deviations import COMPARABLE, gradient_drawn
from kernelindex_liger.bench.kernels.shared.rows import on_rows
from kernelindex_liger.bench.spec import Deviation, Kernel, Tiny

if TYPE_CHECKING:
    from kernelindex_liger.bench.spec import Case


def layer(case: Case) -> Any:
    """The provider's sparsemax along the config's dim."""
    dim = case.config.get("dim", -1)
    if case.provider == "liger":
        from liger_kernel.transformers.sparsemax import LigerSparsemax

        return LigerSparsemax(dim=dim)
    from kernelindex_liger.bench.references.activations import sparsemax

    return lambda x: sparsemax(x, dim)


KERNELS = (
    Kernel(
        name="sparsemax",
        script="benchmark_sparsemax.py",
        liger=("liger_kernel.transformers.sparsemax",),
        providers=(baseline("torch"), LIGER),
        speed=FORWARD_BACKWARD_FULL,
        memory=("full",),
        sweeps=both_sweeps(
            "BT",
            "B*T",
            model_keys=("hidden_size", "dtype"),
            extra={"dim": -1},
            probe=("torch", 2048),
            estimates=(184549376, 369098752),
        ),
        build=on_rows(layer),
        tiny=Tiny(x={"BT": 8}, sizes={"bsz": 2, "seq_len": 4, "hidden_size": 64, "dtype": "torch.float32"}),
        impls=CUTILE_TOO,
        deviations=(
            gradient_drawn(),
            Deviation(
                slug="baseline-in-bfloat16",
                text="The baseline sorts, sums and ranks in the input's own bfloat16, which cannot "
                "hold ranks above 256 exactly, while Liger computes in float32: the results "
                "differ at benchmarked sizes.",
                decision="reproduced",
                reason=COMPARABLE,
                caveat="baseline-in-bf16",
                providers=("torch",),
            ),
        ),
    ),
)
