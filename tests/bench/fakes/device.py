"""A fake device: numbers without a GPU."""

from __future__ import annotations

import os

from kernelindex_liger.bench.protocol import Hello, Measured
from kernelindex_liger.documents.sidecar import Gpu, Readings, Software


class FakeBackend:
    device = "fake"

    def __init__(self) -> None:
        if os.environ.get("FAKE_BROKEN"):
            raise RuntimeError("no fake device here")

    def hello(self):
        return Hello(
            gpu=Gpu(name=os.environ.get("FAKE_GPU", "NVIDIA Fake 80GB"), count=1, memory_bytes=80 * 2**30),
            software=Software(runner="0"),
            total_gib=80,
            capability=(9, 0),
            liger_version="0.0.1",
        )

    def readings(self):
        return Readings(sm_clock_mhz=1980, clock_event_reasons=("sw_power_cap",))

    def probe(self, kernel, probe):
        return probe.config["peak"]

    def measure(self, kernel, case, timing):
        kernel.build(case)
        print("noise on stdout, which must not reach the runner")
        return Measured(y=(case.x + 0.5, case.x + 0.25, case.x + 0.75), samples=timing.rep)

    def failure(self, error):
        exhausted = isinstance(error, MemoryError) or "out of memory" in str(error)
        return "resource_exceeded" if exhausted else "runtime_error", "illegal" in str(error)

    def settle(self) -> None:
        pass
