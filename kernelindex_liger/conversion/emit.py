"""Emit: bound rows become run documents, as text columns.

A run is written once by the document models, with holes where rows differ, and cut at the holes; rows then fill the
holes column by column. So the models alone say what a run looks like, and no row passes through Python.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Sequence
from typing import Any

import polars as pl

from kernelindex_liger.conversion.bind import MEMORY
from kernelindex_liger.conversion.combine import Combination
from kernelindex_liger.documents.base import API_VERSION
from kernelindex_liger.documents.canonical import canonical, number, pretty
from kernelindex_liger.documents.measurement import BenchmarkRun
from kernelindex_liger.documents.naming import SLUG_LENGTH

SOURCE = "liger-kernel-bench"

HEAD = f'{{"apiVersion":"{API_VERSION}","kind":"BenchmarkRun",'
"""How the canonical text of every run begins."""

_HOLE = re.compile(r"\"<([a-z0-9_]+)>\"|9007199254(\d{6})")
_NUMBERS = {"n50": 1, "n20": 2, "n80": 3, "ms_50": 4, "ms_20": 5, "ms_80": 6}
_BY_NUMBER = {f"{740000 + code:06d}": name for name, code in _NUMBERS.items()}


def _hole(name: str) -> int:
    """A number that stands for a row's number; it cannot collide with constant parts, which hold no numbers."""
    return 9007199254740000 + _NUMBERS[name]


def skeleton(metric: str, *, spread: bool, caveats: bool) -> dict[str, Any]:
    """A run of a metric as JSON values, with holes where rows differ."""
    levels = ("20", "50", "80") if spread else ("50",)
    digest = "sha256:" + "0" * 64
    unit = "mib" if metric == MEMORY else "ms"
    spec: dict[str, Any] = {
        "implementationDigest": digest,
        "workloadDigest": digest,
        "protocolDigest": digest,
        "environmentDigest": digest,
        "status": "passed",
        "sourceNative": {
            "source": SOURCE,
            "benchmark": "<benchmark>",
            "externalId": "<external_id>",
            "metrics": {f"{unit}_{level}": _hole(f"ms_{level}") for level in levels},
        },
        "observedAt": "2000-01-01T00:00:00.000Z",
    }
    if metric == MEMORY:
        statistics = {"50": "median", "20": "p20", "80": "p80"}
        spec["measurements"] = [
            {"metric": "peak_memory", "unit": "bytes", "statistic": statistics[level], "value": _hole(f"n{level}")}
            for level in levels
        ]
    else:
        spec["timing"] = {"primaryStatistic": "median", "latencyNs": {"median": _hole("n50")}}
        if spread:
            spec["measurements"] = [
                {"metric": "latency", "unit": "ns", "statistic": f"p{level}", "value": _hole(f"n{level}")}
                for level in ("20", "80")
            ]
    labels = {"liger_version": "<release>"} | ({"caveats": "<caveats>"} if caveats else {})
    run = BenchmarkRun.model_validate(
        {"metadata": {"name": "name", "title": "<title>", "labels": labels}, "spec": spec}
    ).to_dict()
    run["metadata"]["name"] = "<name>"
    run["spec"]["observedAt"] = "<observed_at>"
    for part in ("implementation", "workload", "protocol", "environment"):
        run["spec"][f"{part}Digest"] = f"<{part}_digest>"
    return run


def _fill(text: str) -> pl.Expr:
    """Text with holes as an expression that fills them from the columns of their names, which hold JSON text."""
    parts: list[pl.Expr] = []
    end = 0
    for hole in _HOLE.finditer(text):
        parts += [pl.lit(text[end : hole.start()]), pl.col("json_" + (hole[1] or _BY_NUMBER[hole[2]]))]
        end = hole.end()
    return pl.concat_str(*parts, pl.lit(text[end:]))


def constants(combinations: Sequence[Combination]) -> pl.DataFrame:
    """What runs take from their combination: constant texts, JSON where so named."""

    def column(value: Callable[[Combination], str]) -> pl.Series:
        return pl.Series([value(one) for one in combinations], dtype=pl.String)

    def quoted(value: Callable[[Combination], str]) -> pl.Series:
        return column(lambda one: json.dumps(value(one), ensure_ascii=False))

    return pl.DataFrame(
        {
            "id_prefix": column(lambda one: one.id_prefix),
            "name_prefix": column(lambda one: one.name_prefix),
            "json_title": quoted(lambda one: one.title),
            "json_benchmark": quoted(lambda one: one.benchmark),
            "json_workload_digest": quoted(lambda one: one.workload.digest),
            "json_implementation_digest": quoted(lambda one: one.implementation.digest),
            "json_protocol_digest": quoted(lambda one: one.protocol.digest),
            "json_environment_digest": quoted(lambda one: one.environment.digest),
        }
    )


