"""The GPU at hand, for a plan: asked of a worker, so that torch stays out of this process."""

from __future__ import annotations

from pathlib import Path

from kernelindex_liger.bench.cases import CUDA
from kernelindex_liger.bench.locks import cuda_target
from kernelindex_liger.bench.process import Worker, WorkerDiedError, WorkerFailedError, WorkerTimeoutError
from kernelindex_liger.bench.registry import TABLE
from kernelindex_liger.bench.requirements import missing_extra

UNKNOWN = ("", 80)
"""Name and GiB that are planned for where there is no GPU: upstream's usual one."""


def described(label: str) -> tuple[str, int]:
    """(name, GiB) of a device; UNKNOWN without a driver, without torch, or without the device."""
    if missing_extra() or not Path("/dev/nvidiactl").exists():
        return UNKNOWN
    try:
        worker = Worker(CUDA, TABLE, cuda_target(label).environment)
    except (ValueError, WorkerDiedError, WorkerFailedError, WorkerTimeoutError):
        return UNKNOWN
    worker.kill()
    return worker.gpu.name, worker.total_gib
