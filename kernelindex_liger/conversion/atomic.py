"""Files that are there whole or not at all, and never outside the output folder."""

from __future__ import annotations

import filecmp
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

TEMPORARY = ".ligerimport-"
"""How names of unfinished files begin; those that a killed run left behind are removed by the next."""

LOCK = ".ligerimport.lock"


class OutputError(Exception):
    """The output cannot be written; the message says where and why."""


class Folder:
    """An output folder: every path is checked to stay below it, symbolic links included."""

    def __init__(self, root: Path) -> None:
        self.root = root
        try:
            root.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise OutputError(f"{root}: cannot be made: {error.strerror}; name another folder with -o") from error
        self._real = os.path.realpath(root)
        self._checked: set[str] = set()

    def directory(self, relative: str) -> str:
        """A folder below the root, made where it is missing.

        Raises:
            OutputError: if it cannot be made, or a symbolic link leads it outside the root.
        """
        path = os.path.join(self.root, relative)  # noqa: PTH118 - called for every file of a tree
        if path not in self._checked:
            real = os.path.realpath(path)
            if real != self._real and not real.startswith(self._real + os.sep):
                raise OutputError(f"{path}: a symbolic link leads outside {self.root}; remove it")
            try:
                os.makedirs(path, exist_ok=True)  # noqa: PTH103
            except OSError as error:
                raise OutputError(f"{path}: cannot be made: {error.strerror}") from error
            self._checked.add(path)
        return path

    def sweep(self) -> None:
        """Remove what killed runs left unfinished; call it while holding the folder's lock."""
        for parent, _, names in os.walk(self.root):
            for name in names:
                if name.startswith(TEMPORARY):
                    with suppress(OSError):
                        os.unlink(os.path.join(parent, name))  # noqa: PTH108, PTH118

    @contextmanager
    def replacing(self, name: str) -> Iterator[tuple[IO[bytes], Replacement]]:
        """A temporary file that becomes `name` when the block ends well, unless the same bytes stand there already.

        Raises:
            OutputError: if it cannot be written.
        """
        directory = self.directory(os.path.dirname(name))  # noqa: PTH120
        final = os.path.join(self.root, name)  # noqa: PTH118
        temporary = os.path.join(directory, f"{TEMPORARY}{os.path.basename(name)}")  # noqa: PTH118, PTH119
        result = Replacement(Path(temporary), Path(final))
        try:
            with open(temporary, "wb") as file:  # noqa: PTH123
                yield file, result
            result.settle()
        except OSError as error:
            raise OutputError(f"{final}: cannot be written: {error.strerror}") from error
        finally:
            with suppress(OSError):
                os.unlink(temporary)  # noqa: PTH108


class Replacement:
    """A finished temporary file on its way to its place."""

    def __init__(self, temporary: Path, final: Path) -> None:
        self.temporary = temporary
        self.final = final
        self.changed = False

    def settle(self) -> None:
        """Move the file to its place, if what stands there differs."""
        self.changed = not _same(self.temporary, self.final)
        if self.changed:
            os.replace(self.temporary, self.final)  # noqa: PTH105


def _same(one: Path, other: Path) -> bool:
    try:
        return not other.is_symlink() and filecmp.cmp(one, other, shallow=False)
    except FileNotFoundError:
        return False


def write_file(folder: Folder, name: str, content: bytes) -> bool:
    """Write a whole file, unless it stands there with the same bytes; whether anything was written.

    Raises:
        OutputError: if it cannot be written.
    """
    directory = folder.directory(os.path.dirname(name))  # noqa: PTH120
    final = os.path.join(folder.root, name)  # noqa: PTH118
    try:
        if read_bytes(final) == content:
            return False
        temporary = f"{directory}{os.sep}{TEMPORARY}{os.getpid()}"
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o666)
        try:
            view = memoryview(content)
            while view:
                view = view[os.write(descriptor, view) :]
        finally:
            os.close(descriptor)
        os.replace(temporary, final)  # noqa: PTH105
    except OSError as error:
        raise OutputError(f"{final}: cannot be written: {error.strerror}") from error
    return True


def read_bytes(path: str) -> bytes | None:
    """A regular file's bytes; None where there is none (a symbolic link is none: it would lead elsewhere)."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    except FileNotFoundError:
        return None
    except OSError:
        if os.path.islink(path):  # noqa: PTH114
            return None
        raise
    with os.fdopen(descriptor, "rb") as file:
        return file.read()
