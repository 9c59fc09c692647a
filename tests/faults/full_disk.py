"""A small file system of our own, filled to the brim. Runs inside a mount namespace that `unshare -rm` made.

usage: python -m tests.faults.full_disk MOUNT SCRATCH

For each command and size the file system is mounted anew, the command runs until there is no room, the file system
grows, and the command runs again. One line of JSON a size: what was said, and what stood there before and after.
"""

from __future__ import annotations

import functools
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from tests.faults.harness import ALL, FORMATS, csvs, files, run, small, unfinished

PAGE = 4096
AMPLE = 4096
"""Pages in which everything has room."""


def sizes(needed: int) -> list[int]:
    """Free pages to try: every number that is too few, or none, a third and two thirds of what it takes."""
    return list(range(needed)) if ALL else sorted({needed * part // 3 for part in range(3)})


def room(mount: Path, pages: int, *, fresh: bool) -> None:
    """A file system with `pages` free pages at `mount`: a new one, or the one that is there, resized."""
    size = f"size={(pages + 1) * PAGE}"  # one is taken: a size of nothing would mean no limit
    if fresh:
        subprocess.run(["umount", str(mount)], check=False, stderr=subprocess.DEVNULL)
        subprocess.run(["mount", "-t", "tmpfs", "-o", size, "tmpfs", str(mount)], check=True)
        (mount / ".taken").write_bytes(b"x" * PAGE)
    else:
        subprocess.run(["mount", "-o", f"remount,{size}", str(mount)], check=True)


def used(mount: Path) -> int:
    """Pages that are taken."""
    found = os.statvfs(mount)
    return (found.f_blocks - found.f_bfree) * found.f_frsize // PAGE - 1


def commands(scratch: Path, mount: Path) -> dict[str, list[str]]:
    """Command lines that write below `mount`, by name."""
    csv, _ = csvs(scratch)
    out, home, history = mount / "out", mount / "home", mount / "history"
    made = {name: ["csv", str(csv), "-o", str(out), "--format", name, "-q"] for name in FORMATS}
    made["history"] = ["history", "add", str(csv), "--history", str(history), "--label", "a", "--quiet"]
    made["report"] = ["report", str(csv), "-o", str(out / "report.md")]
    made["nightly"] = ["nightly", "--home", str(home), "--csv", str(csv), "--quiet"]
    return made


def finished(name: str, mount: Path) -> dict[str, bytes]:
    """Files by name; a night's own, which hold times, only by whether its state says that it is complete."""
    found = files(mount)
    if name != "nightly":
        return found
    complete = [json.loads(text)["complete"] for path, text in found.items() if path.endswith("state.json")]
    kept = {path: content for path, content in found.items() if "/out/" in path or path.startswith("home/history")}
    return kept | {"complete": str(complete).encode()}


def attempt(name: str, mount: Path, pages: int, command: Callable[[], tuple[int, str]]) -> dict[str, object]:
    """One size: fill it, make room, run again."""
    room(mount, pages, fresh=True)
    if name == "nightly":
        (mount / "home").mkdir()
    status, said = command()
    before, left = finished(name, mount), unfinished(mount)
    room(mount, AMPLE, fresh=False)
    again, said_again = command()
    return {
        "name": name, "pages": pages,
        "status": status, "said": said, "unfinished": left, "again": again, "said_again": said_again,
        "before": {path: content.hex() for path, content in before.items()},
        "after": {path: content.hex() for path, content in finished(name, mount).items()},
        "unfinished_after": unfinished(mount), "used": used(mount),
    }  # fmt: skip


def read_only(mount: Path, made: dict[str, list[str]]) -> list[tuple[int, str]]:
    """What is said where nothing may be written: to a folder that is finished, to new ones, to a history."""
    room(mount, AMPLE, fresh=True)
    run(*made["tree"])
    subprocess.run(["mount", "-o", "remount,ro", str(mount)], check=True)
    return [run(*made[name]) for name in ("tree", "jsonl", "history", "report")]


def main() -> None:
    """Try each command in each size, in ample room first; then all on a read-only disk."""
    mount, scratch = Path(sys.argv[1]), Path(sys.argv[2])
    made = commands(scratch, mount)
    with small():
        for name, arguments in made.items():
            command = functools.partial(run, *arguments)
            whole = attempt(name, mount, AMPLE, command)
            print(json.dumps(whole))
            for pages in sizes(int(str(whole["used"]))):
                print(json.dumps(attempt(name, mount, pages, command)))
        print(json.dumps({"name": "read-only", "said": read_only(mount, made)}))
    subprocess.run(["umount", str(mount)], check=False)


if __name__ == "__main__":
    main()
