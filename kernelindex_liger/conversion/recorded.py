"""What the runner recorded of a series, in the parts of documents that it goes into.

Live readings (clocks, temperature) and the runner's own version are no part of what is digested.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import ValidationError

from kernelindex_liger.documents import Metadata, sidecar
from kernelindex_liger.documents.measurement import Framework, Hardware, Measurement, Settings, Software
from kernelindex_liger.documents.upstream import REHEARSAL

HARNESS = "kernelindex-liger"
"""Name of the runner, which measures as upstream's scripts do."""

LONGEST_MS = 86_400_000
"""A day: no warm-up and no window is longer."""

OWN_NOTES_LENGTH = 320
"""Characters that a protocol's notes have for what was recorded, so that the catalogue's own need no cut."""

T = TypeVar("T")


@dataclass(frozen=True)
class Facts:
    """What all cases of a series share, checked to fit into documents."""

    hardware: dict[str, Any]
    software: Software
    settings: Settings | None
    labels: dict[str, str]
    measurement: dict[str, Any]
    notes: str
    harness: str
    runner: dict[str, str]


def facts_of(meta: sidecar.SeriesMeta) -> Facts:
    """The facts of a sidecar's line.

    Raises:
        ValueError: saying which fact cannot stand in a document, or contradicts another.
    """
    gpu, software, protocol = meta.gpu, meta.software, meta.protocol
    if gpu.name != meta.series.gpu_name:
        raise ValueError(f"gpu.name is {gpu.name[:100]!r}, series.gpu_name {meta.series.gpu_name[:100]!r}")
    if (protocol.harness == "rehearsal") != (gpu.name == REHEARSAL):
        raise ValueError(f"protocol.harness is {protocol.harness!r} and the GPU {gpu.name[:100]!r}")
    for name in ("warmup_ms", "rep_ms"):
        if (getattr(protocol, name) or 0) > LONGEST_MS:
            raise ValueError(f"protocol.{name}: longer than {LONGEST_MS} ms")
    notes = _notes(protocol)
    if len(notes) > OWN_NOTES_LENGTH:
        raise ValueError("protocol.environment: too long for a document")
    _checked("gpu", lambda: Hardware(**_ANY_HARDWARE, memory_bytes=gpu.memory_bytes, count=gpu.count))
    hardware = {"memoryBytes": gpu.memory_bytes, "count": gpu.count}
    labels = {
        "compute_capability": gpu.compute_capability,
        "max_sm_clock_mhz": gpu.max_sm_clock_mhz,
        "max_memory_clock_mhz": gpu.max_memory_clock_mhz,
        "mig_enabled": None if gpu.mig_enabled is None else str(gpu.mig_enabled).lower(),
    }
    told = {name: str(value) for name, value in labels.items() if value is not None}
    _checked("gpu", lambda: Metadata(name="any", labels=told))
    runner = {"runner": f"{HARNESS} {software.runner}"}
    _checked("software", lambda: Metadata(name="any", labels=runner))
    _checked(
        "protocol",
        lambda: Measurement(
            timer="any",
            warmup_iterations=protocol.warmup_iterations,
            measured_iterations=protocol.iterations_per_sample,
        ),
    )
    return Facts(
        hardware={name: value for name, value in hardware.items() if value is not None},
        software=_checked("software", lambda: _software(software)),
        settings=_checked("gpu", lambda: _settings(gpu)),
        labels=told,
        measurement=_measurement(protocol),
        notes=notes,
        harness=protocol.harness,
        runner=runner,
    )


_ANY_HARDWARE = {"vendor": "any", "product": "any", "architecture": "any"}


def _checked(place: str, make: Callable[[], T]) -> T:
    try:
        return make()
    except ValidationError as error:
        first = error.errors()[0]
        raise ValueError(f"{place}: {'.'.join(str(part) for part in first['loc'])}: {first['msg']}") from error


def _software(recorded: sidecar.Software) -> Software:
    libraries = {
        name: version
        for name in ("python", "triton", "liger_kernel", "transformers")
        if (version := getattr(recorded, name))
    }
    return Software(
        operating_system=recorded.operating_system or None,
        kernel=recorded.kernel or None,
        driver=recorded.driver or None,
        cuda_toolkit=recorded.cuda or None,
        framework=Framework(name="pytorch", version=recorded.torch) if recorded.torch else None,
        libraries=libraries or None,
    )


def _settings(gpu: sidecar.Gpu) -> Settings | None:
    settings = Settings(
        power_limit_watts=gpu.power_limit_watts,
        persistence_mode=gpu.persistence_mode,
        ecc_enabled=gpu.ecc_enabled,
    )
    return settings if settings.model_dump(exclude_none=True) else None


def _measurement(protocol: sidecar.Protocol) -> dict[str, Any]:
    found = {
        "warmupIterations": protocol.warmup_iterations,
        # an integer, since a text with its unit would be digested as it is written
        "warmupDuration": None if protocol.warmup_ms is None else protocol.warmup_ms * 1_000_000,
        "measuredIterations": protocol.iterations_per_sample,
    }
    return {name: value for name, value in found.items() if value is not None}


def _notes(protocol: sidecar.Protocol) -> str:
    """What the schema has no field for, as sentences."""
    told = []
    if protocol.rep_ms is not None:
        told.append(f"do_bench's window was {protocol.rep_ms} ms; a longer call was sampled once.")
    if protocol.iterations_per_sample is not None:
        told.append(f"Each sample is the mean of {protocol.iterations_per_sample} calls.")
    told.append("Each run tells its number of samples.")
    if protocol.l2_policy is not None:
        did = "was overwritten" if protocol.l2_policy == "flushed" else "was not flushed"
        told.append(f"The L2 cache {did} before a sample.")
    if protocol.deterministic != "off":
        what = "cuDNN's deterministic algorithms" if protocol.deterministic == "cudnn" else "deterministic algorithms"
        told.append(f"torch used {what}.")
    if protocol.environment:
        variables = ", ".join(f"{name}={value}" for name, value in sorted(protocol.environment.items()))
        told.append(f"Set for the process: {variables}.")
    return " ".join(told)
