"""Kernels whose `build` does what the provider's name says."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

from kernelindex_liger.bench.spec import Case, Kernel, Points, Probe, Provider, Sweep, Tiny, Work
from kernelindex_liger.bench.sweeps import fixed

PROVIDERS = ("base", "raises", "exits", "killed", "sleeps", "allocates", "exhausts", "poisons", "last")


def build(case: Case) -> Work:
    """Misbehave at x = 2, if the provider's name asks for it; leave a trace of each case that is begun;
    wait at the gate.
    """
    trace = os.environ.get("FAKE_TRACE")
    if trace:
        with Path(trace).open("a") as file:
            file.write(f"{case.kernel} {case.provider} {case.pass_name} {case.x} {os.getpid()}\n")
    if case.x == 2:
        match case.provider:
            case "raises":
                raise RuntimeError("this case raises\nsecond line")
            case "exits":
                print("about to exit", file=sys.stderr)
                sys.stderr.flush()
                os._exit(7)
            case "killed":
                os.kill(os.getpid(), signal.SIGKILL)
            case "sleeps":
                time.sleep(600)
            case "allocates":
                bytearray(1 << 62)
            case "exhausts":
                raise RuntimeError("CUDA out of memory")
            case "poisons":
                raise RuntimeError("an illegal memory access")
    gate = os.environ.get("FAKE_GATE")
    while gate and not Path(gate).exists():
        time.sleep(0.05)
    time.sleep(float(os.environ.get("FAKE_SECONDS", "0")))
    return Work(forward=lambda: None)


def probed_points(request, peaks):
    return Points(x_values=tuple(range(1, 1 + peaks[0] // 1000)), configs=({"total": request.total_gib},))


COMMON = {
    "script": "benchmark_fake.py",
    "liger": (),
    "speed": ("forward", "full"),
    "memory": (),
    "build": build,
    "tiny": Tiny(x={"T": 1}),
}
TABLE_SWEEP = fixed(x_name="T", x_label="fake", x_values=(1, 2, 3), configs=({"a": 1, "b": None},))

KERNELS = (
    Kernel(
        name="steady",
        providers=(Provider(name="base", role="baseline"), Provider(name="other", role="other")),
        sweeps=(TABLE_SWEEP,),
        **COMMON,
    ),
    Kernel(
        name="faulty",
        providers=tuple(Provider(name=n, role="baseline" if n == "base" else "other") for n in PROVIDERS),
        sweeps=(TABLE_SWEEP,),
        **COMMON,
    ),
    Kernel(
        name="probed",
        providers=(Provider(name="base", role="baseline"),),
        sweeps=(
            Sweep(
                answers=("token_length",),
                x_name="T",
                x_label="fake",
                points=probed_points,
                probes=lambda request: (Probe(provider="base", x=9, config={"peak": 2000}, model=request.model),),
                estimate=5000,
            ),
        ),
        **COMMON,
    ),
)
