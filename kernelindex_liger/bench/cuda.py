"""A CUDA device as a worker uses it. Imports torch; the worker sees exactly one device."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING

import torch

from kernelindex_liger.bench.facts import Nvml, software
from kernelindex_liger.bench.harness import sample_memory, sample_speed, step_of
from kernelindex_liger.bench.protocol import Hello, Measured
from kernelindex_liger.bench.requirements import version
from kernelindex_liger.bench.spec import Case, Kernel, Probe, Timing, Work

if TYPE_CHECKING:
    from kernelindex_liger.documents.sidecar import Readings

EXHAUSTED = ("out of memory", "out of resource", "CUBLAS_STATUS_ALLOC_FAILED")
"""What errors say when the device has not enough of something (memory, shared memory)."""


class NoDeviceError(RuntimeError):
    """There is no CUDA device here that torch can use."""


class CudaBackend:
    """See `protocol.Backend`."""

    device = "cuda"

    def __init__(self) -> None:
        if not torch.cuda.is_available():
            raise NoDeviceError("no CUDA GPU that torch can use; --rehearse runs on the CPU, --plan measures nothing")
        properties = torch.cuda.get_device_properties(0)
        self._properties = properties
        self._nvml = Nvml(str(getattr(properties, "uuid", "")) or None)

    def hello(self) -> Hello:
        """The device's name and memory are torch's, as upstream's are."""
        properties = self._properties
        capability = (properties.major, properties.minor)
        memory = properties.total_memory
        return Hello(
            gpu=self._nvml.gpu(name=torch.cuda.get_device_name(0), memory_bytes=memory, capability=capability),
            software=software(driver=self._nvml.driver(), cuda=torch.version.cuda),
            total_gib=memory // 2**30,
            capability=capability,
            liger_version=version("liger-kernel") or "",
        )

    def readings(self) -> Readings | None:
        """Clocks, temperature, power and what holds the clocks back."""
        return self._nvml.readings()

    def probe(self, kernel: Kernel, probe: Probe) -> int:
        """Peak bytes allocated by set-up, one forward and one backward, as upstream probes."""
        self._prepare(kernel)
        self.settle()
        torch.cuda.memory.reset_peak_memory_stats()
        case = Case(
            kernel=kernel.name,
            provider=probe.provider,
            pass_name="full",  # noqa: S106 - a pass, not a word of entrance
            metric="memory",
            x_name="" if isinstance(probe.x, int) else "model_config",
            x=probe.x,
            config=probe.config,
            model=probe.model,
        )
        work = kernel.build(case)
        try:
            y = work.forward()
            y.backward(torch.randn_like(y))
            return max(1, int(torch.cuda.max_memory_allocated()))
        finally:
            _close(work)

    def measure(self, kernel: Kernel, case: Case, timing: Timing) -> Measured:
        """Sample the case's step."""
        self._prepare(kernel)
        work = kernel.build(case)
        try:
            step = step_of(work, case.pass_name, case.metric)
            sampled = (
                sample_speed(step, timing) if case.metric == "speed" else sample_memory(step, kernel.memory_sampling)
            )
        finally:
            _close(work)
        return Measured(y=sampled.y, samples=sampled.samples)

    def _prepare(self, kernel: Kernel) -> None:
        torch.use_deterministic_algorithms(kernel.deterministic == "full")
        torch.backends.cudnn.deterministic = kernel.deterministic in {"cudnn", "full"}

    def failure(self, error: BaseException) -> tuple[str, bool]:
        """Too little memory is `resource_exceeded`; the process ends when its context is broken."""
        text = str(error)
        exhausted = isinstance(error, (torch.OutOfMemoryError, MemoryError)) or any(t in text for t in EXHAUSTED)
        return "resource_exceeded" if exhausted else "runtime_error", not self._usable()

    def _usable(self) -> bool:
        try:
            torch.cuda.synchronize()
            torch.zeros(1, device="cuda").item()
        except torch.OutOfMemoryError:
            return True
        except RuntimeError:
            return False
        return True

    def settle(self) -> None:
        """Give back what the last case held."""
        gc.collect()
        torch.cuda.empty_cache()


def _close(work: Work) -> None:
    if work.close:
        work.close()
