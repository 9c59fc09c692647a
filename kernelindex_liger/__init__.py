"""Liger-Kernel benchmark results as linked, content-addressed KernelIndex documents.

>>> from kernelindex_liger import convert
>>> report = convert(["results.csv"], "out/")  # doctest: +SKIP

`convert`, `table`, `Options` and `Report` are imported when they are first used; document models stand in
`kernelindex_liger.documents`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kernelindex_liger.conversion.pipeline import Options, convert, table
    from kernelindex_liger.conversion.report import Report

__version__ = "0.1.0"
__all__ = ["Options", "Report", "__version__", "convert", "table"]

_HOMES = {"Options": "pipeline", "convert": "pipeline", "table": "pipeline", "Report": "report"}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    value: object = getattr(importlib.import_module(f"kernelindex_liger.conversion.{_HOMES[name]}"), name)
    globals()[name] = value
    return value
