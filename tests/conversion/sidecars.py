"""Sidecars made up for tests: no figure in them is measured."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

from tests.conftest import ROW

LINE: dict[str, Any] = {
    "schema": "kernelindex-liger/bench-series/1",
    "series": {name: value for name, value in ROW.items() if name != "x_value" and not name.startswith("y_value")},
    "gpu": {
        "name": ROW["gpu_name"],
        "count": 1,
        "memory_bytes": 85_899_345_920,
        "compute_capability": "9.0",
        "power_limit_watts": 700.0,
        "persistence_mode": True,
        "ecc_enabled": True,
        "mig_enabled": False,
    },
    "software": {
        "operating_system": "Ubuntu 24.04 LTS",
        "driver": "570.1",
        "cuda": "12.8",
        "torch": "2.8.0",
        "triton": "3.4.0",
        "liger_kernel": "0.7.0",
        "runner": "0.1.0",
    },
    "protocol": {"harness": "triton.testing.do_bench", "warmup_ms": 25, "rep_ms": 10, "l2_policy": "flushed"},
    "cases": [{"x_value": "1024", "status": "ok", "samples": 42}],
}
"""A line for `ROW`."""


def line(**changes: Any) -> dict[str, Any]:
    """`LINE` with changes, each a dictionary laid over the member of its name, or a value that takes its place."""
    made = copy.deepcopy(LINE)
    for name, change in changes.items():
        laid_over = isinstance(change, dict) and isinstance(made.get(name), dict)
        made[name] = made[name] | change if laid_over else change
    return made


def case(x: object, status: str = "ok", **more: object) -> dict[str, Any]:
    """A case of a line."""
    return {"x_value": str(x), "status": status, **more}


def write(csv: Path, *lines: dict[str, Any] | str) -> Path:
    """Put lines into the sidecar beside a CSV; its path."""
    csv.parent.mkdir(exist_ok=True)
    path = csv.with_name(csv.name.split(".")[0] + ".meta.jsonl")
    path.write_text("".join((one if isinstance(one, str) else json.dumps(one)) + "\n" for one in lines))
    return path
