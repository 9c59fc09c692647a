"""`jsonl`: `runs.jsonl` with one bundle a line, and a `.jsonl` file a kind of linked document.

Every line is the RFC 8785 form of its value.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from itertools import chain, islice, repeat
from typing import IO

import polars as pl

from kernelindex_liger.conversion.atomic import Folder, Replacement
from kernelindex_liger.conversion.combine import Combination
from kernelindex_liger.conversion.emit import HEAD
from kernelindex_liger.conversion.formats import Counts, by_folder
from kernelindex_liger.conversion.linked import Linked

Pieces = Iterator[tuple[bytes, bytes, bytes, bytes]]

AT_ONCE = 256
"""Lines joined for one write: enough to make writing cheap, few enough to stay in the processor's cache."""


class JsonlWriter:
    """Streams lines into a temporary file that takes its place at the end."""

    needs_file_text = False

    def __init__(self, folder: Folder) -> None:
        self._folder = folder
        self._stack = ExitStack()
        self._file, self._replacement = self._open("runs.jsonl")
        self._lines = 0
        self._bundles = Bundles()
        # the disk and the next batch each keep one core busy; more than one batch in flight would only hold memory
        self._disk = ThreadPoolExecutor(max_workers=1)
        self._writing: Future[None] | None = None

    def _open(self, name: str) -> tuple[IO[bytes], Replacement]:
        return self._stack.enter_context(self._folder.replacing(name))

    def add(self, rows: pl.DataFrame, combinations: Sequence[Combination]) -> None:
        """Append a line a row."""
        pieces = self._bundles.pieces(rows, combinations)
        self._settle()
        self._writing = self._disk.submit(write_lines, self._file, pieces)
        self._lines += rows.height

    def _settle(self) -> None:
        if self._writing is not None:
            self._writing.result()
            self._writing = None

    def finish(self, drop: pl.Series, linked: Sequence[Linked]) -> Counts:
        """Move the files to their places."""
        self._settle()
        self._disk.shutdown()
        if drop.len():
            self._file.flush()
            without(self._replacement, drop)
        self._stack.close()
        counts = Counts()
        counts.add(changed=self._replacement.changed, number=self._lines - drop.len())
        for name, documents in by_folder(linked).items():
            with self._folder.replacing(f"{name}.jsonl") as (file, replacement):
                file.writelines(f"{one.text}\n".encode() for one in documents)
            counts.add(changed=replacement.changed, number=len(documents))
        return counts


class Bundles:
    """Bundles as canonical text, in the pieces that rows and combinations have ready.

    Members in canonical order are environment, protocol and run; those of a run, API version, kind, metadata, spec.
    """

    def __init__(self) -> None:
        self._heads: list[bytes] = []

    def pieces(self, rows: pl.DataFrame, combinations: Sequence[Combination]) -> Pieces:
        """Four pieces for each emitted row, the last of them the end of the line."""
        self._heads += [_head(one.environment, one.protocol) for one in combinations[len(self._heads) :]]
        return zip(
            map(self._heads.__getitem__, rows.get_column("combination").to_list()),
            rows.get_column("metadata").cast(pl.Binary).to_list(),
            rows.get_column("spec").cast(pl.Binary).to_list(),
            repeat(b"}\n"),
            strict=False,
        )


@functools.lru_cache(maxsize=1 << 12)
def _head(environment: Linked, protocol: Linked) -> bytes:
    return f'{{"environment":{environment.text},"protocol":{protocol.text},"run":{HEAD}'.encode()


def write_lines(file: IO[bytes], pieces: Pieces) -> None:
    """Write bundles, a line each."""
    while some := b"".join(chain.from_iterable(islice(pieces, AT_ONCE))):
        file.write(some)


def without(replacement: Replacement, drop: pl.Series) -> None:
    """Take the lines at some positions out of a finished temporary file."""
    whole = replacement.temporary
    with whole.open("rb") as source, Replacement(whole, f"{whole}-kept", sparing=False) as (target, _):
        target.writelines(kept(source, drop))


def kept(source: IO[bytes], drop: pl.Series) -> Iterator[bytes]:
    """The lines of a file without those at some positions, which ascend."""
    left = iter(drop.to_list())
    following = next(left, None)
    for position, line in enumerate(source):
        if position == following:
            following = next(left, None)
        else:
            yield line
