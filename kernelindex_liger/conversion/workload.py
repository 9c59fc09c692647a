"""Workloads: a reading's WorkloadCase, of which cases that differ in sizes alone share the form."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kernelindex_liger.catalog.expressions import parse
from kernelindex_liger.catalog.facts import Tensor
from kernelindex_liger.conversion.holes import FIRST, number_hole, percent
from kernelindex_liger.conversion.linked import Linked, linked
from kernelindex_liger.conversion.reading import Reading
from kernelindex_liger.documents import WorkloadCase, canonical, slug
from kernelindex_liger.documents.canonical import IDENTITY, sha256

TITLE_LENGTH = 200


class Form:
    """The WorkloadCase of readings that differ in their sizes alone.

    The model writes it once, with holes for sizes, name and title, so that thousands of sizes do not each go through
    the model. Sizes that the holes do not allow for go through it all the same, which says what is wrong with them.
    """

    def __init__(self, reading: Reading, operation: Linked) -> None:
        self._operation = operation
        self._names = (*reading.axes, *reading.operation.derived)
        self._usable = all(
            isinstance(value, float) or abs(value) < FIRST
            for value in (
                *(value for _, value in reading.scalars.values()),
                *(dim for tensor in reading.operation.inputs for dim in tensor.shape if isinstance(dim, int)),
            )
        )
        holes = {name: number_hole(index) for index, name in enumerate(self._names)}
        document = _case(reading, operation, holes, "name", "title").to_dict()
        document["metadata"] |= {"name": "<_name>", "title": "<_title>"}
        self._text = percent(canonical(document), self._names)
        self._identity = percent(canonical({key: document[key] for key in IDENTITY}), self._names)

    def fill(self, reading: Reading) -> Linked:
        """The WorkloadCase of a reading.

        Raises:
            ValidationError: if it would not be valid.
        """
        sizes = dict(reading.axes)
        for axis, text in reading.operation.derived.items():
            sizes[axis] = parse(text).value(sizes)
        name, title = slug(f"{reading.operation.slug}-{reading.case_key}"), _title(reading)
        if not self._usable or len(title) > TITLE_LENGTH or not all(0 < size < FIRST for size in sizes.values()):
            return linked(_case(reading, self._operation, sizes, name, title), self._operation)
        values = sizes | {"_name": name, "_title": canonical(title)[1:-1]}
        return Linked("WorkloadCase", name, self._text % values, sha256(self._identity % values), (self._operation,))


def _title(reading: Reading) -> str:
    sizes = ", ".join(f"{axis}={size}" for axis, size in reading.axes.items())
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
