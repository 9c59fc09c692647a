"""Running a command in a process of its own, with a time-out and the memory that it took at the most."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from tests.conftest import ROOT

MIB = 1 << 20

WRAPPER = """
import resource, sys
from kernelindex_liger.cli import main
try:
    main(sys.argv[1:])
finally:
    own = next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM"))
    below = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    print(f"\\npeak {own + below}", file=sys.stderr)
"""
"""`VmHWM` is the process's own peak; that of its children is added, as if both had been at once."""


@dataclass(frozen=True)
class Measured:
    status: int
    output: str
    errors: str
    peak: int
    """Bytes, of the process and its largest child together."""


def run(*arguments: str | Path, stdin: IO[bytes] | int = subprocess.DEVNULL, seconds: float = 120) -> Measured:
    """`ligerimport` with `arguments`; fails the test when it takes longer than `seconds`."""
    command = [sys.executable, "-c", WRAPPER, *map(str, arguments)]
    done = subprocess.run(
        command, stdin=stdin, capture_output=True, timeout=seconds, check=False, cwd=ROOT, env=os.environ
    )
    errors, _, peak = done.stderr.decode(errors="surrogateescape").rpartition("\npeak ")
    assert "Traceback" not in errors, errors[-2000:]
    return Measured(done.returncode, done.stdout.decode(errors="surrogateescape"), errors, int(peak) << 10)
