"""One decision a combination: which documents its rows point to, or why they are skipped."""

from __future__ import annotations

import functools
import json
from dataclasses import dataclass
from typing import NamedTuple

from pydantic import ValidationError

from kernelindex_liger.catalog import Catalog, Kernel
from kernelindex_liger.catalog.expressions import ExpressionError
from kernelindex_liger.catalog.facts import Provider
from kernelindex_liger.catalog.matching import Correction
from kernelindex_liger.conversion.link import AmbiguousNameError, Linker
from kernelindex_liger.conversion.linked import Linked, LinkedImplementation
from kernelindex_liger.conversion.reading import Reading, Skip
from kernelindex_liger.conversion.readings import Readings
from kernelindex_liger.conversion.rows import X
from kernelindex_liger.documents.naming import slug, slug_once
from kernelindex_liger.documents.upstream import REHEARSAL
from kernelindex_liger.untrusted import quoted

KEYS = (
    "kernel_name",
    "kernel_provider",
    "kernel_operation_mode",
    "metric_name",
    "metric_unit",
    "x_name",
    "x_value",
    "extra_benchmark_config_str",
    "gpu_name",
)
"""The columns that a combination is made of: all that decides what a row means, but not its numbers and moment."""

FAMILY = tuple(name for name in KEYS if name != X)
"""The columns of a combination but x, in which alone a sweep's rows differ."""

UNITS = {"speed": "ms", "speed_graph": "ms", "memory": "MB"}
"""The unit that upstream writes for each metric. Its MB are MiB."""

SUGGESTIONS = 1000
"""Unknown GPUs for which a resembling name is searched; that takes longer than all else about a row."""

ID_LENGTH = 500
PART_LENGTH = 200


@dataclass(frozen=True)
class Shared:
    """What combinations have in common that differ in x alone.

    Attributes:
        start: the external id up to what was measured.
        end: what stands in it between what was measured and the timestamp, after a slash.
        name_start: the run's name up to what was measured.
    """

    provider_name: str
    gpu: str
    pass_: str
    title: str
    benchmark: str
    start: str
    end: str
    name_start: str
    implementation: LinkedImplementation
    protocol: Linked
    environment: Linked


class Combination(NamedTuple):
    """What all rows of a combination share: the linked documents, and the constant parts of ids and names."""

    reading: Reading
    workload: Linked
    protocol: Linked
    environment: Linked
    shared: Shared

    @property
    def implementation(self) -> LinkedImplementation:
        """The ImplementationRevision."""
        return self.shared.implementation

    @property
    def measured(self) -> str:
        """The case key, and x where it is a name: a sweep over models can measure one workload several times."""
        key, name = self.reading.case_key, self.reading.name
        return "-".join(filter(None, (key, slug(name)))) if name else key

    @property
    def id_prefix(self) -> str:
        """The external id up to the timestamp."""
        return f"{self.shared.start}{self.measured}/{self.shared.end}"

    @property
    def name_prefix(self) -> str:
        """The run's name up to the timestamp, not yet cut."""
        return f"{self.shared.name_start}{slug_once(self.measured)}-"


class Combiner:
    """Decides combinations by the catalogue; each sub-question is answered once."""

    def __init__(self, catalog: Catalog, linker: Linker) -> None:
        self.catalog = catalog
        self.linker = linker
        self._readings: dict[tuple[str | None, ...], Readings] = {}
        self._providers: dict[tuple[object, ...], Provider] = {}
        self._near: dict[str, str] = {}

    def family(self, key: tuple[str, ...], corrections: tuple[Correction, ...] = ()) -> Family:
        """What decides combinations of a tuple of `FAMILY`, with the corrections that their rows match, x by x."""
        kernel, provider, _, _, _, x_name, config, _ = key
        shape = next((one.shape for one in reversed(corrections) if one.shape is not None), None)
        asked = (kernel, provider, x_name, config, shape)
        if asked not in self._readings:
            self._readings[asked] = Readings(self.catalog, *asked)
        return Family(self, key, corrections, self._readings[asked])

    def near(self, gpu: str) -> str:
        """GPUs that resemble one that is not known, for a message."""
        if gpu not in self._near:
            closest = self.catalog.closest_gpus(gpu) if len(self._near) < SUGGESTIONS else ()
            self._near[gpu] = f"; closest: {', '.join(closest)}" if closest else ""
        return self._near[gpu]

    def provider(self, kernel: Kernel, name: str, corrections: tuple[Correction, ...]) -> Provider:
        """A provider as it is in a kernel and under corrections."""
        key = (kernel.name, name, tuple(one.id for one in corrections))
        known = self._providers.get(key)
        if known is None:
            changes = (kernel.implementations.get(name), *(one.implementation for one in corrections))
            known = self._providers[key] = self.catalog.providers[name].with_changes(*changes)
        return known


