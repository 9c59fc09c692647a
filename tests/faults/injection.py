"""Faults put into every operation that writes below a folder, and the proof that none was passed by.

Operations are counted as they happen: opening a file for writing, each write to one, replacing, removing, making a
folder. An audit hook sees what the interpreter asks of the system: what
changes something below the folder and is no counted operation is a stray.
"""

from __future__ import annotations

import _io
import builtins
import errno
import io
import os
import shutil
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest.mock import patch

WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
CHANGING = ("rename", "remove", "mkdir", "rmdir", "symlink", "link", "chmod", "chown", "truncate", "utime")
ONE_PATH = ("unlink", "remove", "mkdir", "rmdir", "chmod", "truncate", "utime")
TWO_PATHS = ("replace", "rename", "symlink", "link")

REAL = {name: getattr(os, name) for name in ("open", "write", "close", "fchmod", *ONE_PATH, *TWO_PATHS)}
REAL_OPEN = io.open
_current: Injection | None = None
_hooked = False


@dataclass(frozen=True)
class Operation:
    """One operation: what, and on which path below the folder."""

    kind: str
    path: str

    @property
    def site(self) -> tuple[str, str]:
        """What it has in common with others like it: the kind, and what kind of file or folder it is about."""
        place = Path(self.path)
        return self.kind, ("." if place.name.startswith(".") else "") + place.suffix


@dataclass
class Injection:
    """Counts operations below `root`; at number `at` it lets the fault happen, if there is one.

    A fault is `full` (from then on there is no room), `denied`, `interrupted`, `vanished` (the folder is removed, then
    the operation goes on) or `killed`.
    """

    root: Path
    fault: str | None = None
    at: int = -1
    operations: list[Operation] = field(default_factory=list)
    strays: list[str] = field(default_factory=list)
    happened: Operation | None = None
    descriptors: dict[int, str] = field(default_factory=dict)
    inside: threading.local = field(default_factory=threading.local)
    lock: Any = field(default_factory=threading.RLock)

    def below(self, path: object) -> str | None:
        """The path below the root as text; None where it is elsewhere."""
        if isinstance(path, int):
            return self.descriptors.get(path)
        if not isinstance(path, str | bytes | os.PathLike):
            return None
        full = os.path.abspath(os.fsdecode(path))  # noqa: PTH100 - links are not followed
        if full == str(self.root) or full.startswith(f"{self.root}{os.sep}"):
            return os.path.relpath(full, self.root.parent)
        return None

    def run(self, kind: str, path: str, real: Callable[[], Any], half: Callable[[], Any] = lambda: None) -> Any:
        """Do an operation for real, or let the fault happen; `half` does as much as a fault may leave done."""
        with self.lock:
            number = len(self.operations)
            operation = Operation(kind, path)
            self.operations.append(operation)
            takes_room = kind in {"open", "write", "mkdir", "symlink", "link"}
            strikes = number == self.at or (self.fault == "full" and number > self.at >= 0 and takes_room)
            if strikes and self.fault is not None:
                self.happened = self.happened or operation
                self._strike(operation, half)
            return self.unseen(real)

    def unseen(self, real: Callable[[], Any]) -> Any:
        """Do something without the audit hook's minding it."""
        before = getattr(self.inside, "depth", 0)
        self.inside.depth = before + 1
        try:
            return real()
        finally:
            self.inside.depth = before

    def _strike(self, operation: Operation, half: Callable[[], Any]) -> None:
        if self.fault == "vanished":
            self.unseen(lambda: shutil.rmtree(self.root))
            return
        if self.fault != "interrupted":  # a write that has begun is not interrupted: it says how far it came
            self.unseen(half)
        if self.fault == "killed":
            os.kill(os.getpid(), signal.SIGKILL)
        number = {"full": errno.ENOSPC, "denied": errno.EACCES, "interrupted": errno.EINTR}[str(self.fault)]
        raise OSError(number, os.strerror(number), str(self.root.parent / operation.path))


