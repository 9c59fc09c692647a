"""What is installed, found on disk and in package metadata: nothing is imported to find out."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kernelindex_liger.bench.spec import Kernel, Provider, Requirement

EXTRA = {
    "torch": "torch",
    "triton": "triton",
    "liger_kernel": "liger-kernel",
    "numpy": "numpy",
    "packaging": "packaging",
}
"""Modules that measuring and rehearsing need, and the packages that bring them (the extra `bench`)."""

INSTALL = "pip install 'kernelindex-liger[bench]'"


def missing_extra() -> tuple[str, ...]:
    """Packages of the extra `bench` that are not installed."""
    return tuple(package for module, package in EXTRA.items() if not has_module(module))


def has_module(dotted: str) -> bool:
    """Whether the module exists on disk, without importing it or its parents."""
    top, *rest = dotted.split(".")
    spec = importlib.util.find_spec(top)
    if spec is None:
        return False
    places = [Path(place) for place in spec.submodule_search_locations or ()]
    for part in rest:
        found = [place / part for place in places if (place / part).is_dir()]
        if not found and not any(list(place.glob(f"{part}.*py")) + list(place.glob(f"{part}.*so")) for place in places):
            return False
        places = found
    return True


def version(package: str) -> str | None:
    """Installed version of a package, or None."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def _release(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", text.split("+", 1)[0])[:3])


def unmet(requirement: Requirement, capability: tuple[int, int] | None = None) -> str | None:
    """Why a requirement is not met, naming the package; None when it is.

    `capability` is the device's compute capability, where one is known.
    """
    if not has_module(requirement.module):
        return f"{requirement.package} is not installed"
    have = version(requirement.package)
    if requirement.below and have and _release(have) >= _release(requirement.below):
        return f"{requirement.package} {have} is too new: it needs one below {requirement.below}"
    if requirement.capability and capability and capability != requirement.capability:
        return "it needs a GPU of compute capability {}.{}".format(*requirement.capability)
    return None


def unmet_of(kernel: Kernel, provider: Provider, capability: tuple[int, int] | None = None) -> tuple[str, ...]:
    """Everything that keeps a provider of a kernel from running here."""
    found = [unmet(requirement, capability) for requirement in provider.requires]
    reasons = [reason for reason in found if reason]
    if provider.role == "liger":
        if not has_module("liger_kernel"):
            reasons.append("liger-kernel is not installed")
        else:
            have = version("liger-kernel")
            reasons += [f"liger-kernel {have} has no {m}" for m in kernel.liger if not has_module(m)]
    return tuple(reasons)
