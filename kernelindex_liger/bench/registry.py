"""Kernels by name, loaded from the static table when asked for."""

from __future__ import annotations

import fnmatch
import importlib
from typing import TYPE_CHECKING

from kernelindex_liger.bench.kernels import MODULES

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kernelindex_liger.bench.spec import Kernel


def kernel(name: str) -> Kernel:
    """The kernel of that name. Raises KeyError for a name that the table does not have."""
    module = importlib.import_module(f"kernelindex_liger.bench.kernels.{MODULES[name]}")
    found: Kernel = next(k for k in module.KERNELS if k.name == name)
    return found


def names() -> tuple[str, ...]:
    """All kernel names, in the table's order."""
    return tuple(MODULES)


def matching(patterns: Iterable[str]) -> tuple[str, ...]:
    """Names that match any pattern (shell globs, or `all`), in the table's order.

    Raises LookupError naming the first pattern that matches nothing.
    """
    chosen: set[str] = set()
    for pattern in patterns:
        found = names() if pattern == "all" else fnmatch.filter(names(), pattern)
        if not found:
            raise LookupError(pattern)
        chosen.update(found)
    return tuple(name for name in names() if name in chosen)
