"""`submission`: what KernelIndex's contribution path takes: one object with all documents of a set of runs.

The file is JSON, which is YAML too; it is named `.yaml` because the contribution path takes no other name. More runs
than one submission can hold give several files, each complete in itself.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import IO

import polars as pl

from kernelindex_liger.conversion.atomic import Folder
from kernelindex_liger.conversion.combine import Combination
from kernelindex_liger.conversion.formats import Counts, by_folder, closure
from kernelindex_liger.conversion.formats.jsonl import Bundles
from kernelindex_liger.conversion.linked import Linked, LinkedImplementation
from kernelindex_liger.documents import canonical

RUNS = 10_000
"""Runs of one submission: KernelIndex's importer refuses more than 10,922 at once."""

PART = re.compile(r"submission(-[0-9]+)?\.yaml")
"""Names of submissions and their parts."""


class SubmissionWriter:
    """Collects bundles, then writes one file for each 10,000 runs."""

    needs_file_text = False

    def __init__(self, folder: Folder) -> None:
        self._folder = folder
        self._bundles = Bundles()
        self._lines: list[pl.Series] = []
        self._used: list[pl.Series] = []
        self._combinations: Sequence[Combination] = ()

    def add(self, rows: pl.DataFrame, combinations: Sequence[Combination]) -> None:
        """Keep the batch's bundles."""
        lines = [b"".join(pieces).rstrip() for pieces in self._bundles.pieces(rows, combinations)]
        self._lines.append(pl.Series(lines, dtype=pl.Binary))
        self._used.append(rows.get_column("combination"))
        self._combinations = combinations

    def finish(self, drop: pl.Series, linked: Sequence[Linked]) -> Counts:
        """Write the submission, or its parts, and remove parts of an earlier one that is no longer as long."""
        counts = Counts()
        if not self._lines:
            return counts
        rows = pl.DataFrame({"line": pl.concat(self._lines), "combination": pl.concat(self._used)})
        rows = rows.filter(~pl.int_range(pl.len(), dtype=pl.UInt64).is_in(drop.implode()))
        parts = list(rows.iter_slices(RUNS))
        names = [f"submission-{index}.yaml" for index in range(1, len(parts) + 1)]
        for name, part in zip(["submission.yaml"] if len(parts) == 1 else names, parts, strict=True):
            used = [self._combinations[index] for index in part.get_column("combination").unique().sort().to_list()]
            documents = closure(
                [one for combination in used for one in (combination.workload, combination.implementation)]
            )
            with self._folder.replacing(name) as (file, replacement):
                _write(file, by_folder(documents), part.get_column("line").to_list())
            counts.add(changed=replacement.changed, number=part.height + len(documents))
        self._remove_stale(set(names) if len(parts) > 1 else {"submission.yaml"})
        return counts

    def _remove_stale(self, current: set[str]) -> None:
        for path in self._folder.root.glob("submission*.yaml"):
            if path.name not in current and PART.fullmatch(path.name):
                self._folder.remove(path.name)


def _write(file: IO[bytes], folders: dict[str, list[Linked]], runs: list[bytes]) -> None:
    sections = {name: [one.text.encode() for one in _distinct(documents)] for name, documents in folders.items()}
    sections["implementations"] = [
        canonical({"manifest": one.document, "projectSlug": one.project}).encode()
        for one in _distinct(folders["implementations"])
        if isinstance(one, LinkedImplementation)
    ]
    sections["runs"] = runs
    file.write(b"{")
    for index, (name, entries) in enumerate(sections.items()):
        file.write(f'{"," if index else ""}\n"{name}": ['.encode())
        for place, entry in enumerate(entries):
            file.write((b",\n" if place else b"\n") + entry)
        file.write(b"\n]")
    file.write(b"\n}\n")


def _distinct(documents: Sequence[Linked]) -> list[Linked]:
    """One document a digest: the importer keeps the first of equal digests; the shortest name is the plainest."""
    first: dict[str, Linked] = {}
    for one in sorted(documents, key=lambda one: (len(one.name), one.name)):
        first.setdefault(one.digest, one)
    return sorted(first.values(), key=lambda one: one.name)
