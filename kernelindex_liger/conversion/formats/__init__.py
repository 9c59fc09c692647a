"""Output formats: one module each, behind one small interface."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import polars as pl

from kernelindex_liger.conversion.linked import Linked

if TYPE_CHECKING:
    from kernelindex_liger.catalog import Catalog
    from kernelindex_liger.conversion.atomic import Folder
    from kernelindex_liger.conversion.combine import Combination


@dataclass
class Counts:
    """Documents (or, in formats of few files, files' documents) by whether they had to be written."""

    written: int = 0
    unchanged: int = 0

    def add(self, *, changed: bool, number: int = 1) -> None:
        """Count `number` documents."""
        if changed:
            self.written += number
        else:
            self.unchanged += number


class Writer(Protocol):
    """Takes emitted rows batch by batch, then the positions to take out and the linked documents."""

    needs_file_text: bool

    def add(self, rows: pl.DataFrame, combinations: Sequence[Combination]) -> None:
        """Emitted rows (`emit.emit`), with every combination known so far."""

    def finish(self, drop: pl.Series, linked: Sequence[Linked]) -> Counts:
        """Put everything in its place, without the rows at the positions in `drop`."""


def writer(name: str, folder: Folder, catalog: Catalog, files: Sequence[str]) -> Writer:
    """The writer of a format: `tree`, `jsonl`, `parquet` or `submission`; `files` are the sources' names."""
    if name == "tree":
        from kernelindex_liger.conversion.formats.tree import TreeWriter

        return TreeWriter(folder)
    if name == "jsonl":
        from kernelindex_liger.conversion.formats.jsonl import JsonlWriter

        return JsonlWriter(folder)
    if name == "parquet":
        from kernelindex_liger.conversion.formats.parquet import ParquetWriter

        return ParquetWriter(folder, catalog, files)
    if name == "submission":
        from kernelindex_liger.conversion.formats.submission import SubmissionWriter

        return SubmissionWriter(folder)
    raise ValueError(f"no format {name!r}")


def named(combinations: Iterable[Combination]) -> list[Linked]:
    """Documents that runs name and that are not in their bundles, with all that those name; by kind, then name."""
    found: dict[str, dict[str, Linked]] = {}
    pending: list[Linked] = [one for each in combinations for one in (each.workload, each.implementation)]
    while pending:
        one = pending.pop()
        of_kind = found.setdefault(one.kind, {})
        if one.name not in of_kind:
            of_kind[one.name] = one
            pending += one.links
    return [found[kind][name] for kind in sorted(found) for name in sorted(found[kind])]


def by_folder(linked: Sequence[Linked]) -> dict[str, list[Linked]]:
    """Linked documents by their kind's folder, in the order in which kinds name one another."""
    from kernelindex_liger.documents import KINDS

    folders: dict[str, list[Linked]] = {
        kind.folder: [] for kind in KINDS.values() if kind.folder not in {"runs", "protocols", "environments"}
    }
    for one in linked:
        folders[KINDS[one.kind].folder].append(one)
    return folders


__all__ = ["Counts", "Writer", "by_folder", "named", "writer"]
