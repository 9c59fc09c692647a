"""How a run goes about a case: options, the message to the worker, the protocol that documents name."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from kernelindex_liger.bench import registry
from kernelindex_liger.bench.protocol import CaseMessage
from kernelindex_liger.documents.sidecar import Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kernelindex_liger.bench.plan import Series
    from kernelindex_liger.bench.spec import Kernel, Probe

CUDA = "kernelindex_liger.bench.cuda:CudaBackend"
REHEARSAL = "kernelindex_liger.bench.rehearse:CpuBackend"
REHEARSAL_ENVIRONMENT = {"TRITON_INTERPRET": "1", "TORCHDYNAMO_DISABLE": "1", "CUDA_VISIBLE_DEVICES": ""}
"""Interpreted Triton, eager torch.compile, no GPU."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How a run goes about it."""

    timeout: float = 600.0
    """Seconds a case may take, set-up and compilation included."""
    rep: int | None = None
    warmup: int | None = None
    skip_failed: bool = False
    """Leave out cases whose last record in the sidecar is a failure."""
    rehearse: bool = False
    backend: str = CUDA
    table: str = registry.TABLE
    environment: Mapping[str, str] = field(default_factory=dict)
    """Variables of every worker (the backend of liger-kernel)."""


def rehearsed(kernel: Kernel, series: Series) -> Series:
    """The series at rehearsal sizes: one x, and the config's values replaced by the tiny ones."""
    tiny = kernel.tiny
    config = {key: tiny.sizes.get(key, value) for key, value in series.config.items()}
    x_values = series.x_values[:1] if series.x_name == "model_config" else (tiny.x[series.x_name],)
    return replace(series, config=config, x_values=x_values)


def message_of(kernel: Kernel, series: Series, x: int | str, options: Options) -> dict[str, Any]:
    """The command that makes a worker run the case."""
    return CaseMessage(
        kernel=series.kernel,
        provider=series.provider,
        pass_name=series.pass_name,
        metric=series.metric,
        x_name=series.x_name,
        x=x,
        config=series.config,
        model=series.model,
        sizes=kernel.tiny.sizes if options.rehearse else {},
        rep=options.rep,
        warmup=options.warmup,
    ).to_json()


def probe_of(kernel: Kernel, probe: Probe) -> dict[str, Any]:
    """The command that makes a worker tell a memory probe's peak."""
    return {
        "op": "probe",
        "of": probe.kernel or kernel.name,
        "provider": probe.provider,
        "x": probe.x,
        "config": probe.config,
        "model": probe.model.name,
    }


def protocol_of(kernel: Kernel, series: Series, options: Options, impl: str) -> Protocol:
    """How the series' cases are sampled."""
    timing = kernel.timing
    rep = timing.rep if options.rep is None else options.rep
    warmup = timing.warmup if options.warmup is None else options.warmup
    shared: dict[str, Any] = {
        "implementation": impl,
        "deterministic": kernel.deterministic,
        "environment": dict(kernel.environment),
    }
    if options.rehearse:
        return Protocol(harness="rehearsal", **shared)
    if series.metric == "memory":
        untimed = kernel.memory_sampling.warmup
        return Protocol(harness="peak_allocation", warmup_iterations=untimed, **shared)
    if timing.method == "loop":
        return Protocol(
            harness="event_loop",
            warmup_iterations=warmup,
            iterations_per_sample=rep,
            l2_policy="warm",
            **shared,
        )
    return Protocol(harness="triton.testing.do_bench", warmup_ms=warmup, rep_ms=rep, l2_policy="flushed", **shared)
