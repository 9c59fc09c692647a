"""The rehearsal and the measuring rules, with torch on a CPU."""

import csv
import dataclasses
import os
import subprocess
import sys

import pytest

from tests.conftest import need

pytestmark = pytest.mark.bench

need("torch", "triton", "liger_kernel", "numpy")

import torch  # noqa: E402


def interpreted(code):
    """Run code in a process with Triton's interpreter: it is chosen when triton is imported."""
    environment = {
        **os.environ,
        "TRITON_INTERPRET": "1",
        "TORCHDYNAMO_DISABLE": "1",
        "CUDA_VISIBLE_DEVICES": "",
    }
    return subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)


FLOAT_KERNEL = """
import triton, triton.language as tl, torch
from triton.language.extra.libdevice import rsqrt as _unused
{enable}
from triton.language.extra.libdevice import rsqrt, tanh

@triton.autotune([triton.Config({{"step": 1}}), triton.Config({{"step": 2}})], key=["n"])
@triton.jit
def kernel(x, y, scale, n: tl.constexpr, step: tl.constexpr):
    at = tl.arange(0, n)
    value = tl.load(x + at)
    tl.store(y + at, tanh(rsqrt(value)) * scale.to(tl.float32) * step)

x = torch.rand(8) + 1
y = torch.empty(8)
kernel[(1,)](x, y, 0.1, 8)
assert torch.allclose(y, torch.tanh(torch.rsqrt(x)) * 0.1), (x, y)
"""
ENABLE = "from kernelindex_liger.bench.interpreter import enable; enable(); enable()"


def write(tmp_path, text):
    # A jitted function needs a file to read its source from.
    path = tmp_path / "kernel.py"
    path.write_text(text)
    return f"import runpy; runpy.run_path({str(path)!r}, run_name='kernel')"


def test_the_completed_interpreter_takes_floats_has_libdevice_and_autotunes(tmp_path):
    done = interpreted(write(tmp_path, FLOAT_KERNEL.format(enable=ENABLE)))
    assert done.returncode == 0, done.stderr[-2000:]


def test_the_interpreter_as_it_stands_does_not(tmp_path):
    done = interpreted(write(tmp_path, FLOAT_KERNEL.format(enable="")))
    assert done.returncode != 0
    assert "active drivers" in done.stderr
    once = "\n".join(line for line in FLOAT_KERNEL.splitlines() if not line.startswith("@triton.autotune"))
    done = interpreted(write(tmp_path, once.format(enable="").replace(" 0.1, 8)", " 0.1, 8, 1)")))
    assert done.returncode != 0
    assert "InterpreterError" in done.stderr


def test_completing_needs_the_variable():
    done = subprocess.run(
        [sys.executable, "-c", ENABLE],
        env={k: v for k, v in os.environ.items() if k != "TRITON_INTERPRET"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "set TRITON_INTERPRET=1" in done.stderr


def test_a_rehearsal_is_compared_and_its_rows_name_no_gpu(tmp_path):
    out = tmp_path / "results.csv"
    done = subprocess.run(
        [sys.executable, "-m", "kernelindex_liger", "bench", "--rehearse", "-k", "rms_norm", "-o", str(out)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    with out.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 8
    assert {row["gpu_name"] for row in rows} == {"CPU (rehearsal)"}
    assert "8 measured, 0 failed" in done.stderr


WRONG = """
import dataclasses
from kernelindex_liger.bench.rehearse import CpuBackend
from kernelindex_liger.bench.protocol import CaseMessage, IncorrectError
from kernelindex_liger.bench.registry import kernel
import torch

k = kernel("softmax")
right = k.build

def wrong(case):
    work = right(case)
    if case.provider == "liger":
        forward = work.forward
        work.forward = {forward}
    return work

message = CaseMessage(kernel="softmax", provider="liger", pass_name="full", metric="speed", x_name="BT",
    x=k.tiny.x["BT"], config=dict(k.tiny.sizes), model="llama_3_8b", sizes=k.tiny.sizes)
backend = CpuBackend()
backend.measure(k, message.case("cpu"), k.timing)
try:
    backend.measure(dataclasses.replace(k, build=wrong), message.case("cpu"), k.timing)
except IncorrectError as error:
    print(error, backend.failure(error))
"""


@pytest.mark.parametrize(
    ("forward", "said"),
    [
        ("lambda: forward() + 0.01", "output 0: off by up to 0.01"),
        ("lambda: forward()[:1]", "output 0: shape"),
        ("lambda: forward().detach() + 0 * forward()", "gradient of 'x': off by"),
    ],
)
def test_wrong_outputs_and_gradients_are_found(forward, said):
    done = interpreted(WRONG.format(forward=forward))
    assert said in done.stdout, done.stderr[-2000:]
    assert "('incorrect_numerical', False)" in done.stdout


def test_the_shared_rule_measures_each_pass_as_upstream_does():
    from kernelindex_liger.bench.harness import step_of
    from kernelindex_liger.bench.spec import Step, Work

    x = torch.ones(3, requires_grad=True)
    calls = []

    def forward():
        calls.append(torch.is_grad_enabled())
        return x * 2

    work = Work(forward=forward, reset=[x])
    backward = step_of(work, "backward", "speed")
    assert calls == [True]
    backward.call()
    backward.call()
    assert calls == [True], "backward times no forward"
    assert list(backward.reset) == [x]
    first = x.grad.clone()
    x.grad = None
    backward.call()
    assert torch.equal(x.grad * 2, first), "the gradient is drawn once"
    x.grad = None
    step_of(work, "full", "memory").call()
    assert x.grad is not None
    assert len(calls) == 2
    step_of(work, "no-grad-forward", "speed").call()
    assert calls[-1] is False
    assert not step_of(work, "no-grad-forward", "speed").reset
    with pytest.raises(ValueError, match="no rule"):
        step_of(work, "no-grad-forward", "memory")
    own = Step(call=lambda: None)
    other = dataclasses.replace(work, steps={"full": lambda: own})
    assert step_of(other, "full", "speed") is own
    assert step_of(other, "full", "memory") is own


def test_quantiles_are_tritons():
    from triton import testing

    from kernelindex_liger.bench.harness import QUANTILES, quantiles

    for samples in ([3.0], [1.0, 2.0], [5.0, 1.0, 4.0, 2.5, 9.0, 0.25, 7.0]):
        assert list(quantiles(samples)) == testing._summarize_statistics(samples, list(QUANTILES), "mean")
