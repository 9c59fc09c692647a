"""Emit: bound rows become run documents, as text columns.

A run is written once by the document models, with holes where rows differ, and cut at the holes; rows then fill the
holes column by column. So the models alone say what a run looks like, and no row passes through Python.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable, Sequence
from typing import Any

import polars as pl

from kernelindex_liger.conversion.bind import MEMORY
from kernelindex_liger.conversion.combine import Combination
from kernelindex_liger.conversion.holes import cut, number_hole
from kernelindex_liger.conversion.index import distinct
from kernelindex_liger.documents.base import API_VERSION
from kernelindex_liger.documents.canonical import canonical, number, pretty
from kernelindex_liger.documents.measurement import BenchmarkRun
from kernelindex_liger.documents.naming import SLUG_LENGTH

SOURCE = "liger-kernel-bench"

HEAD = f'{{"apiVersion":"{API_VERSION}","kind":"BenchmarkRun",'
"""How the canonical text of every run begins."""

_NUMBERS = ("n50", "n20", "n80", "text_50", "text_20", "text_80", "text_samples")


def _hole(name: str) -> int:
    return number_hole(_NUMBERS.index(name))


NOTES = ("samples", "clock_events", "status", "description")
"""Columns that a sidecar adds: number of samples, why clocks were held back, how and why a case failed."""


def skeleton(
    metric: str,
    *,
    spread: bool,
    caveats: bool,
    samples: bool = False,
    clock_events: bool = False,
    status: str = "passed",
    description: bool = False,
) -> dict[str, Any]:
    """A run of a metric as JSON values, with holes where rows differ; one that did not pass has no numbers."""
    levels = ("20", "50", "80") if spread else ("50",)
    digest = "sha256:" + "0" * 64
    unit = "mib" if metric == MEMORY else "ms"
    spec: dict[str, Any] = {
        "implementationDigest": digest,
        "workloadDigest": digest,
        "protocolDigest": digest,
        "environmentDigest": digest,
        "status": status,
        "sourceNative": {
            "source": SOURCE,
            "benchmark": "<json_benchmark>",
            "externalId": "<external_id>",
            "metrics": {f"{unit}_{level}": _hole(f"text_{level}") for level in levels},
        },
        "observedAt": "2000-01-01T00:00:00.000Z",
    }
    number = {"sampleCount": _hole("text_samples")} if samples else {}
    if status != "passed":
        del spec["sourceNative"]["metrics"]
    elif metric == MEMORY:
        statistics = {"50": "median", "20": "p20", "80": "p80"}
        spec["measurements"] = [
            {"metric": "peak_memory", "unit": "bytes", "statistic": statistics[level], "value": _hole(f"n{level}")}
            | number
            for level in levels
        ]
    else:
        spec["timing"] = {"primaryStatistic": "median", "latencyNs": {"median": _hole("n50")}}
        if samples:
            spec["timing"]["samples"] = _hole("text_samples")
        if spread:
            spec["measurements"] = [
                {"metric": "latency", "unit": "ns", "statistic": f"p{level}", "value": _hole(f"n{level}")} | number
                for level in ("20", "80")
            ]
    labels = {"liger_version": "<json_release>"} | ({"caveats": "<caveats>"} if caveats else {})
    labels |= {"clock_events": "<json_clock_events>"} if clock_events else {}
    metadata = {"name": "name", "title": "<json_title>", "labels": labels}
    metadata |= {"description": "<json_description>"} if description else {}
    run = BenchmarkRun.model_validate({"metadata": metadata, "spec": spec}).to_dict()
    run["metadata"]["name"] = "<name>"
    run["spec"]["observedAt"] = "<observed_at>"
    for part in ("implementation", "workload", "protocol", "environment"):
        run["spec"][f"{part}Digest"] = f"<json_{part}_digest>"
    return run


def _fill(text: str) -> pl.Expr:
    """Text with holes as an expression that fills them from the columns of their names."""
    parts = [
        (pl.lit(constant), pl.col(name)) if name else (pl.lit(constant),) for constant, name in cut(text, _NUMBERS)
    ]
    return pl.concat_str(*(part for pair in parts for part in pair))


def constants(combinations: Sequence[Combination]) -> pl.DataFrame:
    """What runs take from their combination: constant texts, those in JSON ready to stand between quotes."""
    columns = {
        "id_prefix": [one.id_prefix for one in combinations],
        "name_prefix": [one.name_prefix for one in combinations],
        "json_title": [_escaped(one.shared.title) for one in combinations],
        "json_benchmark": [_escaped(one.shared.benchmark) for one in combinations],
        "json_workload_digest": [one.workload.digest for one in combinations],
        "json_implementation_digest": [one.shared.implementation.digest for one in combinations],
        "json_protocol_digest": [one.protocol.digest for one in combinations],
        "json_environment_digest": [one.environment.digest for one in combinations],
    }
    return pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.String))


def identify(rows: pl.DataFrame) -> pl.DataFrame:
    """Rows that have the columns of `constants`, with `external_id` and `name`."""
    return rows.with_columns(
        (pl.col("id_prefix") + pl.col("moment_slug")).alias("external_id"),
        (pl.col("name_prefix") + pl.col("moment_slug")).str.slice(0, SLUG_LENGTH).alias("name"),
    )


def emit(rows: pl.DataFrame, *, files: bool = False) -> pl.DataFrame:
    """Identified rows with their runs' `metadata` and `spec`, `run_digest`, and `file_run` on demand.

    `metadata` and `spec` are the two last members of the run's canonical text; `spec` also holds the brace that closes
    the run, so that it ends the digested text and the run alike. `file_run` is the run in the published files' form,
    indented as a member of a bundle.
    """
    rows = rows.with_columns(
        pl.when(pl.col("metric_name") == MEMORY).then(pl.lit(MEMORY)).otherwise(pl.lit("speed")).alias("_metric"),
        pl.col("n20").is_not_null().alias("_spread"),
        (pl.col("caveats") != "").alias("_caveats"),
        *_number_texts(rows.select("p50", "p20", "p80")),
    )
    rows = _with_notes(rows.with_columns(_escapes(rows, "liger_version").alias("json_release")))
    notes = [f"_{name}" for name in NOTES if name in rows.columns]
    kinds = rows.select("_metric", "_spread", "_caveats", *notes).unique().rows(named=True)
    rows = rows.with_columns(spec=_by_kind(kinds, _spec), metadata=_by_kind(kinds, _metadata))
    rows = rows.with_columns(_digests(rows.get_column("spec")).alias("run_digest"))
    if files:
        rows = rows.with_columns(_by_kind(kinds, _file_run).alias("file_run"))
    return rows


def _spec(run: dict[str, Any]) -> str:
    return f'"spec":{canonical(run["spec"])}}}'


def _metadata(run: dict[str, Any]) -> str:
    return f'"metadata":{canonical(run["metadata"])},'


def _file_run(run: dict[str, Any]) -> str:
    return pretty({"run": run}).removeprefix("{\n  ").removesuffix("\n}\n")


def _with_notes(rows: pl.DataFrame) -> pl.DataFrame:
    """Rows of a CSV with a sidecar with whether each has notes, and what these are in JSON."""
    notes = [name for name in NOTES if name in rows.columns]
    has = {
        f"_{name}": pl.col(name).fill_null("passed") if name == "status" else pl.col(name).is_not_null()
        for name in notes
    }
    texts = {f"json_{name}": _escapes(rows, name) for name in notes if name in {"clock_events", "description"}}
    samples = {f"text_{name}": pl.col(name).cast(pl.String) for name in notes if name == "samples"}
    return rows.with_columns(**has, **texts, **samples) if notes else rows


def _by_kind(kinds: Sequence[dict[str, Any]], part: Callable[[dict[str, Any]], str]) -> pl.Expr:
    chosen: pl.Expr | None = None
    for kind in kinds:
        text = _text(part, tuple(kind.items()))
        if chosen is None:
            chosen = text
            continue
        this = pl.all_horizontal(*(pl.col(name) == value for name, value in kind.items()))
        chosen = pl.when(this).then(text).otherwise(chosen)
    return pl.lit("") if chosen is None else chosen


@functools.cache
def _text(part: Callable[[dict[str, Any]], str], kind: tuple[tuple[str, Any], ...]) -> pl.Expr:
    return _fill(part(skeleton(**{name.removeprefix("_"): value for name, value in kind})))


@functools.lru_cache(maxsize=1 << 12)
def _escaped(text: str) -> str:
    """A text as it stands between the quotes of JSON."""
    return canonical(text)[1:-1]


def _escapes(rows: pl.DataFrame, column: str) -> pl.Series:
    """A column of any texts as they stand between the quotes of JSON; nothing for nulls."""
    known, places = distinct(rows.select(column))
    texts = [_escaped(text or "") for text in known.get_column(column).to_list()]
    return pl.Series(texts, dtype=pl.String).gather(places)


def _number_texts(values: pl.DataFrame) -> list[pl.Series]:
    """RFC 8785 texts of `p…` as `text_…`: polars' shortest digits where both agree, the library's elsewhere."""
    texts = values.select(pl.all().cast(pl.String).str.strip_suffix(".0").name.replace("p", "text_"))
    small_or_large = pl.all().is_finite() & ((pl.all() < 1e-4) | (pl.all() >= 1e15))
    odd = values.select(small_or_large.fill_null(value=False))
    return [_corrected(*columns) for columns in zip(texts, odd, values, strict=True)]


def _corrected(texts: pl.Series, odd: pl.Series, values: pl.Series) -> pl.Series:
    if not odd.any():
        return texts
    places = odd.arg_true()
    return texts.scatter(places, [number(value) for value in values.gather(places).to_list()])


def _digests(specs: pl.Series) -> pl.Series:
    """Digests of runs without their metadata."""
    start = hashlib.sha256(HEAD.encode())
    digests = []
    for spec in specs.cast(pl.Binary).to_list():
        one = start.copy()
        one.update(spec)
        digests.append(one.hexdigest())
    return "sha256:" + pl.Series(digests, dtype=pl.String)
