"""What kernel modules declare, checked for sense; nothing here needs torch."""

import re

import pytest

from kernelindex_liger.bench import registry
from kernelindex_liger.bench.kernels import MODULES

KERNELS = [registry.kernel(name) for name in registry.names()]


@pytest.fixture(params=KERNELS, ids=lambda kernel: kernel.name)
def kernel(request):
    return request.param


def test_the_table_follows_upstreams_scripts(kernel):
    script = kernel.script.removeprefix("benchmark_").removesuffix(".py")
    assert MODULES[kernel.name] == script
    assert list(MODULES.values()) == sorted(MODULES.values(), key=list(dict.fromkeys(MODULES.values())).index)


def test_there_is_a_baseline_and_every_pass_is_known(kernel):
    assert kernel.baseline in {p.name for p in kernel.providers}
    known = {"forward", "backward", "full", "no-grad-forward"}
    assert set(kernel.speed) <= known
    assert set(kernel.memory) <= known - {"no-grad-forward"}
    assert len(set(kernel.speed)) == len(kernel.speed)


def test_every_sweep_has_a_size_to_rehearse(kernel):
    for sweep in kernel.sweeps:
        assert sweep.x_name == "model_config" or sweep.x_name in kernel.tiny.x


def test_caveats_name_what_exists_and_say_why(kernel):
    slugs = [d.slug for d in kernel.deviations]
    assert len(set(slugs)) == len(slugs)
    for caveat in kernel.deviations:
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", caveat.slug)
        assert caveat.text.endswith((".", "%"))
        assert caveat.reason.endswith((".", "%"))
        assert set(caveat.providers) <= {p.name for p in kernel.providers}
        assert not caveat.passes or set(caveat.passes) & {*kernel.speed, *kernel.memory}


def test_one_slug_is_one_oddity():
    texts = {}
    for kernel in KERNELS:
        for caveat in kernel.deviations:
            texts.setdefault(caveat.slug, set()).add(caveat.text)
    several = {slug for slug, found in texts.items() if len(found) > 1}
    assert several <= {"idle-module-in-memory", "different-initial-weights", "gradient-accumulates-in-full"}
