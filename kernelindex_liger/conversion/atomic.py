"""The output folder: nothing is written outside it, and nothing unfinished stays in it."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Self

from kernelindex_liger.files import TEMPORARY, OutputError, Replacement, refusal, sweep, write_whole

__all__ = ["LOCK", "TEMPORARY", "Folder", "OutputError", "Replacement", "write_file"]

LOCK = ".ligerimport.lock"


class Folder:
    """An output folder: every path is checked to stay below it, symbolic links included.

    As a context it is swept of what killed runs left, and nothing temporary stays however the block ends; enter it
    while holding the folder's lock.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self._path = str(root)
        try:
            root.mkdir(parents=True, exist_ok=True)
            self._identity = os.stat(root)  # noqa: PTH116
        except OSError as error:
            raise OutputError(f"{root}: cannot be made: {error.strerror}; name another folder with -o") from error
        self._real = os.path.realpath(root)
        self._made = {self._path}
        self._unfinished: list[Replacement] = []
        self._scratch: list[str] = []

    def __enter__(self) -> Self:
        """Remove what killed runs left."""
        self.sweep()
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        """Close and remove whatever is not finished.

        Raises:
            OutputError: if the block ended well, and yet a folder in which files were written is gone.
        """
        for one in self._unfinished:
            one.discard()
        for path in self._scratch:
            with suppress(OSError):
                os.unlink(path)  # noqa: PTH108
        if kind is None:
            self._check()
        else:
            self.sweep()

    def directory(self, relative: str) -> str:
        """A folder below the root, made where it is missing.

        Raises:
            OutputError: if it cannot be made, or a symbolic link leads it outside the root.
        """
        path = f"{self._path}/{relative}" if relative else self._path
        if path not in self._made:
            real = os.path.realpath(path)
            if real != self._real and not real.startswith(self._real + os.sep):
                raise OutputError(f"{path}: a symbolic link leads outside {self.root}; remove it")
            try:
                self._make(path)
            except OSError as error:
                raise OutputError(f"{path}: cannot be made: {error.strerror}; {self._hint()}") from error
        return path

    def _make(self, path: str) -> None:
        # never the root, nor what was made before: should either vanish, what was in it is gone, and must be said
        parent = os.path.dirname(path)  # noqa: PTH120
        if parent not in self._made:
            self._make(parent)
        try:
            os.mkdir(path)  # noqa: PTH102
        except FileExistsError:
            if not os.path.isdir(path):  # noqa: PTH112
                raise
        self._made.add(path)

    def _hint(self) -> str:
        return "run again" if self.root.is_dir() else f"{self.root} has vanished; run again"

    def _check(self) -> None:
        try:
            same = os.path.samestat(self._identity, os.stat(self.root))  # noqa: PTH116
        except FileNotFoundError:
            same = False
        gone = [] if same else [str(self.root)]
        gone += [path for path in self._made if not os.path.isdir(path)]  # noqa: PTH112
        if gone:
            raise OutputError(f"{min(gone)}: vanished while it was written to; run again")

    def sweep(self) -> None:
        """Remove what killed runs left unfinished; call it while holding the folder's lock."""
        for parent, _, names in os.walk(self.root):
            if any(name.startswith(TEMPORARY) for name in names):
                sweep(parent)

    def replacing(self, name: str) -> Replacement:
        """A temporary file that becomes `name` when the block ends well, unless the same bytes stand there already.

        Raises:
            OutputError: if its folder cannot be made.
        """
        directory = self.directory(os.path.dirname(name))  # noqa: PTH120
        base = os.path.basename(name)  # noqa: PTH119
        replacement = Replacement(Path(directory, base), Path(directory, TEMPORARY + base))
        self._unfinished.append(replacement)
        return replacement

    def scratch(self, name: str) -> str:
        """A path for what is needed only while the folder is written to."""
        self._scratch.append(os.path.join(self.root, TEMPORARY + name))  # noqa: PTH118
        return self._scratch[-1]

    def remove(self, name: str) -> None:
        """Remove a file, if it is there.

        Raises:
            OutputError: if it cannot be removed.
        """
        path = Path(self.root, name)
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            raise refusal(path, error) from error


def write_file(folder: Folder, name: str, content: bytes) -> bool:
    """Write a whole file, unless it stands there with the same bytes; whether anything was written.

    Raises:
        OutputError: if it cannot be written.
    """
    parent, _, base = name.rpartition("/")
    directory = folder.directory(parent)
    return write_whole(f"{directory}/{base}", f"{directory}/{TEMPORARY}{os.getpid()}", content)
