"""One decision a combination: which documents its rows point to, or why they are skipped."""

from __future__ import annotations

import functools
import json
from dataclasses import dataclass

from pydantic import ValidationError

from kernelindex_liger.catalog import Catalog, Kernel
from kernelindex_liger.catalog.expressions import ExpressionError
from kernelindex_liger.catalog.facts import Provider
from kernelindex_liger.catalog.matching import Correction
from kernelindex_liger.conversion.link import AmbiguousNameError, Linker
from kernelindex_liger.conversion.linked import Linked, LinkedImplementation
from kernelindex_liger.conversion.reading import Reading, Skip, Unread, read_workload
from kernelindex_liger.documents.naming import slug
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

UNITS = {"speed": "ms", "speed_graph": "ms", "memory": "MB"}
"""The unit that upstream writes for each metric. Its MB are MiB."""

SUGGESTIONS = 1000
"""Unknown GPUs for which a resembling name is searched; that takes longer than all else about a row."""

ID_LENGTH = 500
PART_LENGTH = 200


@dataclass(frozen=True)
class Combination:
    """What all rows of a combination share: the linked documents, and the constant parts of ids and names."""

    reading: Reading
    provider_name: str
    provider: Provider
    gpu: str
    pass_: str
    metric: str
    workload: Linked
    implementation: LinkedImplementation
    protocol: Linked
    environment: Linked

    @property
    def benchmark(self) -> str:
        """Kernel and pass, and the metric where it is not the usual speed."""
        suffix = "" if self.metric == "speed" else f"/{self.metric}"
        return f"{self.reading.kernel.name}/{self.pass_}{suffix}"

    @property
    def measured(self) -> str:
        """The case key, and x where it is a name: a sweep over models can measure one workload several times."""
        return "-".join(filter(None, (self.reading.case_key, slug(self.reading.name))))

    @property
    def id_prefix(self) -> str:
        """The external id up to the timestamp."""
        parts = (self.reading.kernel.name, self.pass_, self.provider_name, slug(self.gpu), self.measured)
        metric = "" if self.metric == "speed" else f"{self.metric}/"
        return "/".join(parts) + "/" + metric

    @property
    def name_prefix(self) -> str:
        """The run's name up to the timestamp, not yet cut."""
        metric = () if self.metric == "speed" else (self.metric,)
        parts = ("liger", self.reading.kernel.name, *metric, self.pass_, self.provider_name, self.gpu)
        return "-".join(slug(part) for part in (*parts, self.measured)) + "-"

    @property
    def title(self) -> str:
        """The run's title."""
        metric = "" if self.metric == "speed" else f" · {self.metric.replace('_', ' ')}"
        return f"{self.reading.operation.title} · {self.provider_name} · {self.pass_}{metric}"


class Combiner:
    """Decides combinations by the catalogue; each sub-question is answered once."""

    def __init__(self, catalog: Catalog, linker: Linker) -> None:
        self._catalog = catalog
        self._linker = linker
        self._workloads: dict[tuple[str | None, ...], Reading | Skip] = {}
        self._providers: dict[tuple[object, ...], Provider] = {}
        self._near: dict[str, str] = {}

    def decide(self, key: tuple[str, ...], corrections: tuple[Correction, ...] = ()) -> Combination | Skip:
        """The combination of a tuple of `KEYS`, with the corrections that its rows match, or why it is skipped."""
        kernel, provider, pass_, metric, unit, x_name, x, config, gpu = key
        if UNITS.get(metric) != unit:
            return Skip("unknown_metric", f"metric {quoted(metric)} in {quoted(unit)}")
        if gpu == REHEARSAL:
            return Skip("rehearsal", "measured on the CPU")
        shape = next((one.shape for one in reversed(corrections) if one.shape is not None), None)
        reading = self._workload(kernel, provider, x_name, x, config, shape)
        if isinstance(reading, Skip):
            return reading
        known = self._catalog.providers.get(provider)
        if known is None:
            return Skip("unknown_provider", f"no provider {quoted(provider)} in the catalogue")
        if gpu not in self._catalog.gpu_names:
            near = self._near.setdefault(gpu, self._closest(gpu) if len(self._near) < SUGGESTIONS else "")
            return Skip("unknown_gpu", f"no GPU {quoted(gpu)} in the catalogue{near}")
        corrected = (one.protocol for one in reversed(corrections))
        protocol = self._catalog.protocol_name(metric, pass_, *corrected, reading.shape.protocols.get(metric))
        if protocol is None:
            return Skip("unknown_pass", f"no protocol for metric {metric!r} and pass {quoted(pass_)}")
        try:
            combination = self._combination(key, reading, protocol, corrections)
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(str(part) for part in first["loc"])
            return Skip("unmet_condition", f"its {error.title} would not be valid: {place}: {first['msg']}")
        except (AmbiguousNameError, ExpressionError) as error:
            return Skip("unmet_condition", str(error))
        too_long = len(combination.id_prefix) + 100 > ID_LENGTH or len(combination.measured) > PART_LENGTH
        return Skip("unmet_condition", "the external id would be too long") if too_long else combination

    def _closest(self, gpu: str) -> str:
        closest = self._catalog.closest_gpus(gpu)
        return f"; closest: {', '.join(closest)}" if closest else ""

    def _combination(
        self, key: tuple[str, ...], reading: Reading, protocol: str, corrections: tuple[Correction, ...]
    ) -> Combination:
        kernel, provider, pass_, metric, *_, gpu = key
        resolved = self._provider(reading.kernel, provider, corrections)
        workload = self._linker.workload(reading)
        main = next(iter(reading.kernel.operations), reading.operation.slug)
        return Combination(
            reading,
            provider,
            resolved,
            gpu,
            pass_,
            metric,
            workload,
            self._linker.implementation(kernel, main, resolved.name or provider, resolved, workload.links[0]),
            self._linker.protocol(protocol, pass_),
            self._linker.environment(gpu, reading.gpus),
        )

    def _provider(self, kernel: Kernel, name: str, corrections: tuple[Correction, ...]) -> Provider:
        key = (kernel.name, name, tuple(one.id for one in corrections))
        known = self._providers.get(key)
        if known is None:
            changes = (kernel.implementations.get(name), *(one.implementation for one in corrections))
            known = self._providers[key] = self._catalog.providers[name].with_changes(*changes)
        return known

    def _workload(
        self, kernel: str, provider: str, x_name: str, x: str, config: str, shape: str | None
    ) -> Reading | Skip:
        key = (kernel, provider, x_name, x, config, shape)
        known = self._workloads.get(key)
        if known is None:
            try:
                known = read_workload(self._catalog, kernel, provider, x_name, x, config, shape)
            except Unread as unread:
                known = unread.skip
            self._workloads[key] = known
        return known


@functools.cache
def environment_text(environment: Linked) -> str:
    """The environment's spec as JSON text, for tables."""
    return json.dumps(environment.document["spec"], sort_keys=True, ensure_ascii=False)
