"""Where polars writes: through Python, so that what the system refuses has its own name and number."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, cast


class Sink:
    """A file that polars writes to: polars has words of its own for what the system refuses, so the error is kept."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.error: OSError | None = None

    def write(self, data: bytes) -> int:
        """Write, and remember what went wrong."""
        try:
            return self._file.write(data)
        except OSError as error:
            self.error = error
            raise


@contextmanager
def sink(file: IO[bytes]) -> Iterator[IO[bytes]]:
    """A file for polars to write to; the block raises the `OSError` that a write met, not polars' wording of it."""
    opened = Sink(file)
    try:
        yield cast("IO[bytes]", opened)
    except Exception:
        if opened.error is not None:
            raise opened.error from None
        raise
