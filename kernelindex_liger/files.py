"""The one place that writes: files that are there whole or not at all, and errors that say where and why.

A file is written under a temporary name in the folder where it belongs, then put in its place in one step. A symbolic
link is never written through. What cannot be written raises `OutputError`, which commands turn into exit status 6.
"""

from __future__ import annotations

import errno
import fcntl
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import IO

TEMPORARY = ".ligerimport-"
"""How names of unfinished files begin; those that a killed run left behind are removed by the next."""

SINGLE = f"{TEMPORARY}file-"
"""How they begin where no lock guards the folder: these are held by a lock of their own while their writer lives."""

BLOCK = 1 << 20
NEW = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
# O_NONBLOCK: opening a pipe that somebody put in a file's place must not wait for its other end
OLD = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC

REMEDIES = {
    errno.ENOSPC: "make room and run again",
    errno.EDQUOT: "make room and run again",
    errno.EFBIG: "raise the limit on file sizes and run again",
    errno.EACCES: "make it writable, or name another place",
    errno.EPERM: "make it writable, or name another place",
    errno.ENOENT: "make its folder and run again",
    errno.EROFS: "name another place",
}


class OutputError(Exception):
    """The output cannot be written; the message says where, why, and what to do."""

    status = 6


def refusal(path: str | os.PathLike[str], error: OSError) -> OutputError:
    """What the system refused, as an error for people."""
    remedy = REMEDIES.get(error.errno or 0, "nothing is left half-written; run again")
    return OutputError(f"{os.fspath(path)}: cannot be written: {error.strerror or error}; {remedy}")


def open_new(path: str | Path) -> IO[bytes]:
    """An empty file, opened for writing; never one that a symbolic link leads to. Raises OSError."""
    return os.fdopen(os.open(path, NEW | os.O_TRUNC, 0o666), "wb")


