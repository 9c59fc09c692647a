"""The catalogue in memory: everything that is known, looked up by the names that rows carry."""

from __future__ import annotations

import difflib
import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from kernelindex_liger.catalog.facts import Gpu, Implementation, Operation, Project, Protocol, Provider, Shape
from kernelindex_liger.catalog.matching import Caveat, Correction

Edition = str
"""`published`: what the catalogue publishes, right or wrong; `corrected`: what the scripts really did."""

EDITIONS: tuple[Edition, ...] = ("published", "corrected")


@dataclass(frozen=True)
class Kernel:
    """A benchmarked kernel: its operations, the shapes that its rows take, and who its providers are here."""

    name: str
    operations: Mapping[str, Operation]
    shapes: tuple[Shape, ...]
    implementations: Mapping[str, Implementation] = field(default_factory=dict)
    path: str = ""

    @cached_property
    def _by_key(self) -> dict[tuple[str, frozenset[str]], list[Shape]]:
        found: dict[tuple[str, frozenset[str]], list[Shape]] = {}
        for shape in self.shapes:
            if shape.edition == "both":
                found.setdefault((shape.x, frozenset(shape.config)), []).append(shape)
        return found

    @cached_property
    def tables(self) -> frozenset[str]:
        """Config keys under which rows of this kernel bring the models' facts."""
        return frozenset(shape.models for shape in self.shapes if shape.models is not None)

    def claimants(self, x_name: str, config_keys: Iterable[str]) -> list[Shape]:
        """Shapes for an x name and an exact set of config keys; which of them holds, `where` decides."""
        return self._by_key.get((x_name, frozenset(config_keys)), [])

    def shape(self, shape_id: str) -> Shape:
        """The shape of that id."""
        return next(shape for shape in self.shapes if shape.id == shape_id)


@dataclass(frozen=True)
class Catalog:
    """All curated facts, checked against one another."""

    kernels: Mapping[str, Kernel]
    projects: Mapping[str, Project]
    providers: Mapping[str, Provider]
    gpus: tuple[Gpu, ...]
    metrics: Mapping[str, str]
    protocols: Mapping[str, Protocol]
    models: Mapping[str, Mapping[str, int | str | float]]
    caveats: tuple[Caveat, ...]
    corrections: tuple[Correction, ...]
    digest: str
    """`sha256:…` of the files: names the catalogue's state in a report."""

    @cached_property
    def operations(self) -> dict[str, Operation]:
        """Operations by slug, over all kernels."""
        return {slug: one for kernel in self.kernels.values() for slug, one in kernel.operations.items()}

    @cached_property
    def gpu_names(self) -> dict[str, Gpu]:
        """GPU products by the names under which drivers report them."""
        return {name: gpu for gpu in self.gpus for name in gpu.names}

    def operation(self, kernel: Kernel, shape: Shape) -> Operation:
        """The operation that a shape's rows measure."""
        if shape.operation is None:
            return next(iter(kernel.operations.values()))
        return kernel.operations.get(shape.operation) or self.operations[shape.operation]

    def holder(self, operation: Operation, kernel: Kernel | None = None) -> Kernel:
        """The kernel in whose file an operation stands; `kernel` is looked at first."""
        kernels = self.kernels.values() if kernel is None else itertools.chain((kernel,), self.kernels.values())
        return next(one for one in kernels if operation.slug in one.operations)

    def protocol_name(self, metric: str, pass_: str, *named: str | None) -> str | None:
        """The protocol of a metric's pass: the first of `named` that lists the pass, else the metric's usual one.

        A variant lists only the passes in which it differs, so that all others stay comparable. None where the
        usual protocol does not list the pass either, or the metric has none.
        """
        for name in (*named, self.metrics.get(metric)):
            if name is not None and pass_ in self.protocols[name].passes:
                return name
        return None

    def closest_gpus(self, name: str) -> list[str]:
        """Up to three known GPU names that resemble `name`, for a message."""
        return difflib.get_close_matches(name[:200], self.gpu_names, n=3, cutoff=0.5)

    @cached_property
    def axis_names(self) -> list[str]:
        """Every axis that some shape binds, sorted."""
        return sorted({axis for kernel in self.kernels.values() for shape in kernel.shapes for axis in shape.axes})
