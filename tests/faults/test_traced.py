"""What the operating system saw is what was counted: nothing writes past Python, polars included."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.faults.harness import ALL, FORMATS, csvs

CALLS = {
    "open": "open", "openat": "open", "creat": "open", "mkdir": "mkdir", "mkdirat": "mkdir", "rename": "replace",
    "renameat": "replace", "renameat2": "replace", "unlink": "unlink", "unlinkat": "unlink", "rmdir": "rmdir",
    "link": "link", "linkat": "link", "symlink": "symlink", "symlinkat": "symlink", "truncate": "truncate",
}  # fmt: skip
"""System calls that change something under a name, and what they count as."""


def seen(log: str, out: Path) -> Counter[tuple[str, str]]:
    """Calls of the log that change something below `out`."""
    found: Counter[tuple[str, str]] = Counter()
    for call, arguments in re.findall(r"(?m)^(?:\d+ +)?(\w+)\((.*)\) += ", log):
        paths = [path for path in re.findall(r'"([^"]*)"', arguments) if Path(path).is_relative_to(out)]
        if (
            paths
            and call in CALLS
            and (CALLS[call] != "open" or re.search("O_WRONLY|O_RDWR|O_CREAT|O_TRUNC", arguments))
        ):
            found[CALLS[call], os.path.relpath(paths[-1], out.parent)] += 1
    return found


@pytest.mark.parametrize("format_", FORMATS if ALL else ["parquet"])
def test_every_change_that_the_system_saw_was_counted(tmp_path: Path, format_: str) -> None:
    if shutil.which("strace") is None:
        pytest.skip("strace is not installed")
    csv, _ = csvs(tmp_path)
    log, out = tmp_path / "log", tmp_path / "out"
    tracer = ["strace", "-f", "-e", "trace=file", "-s", "4096", "-o", str(log)]
    command = [sys.executable, "-m", "tests.faults.traced", str(csv), str(out), format_]
    done = subprocess.run([*tracer, *command], cwd=ROOT, capture_output=True, text=True, check=False)
    if "PTRACE" in done.stderr or "Operation not permitted" in done.stderr:
        pytest.skip(f"strace may not trace here: {done.stderr.strip()[-200:]}")
    assert done.returncode == 0, done.stderr
    counted = Counter((one["kind"], one["path"]) for one in json.loads(done.stdout) if one["kind"] != "write")
    assert counted
    assert seen(re.sub(r" <unfinished \.\.\.>", ") = ", log.read_text()), out) == counted
