"""What tests share: fixtures' places, a row to vary, and the facts beside the checkout where they are at hand."""

from __future__ import annotations

import csv
import importlib
import io
import os
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from kernelindex_liger.conversion.rows import COLUMNS

ROOT = Path(__file__).resolve().parent.parent
FIXTURES = ROOT / "fixtures"
SHARED = Path(os.environ.get("KERNELINDEX_LIGER_SHARED", ROOT.parent / "shared"))

ROW = {
    "kernel_name": "rms_norm",
    "kernel_provider": "liger",
    "kernel_operation_mode": "forward",
    "metric_name": "speed",
    "metric_unit": "ms",
    "x_name": "H",
    "x_label": "hidden size",
    "x_value": "1024",
    "y_value_50": "0.5",
    "y_value_20": "0.4",
    "y_value_80": "0.6",
    "extra_benchmark_config_str": '{"M": 2048, "dtype": "torch.bfloat16", "eps": 1e-06}',
    "gpu_name": "NVIDIA H100 80GB HBM3",
    "timestamp": "2026-01-02 03:04:05",
    "liger_version": "0.7.0",
}


REHEARSED = bool(os.environ.get("KERNELINDEX_LIGER_REHEARSE"))
"""Whether every kernel must be rehearsed (`scripts/test --rehearse`): then a missing package is a failure."""


def need(*modules: str) -> None:
    """Skip the calling module where something of the bench extra is not installed; fail where it must be."""
    for module in modules:
        if REHEARSED:
            importlib.import_module(module)
        else:
            pytest.importorskip(module, reason=f"{module} is not installed: scripts/test --rehearse installs it")


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of published facts and upstream CSVs."""
    if not (SHARED / "kernelindex").is_dir():
        pytest.skip(f"no published facts at {SHARED}")
    return SHARED


def text(rows: Sequence[dict[str, str]], columns: Sequence[str] = COLUMNS, end: str = "\r\n") -> str:
    """A CSV of rows."""
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, lineterminator=end)
    writer.writerow(columns)
    writer.writerows([[row[name] for name in columns] for row in rows])
    return buffer.getvalue()


@pytest.fixture
def write_csv(tmp_path: Path) -> Callable[..., Path]:
    """Writes a CSV whose rows are `ROW` with changes; returns its path."""

    def write(*changes: dict[str, str], name: str = "in.csv") -> Path:
        path = tmp_path / name
        path.write_text(text([ROW | change for change in changes]), newline="")
        return path

    return write
