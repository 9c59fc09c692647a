"""`submission`: what KernelIndex's contribution path takes: one object with all documents of a set of runs.

The file is JSON, which is YAML too; it is named `.yaml` because the contribution path takes no other name. More runs
than one submission can hold give several files, each complete in itself.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice
from typing import IO

import polars as pl

from kernelindex_liger.conversion.atomic import Folder
from kernelindex_liger.conversion.combine import Combination
from kernelindex_liger.conversion.formats import Counts, by_folder, named
from kernelindex_liger.conversion.formats.jsonl import Bundles, kept, write_lines
from kernelindex_liger.conversion.linked import Linked, LinkedImplementation
from kernelindex_liger.documents import canonical
from kernelindex_liger.files import open_new

RUNS = 10_000
"""Runs of one submission: KernelIndex's importer refuses more than 10,922 at once."""

PART = re.compile(r"submission(-[0-9]+)?\.yaml")
"""Names of submissions and their parts."""


class SubmissionWriter:
    """Keeps bundles in a scratch file, then writes one file for each 10,000 runs."""

    needs_file_text = False

    def __init__(self, folder: Folder) -> None:
        self._folder = folder
        self._bundles = Bundles()
        self._scratch = folder.scratch("runs")
        self._lines = open_new(self._scratch)
        self._used: list[pl.Series] = []
        self._combinations: Sequence[Combination] = ()

    def add(self, rows: pl.DataFrame, combinations: Sequence[Combination]) -> None:
        """Keep the batch's bundles."""
        write_lines(self._lines, self._bundles.pieces(rows, combinations))
        self._used.append(rows.get_column("combination"))
        self._combinations = combinations

    def finish(self, drop: pl.Series, linked: Sequence[Linked]) -> Counts:
        """Write the submission, or its parts, and remove parts of an earlier one that is no longer as long."""
        self._lines.close()
        counts = Counts()
        used = pl.concat([pl.Series(dtype=pl.UInt32), *self._used])
        used = used.filter(~pl.int_range(used.len(), dtype=pl.UInt64, eager=True).is_in(drop.implode()))
        if used.is_empty():
            return counts
        starts = range(0, used.len(), RUNS)
        names = [f"submission-{index}.yaml" for index in range(1, len(starts) + 1)]
        names = ["submission.yaml"] if len(starts) == 1 else names
        with open(self._scratch, "rb") as source:  # noqa: PTH123
            lines = kept(source, drop)
            for name, start in zip(names, starts, strict=True):
                part = used.slice(start, RUNS)
                runs = [line.rstrip() for line in islice(lines, part.len())]
                documents = named(self._combinations[index] for index in part.unique().sort().to_list())
                with self._folder.replacing(name) as (file, replacement):
                    _write(file, by_folder(documents), runs)
                counts.add(changed=replacement.changed, number=part.len() + len(documents))
        self._remove_stale(set(names))
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
