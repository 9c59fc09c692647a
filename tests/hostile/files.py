"""Handmade inputs that no tool writes by itself."""

from __future__ import annotations

from pathlib import Path

from tests.conftest import ROW, text

HEADER, GOOD = text([ROW]).encode().splitlines(keepends=True)

_MAGIC = b"\x28\xb5\x2f\xfd"
_WINDOW = b"\x00\x38"
"""No flags; a window of 128 KiB, which is also the largest block."""


def zstd(*blocks: bytes | tuple[bytes, int]) -> bytes:
    """A Zstandard frame (RFC 8878) of raw blocks, and of one byte repeated so many times."""
    parts = []
    for one in blocks:
        content, size, kind = (one, len(one), 0) if isinstance(one, bytes) else (*one, 1)
        parts.append((kind << 1 | size << 3, content))
    last = len(parts) - 1
    return (
        _MAGIC
        + _WINDOW
        + b"".join((head | (n == last)).to_bytes(3, "little") + body for n, (head, body) in enumerate(parts))
    )


def zstd_zeros(size: int, before: bytes = b"", after: bytes = b"") -> bytes:
    """A frame of a text, `size` NUL bytes (a multiple of 128 KiB) and another text."""
    return zstd(before, *[(b"\0", 1 << 17)] * (size >> 17), after)


def sparse(path: Path, before: bytes, size: int, after: bytes) -> Path:
    """A file with a hole of `size` bytes, which takes no room on the disk, between two texts."""
    with path.open("wb") as file:
        file.write(before)
        file.seek(size, 1)
        file.write(after)
    return path
