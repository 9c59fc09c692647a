"""Where a CSV comes from when somebody else measures: a file, a folder, an https address, a git repository.

Each source brings its files into the night's folder, so that a night that is taken up again sees what it saw before,
and tells an identity: when that is the last complete night's, nothing is new.
"""

from __future__ import annotations

import hashlib
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from kernelindex_liger.files import refusal
from kernelindex_liger.history.errors import BadInputError, HistoryError

if TYPE_CHECKING:
    from kernelindex_liger.nightly.settings import Csv

SUFFIXES = (".csv", ".csv.gz", ".csv.zst")


class UnreachableError(HistoryError):
    """A source did not give its CSV: no such file, a server that fails, a repository that cannot be read."""


@dataclass(frozen=True)
class Fetched:
    """What a source gave."""

    identity: str
    """Of the content: two fetches with one identity hold the same CSV."""
    label: str | None
    """The commit, where the source has one."""


class Source(Protocol):
    """One kind of place that a CSV comes from."""

    def fetch(self, into: Path, seen: str | None) -> Fetched:
        """Put the CSVs into the folder `into`; nothing need be brought when the identity is `seen`."""
        ...


def parse(text: str, limits: Csv, home: Path) -> Source:
    """The source that `text` names.

    `git+URL@BRANCH:PATH` is a repository, `https://…` an address, anything else a file or folder, relative to `home`.
    Raises `BadInputError` for a text that is none of these.
    """
    if text.startswith("git+"):
        from kernelindex_liger.nightly.repository import Repository

        return Repository.parse(text, limits, home)
    if "://" in text:
        from kernelindex_liger.nightly.web import Web

        return Web.parse(text, limits)
    return Local(home / text, limits)


@dataclass(frozen=True)
class Local:
    """A file or a folder on this machine."""

    path: Path
    limits: Csv

    def fetch(self, into: Path, seen: str | None) -> Fetched:
        """Copy the CSVs, keeping their folders' names, since those are labels."""
        files = self._files()
        total = sum(file.stat().st_size for file in files)
        check_size(total, self.limits, str(self.path))
        above = self.path.parent if self.path.is_file() else self.path
        digest = hashlib.sha256()
        for file in files:
            digest.update(f"{file.relative_to(above).as_posix()}\0{file.stat().st_size}\0".encode())
            with file.open("rb") as content:
                while block := content.read(1 << 20):
                    digest.update(block)
        fetched = Fetched(f"sha256:{digest.hexdigest()}", None)
        if fetched.identity != seen:
            for file in files:
                place(into / file.relative_to(above), file)
        return fetched

    def _files(self) -> list[Path]:
        if self.path.is_file():
            return [self.path]
        if not self.path.is_dir():
            raise UnreachableError(f"{self.path}: no such file or folder")
        files = sorted(file for file in self.path.rglob("*") if file.name.endswith(SUFFIXES) and file.is_file())
        if not files:
            raise UnreachableError(f"{self.path}: no CSV in it")
        return files


def place(target: Path, file: Path) -> None:
    """Copy `file` to `target`; `OutputError` when the disk refuses."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, target)
    except OSError as error:
        raise refusal(target, error) from error


def check_size(size: int, limits: Csv, what: str) -> None:
    """Raise `BadInputError` when `size` bytes are more than the settings allow."""
    if size > limits.megabytes * 1_000_000:
        raise BadInputError(f"{what}: {size / 1e6:.0f} MB, more than the {limits.megabytes:.0f} MB that [csv] allows")
