"""For authors of catalogue files: which rows each shape takes, and what is not covered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from kernelindex_liger.catalog import Catalog, load
from kernelindex_liger.catalog.load import read as read_facts
from kernelindex_liger.conversion.bind import Binder
from kernelindex_liger.conversion.read import read
from kernelindex_liger.conversion.sources import find
from kernelindex_liger.documents import pretty


@dataclass
class Coverage:
    """What a kernel's shapes make of some CSVs.

    Attributes:
        taken: rows (memory rows too) by shape.
        example: the workload of the first row of each shape, as text.
        missed: rows that no shape takes, by reason and detail, with the first `file:line`.
    """

    kernel: str
    taken: dict[str, int] = field(default_factory=dict)
    example: dict[str, str] = field(default_factory=dict)
    missed: dict[tuple[str, str], tuple[int, str]] = field(default_factory=dict)


def check(file: Path, inputs: Sequence[str | Path], catalog: Sequence[Path] = ()) -> tuple[Catalog, list[Coverage]]:
    """Load a catalogue file with all others, and hold its kernel's shapes against CSVs.

    Raises:
        CatalogError: if the file cannot be used.
        InputError: if a CSV cannot be read.
    """
    facts = load([*catalog, file])
    kernel = read_facts(file).kernel
    if kernel is None:
        return facts, []
    return facts, cover(facts, [kernel], inputs)


def cover(facts: Catalog, kernels: Sequence[str], inputs: Sequence[str | Path]) -> list[Coverage]:
    """What the shapes of some kernels make of CSVs."""
    found = {name: Coverage(name, {one.id: 0 for one in facts.kernels[name].shapes}) for name in kernels}
    binder = Binder(facts, memory=True)
    sources = find(inputs) if inputs else []
    for index, source in enumerate(sources):
        for batch in read(source, index):
            mine = batch.frame.filter(batch.frame.get_column("kernel_name").is_in(list(kernels)))
            bound = binder.bind(mine)
            for combination, count in bound.rows.get_column("combination").value_counts().iter_rows():
                one = binder.combinations[combination]
                coverage = found[one.reading.kernel.name]
                shape = one.reading.shape.id
                coverage.taken[shape] += count
                coverage.example.setdefault(shape, pretty(one.workload.document))
            groups = bound.skipped.group_by("kernel_name", "reason", "detail", maintain_order=True)
            for kernel, reason, detail, rows, line in groups.agg(pl.len(), pl.col("line").first()).iter_rows():
                missed = found[kernel].missed
                count, first = missed.get((reason, detail), (0, f"{source.name}:{line}"))
                missed[reason, detail] = (count + rows, first)
    return list(found.values())
