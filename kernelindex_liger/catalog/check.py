"""What must hold between facts: every name that a fact uses is there, and no row has two readings."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING

from kernelindex_liger.catalog.expressions import parse

if TYPE_CHECKING:
    from kernelindex_liger.catalog.catalog import Catalog, Kernel
    from kernelindex_liger.catalog.facts import Operation, Shape


def problems(catalog: Catalog) -> list[str]:
    """One line for each contradiction in the catalogue; empty when it is sound."""
    each = (one for kernel in catalog.kernels.values() for one in kernel_problems(catalog, kernel))
    return [*_owners(catalog), *each, *common_problems(catalog), *_groups(catalog)]


def common_problems(catalog: Catalog) -> list[str]:
    """Contradictions between the facts that are of no kernel."""
    return [*_providers(catalog), *_protocols(catalog), *_gpus(catalog)]


def kernel_problems(catalog: Catalog, kernel: Kernel) -> Iterator[str]:
    """Contradictions within a kernel, and between it and what it names."""
    where = f"kernel {kernel.name}"
    if not kernel.shapes:
        yield f"{where}: no shapes"
    ids = [shape.id for shape in kernel.shapes]
    for repeated in sorted({one for one in ids if ids.count(one) > 1}):
        yield f"{where}: two shapes have the id {repeated}"
    for one, other in itertools.combinations([shape for shape in kernel.shapes if shape.edition == "both"], 2):
        if one.overlaps(other):
            yield f"{where}: shapes {one.id} and {other.id} could both claim one row; tell them apart with where"
    for shape in kernel.shapes:
        if shape.operation is None and not kernel.operations:
            yield f"{where}, shape {shape.id}: names no operation, and the file holds none"
        elif shape.operation not in (None, *kernel.operations) and shape.operation not in catalog.operations:
            yield f"{where}, shape {shape.id}: no operation {shape.operation}"
        else:
            yield from _shape(catalog, kernel, shape, catalog.operation(kernel, shape))
    for provider, change in kernel.implementations.items():
        if provider not in catalog.providers:
            yield f"{where}: implementations.{provider}: no such provider"
        if change.project is not None and change.project not in catalog.projects:
            yield f"{where}, implementations.{provider}: no project {change.project}"


def _owners(catalog: Catalog) -> Iterator[str]:
    owners: dict[str, str] = {}
    for kernel in catalog.kernels.values():
        for slug in kernel.operations:
            if slug in owners:
                yield (
                    f"kernel {kernel.name}: operation {slug} stands in kernel {owners[slug]} too; "
                    "name it there, use it here"
                )
            owners[slug] = kernel.name


def _shape(catalog: Catalog, kernel: Kernel, shape: Shape, operation: Operation) -> Iterator[str]:
    where = f"kernel {kernel.name}, shape {shape.id}"
    bound = set(shape.axes)
    for axis in operation.signature_axes():
        if axis not in bound:
            yield f"{where}: axis {axis} of {operation.slug} is not bound"
    before = set(bound)
    for name, text in operation.derived.items():
        if missing := sorted(parse(text).names - before):
            yield f"{where}: derived axis {name} of {operation.slug} uses {', '.join(missing)}, which is not bound"
        before.add(name)
    inputs = {tensor.name: tensor for tensor in operation.inputs}
    for name in shape.dtypes:
        if name not in inputs:
            yield f"{where}: dtypes names {name}, which is no input of {operation.slug}"
        elif inputs[name].dtype != "float":
            yield f"{where}: dtypes names {name}, whose dtype {operation.slug} fixes"
    for metric, protocol in shape.protocols.items():
        if protocol not in catalog.protocols:
            yield f"{where}: protocols.{metric}: no protocol {protocol}"
    if shape.reads == "model" and shape.models is None and not catalog.models:
        yield f"{where}: reads a model's name, and no models are known"


def _providers(catalog: Catalog) -> Iterator[str]:
    for name, provider in catalog.providers.items():
        if provider.project not in catalog.projects:
            yield f"provider {name}: no project {provider.project}"


def _protocols(catalog: Catalog) -> Iterator[str]:
    for metric, protocol in catalog.metrics.items():
        if protocol not in catalog.protocols:
            yield f"metric {metric}: no protocol {protocol}"
    for name, one in catalog.protocols.items():
        for pass_, timed in one.passes.items():
            notes = one.notes.replace("{timed}", timed).replace("{pass}", pass_)
            if len(notes) > 1000:
                yield f"protocol {name}, pass {pass_}: notes of {len(notes)} characters; at most 1000 are allowed"


def _gpus(catalog: Catalog) -> Iterator[str]:
    seen: dict[str, str] = {}
    for gpu in catalog.gpus:
        for name in gpu.names:
            if seen.get(name, gpu.product) != gpu.product:
                yield f"GPU name {name} stands for {seen[name]} and for {gpu.product}"
            seen[name] = gpu.product


def _groups(catalog: Catalog) -> Iterator[str]:
    for correction in catalog.corrections:
        where = f"correction {correction.id}"
        if correction.protocol is not None and correction.protocol not in catalog.protocols:
            yield f"{where}: no protocol {correction.protocol}"
        project = correction.implementation and correction.implementation.project
        if project and project not in catalog.projects:
            yield f"{where}: no project {project}"
        if correction.shape is not None:
            kernels = correction.match.kernel
            for name in (kernels,) if isinstance(kernels, str) else kernels or ():
                kernel = catalog.kernels.get(name)
                if kernel is None or all(shape.id != correction.shape for shape in kernel.shapes):
                    yield f"{where}: kernel {name} has no shape {correction.shape}"
            if not kernels:
                yield f"{where}: a correction that names a shape must name the kernel"
