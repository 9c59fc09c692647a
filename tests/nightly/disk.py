"""Run in a mount namespace of its own: a home on a small disk that fills up, is emptied, and is used again.

usage: python disk.py HOME CSV FREE_KIB...; prints one JSON line a size: what the job said and left on the full disk,
and what it did once there was room again.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from kernelindex_liger.cli import main as ligerimport

BLOCK = 4096


def call(*arguments: str) -> tuple[int, str]:
    """A command's exit status and what it said."""
    said = io.StringIO()
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(said):
        try:
            ligerimport(list(arguments))
        except SystemExit as end:
            return int(end.code or 0), said.getvalue()
    return 0, said.getvalue()


def fill(path: Path, free: int) -> None:
    """Take what the disk has but `free` bytes."""
    left = os.statvfs(path.parent)
    take = left.f_bavail * left.f_frsize - free
    with path.open("wb", buffering=0) as file:
        for _ in range(max(0, take) // BLOCK):
            file.write(b"\0" * BLOCK)


def on_a_full_disk(home: Path, csv: str, free: int) -> dict[str, object]:
    """What the job does with `free` bytes left, and with room again."""
    before = (home / "latest").readlink()
    fill(home / "filler", free)
    nightly = ("nightly", "--home", str(home), "--csv", csv, "--quiet")
    status, said = call(*nightly)
    kept = (home / "latest").readlink() == before
    (home / "filler").unlink()
    again, more = call(*nightly)
    check, _ = call("history", "check", "--history", str(home / "history"))
    return {
        "free": free, "status": status, "said": said, "kept": kept, "again": again, "more": more, "check": check,
        "moved": (home / "latest").readlink() != before, "left": [str(path) for path in home.rglob(".tmp-*")],
    }  # fmt: skip


def main(home: Path, csv: str, sizes: list[int]) -> None:
    saved = home.with_name("saved")
    shutil.copytree(home, saved, symlinks=True)
    for size in sizes:
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", str(home)], check=True)
        try:
            shutil.copytree(saved, home, symlinks=True, dirs_exist_ok=True)
            print(json.dumps(on_a_full_disk(home, csv, size * 1024)), flush=True)
        finally:
            subprocess.run(["umount", str(home)], check=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], [int(size) for size in sys.argv[3:]])
