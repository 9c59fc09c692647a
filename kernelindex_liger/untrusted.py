"""What comes from elsewhere, made harmless: text before it is shown, small files before they are read."""

from __future__ import annotations

import errno
import os
import stat
import unicodedata
from pathlib import Path

UNSAFE = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
"""Unicode categories that can drive a terminal, turn text around, or hide in it."""

SHOWN = 200
"""Characters of a foreign text that a message shows."""


class UnfitFileError(OSError):
    """A file that is not read: no regular file, or larger than what is read of its kind."""


def safe(text: str, keep: str = "") -> str:
    """Text with control, direction-changing and invisible characters escaped; those in `keep` stay.

    What comes out holds no lone surrogates either, so it can be encoded.
    """
    return "".join(
        one if one in keep or unicodedata.category(one) not in UNSAFE else
        one.encode("unicode_escape", "surrogatepass").decode()
        for one in text
    )  # fmt: skip


def spelled(text: str) -> str:
    """Text with everything beyond printable ASCII escaped: what a name is made of, whatever it looks like."""
    return "".join(one if " " <= one <= "~" else one.encode("unicode_escape", "surrogatepass").decode() for one in text)


def quoted(text: object, most: int = SHOWN) -> str:
    """A foreign value for a message: as Python spells it, in ASCII, cut to `most` characters."""
    shown = ascii(text[: most + 1] if isinstance(text, str) else text)
    return shown if len(shown) <= most else f"{shown[:most]}…"


def safe_json(text: str) -> str:
    r"""JSON text with the characters that `safe` escapes written as `\uXXXX`; line ends between values stay."""
    return "".join(
        one if one == "\n" or unicodedata.category(one) not in UNSAFE else
        "".join(f"\\u{int.from_bytes(unit):04x}" for unit in _units(one))
        for one in text
    )  # fmt: skip


def _units(one: str) -> list[bytes]:
    units = one.encode("utf-16-be", "surrogatepass")
    return [units[:2], units[2:]] if len(units) > 2 else [units]


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
