"""Kernels by name, loaded from the static table when asked for."""

from __future__ import annotations

import fnmatch
import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kernelindex_liger.bench.spec import Kernel

TABLE = "kernelindex_liger.bench.kernels"
"""The module with the table `MODULES`; the modules that it names are its submodules."""


def _modules(table: str) -> dict[str, str]:
    found: dict[str, str] = importlib.import_module(table).MODULES
    return found


def kernel(name: str, table: str = TABLE) -> Kernel:
    """The kernel of that name. Raises KeyError for a name that the table does not have."""
    module = importlib.import_module(f"{table}.{_modules(table)[name]}")
    found: Kernel = next(k for k in module.KERNELS if k.name == name)
    return found


def names(table: str = TABLE) -> tuple[str, ...]:
    """All kernel names, in the table's order."""
    return tuple(_modules(table))


def matching(patterns: Iterable[str], table: str = TABLE) -> tuple[str, ...]:
    """Names that match any pattern (shell globs, or `all`), in the table's order.

    Raises LookupError naming the first pattern that matches nothing.
    """
    known = names(table)
    chosen: set[str] = set()
    for pattern in patterns:
        found = known if pattern == "all" else fnmatch.filter(known, pattern)
        if not found:
            raise LookupError(pattern)
        chosen.update(found)
    return tuple(name for name in known if name in chosen)
