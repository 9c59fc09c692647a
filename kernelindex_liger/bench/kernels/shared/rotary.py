"""Rotary embeddings of queries and keys."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kernelindex_liger.bench.kernels.shared.common import (
    FORWARD_BACKWARD_FULL,
    both_sweeps,
    dtype_of,
    sequence,
)
from kernelindex_liger.bench.kernels.shared.deviations import (
    COMPARABLE,
    HEAD_DIM,
    QUERY_ONLY,
    TABLES_OF_OUR_OWN,
    gradient_drawn,
)
from kernelindex_liger.bench.spec import Deviation, Tiny, Work

if TYPE_CHECKING:
    from collections.abc import Callable

    from kernelindex_liger.bench.spec import Case, Sweep

PASSES = FORWARD_BACKWARD_FULL
DEVIATIONS = (
    HEAD_DIM,
    QUERY_ONLY,
    gradient_drawn(),
    TABLES_OF_OUR_OWN,
    Deviation(
        slug="rotated-in-place",
        text="Liger rotates its inputs in place: each repeated forward rotates what the last one gave, and "
        "no output is allocated. The baseline leaves its inputs as they are.",
        decision="reproduced",
        reason=COMPARABLE + " The values do not change the work.",
        caveat="rotated-in-place",
        providers=("liger",),
    ),
)
LEAF_GRADIENTS = Deviation(
    slug="leaf-gradients-accumulate",
    text="What is dropped between repetitions is the gradient of a transposed view; those of the tensors behind query "
    "and key accumulate, so that backward includes an addition after the first call.",
    decision="reproduced",
    reason=COMPARABLE,
    caveat="leaf-gradients-added",
    passes=("backward", "full"),
)
TINY = Tiny(
    x={"T": 8},
    sizes={
        "seq_len": 8,
        "bsz": 1,
        "hidden_size": 128,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "dtype": "torch.float32",
    },
)


def rotary_sweeps(estimates: tuple[int, int]) -> tuple[Sweep, Sweep]:
    """Sweeps over the sequence length, probed with the baseline at 2048."""
    return both_sweeps(
        "T",
        "sequence length",
        model_keys=("hidden_size", "num_attention_heads", "num_key_value_heads", "dtype"),
        probe=("huggingface", 2048),
        estimates=estimates,
    )


def head_dim(case: Case) -> int:
    """hidden_size // heads, as upstream has it."""
    return int(case.size("hidden_size") // case.size("num_attention_heads"))


def rotated(
    make: Callable[[Case, Any, int], Callable[[Any, Any], tuple[Any, Any]]], *, heads_first: bool
) -> Callable[[Case], Work]:
    """A build for rotate(q, k) -> (q, k), of which the query alone is differentiated.

    q and k are drawn as [1, T, heads, head_dim] leaves; with `heads_first` their transposed views.
    `make(case, q, length)` gives the rotation, tables included.
    """

    def build(case: Case) -> Work:
        import torch

        length, width = sequence(case), head_dim(case)
        leaves = [
            torch.randn(
                1,
                length,
                case.size(heads),
                width,
                device=case.device,
                requires_grad=True,
                dtype=dtype_of(case),
            )
            for heads in ("num_attention_heads", "num_key_value_heads")
        ]
        q, k = (leaf.transpose(1, 2) for leaf in leaves) if heads_first else leaves
        rotate = make(case, q, length)
        if case.device != "cpu":
            return Work(forward=lambda: rotate(q, k)[0], reset=[q], tensors={"q": leaves[0], "k": leaves[1]})
        # Liger rotates in place: a second call would rotate again, so a rehearsal keeps what came out.
        last: list[Any] = []

        def forward() -> Any:
            last[:] = rotate(q, k)
            return last[0]

        return Work(forward=forward, reset=[q], tensors={"q": leaves[0], "k": leaves[1]}, outputs=lambda: last)

    return build