class Replacement:
    """A file under a temporary name; it takes its place when the block ends well, and goes otherwise.

    `with` gives the open file and the replacement itself. Where `sparing`, a file that stands there already with the
    same bytes is left alone, its times too.
    """

    def __init__(self, final: str | Path, temporary: str | Path, *, sparing: bool = True) -> None:
        self.final = Path(final)
        self.temporary = Path(temporary)
        self.changed = False
        self._sparing = sparing
        self._file: IO[bytes] | None = None

    def __enter__(self) -> tuple[IO[bytes], Replacement]:
        """Open the temporary file.

        Raises:
            OutputError: if it cannot be made.
        """
        try:
            self._file = open_new(self.temporary)
        except OSError as error:
            raise refusal(self.final, error) from error
        return self._file, self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Put it in its place, or remove it.

        Raises:
            OutputError: if it cannot be written, or the block ended with an `OSError`.
        """
        try:
            if kind is None and self._file is not None:
                self._file.close()
                if not (self._sparing and _same(self.temporary, self.final)):
                    os.replace(self.temporary, self.final)  # noqa: PTH105
                    self.changed, self._file = True, None
        except OSError as late:
            raise refusal(self.final, late) from late
        finally:
            self.discard()
        if isinstance(error, OSError):
            raise refusal(self.final, error) from error

    def discard(self) -> None:
        """Close and remove the temporary file, if it is still there."""
        if self._file is None:
            return
        with suppress(OSError):
            self._file.close()
        self._file = None
        with suppress(OSError):
            os.unlink(self.temporary)  # noqa: PTH108


def write_whole(final: str, temporary: str, content: bytes) -> bool:
    """Write a whole file, unless it stands there with the same bytes; whether anything was written.

    Raises:
        OutputError: if it cannot be written.
    """
    try:
        if _stands(final, content):
            return False
        try:
            descriptor = os.open(temporary, NEW | os.O_TRUNC, 0o666)
            try:
                view = memoryview(content)
                while view:
                    view = view[os.write(descriptor, view) :]
            finally:
                os.close(descriptor)
            os.replace(temporary, final)  # noqa: PTH105
        except BaseException:
            with suppress(OSError):
                os.unlink(temporary)  # noqa: PTH108
            raise
    except OSError as error:
        raise refusal(final, error) from error
    return True


@contextmanager
def replacing(path: Path) -> Iterator[IO[bytes]]:
    """One file in a folder that is there, and that others may write to at the same time; its permissions stay.

    Raises:
        OutputError: if it cannot be written, or if something else than a regular file has its name.
    """
    try:
        mode = permissions(path)
        sweep(path.parent, SINGLE)
        held, temporary = _claim(path.parent)
    except OSError as error:
        raise refusal(path, error) from error
    replacement = Replacement(path, temporary, sparing=False)
    try:
        with replacement as (file, _):
            yield file
            if mode is not None:
                os.fchmod(file.fileno(), mode)
    finally:
        if not replacement.changed:
            with suppress(OSError):
                temporary.unlink()
        os.close(held)


def unlinked(path: Path) -> Path:
    """A path that this package alone has a use for: a lock, or a folder in a folder that it was given.

    Raises:
        OutputError: if a symbolic link stands there, which would lead what is written elsewhere.
    """
    if path.is_symlink():
        raise OutputError(f"{path}: cannot be written: it is a symbolic link, which leads elsewhere; remove it")
    return path


def make_folder(path: Path, *, parents: bool = False) -> None:
    """Make a folder where it is missing; the one above must be there, unless `parents` asks for all of them.

    Raises:
        OutputError: if it cannot be made.
    """
    try:
        path.mkdir(parents=parents, exist_ok=True)
    except OSError as error:
        raise refusal(path, error) from error


def write_text(path: Path, text: str) -> None:
    """Put `text` at `path` as UTF-8, whole or not at all.

    Raises:
        OutputError: if it cannot be written.
    """
    with replacing(path) as file:
        file.write(text.encode())


def sweep(folder: str | Path, prefix: str = TEMPORARY) -> None:
    """Remove from one folder what killed runs left unfinished; what a living writer holds stays."""
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith(prefix):
                with suppress(OSError):
                    _remove_abandoned(entry.path)


def _remove_abandoned(path: str) -> None:
    if os.path.islink(path):  # noqa: PTH114
        os.unlink(path)  # noqa: PTH108
        return
    descriptor = os.open(path, OLD)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.unlink(path)  # noqa: PTH108
    finally:
        os.close(descriptor)


def _claim(folder: Path) -> tuple[int, Path]:
    """A new temporary file, and a descriptor whose lock keeps others from sweeping it."""
    while True:
        path = folder / f"{SINGLE}{secrets.token_hex(8)}"
        descriptor = os.open(path, NEW | os.O_EXCL, 0o666)
        # a file system without locks sweeps nothing either
        with suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        if os.fstat(descriptor).st_nlink:
            return descriptor, path
        os.close(descriptor)


def permissions(path: Path) -> int | None:
    """The permission bits of the file that stands there; None where none does.

    Raises:
        OutputError: if something else than a regular file stands there.
        OSError: if it cannot be told.
    """
    try:
        found = path.lstat()
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(found.st_mode):
        what = "a symbolic link; name the file that it leads to" if stat.S_ISLNK(found.st_mode) else "no regular file"
        raise OutputError(f"{path}: cannot be written: it is {what}")
    return stat.S_IMODE(found.st_mode)


def _opened(path: str | Path) -> int | None:
    """A descriptor of what stands at `path`; None where there is nothing, or a link, which would lead elsewhere."""
    try:
        return os.open(path, OLD)
    except OSError as error:
        if error.errno not in {errno.ENOENT, errno.ELOOP, errno.ENXIO}:
            raise
        return None


def _size(descriptor: int) -> int | None:
    """Bytes of a regular file; None where it is none."""
    about = os.fstat(descriptor)
    return about.st_size if stat.S_ISREG(about.st_mode) else None


def _stands(path: str, content: bytes) -> bool:
    descriptor = _opened(path)
    if descriptor is None:
        return False
    try:
        return _size(descriptor) == len(content) and _read(descriptor, len(content)) == content
    finally:
        os.close(descriptor)


def _same(one: Path, other: Path) -> bool:
    """Whether two files hold the same bytes; times and names say nothing about that."""
    with ExitStack() as stack:
        sizes, descriptors = [], []
        for path in (one, other):
            descriptor = _opened(path)
            if descriptor is None:
                return False
            stack.callback(os.close, descriptor)
            descriptors.append(descriptor)
            sizes.append(_size(descriptor))
        if sizes[0] is None or sizes[0] != sizes[1]:
            return False
        first, second = descriptors
        while block := os.read(first, BLOCK):
            if block != _read(second, len(block)):
                return False
        return True


def _read(descriptor: int, size: int) -> bytes:
    """The next bytes of a file: as many as `size` asks for, or all that are left."""
    found = os.read(descriptor, size)
    while len(found) < size and (block := os.read(descriptor, size - len(found))):
        found += block
    return found
