"""Multi-token attention of scores [B, C, L, L] (softmax): Liger's module against plain PyTorch."""

from __future__ import annotations

from kernelindex_liger.bench.kernels.shared import deviations
from kernelindex_liger.bench.kernels.shared.common import CUTILE_TOO, FORWARD_BACKWARD_FULL, LIGER, baseline
from kernelindex_liger.bench.kernels.shared.score_maps import (
    DEVIATIONS,
    SHAPE,
    TINY,
    build_with,
    probe_config,
    side,
    token_sweep,
)
from kernelindex_liger.bench.models import MODELS
from kernelindex_liger.bench.spec import Kernel, Timing
from kernelindex_liger.bench.sweeps import model_config

KERNELS = (
    Kernel(
        name="multi_token_attention",
        script="benchmark_multi_token_attention.py",
        liger=("liger_kernel.transformers.multi_token_attention",),
        providers=(LIGER, baseline("torch")),
        speed=FORWARD_BACKWARD_FULL,
        memory=("full",),
        sweeps=(
            token_sweep(lambda model: model.dtype, estimate=7539712),
            model_config(
                model_keys=("dtype",),
                probe_provider="torch",
                probe_config=probe_config,
                probe_x=lambda _request: 0,
                config=lambda _request, bsz, seq_len: (
                    {
                        "model_configs": {m.name: {"dtype": m.dtype} for m in MODELS.values()},
                        **SHAPE,
                        "B": bsz,
                        "L": side(seq_len),
                    },
                ),
                estimate=61952,
            ),
        ),
        build=build_with(sparse=False),
        tiny=TINY,
        timing=Timing(rep=100),
        impls=CUTILE_TOO,
        deviations=(*DEVIATIONS, deviations.REPAIRED_SWEEP),
    ),
)
