"""A rehearsal on the CPU: every case runs once at tiny sizes and is compared with the reference.

Liger's kernels run in Triton's interpreter, torch.compile is off. What takes milliseconds on a GPU takes
seconds here: the values are no measurement, and the GPU's name says so.
"""

from __future__ import annotations

import dataclasses
import gc
import math
import time
from typing import TYPE_CHECKING, Any

from kernelindex_liger.bench.interpreter import enable
from kernelindex_liger.documents.upstream import REHEARSAL

enable()  # Before anything imports liger_kernel.

import torch  # noqa: E402

from kernelindex_liger.bench.facts import software  # noqa: E402
from kernelindex_liger.bench.harness import step_of  # noqa: E402
from kernelindex_liger.bench.protocol import Hello, IncorrectError, Measured  # noqa: E402
from kernelindex_liger.bench.requirements import version  # noqa: E402
from kernelindex_liger.documents.sidecar import Gpu, Readings  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kernelindex_liger.bench.spec import Case, Kernel, Probe, Timing, Tiny, Work

SEED = 0


class CpuBackend:
    """See `protocol.Backend`."""

    device = "cpu"

    def __init__(self) -> None:
        torch.set_num_threads(1)

    def hello(self) -> Hello:
        """A device that no document can name, as large as the matrix plans for."""
        return Hello(
            gpu=Gpu(name=REHEARSAL, count=1),
            software=software(driver=None, cuda=None),
            total_gib=80,
            capability=None,
            liger_version=version("liger-kernel") or "",
        )

    def readings(self) -> Readings | None:
        """A CPU tells nothing."""
        return None

    def probe(self, kernel: Kernel, probe: Probe) -> int:
        """Nothing is probed: a rehearsal has its own sizes."""
        raise NotImplementedError(f"{kernel.name}: {probe.provider}")

    def measure(self, kernel: Kernel, case: Case, timing: Timing) -> Measured:
        """Run the step once, after comparing its results with the reference's. In ms; memory is nan."""
        _compare(kernel, case)
        work = _built(kernel, case)
        try:
            step = step_of(work, case.pass_name, case.metric)
            started = time.perf_counter()
            step.call()
            took = (time.perf_counter() - started) * 1000
        finally:
            _close(work)
        value = took if case.metric == "speed" else math.nan
        return Measured(y=(value, value, value), samples=1)

    def failure(self, error: BaseException) -> tuple[str, bool]:
        """A CPU process goes on after any exception."""
        if isinstance(error, IncorrectError):
            return "incorrect_numerical", False
        return "resource_exceeded" if isinstance(error, MemoryError) else "runtime_error", False

    def settle(self) -> None:
        """Give back what the last case held."""
        gc.collect()


def _built(kernel: Kernel, case: Case) -> Work:
    torch.manual_seed(SEED)
    return kernel.build(case)


def _close(work: Work) -> None:
    if work.close:
        work.close()


def _compare(kernel: Kernel, case: Case) -> None:
    """Raise IncorrectError unless outputs and gradients are the baseline's."""
    tiny = kernel.tiny
    if case.provider == kernel.baseline or case.provider in tiny.incomparable:
        return
    backward = case.pass_name not in {"forward", "no-grad-forward"}
    expected, got = (
        _results(kernel, dataclasses.replace(case, provider=kernel.baseline)),
        _results(kernel, case),
    )
    if expected.inputs.keys() != got.inputs.keys():
        raise IncorrectError(f"inputs {sorted(got.inputs)} are not the reference's {sorted(expected.inputs)}")
    for name, value in expected.inputs.items():
        if not torch.equal(value, got.inputs[name]):
            raise IncorrectError(f"input {name!r} is not the reference's")
    if len(expected.outputs) != len(got.outputs):
        raise IncorrectError(f"{len(got.outputs)} outputs where the reference has {len(expected.outputs)}")
    for place, (want, have) in enumerate(zip(expected.outputs, got.outputs, strict=True)):
        _close_to(f"output {place}", want, have, tiny)
    for name, gradient in expected.gradients.items() if backward else ():
        if gradient is None:
            continue
        have = got.gradients[name]
        if have is None:
            raise IncorrectError(f"no gradient of {name!r}")
        _close_to(f"gradient of {name!r}", gradient, have, tiny)


@dataclasses.dataclass(frozen=True, slots=True)
class _Results:
    inputs: dict[str, Any]
    outputs: Sequence[Any]
    gradients: dict[str, Any]


def _results(kernel: Kernel, case: Case) -> _Results:
    """Inputs as built (some kernels write over them), outputs, gradients under a seeded output gradient."""
    work = _built(kernel, case)
    try:
        inputs = {name: tensor.detach().clone() for name, tensor in work.tensors.items()}
        y = work.forward()
        outputs = [t.detach().clone() for t in (work.outputs() if work.outputs else (y,))]
        gradients: dict[str, Any] = {}
        if y.requires_grad:
            torch.manual_seed(SEED + 1)
            y.backward(torch.randn(y.shape).to(y.dtype))
            gradients = {
                name: None if tensor.grad is None else tensor.grad.detach().clone()
                for name, tensor in work.tensors.items()
                if tensor.is_leaf
            }
        return _Results(inputs, outputs, gradients)
    finally:
        _close(work)


def _close_to(what: str, want: Any, have: Any, tiny: Tiny) -> None:
    if want.shape != have.shape:
        raise IncorrectError(f"{what}: shape {tuple(have.shape)}, the reference's is {tuple(want.shape)}")
    want, have = want.double(), have.double()
    if torch.allclose(have, want, rtol=tiny.rtol, atol=tiny.atol, equal_nan=True):
        return
    off = (have - want).abs().max().item()
    raise IncorrectError(f"{what}: off by up to {off:.3g} (rtol {tiny.rtol:g}, atol {tiny.atol:g})")
