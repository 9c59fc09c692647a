"""CSVs made up for tests: no row is a real one."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from random import Random

HEADER = (
    "kernel_name,kernel_provider,kernel_operation_mode,metric_name,metric_unit,x_name,x_label,x_value,y_value_50,"
    "y_value_20,y_value_80,extra_benchmark_config_str,gpu_name,timestamp,liger_version"
)
"""Upstream's columns."""


def write_csv(path, night=0, *, slow=1.0, gpu="NVIDIA H100 80GB HBM3"):
    """A CSV of one night: rms_norm over five sizes by three providers, with 1 % of noise; Liger `slow` times slower."""
    random = Random(night)  # noqa: S311 - noise for tests
    moment = datetime(2026, 1, 1, 3, tzinfo=UTC) + timedelta(days=night)
    lines = [HEADER]
    for provider in ("liger", "huggingface"):
        for mode in ("forward", "backward", "full"):
            for power in range(5):
                x = 1024 * 2**power
                base = 0.3 * (power + 1) * (slow if provider == "liger" else 2) * random.gauss(1, 0.005)
                config = json.dumps({"M": 2048, "dtype": "torch.bfloat16", "eps": 1e-06}).replace('"', '""')
                lines.append(
                    f"rms_norm,{provider},{mode},speed,ms,H,hidden size,{x},{base},{base * 0.99},{base * 1.01},"
                    f'"{config}",{gpu},{moment:%Y-%m-%d %H:%M:%S},0.7.0'
                )
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\r\n".join(lines) + "\r\n")
    return path
