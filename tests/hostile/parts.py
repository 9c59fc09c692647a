"""Histories that somebody else wrote."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

import polars as pl

from kernelindex_liger.history.store import PART, content_digest

ENVIRONMENT = json.dumps({"hardware": {"vendor": "nvidia", "product": "H100"}})


def rows(night: int = 0, **over: object) -> pl.DataFrame:
    """Three rows of a part, with columns changed alike in all of them."""
    time = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(days=night)
    base: Mapping[str, object] = {
        "label": f"night{night}", "time": time, "machine": "H100", "environment_key": "e", "settings": ENVIRONMENT,
        "carried": False, "kernel": "rms_norm", "provider": "liger", "pass": "forward", "metric": "speed",
        "gpu": "H100", "operation": "rms_norm", "case_key": "hidden1-bf16", "dtype": "bf16", "x_name": "H",
        "observed_at": time, "liger_version": "0.7.0", "caveats": [], "status": "passed", "environment": ENVIRONMENT,
    }  # fmt: skip
    made = [
        {**base, "case": f"{x:016x}", "name": f"case {x}", "x_value": str(x), "ns": 1000 * x, "external_id": f"{x}"}
        for x in (1, 2, 3)
    ]
    return pl.DataFrame([{**one, **over} for one in made], schema_overrides=PART).select(
        [pl.col(name) if name in {*made[0], *over} else pl.lit(None).alias(name) for name in PART]
    ).cast(dict(PART))  # fmt: skip


def history(folder: Path, *parts: pl.DataFrame | bytes) -> Path:
    """A history's folder with these parts."""
    (folder / "parts").mkdir(parents=True)
    (folder / "history.json").write_text('{"version": 1}\n')
    for number, part in enumerate(parts):
        if isinstance(part, bytes):
            (folder / "parts" / f"{number}.parquet").write_bytes(part)
        else:
            named = dict(part.schema) == PART
            name = content_digest(part) if named else f"{number}"
            part.write_parquet(folder / "parts" / f"{name}.parquet")
    return folder
