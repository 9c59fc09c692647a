"""Targets of catalogue files and the expressions in them."""

from __future__ import annotations

import functools
from dataclasses import replace

from kernelindex_liger.catalog import Catalog, CatalogError, load
from kernelindex_liger.catalog.check import problems
from kernelindex_liger.catalog.describe import describe, differences, listing
from kernelindex_liger.catalog.expressions import LIMIT, Expression, ExpressionError
from kernelindex_liger.catalog.load import _content, _merged, _refuse
from kernelindex_liger.conversion import read as reader
from kernelindex_liger.conversion.bind import Binder
from kernelindex_liger.documents.canonical import sha256
from tests.conftest import ROW
from tests.conftest import text as csv_text
from tests.fuzz.common import Given, facts, said, scratch


@functools.cache
def common() -> dict[str, object]:
    """The tables of the package's catalogue that a kernel's facts name."""
    catalog = load()
    return {name: getattr(catalog, name) for name in ("projects", "providers", "metrics", "protocols", "models")}


def joined(own: Catalog) -> Catalog:
    """A file's facts with those that they may name: much of what `load([file])` gives, without 67 kernels."""
    tables = {name: {**known, **getattr(own, name)} for name, known in common().items()}  # type: ignore[dict-item]
    return replace(own, **tables, gpus=(*own.gpus, *facts().gpus))


def load_catalogue(data: bytes) -> None:
    """A catalogue file is refused, or usable: described, digested, and asked about a row."""
    path = scratch() / "facts.toml"
    path.write_bytes(data)
    try:
        catalog = joined(_merged([(path, _content(path))], sha256(data.hex())))
        _refuse(problems(catalog))
    except CatalogError as error:
        said(error)
        return
    for kernel in catalog.kernels.values():
        describe(catalog, kernel).encode()
    for what in ("kernels", "providers", "gpus", "protocols", "models"):
        listing(catalog, what)
    differences(catalog).encode()
    binder = Binder(catalog, "corrected", memory=True)
    names = [ROW | {"kernel_name": name} for name in [*list(catalog.kernels)[:3], "rms_norm"]]
    for batch in reader.read(Given(csv_text(names).encode()), 0):
        bound = binder.bind(batch.frame)
        assert bound.rows.height + bound.skipped.height == batch.frame.height


def evaluate(data: bytes) -> None:
    """An expression has an integer value within the bound, or says why not."""
    names: dict[str, object] = {"x": 3, "M": 2**40, "text": "a", "list": [1], "flag": True, "none": None}
    try:
        value = Expression(data.decode(errors="surrogateescape")).value(names)
    except ExpressionError as error:
        said(error)
        return
    assert type(value) is int
    assert abs(value) <= LIMIT