class _Raw(io.FileIO):
    """A file below the root: each write is an operation."""

    injection: Injection
    place: str

    def write(self, data: Any) -> int:
        size = len(memoryview(data).cast("B"))
        plain = super().write
        return self.injection.run(
            "write", self.place, lambda: plain(data), lambda: plain(memoryview(data).cast("B")[: size // 2])
        )


def _opened(injection: Injection, real: Callable[..., Any], file: Any, *args: Any, **named: Any) -> Any:
    mode = args[0] if args else named.get("mode", "r")
    place = injection.below(file)
    if place is None or not set(mode) & set("wax+"):
        return real(file, *args, **named)
    buffering = args[1] if len(args) > 1 else named.get("buffering", -1)
    plain = mode.replace("b", "").replace("t", "")
    closefd, opener = named.get("closefd", True), named.get("opener")

    def make() -> _Raw:
        return _Raw(file, plain, closefd, opener)

    raw = make() if isinstance(file, int) else injection.run("open", place, make)
    raw.injection, raw.place = injection, place
    if buffering == 0:
        return raw
    binary = io.BufferedRandom(raw) if "+" in mode else io.BufferedWriter(raw)
    if "b" in mode:
        return binary
    return io.TextIOWrapper(binary, named.get("encoding"), named.get("errors"), named.get("newline"))


def _descriptor(injection: Injection, path: Any, flags: int, *args: Any, **named: Any) -> int:
    place = injection.below(path)
    if place is None or not flags & WRITING:
        return REAL["open"](path, flags, *args, **named)
    found = injection.run("open", place, lambda: REAL["open"](path, flags, *args, **named))
    injection.descriptors[found] = place
    return found


def _written(injection: Injection, descriptor: int, data: Any) -> int:
    place = injection.below(descriptor)
    if place is None:
        return REAL["write"](descriptor, data)
    view = memoryview(data).cast("B")
    return injection.run(
        "write",
        place,
        lambda: REAL["write"](descriptor, view),
        lambda: REAL["write"](descriptor, view[: len(view) // 2]),
    )


def _closed(injection: Injection, descriptor: int) -> None:
    injection.descriptors.pop(descriptor, None)
    REAL["close"](descriptor)


@contextmanager
def injected(injection: Injection) -> Iterator[Injection]:
    """Count and strike for the length of a block."""
    global _current, _hooked  # noqa: PLW0603 - an audit hook stays for the life of the process
    if not _hooked:
        sys.addaudithook(_audit)
        _hooked = True

    def one(name: str) -> Callable[..., Any]:
        def call(path: Any, *args: Any, **named: Any) -> Any:
            place = injection.below(path)
            real = REAL[name]
            return real(path, *args, **named) if place is None else injection.run(
                name, place, lambda: real(path, *args, **named)
            )  # fmt: skip

        return call

    def two(name: str) -> Callable[..., Any]:
        def call(source: Any, target: Any, *args: Any, **named: Any) -> Any:
            place = injection.below(target) or injection.below(source)
            real = REAL[name]
            return real(source, target, *args, **named) if place is None else injection.run(
                name, place, lambda: real(source, target, *args, **named)
            )  # fmt: skip

        return call

    def opening(file: Any, *args: Any, **named: Any) -> Any:
        return _opened(injection, REAL_OPEN, file, *args, **named)

    patches = [
        patch.object(os, "open", lambda *args, **named: _descriptor(injection, *args, **named)),
        patch.object(os, "write", lambda *args: _written(injection, *args)),
        patch.object(os, "close", lambda descriptor: _closed(injection, descriptor)),
        patch.object(os, "fchmod", one("fchmod")),
        *(patch.object(os, name, one(name)) for name in ONE_PATH),
        *(patch.object(os, name, two(name)) for name in TWO_PATHS),
        *(patch.object(module, "open", opening) for module in (builtins, io, _io)),
    ]
    for each in patches:
        each.start()
    _current = injection
    try:
        yield injection
    finally:
        _current = None
        for each in reversed(patches):
            each.stop()


def _audit(event: str, args: tuple[Any, ...]) -> None:
    injection = _current
    if injection is None or getattr(injection.inside, "depth", 0):
        return
    if event == "open":
        path, _, flags = args
        changes = [path] if isinstance(flags, int) and flags & WRITING and not isinstance(path, int) else []
    elif event.startswith("os.") and event.removeprefix("os.") in CHANGING:
        changes = [one for one in args if isinstance(one, str | bytes | os.PathLike)]
    else:
        return
    for path in changes:
        place = injection.below(path)
        if place is not None:
            injection.strays.append(f"{event} {place}")
