"""The table at the end of a run: each provider against its kernel's baseline."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from kernelindex_liger.bench.table import Row


@dataclass(frozen=True, slots=True, kw_only=True)
class Against:
    """A provider against the baseline over the x values that both have."""

    kernel: str
    metric: str
    pass_name: str
    x_name: str
    baseline: str
    provider: str
    cases: int
    last_x: str
    baseline_value: float
    value: float
    """Medians at the last x, in the metric's unit."""
    ratio: float
    """Geometric mean of baseline / provider: above 1 the provider is faster, or needs less."""


def against_baselines(rows: Iterable[Row], baselines: Mapping[str, str]) -> list[Against]:
    """Compare medians within the same kernel, metric, pass, config, x and GPU; order of first appearance."""
    values: dict[tuple[str, ...], dict[str, dict[str, float]]] = {}
    for row in rows:
        if row["kernel_name"] not in baselines or not row["y_value_50"]:
            continue
        group = (
            row["kernel_name"],
            row["metric_name"],
            row["kernel_operation_mode"],
            row["x_name"],
            row["extra_benchmark_config_str"],
            row["gpu_name"],
        )
        of_provider = values.setdefault(group, {}).setdefault(row["kernel_provider"], {})
        of_provider[row["x_value"]] = float(row["y_value_50"])
    found = []
    for (kernel, metric, pass_name, x_name, _, _), providers in values.items():
        base = providers.get(baselines[kernel], {})
        for provider, own in providers.items():
            shared = [x for x in own if base.get(x, 0) > 0 and own[x] > 0]
            if provider == baselines[kernel] or not shared:
                continue
            logs = [math.log(base[x] / own[x]) for x in shared]
            found.append(
                Against(
                    kernel=kernel,
                    metric=metric,
                    pass_name=pass_name,
                    x_name=x_name,
                    baseline=baselines[kernel],
                    provider=provider,
                    cases=len(shared),
                    last_x=shared[-1],
                    baseline_value=base[shared[-1]],
                    value=own[shared[-1]],
                    ratio=math.exp(sum(logs) / len(logs)),
                )
            )
    return found


HEADINGS = (
    "kernel",
    "metric",
    "pass",
    "provider",
    "baseline",
    "last x",
    "baseline",
    "provider",
    "ratio",
    "cases",
)


def cells(line: Against) -> tuple[str, ...]:
    """A line's texts, under HEADINGS."""
    unit = "ms" if line.metric == "speed" else "MB"
    return (
        line.kernel,
        line.metric,
        line.pass_name,
        line.provider,
        line.baseline,
        f"{line.x_name}={line.last_x}",
        f"{line.baseline_value:.4g} {unit}",
        f"{line.value:.4g} {unit}",
        f"{line.ratio:.2f}x",
        str(line.cases),
    )


def plain(rows: Sequence[Sequence[str]]) -> str:
    """Columns aligned with spaces; the first row are the headings."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return "\n".join(
        "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )
