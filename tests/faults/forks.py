"""A process that forks others to be killed: imports are paid for once, and each child starts with fresh threads.

usage: python -m tests.faults.forks

Each line on standard input is a request `{"root", "arguments", "at"}`; the answer is a line with the child's exit
status, negative where a signal ended it. polars must not be used before the fork: its threads would not be there.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.conftest import ROOT


class Forks:
    """The process, as seen by a test."""

    def __enter__(self) -> Self:
        """Start it."""
        command = [sys.executable, "-m", "tests.faults.forks"]
        self._process = subprocess.Popen(
            command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=os.environ
        )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End it."""
        self._process.communicate()

    def killed(self, root: Path, arguments: list[str], at: int) -> int:
        """Run the command line in a child that is killed at its operation number `at`; the child's status."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps({"root": str(root), "arguments": arguments, "at": at}), file=self._process.stdin, flush=True)
        return int(self._process.stdout.readline())


def main() -> None:
    """Answer requests until standard input ends."""
    from kernelindex_liger.cli import main as command
    from kernelindex_liger.history import feed, source, store  # noqa: F401 - imported before the fork
    from tests.faults.harness import small
    from tests.faults.injection import Injection, injected

    imported = _threads()
    with small():
        for line in sys.stdin:
            request = json.loads(line)
            assert _threads() == imported, "polars was used: its threads would not be in the child"
            child = os.fork()
            if child == 0:
                os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
                try:
                    with injected(Injection(Path(request["root"]), "killed", request["at"])):
                        command(request["arguments"])
                except SystemExit as ended:
                    os._exit(int(ended.code or 0))
                os._exit(70)
            print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


def _threads() -> int:
    return len(list(Path("/proc/self/task").iterdir()))


if __name__ == "__main__":
    main()