class Family:
    """Decides combinations that differ in x alone, under the same corrections."""

    def __init__(
        self, combiner: Combiner, key: tuple[str, ...], corrections: tuple[Correction, ...], readings: Readings
    ) -> None:
        self._combiner = combiner
        self._key = key
        self._corrections = corrections
        self._readings = readings
        self._shared: dict[tuple[str, int], Shared | Skip] = {}
        *_, metric, unit, _, _, gpu = key
        self._skip: Skip | None = None
        if UNITS.get(metric) != unit:
            self._skip = Skip("unknown_metric", f"metric {quoted(metric)} in {quoted(unit)}")
        elif gpu == REHEARSAL:
            self._skip = Skip("rehearsal", "measured on the CPU")

    def decide(self, x: str) -> Combination | Skip:
        """The combination of an x, or why it is skipped."""
        if self._skip is not None:
            return self._skip
        reading = self._readings.of(x)
        if isinstance(reading, Skip):
            return reading
        place = (reading.shape.id, reading.gpus)
        try:
            shared = self._shared.get(place)
            if shared is None:
                shared = self._shared[place] = self._share(reading)
            if isinstance(shared, Skip):
                return shared
            workload = self._combiner.linker.workload(reading)
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(str(part) for part in first["loc"])
            return Skip("unmet_condition", f"its {error.title} would not be valid: {where}: {first['msg']}")
        except (AmbiguousNameError, ExpressionError) as error:
            return Skip("unmet_condition", str(error))
        found = Combination(reading, workload, shared.protocol, shared.environment, shared)
        measured = len(found.measured)
        if measured > PART_LENGTH or len(shared.start) + measured + 1 + len(shared.end) + 100 > ID_LENGTH:
            return Skip("unmet_condition", "the external id would be too long")
        return found

    def _share(self, reading: Reading) -> Shared | Skip:
        """What the combinations of a shape have in common, or why all of them are skipped."""
        kernel, provider, pass_, metric, _, _, _, gpu = self._key
        catalog, linker = self._combiner.catalog, self._combiner.linker
        if provider not in catalog.providers:
            return Skip("unknown_provider", f"no provider {quoted(provider)} in the catalogue")
        if gpu not in catalog.gpu_names:
            return Skip("unknown_gpu", f"no GPU {quoted(gpu)} in the catalogue{self._combiner.near(gpu)}")
        corrected = (one.protocol for one in reversed(self._corrections))
        protocol = catalog.protocol_name(metric, pass_, *corrected, reading.shape.protocols.get(metric))
        if protocol is None:
            return Skip("unknown_pass", f"no protocol for metric {metric!r} and pass {quoted(pass_)}")
        resolved = self._combiner.provider(reading.kernel, provider, self._corrections)
        operation = linker.operation(reading.operation, reading.kernel)
        main = next(iter(reading.kernel.operations), reading.operation.slug)
        usual = metric == "speed"
        parts = ("liger", kernel, *(() if usual else (metric,)), pass_, provider, gpu)
        return Shared(
            provider_name=provider,
            gpu=gpu,
            pass_=pass_,
            title=f"{reading.operation.title} · {provider} · {pass_}"
            + ("" if usual else f" · {metric.replace('_', ' ')}"),
            benchmark=f"{kernel}/{pass_}" + ("" if usual else f"/{metric}"),
            start="/".join((kernel, pass_, provider, slug(gpu), "")),
            end="" if usual else f"{metric}/",
            name_start="-".join((*map(slug, parts), "")),
            implementation=linker.implementation(kernel, main, resolved.name or provider, resolved, operation),
            protocol=linker.protocol(protocol, pass_),
            environment=linker.environment(gpu, reading.gpus),
        )


@functools.cache
def environment_text(environment: Linked) -> str:
    """The environment's spec as JSON text, for tables."""
    return json.dumps(environment.document["spec"], sort_keys=True, ensure_ascii=False)
