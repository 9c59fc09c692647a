"""What extras promise, against what kernels ask for."""

import re
import tomllib

from kernelindex_liger.bench import registry, requirements
from tests.conftest import ROOT

EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]


def packages(extra):
    return {re.split("[>=;]", one)[0] for one in EXTRAS[extra]}


def asked_for():
    """(kernel, package) of every provider's requirement."""
    return {
        (name, requirement.package)
        for name in registry.names()
        for provider in registry.kernel(name).providers
        for requirement in provider.requires
    }


def test_the_bench_extra_brings_what_bench_asks_for_before_it_starts():
    assert set(requirements.EXTRA.values()) <= packages("bench")
    assert requirements.INSTALL.endswith("[bench]'")


def test_the_documentation_names_the_kernels_that_the_transformers_extra_is_for():
    kernels = sorted(kernel for kernel, package in asked_for() if package in packages("transformers"))
    *most, last = kernels
    text = " ".join((ROOT / "docs" / "bench.md").read_text().split())
    assert f"the huggingface side of {', '.join(most)} and {last}" in text
    assert len(kernels) == 7, "README.md, CHANGELOG.md and pyproject.toml say how many"


def test_the_documentation_names_the_kernels_that_the_megatron_extra_is_for():
    kernels = {
        name
        for name in registry.names()
        for provider in registry.kernel(name).providers
        if provider.name == "megatron" and not provider.cannot_rehearse
    }
    text = " ".join((ROOT / "docs" / "bench.md").read_text().split())
    assert f"the megatron side of {' and '.join(sorted(kernels))}." in text


def test_the_documentation_names_what_is_in_no_extra():
    in_extras = packages("bench") | packages("transformers") | packages("megatron")
    line = next(one for one in (ROOT / "docs" / "bench.md").read_text().split("Other packages that ")[1:])
    for package in {package for _, package in asked_for()} - in_extras:
        assert package in line.split("in no extra")[0]
