"""Matches of caveats and corrections as polars expressions over a batch of rows."""

from __future__ import annotations

import functools
import json
import operator
from typing import Any

import polars as pl

from kernelindex_liger.catalog.facts import allowed
from kernelindex_liger.catalog.matching import Match

TIME = "%Y-%m-%d %H:%M:%S"

_COLUMN = {
    "kernel": "kernel_name",
    "provider": "kernel_provider",
    "pass_": "kernel_operation_mode",
    "metric": "metric_name",
    "gpu": "gpu_name",
    "x_name": "x_name",
    "x": "x_value",
    "release": "liger_version",
}


def expression(match: Match) -> pl.Expr:
    """True for the rows that a match takes; needs the text columns and `p20`, `p50`, `p80`, `moment`."""
    terms = [
        pl.col(column) == wanted if isinstance(wanted, str) else pl.col(column).is_in(list(wanted))
        for name, column in _COLUMN.items()
        if (wanted := getattr(match, name)) is not None
    ]
    if match.config_keys is not None or match.config:
        terms.append(
            pl.col("extra_benchmark_config_str").map_batches(
                functools.partial(_configs, match), return_dtype=pl.Boolean, is_elementwise=True
            )
        )
    if match.times:
        terms.append(_any_span(match.times))
    if match.not_times:
        terms.append(~_any_span(match.not_times))
    if match.single_sample:
        terms.append((pl.col("p20") == pl.col("p50")) & (pl.col("p50") == pl.col("p80")))
    if match.above_ms is not None:
        terms.append(pl.col("p50") >= match.above_ms)
    if match.below_ms is not None:
        terms.append(pl.col("p50") < match.below_ms)
    return functools.reduce(operator.and_, terms).fill_null(value=False)


def kernels(match: Match) -> frozenset[str] | None:
    """Kernels that a match is limited to; None where it is not."""
    if match.kernel is None:
        return None
    return frozenset((match.kernel,) if isinstance(match.kernel, str) else match.kernel)


def _any_span(spans: tuple[tuple[Any, Any], ...]) -> pl.Expr:
    return pl.any_horizontal(*(pl.col("moment").is_between(pl.lit(start), pl.lit(end)) for start, end in spans))


def _configs(match: Match, column: pl.Series) -> pl.Series:
    distinct = column.unique()
    verdicts = [_config(match, _parsed(text)) for text in distinct.to_list()]
    return column.replace_strict(distinct, pl.Series(verdicts, dtype=pl.Boolean), return_dtype=pl.Boolean)


def _config(match: Match, values: object) -> bool:
    if not isinstance(values, dict) or (match.config_keys is not None and set(match.config_keys) != set(values)):
        return False
    return all(allowed(values.get(key), wanted) for key, wanted in match.config.items())


@functools.lru_cache(maxsize=10_000)
def _parsed(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
