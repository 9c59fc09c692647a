"""What comes from elsewhere, made harmless: text before it is shown, small files before they are read."""

from __future__ import annotations

import errno
import html
import os
import re
import stat
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import IO

UNSAFE = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
"""Unicode categories that can drive a terminal, turn text around, or hide in it."""

SHOWN = 200
"""Characters of a foreign text that a message shows."""


class UnfitFileError(OSError):
    """A file that is not read: no regular file, or larger than what is read of its kind."""


_ODD = re.compile(r"[^ -~]")


def safe(text: str, keep: str = "") -> str:
    """Text with control, direction-changing and invisible characters escaped; those in `keep` stay.

    What comes out holds no lone surrogates either, so it can be encoded.
    """
    return _ODD.sub(lambda found: found[0] if found[0] in keep or not _unsafe(found[0]) else _spelled(found[0]), text)


def spelled(text: str) -> str:
    """Text with everything beyond printable ASCII escaped: what a name is made of, whatever it looks like."""
    return _ODD.sub(lambda found: _spelled(found[0]), text)


def _unsafe(one: str) -> bool:
    return unicodedata.category(one) in UNSAFE


def _spelled(one: str) -> str:
    return one.encode("unicode_escape", "surrogatepass").decode()


def quoted(text: object, most: int = SHOWN) -> str:
    """A foreign value for a message: as Python spells it, in ASCII, cut to `most` characters."""
    shown = ascii(text[: most + 1] if isinstance(text, str) else text)
    return shown if len(shown) <= most else f"{shown[:most]}…"


def escape(text: str) -> str:
    """Text for a page: as `safe`, and with what HTML would take for markup escaped."""
    return html.escape(safe(text))


def safe_json(text: str) -> str:
    r"""JSON text with the characters that `safe` escapes written as `\uXXXX`; line ends between values stay."""
    return _ODD.sub(lambda found: found[0] if found[0] == "\n" or not _unsafe(found[0]) else _units(found[0]), text)


def _units(one: str) -> str:
    units = one.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))


def lines(file: IO[bytes], most: int) -> Iterator[tuple[int, bytes | None]]:
    """The lines of a file, numbered from 1, without their ends; None in place of one longer than `most` bytes."""
    number, skipping = 0, False
    while piece := file.readline(most + 1):
        whole = piece.endswith(b"\n")
        if not skipping:
            number += 1
            if whole or len(piece) <= most:
                yield number, piece.removesuffix(b"\n")
            else:
                yield number, None
        skipping = not whole


def read_small(path: Path, most: int) -> bytes:
    """A whole file of at most `most` bytes; pipes, devices and folders are never opened for reading.

    Raises:
        UnfitFileError: if it is no regular file, or larger.
        OSError: if it cannot be read.
    """
    # without O_NONBLOCK, opening a pipe would wait for a writer for ever
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb", buffering=0) as file:
        about = os.fstat(descriptor)
        if not stat.S_ISREG(about.st_mode):
            raise UnfitFileError(errno.EINVAL, "not a regular file", str(path))
        content = bytearray()
        while block := file.read(most + 1 - len(content)):
            content += block
            if len(content) > most:
                raise UnfitFileError(errno.EFBIG, f"larger than {most:,} bytes", str(path))
    return bytes(content)
