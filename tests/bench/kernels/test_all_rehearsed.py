"""Every kernel's providers, outputs and gradients against the reference's, in Triton's interpreter."""

import os
import subprocess
import sys

import pytest

from kernelindex_liger.bench import registry
from kernelindex_liger.bench.requirements import unmet_of
from tests.conftest import REHEARSED, need

pytestmark = [pytest.mark.bench, pytest.mark.slow]

need("torch", "triton", "liger_kernel", "numpy")

RUN = """
import sys
from kernelindex_liger.bench.models import DEFAULT_MODEL, MODELS
from kernelindex_liger.bench.plan import estimated
from kernelindex_liger.bench.registry import kernel
from kernelindex_liger.bench.rehearse import CpuBackend
from kernelindex_liger.bench.spec import Case, Request

name, providers = sys.argv[1], sys.argv[2].split(",")
found, backend, model = kernel(name), CpuBackend(), MODELS[DEFAULT_MODEL]
for sweep in found.sweeps:
    if sweep.devices > 1:
        continue
    points = estimated(sweep, Request(model=model, bt=2048, total_gib=80))
    x = points.x_values[-1] if sweep.x_name == "model_config" else found.tiny.x[sweep.x_name]
    for provider in providers:
        for pass_name in found.speed if name != "fused_moe" else ("full",):
            case = Case(
                kernel=name, provider=provider, pass_name=pass_name, metric="speed", x_name=sweep.x_name,
                x=x, config=points.configs[-1], model=MODELS.get(str(x), model), device="cpu",
                sizes=found.tiny.sizes,
            )
            backend.measure(found, case, found.timing)
            print(sweep.x_name, provider, pass_name)
"""


@pytest.mark.parametrize("name", registry.names())
def test_every_provider_gives_what_the_reference_gives(name):
    kernel = registry.kernel(name)
    able = [p for p in kernel.providers if not p.cannot_rehearse]
    missing = {p.name: reasons for p in able if (reasons := unmet_of(kernel, p))}
    assert not (REHEARSED and missing), "every provider that can be rehearsed must be"
    providers = [p.name for p in able if p.name not in missing]
    environment = {
        **os.environ,
        "TRITON_INTERPRET": "1",
        "TORCHDYNAMO_DISABLE": "1",
        "CUDA_VISIBLE_DEVICES": "",
    }
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", RUN, name, ",".join(providers)],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    for provider in providers:
        assert f" {provider} full" in done.stdout
