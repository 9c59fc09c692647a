"""What the runner recorded beside a CSV, as documents: environments that name their software, protocols their window.

Both start from the document that the catalogue gives for rows of a CSV alone, and are other documents with other
digests. Live readings (clocks, temperature) and the runner's own version are no part of what is digested.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from pydantic import ValidationError

from kernelindex_liger.conversion.combine import Combination
from kernelindex_liger.conversion.link import Linker
from kernelindex_liger.conversion.linked import Linked, linked
from kernelindex_liger.documents import BenchmarkProtocol, ExecutionEnvironment, Metadata, sidecar
from kernelindex_liger.documents.measurement import Framework, Hardware, Measurement, Settings, Software
from kernelindex_liger.documents.upstream import REHEARSAL

HARNESS = "kernelindex-liger"
"""Name of the runner, which measures as upstream's scripts do."""

TIMERS = {
    "triton.testing.do_bench": "cuda_events",
    "event_loop": "cuda_event_loop",
    "peak_allocation": "peak_memory_allocation",
}
"""The timer of the catalogue's protocols that a recorded way of measuring is."""

USUAL = {"event_loop": "event_loop"}
"""The catalogue's protocol for a recorded way of measuring, where the published reading takes rows for another's."""

UNRECORDED = (
    "The upstream CSV records no CUDA, driver, or torch version; the Liger release rides each run's labels.",
    "Versions of torch, CUDA and driver are not recorded.",
    "Versions of torch, CUDA, NCCL and driver are not recorded.",
)
"""Sentences of the catalogue's notes that hold for a CSV alone."""

LONGEST_MS = 86_400_000
"""A day: no warm-up and no window is longer."""

NOTES_LENGTH = 1000
OWN_NOTES_LENGTH = 320
TITLE_LENGTH = 200

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
        raise ValueError(f"gpu.name is {gpu.name!r}, series.gpu_name {meta.series.gpu_name!r}")
    if (protocol.harness == "rehearsal") != (gpu.name == REHEARSAL):
        raise ValueError(f"protocol.harness is {protocol.harness!r} and the GPU {gpu.name!r}")
    if gpu.power_limit_watts is not None and not math.isfinite(gpu.power_limit_watts):
        raise ValueError("gpu.power_limit_watts: not a finite number")
    for name in ("warmup_ms", "rep_ms"):
        if not 0 <= (getattr(protocol, name) or 0) <= LONGEST_MS:
            raise ValueError(f"protocol.{name}: not between 0 and {LONGEST_MS}")
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


class Recorder:
    """Combinations with the facts of their series; asking twice gives the same object."""

    def __init__(self, linker: Linker, protocols: frozenset[str]) -> None:
        self.facts: list[Facts] = []
        self._linker = linker
        self._protocols = protocols
        self._numbers: dict[str, int] = {}
        self._documents: dict[tuple[int, int], Linked] = {}

    def number(self, meta: sidecar.SeriesMeta) -> int:
        """The index of a line's facts in `facts`, the same for equal ones.

        Raises:
            ValueError: as `facts_of`.
        """
        facts = facts_of(meta)
        known = self._numbers.setdefault(repr(facts), len(self.facts))
        if known == len(self.facts):
            self.facts.append(facts)
        return known

    def apply(self, combination: Combination, number: int) -> Combination | None:
        """The combination as the facts tell it; None where it was measured in a way that it cannot have been."""
        facts = self.facts[number]
        base = combination.protocol
        if not _timed_by(base, facts):
            usual = USUAL.get(facts.harness)
            if usual is None or usual not in self._protocols:
                return None
            base = self._linker.protocol(usual, combination.pass_)
            if not _timed_by(base, facts) or combination.metric != "speed":
                return None
        return replace(
            combination,
            protocol=self._once(base, number, protocol),
            environment=self._once(combination.environment, number, environment),
        )

    def _once(self, base: Linked, number: int, make: Callable[[Linked, Facts], Linked]) -> Linked:
        key = (id(base), number)
        if key not in self._documents:
            self._documents[key] = make(base, self.facts[number])
        return self._documents[key]


def _timed_by(protocol: Linked, facts: Facts) -> bool:
    return bool(protocol.document["spec"]["measurement"]["timer"] == TIMERS.get(facts.harness))


def environment(base: Linked, facts: Facts) -> Linked:
    """The ExecutionEnvironment of a GPU with everything that was recorded about it."""
    metadata, spec = base.document["metadata"], base.document["spec"]
    document = ExecutionEnvironment.model_validate(
        {
            "metadata": {"name": metadata["name"]},
            "spec": {
                "hardware": spec["hardware"] | facts.hardware,
                "software": facts.software,
                "settings": facts.settings,
            },
        }
    )
    software = facts.software
    versions = (
        ("driver", software.driver),
        ("CUDA", software.cuda_toolkit),
        ("torch", software.framework.version if software.framework else None),
        ("Triton", (software.libraries or {}).get("triton")),
    )
    title = " · ".join([metadata["title"], *(f"{name} {version}" for name, version in versions if version)])
    return _named(document, title, facts.labels)


def protocol(base: Linked, facts: Facts) -> Linked:
    """The BenchmarkProtocol of a pass with what was recorded of warm-up, window and caches."""
    metadata, spec = base.document["metadata"], base.document["spec"]
    comparability = spec.get("comparability", {})
    notes = str(comparability.get("notes", ""))
    for sentence in UNRECORDED:
        notes = notes.replace(sentence, "What was recorded of torch, CUDA and driver stands in the environment.")
    room = NOTES_LENGTH - len(facts.notes) - 1
    notes = notes if len(notes) <= room else notes[: room - 1] + "…"
    document = BenchmarkProtocol.model_validate(
        {
            "metadata": {"name": metadata["name"]},
            "spec": {
                "harness": {"name": HARNESS},
                "measurement": spec["measurement"] | facts.measurement,
                "comparability": comparability | {"notes": f"{notes} {facts.notes}".strip()},
            },
        }
    )
    return _named(document, f"{metadata['title']} · {HARNESS}", facts.runner)


def _named(document: ExecutionEnvironment | BenchmarkProtocol, title: str, labels: dict[str, str]) -> Linked:
    """A document under a name of its own: the base's, and the beginning of its digest."""
    name = f"{document.metadata.name}-{document.digest.removeprefix('sha256:')[:12]}"
    metadata = Metadata(name=name, title=title[:TITLE_LENGTH], labels=labels or None)
    return linked(document.model_copy(update={"metadata": metadata}))
