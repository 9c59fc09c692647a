"""Histories made up for tests: no row is a real one."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from random import Random
from typing import TYPE_CHECKING

import polars as pl

from kernelindex_liger.history.source import SCHEMA

if TYPE_CHECKING:
    from collections.abc import Callable

START = datetime(2026, 1, 1, 2, tzinfo=UTC)
GPU = "NVIDIA H100 80GB HBM3"


def environment(gpu: str = GPU, driver: str | None = None, liger: str | None = None) -> str:
    software: dict[str, object] = {}
    if driver:
        software["driver"] = driver
    if liger:
        software["libraries"] = {"liger_kernel": liger}
    return json.dumps({"hardware": {"vendor": "nvidia", "product": gpu}, "software": software})


def row(kernel: str, x: int, ns: float | None, night: int, **over: object) -> dict[str, object]:
    """One run's row; `ns` None makes it a failure."""
    provider = over.get("provider", "liger")
    metric = over.get("metric", "speed")
    gpu = over.get("gpu", GPU)
    value = None if ns is None else max(1, round(ns))
    time = START + timedelta(days=night)
    workload = f"sha256:{kernel}-{x}"
    base = {
        "kernel": kernel, "provider": provider, "pass": "forward", "metric": metric, "gpu": gpu,
        "operation": kernel, "case_key": f"hidden{x}-bf16", "dtype": "bf16", "x_name": "H", "x_value": str(x),
        "ns": value if metric != "memory" else None, "p20_ns": None, "p80_ns": None,
        "peak_bytes": value if metric == "memory" else None,
        "observed_at": time, "liger_version": "0.7.0", "role": None if provider == "liger" else "baseline",
        "caveats": [], "status": "passed" if ns is not None else "timeout",
        "external_id": f"{kernel}/forward/{provider}/{gpu}/{x}/{time:%Y%m%d%H%M%S}",
        "workload_digest": workload, "protocol_digest": f"sha256:{metric}", "environment": environment(str(gpu)),
    }  # fmt: skip
    return base | over


def table(rows: list[dict[str, object]]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=SCHEMA)


def night(
    number: int,
    *,
    kernels: int = 6,
    xs: int = 5,
    seed: int = 0,
    noise: float = 0.01,
    factor: Callable[[str, str, int], float] = lambda kernel, provider, x: 1.0,
    **over: object,
) -> pl.DataFrame:
    """One night: every kernel by liger and torch at `xs` sizes, 0.2 to some milliseconds, with normal noise."""
    random = Random(f"{seed}-{number}")  # noqa: S311 - noise for tests
    rows = []
    for k in range(kernels):
        kernel = f"kernel_{k}"
        for index in range(xs):
            x = 1024 * (index + 1)
            for provider in ("liger", "torch"):
                base = 2e5 * (k + 1) * (index + 1) * (2 if provider == "torch" else 1)
                value = base * factor(kernel, provider, x) * (1 + random.gauss(0, noise))
                rows.append(row(kernel, x, value, number, provider=provider, **over))
    return table(rows)
