"""Multi-token attention of scores [B, C, L, L] (sparsemax): Liger's module against plain PyTorch."""

from __future__ import annotations

from kernelindex_liger.bench.kernels.shared import deviations
from kernelindex_liger.bench.kernels.shared.common import FORWARD_BACKWARD_FULL, LIGER, baseline
from kernelindex_liger.bench.kernels.shared.score_maps import (
    DEVIATIONS,
    SHAPE,
    TINY,
    build_with,
    probe_config,
    side,
    token_sweep,
)
from kernelindex_liger.bench.spec import Deviation, Kernel, NoCaveat, Timing
from kernelindex_liger.bench.sweeps import model_config

KERNELS = (
    Kernel(
        name="sparse_multi_token_attention",
        script="benchmark_sparse_multi_token_attention.py",
        liger=("liger_kernel.transformers.multi_token_attention",),
        providers=(LIGER, baseline("torch")),
        speed=FORWARD_BACKWARD_FULL,
        memory=("full",),
        sweeps=(
            token_sweep(lambda _model: "torch.float32", estimate=26492416),
            model_config(
                model_keys=("dtype",),
                probe_provider="torch",
                probe_config=probe_config,
                probe_x=lambda _request: 0,
                config=lambda _request, bsz, seq_len: (
                    {"dtype": "torch.float32", **SHAPE, "B": bsz, "L": side(seq_len)},
                ),
                estimate=214016,
            ),
        ),
        build=build_with(sparse=True),
        tiny=TINY,
        timing=Timing(rep=100),
        deviations=(
            *DEVIATIONS,
            Deviation(
                slug="probed-in-another-dtype",
                text="Sizes are planned from a probe in the model's bfloat16 but measured in float32, "
                "which needs more.",
                decision="reproduced",
                reason="The x values are part of what upstream's rows are; a case that does not fit "
                "costs itself alone.",
                caveat=NoCaveat("It decides which rows exist, not what they mean."),
            ),
            deviations.REPAIRED_SWEEP,
            Deviation(
                slug="model-not-read",
                text="Nothing of the model is read in the model_config sweep: seven names for one problem.",
                decision="reproduced",
                reason="These are the rows that the repaired sweep would write; repeats show the noise.",
                caveat="model-not-read",
            ),
        ),
    ),
)
