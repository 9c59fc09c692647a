"""The catalogue in words, for people."""

from __future__ import annotations

import json

from kernelindex_liger.catalog.catalog import Catalog, Kernel
from kernelindex_liger.catalog.facts import FromConfig, Operation, Shape, TypedScalar

Table = tuple[list[str], list[tuple[str, ...]]]


def listing(catalog: Catalog, what: str) -> Table:
    """Heads and rows of a table of kernels, providers, gpus, protocols or models."""
    if what == "providers":
        return ["provider", "title", "project", "language", "role"], [
            (name, one.title, one.project, one.language, one.role) for name, one in catalog.providers.items()
        ]
    if what == "gpus":
        return ["name", "product", "form factor", "architecture"], [
            (name, gpu.product, form, gpu.architecture) for gpu in catalog.gpus for name, form in gpu.names.items()
        ]
    if what == "protocols":
        return ["protocol", "pass", "timed or measured"], [
            (name, pass_, timed) for name, one in catalog.protocols.items() for pass_, timed in one.passes.items()
        ]
    if what == "models":
        return ["model", "facts"], [
            (name, ", ".join(f"{key}={value}" for key, value in one.items())) for name, one in catalog.models.items()
        ]
    return ["kernel", "operation", "shapes"], [
        (
            name,
            ", ".join(dict.fromkeys(catalog.operation(kernel, shape).title for shape in kernel.shapes)),
            ", ".join(shape.id for shape in kernel.shapes if shape.edition == "both"),
        )
        for name, kernel in catalog.kernels.items()
    ]


def describe(catalog: Catalog, kernel: Kernel) -> str:
    """A kernel's operations and shapes, a paragraph each."""
    parts = [kernel.name]
    operations = dict.fromkeys(catalog.operation(kernel, shape).slug for shape in kernel.shapes)
    parts += [_operation(catalog.operations[slug]) for slug in operations]
    parts += [_shape(catalog, kernel, shape) for shape in kernel.shapes]
    for provider, change in kernel.implementations.items():
        differs = ", ".join(f"{name} {value}" for name, value in change.model_dump(exclude_none=True).items())
        parts.append(f"provider {provider} here: {differs}")
    return "\n\n".join(parts) + "\n"


def _operation(one: Operation) -> str:
    lines = [f"operation {one.slug}: {one.title} ({one.family})", f"  {one.description}"]
    for side, tensors in (("input", one.inputs), ("output", one.outputs)):
        lines += [
            f"  {side} {tensor.name}: {tensor.dtype} [{', '.join(str(dim) for dim in tensor.shape)}]"
            for tensor in tensors
        ]
    lines += [f"  derived {name} = {text}" for name, text in one.derived.items()]
    return "\n".join(lines)


def _shape(catalog: Catalog, kernel: Kernel, shape: Shape) -> str:
    reads = {
        "integer": "an integer",
        "model": f"a model's name, its facts in config {shape.models}" if shape.models else "a model's name",
        "name": "a name, not read",
        "tuple": f"({', '.join(shape.parts)})",
    }[shape.reads]
    lines = [
        f"shape {shape.id}: x {shape.x} is {reads}; config {', '.join(shape.config)}",
        f"  measures {catalog.operation(kernel, shape).slug}, checked in {shape.revision}",
        "  axes " + ", ".join(f"{axis} = {text}" for axis, text in shape.axes.items()),
        f"  dtype {_dtype(shape.dtype)}" + "".join(f", {name} {_dtype(one)}" for name, one in shape.dtypes.items()),
    ]
    if shape.scalars:
        lines.append("  scalars " + ", ".join(f"{name} = {_scalar(one)}" for name, one in shape.scalars.items()))
    if shape.where:
        lines.append("  where " + ", ".join(f"{key} is {json.dumps(value)}" for key, value in shape.where.items()))
    lines += [f"  must be zero: {text}" for text in shape.zero]
    if shape.edition == "corrected":
        lines.append("  claims no rows by itself: a correction names it")
    return "\n".join(lines)


def _dtype(dtype: str | FromConfig) -> str:
    return f"as {dtype.key} says" if isinstance(dtype, FromConfig) else dtype


def _scalar(scalar: float | str | TypedScalar) -> str:
    return f"{scalar.value} ({scalar.dtype})" if isinstance(scalar, TypedScalar) else str(scalar)


def differences(catalog: Catalog) -> str:
    """The corrections of one edition alone, each with what it changes and its evidence."""
    paragraphs = []
    for one in (one for one in catalog.corrections if one.edition == "corrected"):
        changes = {
            "reads the rows by shape": one.shape,
            "measures by protocol": one.protocol,
            "implementation": one.implementation and json.dumps(one.implementation.model_dump(exclude_none=True)),
            "local time, minutes east of UTC": one.utc_offset_minutes,
        }
        rows = json.dumps(one.match.model_dump(mode="json", exclude_defaults=True, by_alias=True), ensure_ascii=False)
        lines = [one.id, f"  {one.sentence}", f"  evidence: {one.evidence}", f"  rows: {rows}"]
        lines += [f"  {what}: {value}" for what, value in changes.items() if value is not None]
        paragraphs.append("\n".join(lines))
    return "\n\n".join(paragraphs) + "\n" if paragraphs else "the editions do not differ\n"