def identify(rows: pl.DataFrame) -> pl.DataFrame:
    """Rows that have the columns of `constants`, with `external_id` and `name`."""
    return rows.with_columns(
        (pl.col("id_prefix") + pl.col("moment_slug")).alias("external_id"),
        (pl.col("name_prefix") + pl.col("moment_slug")).str.slice(0, SLUG_LENGTH).alias("name"),
    )


def emit(rows: pl.DataFrame, *, files: bool = False) -> pl.DataFrame:
    """Identified rows with `spec` and `metadata` (canonical texts), `run_digest`, and `file_run` on demand.

    `file_run` is the run in the published files' form, indented as a member of a bundle.
    """
    rows = rows.with_columns(
        pl.when(pl.col("metric_name") == MEMORY).then(pl.lit(MEMORY)).otherwise(pl.lit("speed")).alias("_metric"),
        pl.col("n20").is_not_null().alias("_spread"),
        (pl.col("caveats") != "").alias("_caveats"),
        *(pl.col(f"n{level}").cast(pl.String).alias(f"json_n{level}") for level in (50, 20, 80)),
        *(_number_text(rows.get_column(f"p{level}")).alias(f"json_ms_{level}") for level in (50, 20, 80)),
        _quoted(rows.get_column("liger_version")).alias("json_release"),
        _plain("name"),
        _plain("external_id"),
        _plain("observed_at"),
        _plain("caveats"),
    )
    kinds = rows.select("_metric", "_spread", "_caveats").unique().rows()
    columns = {name: _by_kind(kinds, part) for name, part in (("spec", _spec), ("metadata", _metadata))}
    rows = rows.with_columns(**columns)
    rows = rows.with_columns(_digests(rows.get_column("spec"), HEAD + '"spec":').alias("run_digest"))
    if files:
        rows = rows.with_columns(_by_kind(kinds, _file_run).alias("file_run"))
    return rows


def run_text() -> pl.Expr:
    """The canonical text of emitted rows' runs."""
    return pl.concat_str(
        pl.lit(HEAD + '"metadata":'), pl.col("metadata"), pl.lit(',"spec":'), pl.col("spec"), pl.lit("}")
    )


def _spec(run: dict[str, Any]) -> str:
    return canonical(run["spec"])


def _metadata(run: dict[str, Any]) -> str:
    return canonical(run["metadata"])


def _file_run(run: dict[str, Any]) -> str:
    return pretty({"run": run}).removeprefix("{\n  ").removesuffix("\n}\n")


def _by_kind(kinds: list[tuple[Any, ...]], part: Callable[[dict[str, Any]], str]) -> pl.Expr:
    chosen: pl.Expr | None = None
    for metric, spread, caveats in kinds:
        text = _fill(part(skeleton(metric, spread=spread, caveats=caveats)))
        if chosen is None:
            chosen = text
            continue
        this = (pl.col("_metric") == metric) & (pl.col("_spread") == spread) & (pl.col("_caveats") == caveats)
        chosen = pl.when(this).then(text).otherwise(chosen)
    return pl.lit("") if chosen is None else chosen


def _plain(name: str) -> pl.Expr:
    """JSON text of a column that holds nothing to escape."""
    return (pl.lit('"') + pl.col(name) + pl.lit('"')).alias(f"json_{name}")


def _quoted(column: pl.Series) -> pl.Series:
    """JSON text of a column of any text."""
    distinct = column.unique()
    texts = pl.Series([canonical(text) for text in distinct.to_list()], dtype=pl.String)
    return column.replace_strict(distinct, texts, return_dtype=pl.String)


def _number_text(column: pl.Series) -> pl.Series:
    """RFC 8785 text of a column of numbers: polars' shortest digits where both agree, the library's elsewhere."""
    texts = column.cast(pl.String)
    odd = column.is_finite() & ((column < 1e-4) | (column >= 1e15))
    whole = column.is_finite() & (column == column.floor()) & ~odd
    frame = pl.DataFrame({"text": texts, "odd": odd.fill_null(value=False), "whole": whole.fill_null(value=False)})
    texts = frame.select(
        pl.when("whole").then(pl.col("text").str.strip_suffix(".0")).otherwise(pl.col("text"))
    ).to_series()
    if frame.get_column("odd").any():
        places = frame.get_column("odd").arg_true()
        texts = texts.scatter(places, [number(value) for value in column.gather(places).to_list()])
    return texts


def _digests(specs: pl.Series, head: str) -> pl.Series:
    start = hashlib.sha256(head.encode())
    digests = []
    for spec in specs.cast(pl.Binary).to_list():
        one = start.copy()
        one.update(spec + b"}")
        digests.append("sha256:" + one.hexdigest())
    return pl.Series(digests, dtype=pl.String)
