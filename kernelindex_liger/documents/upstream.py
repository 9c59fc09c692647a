"""The upstream CSV, as the runner writes it and the importer reads it: all that the two share."""

from __future__ import annotations

from typing import Final

COLUMNS: Final = (
    "kernel_name",
    "kernel_provider",
    "kernel_operation_mode",
    "metric_name",
    "metric_unit",
    "x_name",
    "x_label",
    "x_value",
    "y_value_50",
    "y_value_20",
    "y_value_80",
    "extra_benchmark_config_str",
    "gpu_name",
    "timestamp",
    "liger_version",
)
"""Columns of the upstream CSV, in upstream's order."""

REHEARSAL: Final = "CPU (rehearsal)"
"""The `gpu_name` of rows that a rehearsal on the CPU wrote: no GPU measurement."""

SUFFIX: Final = ".meta.jsonl"
"""How the sidecar's name ends: `results.csv` has `results.meta.jsonl` beside it."""
