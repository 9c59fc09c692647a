"""Where rows come from: files, folders, standard input, plain or compressed; read once, as bytes."""

from __future__ import annotations

import gzip
import hashlib
import os
import stat
import subprocess
import sys
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from kernelindex_liger.conversion import unzstd
from kernelindex_liger.conversion.rows import InputError
from kernelindex_liger.documents.upstream import SUFFIX

BLOCK = 4 << 20
"""Bytes read at a time."""

COMPRESSED = (".gz", ".zst")

RATIO = 500
"""How many times its size a compressed file may become; benchmark CSVs become 10 to 50 times theirs."""

FREE = 64 << 20
"""Bytes that any compressed file may become, whatever its size."""

SUFFIXES = (".csv", ".csv.gz", ".csv.zst")
STDIN = "-"
HANDED = ("/dev/fd/", "/proc/self/fd/", "/dev/stdin")
"""Where a shell puts the pipes that it hands over, such as `<(gzip -dc …)`."""


@dataclass
class Source:
    """One input. `size` and `sha256` are of the bytes as they stand (compressed ones too), known once read.

    `absent` is a CSV that is not there beside its sidecar: of the cases that the sidecar tells of, none was measured.
    """

    name: str
    path: Path | None
    absent: bool = False
    size: int = 0
    sha256: str = ""
    _hash: Any = field(default_factory=hashlib.sha256, repr=False)

    def blocks(self) -> Iterator[bytes]:
        """The input's bytes, decompressed, in blocks.

        Raises:
            InputError: if the file cannot be read or its compression is broken.
        """
        self.size, self._hash = 0, hashlib.sha256()
        try:
            if self.path is None:
                yield from self._count(sys.stdin.buffer)
            elif self.path.name.endswith(".zst"):
                yield from self._unpacked("zstd", self._zstd(self.path))
            else:
                with self.path.open("rb") as file:
                    raw = _Counting(file, self)
                    if self.path.name.endswith(".gz"):
                        with gzip.open(raw) as plain:  # type: ignore[call-overload]
                            yield from self._unpacked("gzip", iter(lambda: plain.read(BLOCK), b""))
                        raw.drain()
                    else:
                        yield from iter(lambda: raw.read(BLOCK), b"")
        except (OSError, EOFError, zlib.error) as error:
            reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
            raise InputError(f"{self.name}: cannot be read: {reason}") from error
        self.sha256 = self._hash.hexdigest()

    def add(self, block: bytes) -> None:
        """Count raw bytes towards size and digest."""
        self.size += len(block)
        self._hash.update(block)

    def _count(self, file: IO[bytes]) -> Iterator[bytes]:
        for block in iter(lambda: file.read(BLOCK), b""):
            self.add(block)
            yield block

    def _unpacked(self, tool: str, blocks: Iterator[bytes]) -> Iterator[bytes]:
        """Decompressed blocks, as long as they do not become more than a file of this size should."""
        assert self.path is not None  # noqa: S101 - standard input is never decompressed
        most = max(FREE, RATIO * self.path.stat().st_size)
        for block in blocks:
            most -= len(block)
            if most < 0:
                raise InputError(
                    f"{self.name}: becomes more than {RATIO} times its size; if that is meant, pipe it in: "
                    f"{tool} -dc FILE | ligerimport csv -"
                )
            yield block

    def _zstd(self, path: Path) -> Iterator[bytes]:
        with path.open("rb") as file:
            for _ in self._count(file):
                pass
        command = [sys.executable, "-P", unzstd.__file__, str(path)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            assert process.stdout is not None and process.stderr is not None  # noqa: S101, PT018 - pipes were asked for
            try:
                yield from iter(lambda: process.stdout.read(BLOCK), b"")  # type: ignore[union-attr]
                said = process.stderr.read(BLOCK).decode(errors="replace").strip()
                process.wait()
            finally:
                process.kill()
        if process.returncode == unzstd.UNREADABLE:
            raise InputError(f"{self.name}: cannot be read as Zstandard-compressed UTF-8 text: {said}")
        if process.returncode:
            raise InputError(
                f"{self.name}: decompressing it takes more than {unzstd.MEMORY >> 20} MiB of memory, as a line without "
                "end does; if it is sound, pipe it in: zstd -dc FILE | ligerimport csv -"
            )


class _Counting:
    """A file whose raw bytes are counted as a decompressor takes them."""

    def __init__(self, file: IO[bytes], source: Source) -> None:
        self._file = file
        self._source = source

    def read(self, size: int = -1) -> bytes:
        block = self._file.read(size)
        self._source.add(block)
        return block

    def drain(self) -> None:
        while self.read(BLOCK):
            pass


def beside(csv: Path) -> Path | None:
    """The sidecar of a CSV: `results.meta.jsonl` beside `results.csv`, both perhaps compressed; None without one."""
    plain = csv.with_name(Path(_plain(csv.name)).stem + SUFFIX)
    found = (plain, *(plain.with_name(plain.name + suffix) for suffix in COMPRESSED))
    return next((path for path in found if path.exists()), None)


def _plain(name: str) -> str:
    for suffix in COMPRESSED:
        name = name.removesuffix(suffix)
    return name


def find(inputs: Sequence[str | Path], *, sidecars: bool = False) -> list[Source]:
    """Inputs as sources: `-` is standard input, a folder stands for every CSV below it; sorted by name.

    Sorted, so that the order of arguments changes nothing. With `sidecars`, the CSV of a sidecar that stands alone is a
    source too, an absent one.

    Raises:
        InputError: if a path does not exist, or a folder holds no CSV.
    """
    paths: dict[str, Path | None] = {}
    absent: set[str] = set()
    for entry in inputs:
        if str(entry) == STDIN:
            paths[STDIN] = None
            continue
        path = Path(entry)
        try:
            if path.is_dir():
                every = sorted(path.rglob("*"))
                found = [one for one in every if one.name.endswith(SUFFIXES) and one.is_file()]
                if sidecars:
                    alone = _alone(every, found)
                    absent |= {_name(one) for one in alone}
                    found += alone
                if not found:
                    raise InputError(f"{_name(path)}: no CSV below this folder (*.csv, *.csv.gz, *.csv.zst)")
                paths |= {_name(one): one for one in found}
            elif path.exists():
                paths[_name(path)] = _regular(path)
            elif sidecars and beside(path) is not None:
                paths[_name(path)] = path
                absent.add(_name(path))
            else:
                raise InputError(f"{_name(path)}: no such file; name a CSV, a folder of CSVs, or - for standard input")
        except OSError as error:
            raise InputError(f"{_name(path)}: cannot be read: {error.strerror or error}") from error
    return [Source(name, path, name in absent) for name, path in sorted(paths.items())]


def _regular(path: Path) -> Path:
    """A path that can be read to its end: a pipe may never begin, and a device may never end."""
    if not stat.S_ISREG(path.stat().st_mode) and not str(path).startswith(HANDED):
        raise InputError(f"{_name(path)}: a pipe or device, not a file; give it on standard input: - <FILE")
    return path


def _alone(files: Sequence[Path], csvs: Sequence[Path]) -> list[Path]:
    """The CSVs that belong to sidecars without one."""
    known = {one.with_name(_plain(one.name)) for one in csvs}
    wanted = {
        one.with_name(_plain(one.name).removesuffix(SUFFIX) + ".csv")
        for one in files
        if _plain(one.name).endswith(SUFFIX) and one.is_file()
    }
    return sorted(wanted - known)


def _name(path: Path) -> str:
    """A path as text: its bytes as UTF-8 whatever the locale's encoding is, others escaped."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")
