"""Upstream's shared measuring rules, on a kernel's `Work`: what one sample of a pass is. Imports torch."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from kernelindex_liger.bench.spec import MemorySampling, Metric, Step, Timing, Work

if TYPE_CHECKING:
    from collections.abc import Sequence

QUANTILES = (0.5, 0.2, 0.8)
"""What becomes y_value_50, y_value_20 and y_value_80."""


@dataclass(frozen=True, slots=True)
class Sampled:
    """Quantiles of the samples (ms, or MiB) and how many samples there were."""

    y: tuple[float, float, float]
    samples: int


def step_of(work: Work, pass_name: str, metric: Metric) -> Step:
    """What one sample of the pass calls: the kernel's own step where it has one, else the shared rule.

    Raises ValueError for a pass that has no rule.
    """
    own = work.memory_steps if metric == "memory" and pass_name in work.memory_steps else work.steps
    if pass_name in own:
        return own[pass_name]()
    match pass_name:
        case "forward":
            return Step(call=work.forward, reset=work.reset)
        case "backward":
            y = work.forward()
            gradient = torch.randn_like(y)
            return Step(call=lambda: y.backward(gradient, retain_graph=True), reset=work.reset)
        case "full":
            return Step(call=lambda: _full(work), reset=work.reset)
        case "no-grad-forward" if metric == "speed":
            return Step(call=lambda: _no_grad_forward(work))
    raise ValueError(f"no rule measures {metric} of the pass {pass_name!r}")


def _full(work: Work) -> None:
    y = work.forward()
    y.backward(torch.randn_like(y), retain_graph=True)


def _no_grad_forward(work: Work) -> None:
    with torch.no_grad():
        work.forward()


def quantiles(samples: Sequence[float]) -> tuple[float, float, float]:
    """QUANTILES of the samples, linearly interpolated as triton does it."""
    ordered = sorted(samples)

    def at(q: float) -> float:
        point = q * (len(ordered) - 1)
        low, high = math.floor(point), math.ceil(point)
        share = point - low
        return (1 - share) * ordered[low] + share * ordered[high]

    return at(QUANTILES[0]), at(QUANTILES[1]), at(QUANTILES[2])


def sample_speed(step: Step, timing: Timing) -> Sampled:
    """Time the step on the current CUDA device, in milliseconds."""
    samples = _event_loop(step, timing) if timing.method == "loop" else _do_bench(step, timing)
    return Sampled(quantiles(samples), len(samples))


def _do_bench(step: Step, timing: Timing) -> list[float]:
    from triton.testing import do_bench

    # All samples, not quantiles: their number would be lost, and the quantiles are the same.
    samples: list[float] = do_bench(
        step.call,
        warmup=timing.warmup,
        rep=timing.rep,
        grad_to_none=list(step.reset) or None,
        return_mode="all",
    )
    return [float(sample) for sample in samples]


def _event_loop(step: Step, timing: Timing) -> list[float]:
    for _ in range(timing.warmup):
        step.call()
    samples = []
    for _ in range(timing.samples or 1):
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        torch.cuda.synchronize()
        start.record()
        for _ in range(timing.rep):
            step.call()
        end.record()
        torch.cuda.synchronize()
        samples.append(start.elapsed_time(end) / timing.rep)
    return samples


def sample_memory(step: Step, sampling: MemorySampling) -> Sampled:
    """Peak allocation of one step on the current CUDA device, in MiB, resident tensors included."""
    for _ in range(sampling.warmup):
        step.call()
    peaks = []
    for _ in range(sampling.samples):
        torch.cuda.memory.reset_peak_memory_stats()
        step.call()
        peaks.append(torch.cuda.max_memory_allocated() / 2**20)
    # float32, as upstream's numbers are.
    found = torch.quantile(torch.tensor(peaks, dtype=torch.float), torch.tensor(QUANTILES, dtype=torch.float))
    y50, y20, y80 = found.tolist()
    return Sampled((y50, y20, y80), len(peaks))
