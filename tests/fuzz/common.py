"""What the targets share: a place for files, a source of bytes, and what a message for a person must be."""

from __future__ import annotations

import functools
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
    """A folder for the files that targets read, in memory where the system has such a place."""
    memory = Path("/dev/shm")
    return Path(tempfile.mkdtemp(prefix="fuzz-", dir=memory if memory.is_dir() else None))


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
