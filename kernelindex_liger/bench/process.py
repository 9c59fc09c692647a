"""A worker process as the runner holds it: started, asked, killed."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
from typing import TYPE_CHECKING, Any

from kernelindex_liger.documents.sidecar import Gpu, Software

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

STARTUP_SECONDS = 300.0
"""How long a worker may take to import torch and to open its device."""


class WorkerDiedError(Exception):
    """The process ended without an answer."""


class WorkerTimeoutError(Exception):
    """No answer came in time; the process was killed."""


class WorkerFailedError(Exception):
    """The worker answered that it cannot work at all."""


class Worker:
    """One process on one device. Not shared between threads, but for `kill`."""

    def __init__(
        self,
        backend: str,
        table: str,
        environment: Mapping[str, str],
        serves: object = None,
        started: Callable[[Worker], None] | None = None,
    ) -> None:
        """Start it and wait until it says what it is; `serves` is the caller's note of what it is for.
        `started` gets it as soon as it can be killed.

        Raises WorkerDiedError, WorkerTimeoutError or WorkerFailedError.
        """
        self.serves = serves
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the worker
        # A session of its own: Ctrl-C reaches the runner alone, and killing it reaches its children.
        self._process = subprocess.Popen(
            [sys.executable, "-m", "kernelindex_liger.bench.worker", backend, table],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            env={**os.environ, "PYTHONUNBUFFERED": "1", **environment},
            text=True,
            start_new_session=True,
        )
        self._answers: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        threading.Thread(target=self._listen, daemon=True).start()
        if started:
            started(self)
        hello = self.ask({"op": "hello"}, STARTUP_SECONDS)
        if hello["status"] != "ok":
            self.kill()
            raise WorkerFailedError(hello["error"])
        self.gpu = Gpu.model_validate(hello["gpu"])
        self.software = Software.model_validate(hello["software"])
        self.total_gib: int = hello["total_gib"]
        self.capability: tuple[int, int] | None = tuple(hello["capability"]) if hello["capability"] else None
        self.liger_version: str = hello["liger_version"]

    def _listen(self) -> None:
        assert self._process.stdout  # noqa: S101 - opened above
        with contextlib.suppress(ValueError, OSError):
            for line in self._process.stdout:
                self._answers.put(line)
        self._answers.put(None)

    def ask(self, message: Mapping[str, Any], timeout: float) -> dict[str, Any]:
        """Send a command and wait up to `timeout` seconds for its answer.

        Raises WorkerDiedError when the process ends instead, WorkerTimeoutError when it takes longer. The
        process is gone after either, and after an answer that says `end`.
        """
        assert self._process.stdin  # noqa: S101 - opened above
        try:
            self._process.stdin.write(json.dumps(message) + "\n")
            self._process.stdin.flush()
            line = self._answers.get(timeout=timeout)
        except queue.Empty:
            self.kill()
            raise WorkerTimeoutError from None
        except OSError:
            line = None
        if line is None:
            self.kill()
            raise WorkerDiedError(self._ending())
        answer: dict[str, Any] = json.loads(line)
        if answer.get("end"):
            self.kill()
        return answer

    def outcome(self, message: Mapping[str, Any], timeout: float) -> tuple[str, dict[str, Any]]:
        """What came of a command: (status, answer), where the process's end and its silence are statuses too."""
        try:
            answer = self.ask(message, timeout)
        except WorkerTimeoutError:
            return "timeout", {"error": f"no answer within {timeout:g} s"}
        except WorkerDiedError as error:
            return "crashed", {"error": str(error)}
        return str(answer["status"]), answer

    @property
    def alive(self) -> bool:
        """Whether it can be asked."""
        return self._process.poll() is None

    def kill(self) -> None:
        """End the process and whatever it started. May be called from any thread, more than once."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def _ending(self) -> str:
        code = self._process.returncode
        how = f"ended by {signal.Signals(-code).name}" if code < 0 else f"exited with status {code}"
        last = self._last_words()
        return f"the worker {how}" + (f": {last}" if last else "")

    def _last_words(self) -> str:
        self._log.seek(0, os.SEEK_END)
        self._log.seek(max(0, self._log.tell() - 2000))
        lines = self._log.read().decode(errors="replace").split("\n")
        return next((line.strip()[:300] for line in reversed(lines) if line.strip()), "")
