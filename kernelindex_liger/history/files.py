"""Writing files so that nobody ever sees half of one."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from kernelindex_liger.history.errors import UnwritableError

if TYPE_CHECKING:
    from collections.abc import Callable


def write(path: Path, fill: Callable[[Path], object]) -> None:
    """Let `fill` write a temporary file beside `path`, then put it in place in one step.

    Raises `UnwritableError` when the folder or the disk refuses; no temporary file stays behind.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=".tmp-", suffix=path.suffix)
        os.close(handle)
    except OSError as error:
        raise UnwritableError(f"{path}: cannot be written ({error.strerror or error})") from error
    temporary = Path(name)
    try:
        fill(temporary)
        temporary.chmod(0o666 & ~_umask())
        temporary.replace(path)
    except OSError as error:
        raise UnwritableError(f"{path}: cannot be written ({error.strerror or error})") from error
    finally:
        temporary.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Put `text` at `path` as UTF-8 in one step."""
    write(path, lambda temporary: temporary.write_bytes(text.encode()))


def _umask() -> int:
    """The process's umask; `mkstemp` ignores it, and documents are for everybody who may read the folder."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
