"""The benchmark as a process of its own: whatever it loads or breaks is not the job's, and it ends with the job."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import suppress
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

FAILED = 4
"""Status of a benchmark that failed in part, as `ligerimport bench` gives it, or that ran out of time."""

COMMAND = [sys.executable, "-m", "kernelindex_liger", "bench"]

PDEATHSIG = 1
"""Linux's PR_SET_PDEATHSIG: the signal that a process gets when its parent is gone."""


def run(command: list[str], log: IO[bytes], hours: float) -> int:
    """Run `command` in a process group of its own, and end the whole group when the time is up or the job is ended.

    Raises OSError when it cannot be started.
    """
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=log,
        start_new_session=True,
        preexec_fn=_ending_with_parent(),  # noqa: PLW1509 - the job has no threads
    )
    try:
        return process.wait(hours * 3600)
    except subprocess.TimeoutExpired:
        return FAILED
    finally:
        for end, patience in ((signal.SIGINT, 60), (signal.SIGKILL, 5)):
            if process.poll() is None:
                os.killpg(process.pid, end)
                with suppress(subprocess.TimeoutExpired):
                    process.wait(patience)


def _ending_with_parent() -> Callable[[], None] | None:
    """What makes the new process end as with Ctrl-C when the job is killed outright; None where there is no such way.

    A benchmark that outlived its job would measure into the night that the next job takes up.
    """
    if sys.platform != "linux":
        return None
    import ctypes

    prctl = ctypes.CDLL(None, use_errno=True).prctl
    parent = os.getpid()

    def ask() -> None:
        prctl(PDEATHSIG, signal.SIGINT, 0, 0, 0)
        if os.getppid() != parent:
            os._exit(FAILED)

    return ask
