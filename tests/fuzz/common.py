"""What the targets share: a place for files, a source of bytes, and what a message for a person must be."""

from __future__ import annotations

import atexit
import functools
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from kernelindex_liger.catalog import Catalog, load
from kernelindex_liger.conversion.sources import Source
from kernelindex_liger.untrusted import safe, spelled

Target = Callable[[bytes], None]

MESSAGE = 10_000
"""Characters of a message for a person at the most."""


@functools.cache
def scratch() -> Path:
    """A folder for the files that targets read."""
    folder = Path(tempfile.mkdtemp(prefix="fuzz-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def said(error: Exception) -> None:
    """Hold a message for a person to what it must be."""
    message = str(error)
    assert message, error
    assert len(message) < MESSAGE, message[:200]
    # it can be shown and logged, whatever it tells of
    safe(message).encode()
    spelled(message).encode("ascii")


class Given(Source):
    """A source whose bytes are at hand, given in blocks of a size."""

    def __init__(self, data: bytes, size: int = 1 << 22) -> None:
        super().__init__("in.csv", Path("in.csv"))
        self.data, self.step = data, size

    def blocks(self) -> Iterator[bytes]:
        for start in range(0, len(self.data), self.step):
            yield self.data[start : start + self.step]


@functools.cache
def facts() -> Catalog:
    """The package's catalogue."""
    return load()
