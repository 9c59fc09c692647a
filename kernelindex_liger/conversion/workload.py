"""Workloads: a reading's WorkloadCase, of which cases that differ in sizes alone share the form."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from kernelindex_liger.catalog.expressions import parse
from kernelindex_liger.catalog.facts import Tensor
from kernelindex_liger.conversion.holes import FIRST, number_hole, percent
from kernelindex_liger.conversion.linked import Linked, linked
from kernelindex_liger.conversion.reading import Reading
from kernelindex_liger.documents import WorkloadCase, canonical, slug
from kernelindex_liger.documents.canonical import IDENTITY
from kernelindex_liger.documents.naming import SLUG_LENGTH

TITLE_LENGTH = 200


class Form:
    """The WorkloadCase of readings that differ in their sizes alone.

    The model writes it once, with holes for sizes, name and title, so that thousands of sizes do not each go through
    the model. Sizes that the holes do not allow for go through it all the same, which says what is wrong with them.
    """

    def __init__(self, reading: Reading, operation: Linked) -> None:
        self._operation = operation
        self._links = (operation,)
        self._derived = [(axis, parse(text)) for axis, text in reading.operation.derived.items()]
        names = (*reading.axes, *reading.operation.derived)
        self._usable = all(
            isinstance(value, float) or abs(value) < FIRST
            for value in (
                *(value for _, value in reading.scalars.values()),
                *(dim for tensor in reading.operation.inputs for dim in tensor.shape if isinstance(dim, int)),
            )
        )
        holes = {name: number_hole(index) for index, name in enumerate(names)}
        axes = {name: holes[name] for name in reading.axes}
        document = _case(reading, operation, holes, "name", "title").to_dict()
        document["metadata"] |= {"name": "<_name>", "title": "<_title>"}
        self._text = percent(canonical(document), names)
        whole = percent(canonical({key: document[key] for key in IDENTITY}), names)
        start, spec, self._spec = whole.partition('"spec":')
        self._start = hashlib.sha256((start + spec).encode())
        self._text = self._text.removesuffix(self._spec)
        # no size has more digits than a hole, so what is not cut with holes is not cut with any sizes
        name, title = _name(reading, reading.key(axes)), _title(reading, axes)
        self._name = percent(name, names) if len(name) < SLUG_LENGTH else None
        self._title = percent(canonical(title)[1:-1], names) if len(title) <= TITLE_LENGTH else None

    def fill(self, reading: Reading) -> Linked:
        """The WorkloadCase of a reading.

        Raises:
            ValidationError: if it would not be valid.
        """
        sizes: dict[str, Any] = reading.axes.copy()
        for axis, expression in self._derived:
            sizes[axis] = expression.value(sizes)
        name = _name(reading, reading.case_key) if self._name is None else self._name % sizes
        title = _title(reading, reading.axes) if self._title is None else ""
        if not self._usable or len(title) > TITLE_LENGTH or min(sizes.values()) <= 0 or max(sizes.values()) >= FIRST:
            title = _title(reading, reading.axes)
            return linked(_case(reading, self._operation, sizes, name, title), self._operation)
        spec = self._spec % sizes
        identity = self._start.copy()
        identity.update(spec.encode())
        sizes |= {"_name": name, "_title": canonical(title)[1:-1] if self._title is None else self._title % sizes}
        digest = f"sha256:{identity.hexdigest()}"
        return Linked("WorkloadCase", name, self._text % sizes + spec, digest, self._links)


def _name(reading: Reading, key: str) -> str:
    return slug(f"{reading.operation.slug}-{key}")


def _title(reading: Reading, axes: Mapping[str, int]) -> str:
    sizes = ", ".join(f"{axis}={size}" for axis, size in axes.items())
    switches = "".join(f", {name}={reading.scalars[name][1]}" for name in reading.shape.switches)
    return f"{reading.operation.title} · {sizes}{switches} · {reading.dtype}"


def _case(reading: Reading, operation: Linked, sizes: Mapping[str, int], name: str, title: str) -> WorkloadCase:
    def dtype(tensor: Tensor) -> str:
        return tensor.dtype if tensor.dtype != "float" else reading.dtypes.get(tensor.name, reading.dtype)

    tensors: dict[str, Any] = {
        tensor.name: {
            "shape": [sizes[dim] if isinstance(dim, str) else dim for dim in tensor.shape],
            "dtype": dtype(tensor),
        }
        for tensor in reading.operation.inputs
    }
    scalars = {name: {"dtype": kind, "value": value} for name, (kind, value) in reading.scalars.items()}
    return WorkloadCase.model_validate(
        {
            "metadata": {"name": name, "title": title},
            "spec": {
                "operationSpecDigest": operation.digest,
                "axes": {axis: sizes[axis] for axis in reading.axes},
                "tensors": tensors,
                "scalars": scalars or None,
            },
        }
    )
