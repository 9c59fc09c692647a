"""The benchmarked kernels: a table of names, so that listing them imports nothing but what is asked for."""

from __future__ import annotations

MODULES: dict[str, str] = {
    "rms_norm": "rms_norm",
}
"""kernel_name -> module in this package, which exports `KERNELS: tuple[Kernel, ...]`; in `--list`'s order."""
