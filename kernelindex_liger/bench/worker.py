"""The process that measures: reads commands as JSON lines from stdin, answers on what was its stdout.

Run as `python -m kernelindex_liger.bench.worker BACKEND TABLE`. It ends when its stdin ends, so it does not
outlive a runner that was killed; and it ends after a case that left its device unusable.
"""

from __future__ import annotations

import json
import os
import queue
import sys
import threading
import time
from dataclasses import asdict
from typing import IO, Any

from kernelindex_liger.bench import registry
from kernelindex_liger.bench.models import MODELS
from kernelindex_liger.bench.protocol import Backend, CaseMessage, backend_of
from kernelindex_liger.bench.spec import Probe


def main(backend_name: str, table: str) -> None:
    """Serve commands until stdin ends."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    # Libraries and kernels may print; that goes to the log, never between answers.
    os.dup2(2, 1)
    commands = _commands()
    try:
        backend = backend_of(backend_name)
    except Exception as error:  # noqa: BLE001 - whatever it is, the runner shall say it
        commands.get()
        _say(answers, {"status": "runtime_error", "error": _text(error), "end": True})
        return
    while True:
        command = commands.get()
        answer = _answer(backend, table, command)
        _say(answers, answer)
        if answer.get("end"):
            # A broken device can hang in its libraries' clean-up.
            os._exit(1)


def _commands() -> queue.SimpleQueue[dict[str, Any]]:
    """Commands as they come. The process ends with its stdin, even in the middle of a case."""
    found: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()

    def read() -> None:
        for line in sys.stdin:
            found.put(json.loads(line))
        os._exit(0)

    threading.Thread(target=read, daemon=True).start()
    return found


def _say(answers: IO[str], answer: dict[str, Any]) -> None:
    answers.write(json.dumps(answer) + "\n")
    answers.flush()


def _answer(backend: Backend, table: str, command: dict[str, Any]) -> dict[str, Any]:
    op = command.pop("op")
    try:
        if op == "hello":
            hello = backend.hello()
            return {
                "status": "ok",
                "gpu": hello.gpu.model_dump(),
                "software": hello.software.model_dump(),
                "total_gib": hello.total_gib,
                "capability": hello.capability,
                "liger_version": hello.liger_version,
            }
        if op == "probe":
            model = MODELS[command.pop("model")]
            kernel = registry.kernel(command.pop("of"), table)
            return {"status": "ok", "peak": backend.probe(kernel, Probe(**command, model=model))}
        return _measured(backend, table, CaseMessage(**command))
    except Exception as error:  # noqa: BLE001 - a failed case is an answer
        status, end = backend.failure(error)
        return {"status": status, "error": _text(error), "end": end}
    finally:
        # What failed may fail again here; the next case tells.
        _quietly(backend)


def _measured(backend: Backend, table: str, message: CaseMessage) -> dict[str, Any]:
    kernel = registry.kernel(message.kernel, table)
    before = backend.readings()
    started = time.monotonic()
    measured = backend.measure(kernel, message.case(_device(backend)), message.timing(kernel.timing))
    seconds = time.monotonic() - started
    after = backend.readings()
    return {
        "status": "ok",
        **asdict(measured),
        "seconds": round(seconds, 3),
        "before": before.model_dump() if before else None,
        "after": after.model_dump() if after else None,
    }


def _device(backend: Backend) -> str:
    return str(getattr(backend, "device", "cuda"))


def _quietly(backend: Backend) -> None:
    try:
        backend.settle()
    except Exception as error:  # noqa: BLE001 - see the caller
        print(f"settle: {_text(error)}", file=sys.stderr)


def _text(error: BaseException) -> str:
    """One line that says what happened."""
    first = next((line.strip() for line in str(error).splitlines() if line.strip()), "")
    return f"{type(error).__name__}: {first}"[:500] if first else type(error).__name__


if __name__ == "__main__":
    main(*sys.argv[1:3])
