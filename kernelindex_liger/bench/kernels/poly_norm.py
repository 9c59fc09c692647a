"""PolyNorm of hidden states [T, H]: Liger's module against plain PyTorch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kernelindex_liger.bench.kernels.shared import deviations
from kernelindex_liger.bench.kernels.shared.common import (
    CUTILE_TOO,
    FORWARD_BACKWARD_FULL,
    LIGER,
    baseline,
    both_sweeps,
    sequence,
)
from kernelindex_liger.bench.kernels.shared.rows import on_rows
from kernelindex_liger.bench.spec import Deviation, Kernel, NoCaveat, Tiny

if TYPE_CHECKING:
    from kernelindex_liger.bench.spec import Case


def layer(case: Case) -> Any:
    """The provider's norm; its three weights and bias are float32."""
    if case.provider == "liger":
        from liger_kernel.transformers.poly_norm import LigerPolyNorm

        return LigerPolyNorm(eps=case.size("eps")).to(case.device)
    from kernelindex_liger.bench.references.norms import PolyNorm

    return PolyNorm(case.size("eps")).to(case.device)


KERNELS = (
    Kernel(
        name="poly_norm",
        script="benchmark_poly_norm.py",
        liger=("liger_kernel.transformers.poly_norm",),
        providers=(baseline("torch"), LIGER),
        speed=FORWARD_BACKWARD_FULL,
        memory=("full",),
        sweeps=both_sweeps(
            "T",
            "Sequence length",
            model_keys=("hidden_size", "dtype"),
            extra={"eps": 1e-06},
            probe=("torch", 1024),
            estimates=(209725440, 838879232),
        ),
        build=on_rows(layer, sequence),
        tiny=Tiny(x={"T": 8}, sizes={"seq_len": 8, "hidden_size": 64, "dtype": "torch.float32"}),
        impls=CUTILE_TOO,
        deviations=(
            Deviation(
                slug="float32-weights",
                text="Parameters stay float32 whatever the input's dtype is.",
                decision="reproduced",
                reason=deviations.COMPARABLE,
                caveat=NoCaveat("The catalogue reads them as float32, and every output has the input's dtype."),
            ),
            deviations.PARAMETER_GRADIENTS,
            deviations.gradient_drawn(),
        ),
    ),
)
