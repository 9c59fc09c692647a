"""One flat, typed table of runs, for analysis: what `parquet` writes and `table` returns."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from kernelindex_liger.conversion.bind import MEMORY
from kernelindex_liger.conversion.combine import Combination, environment_text


def constants(combinations: Sequence[Combination], axes: Sequence[str]) -> pl.DataFrame:
    """The table's columns that a combination decides; one `axis_…` column for each of `axes`."""
    columns: dict[str, pl.Series] = {
        "operation": pl.Series([one.reading.operation.slug for one in combinations], dtype=pl.String),
        "case_key": pl.Series([one.reading.case_key for one in combinations], dtype=pl.String),
        "dtype": pl.Series([one.reading.dtype for one in combinations], dtype=pl.String),
        "role": pl.Series([one.implementation.role for one in combinations], dtype=pl.String),
        "environment": pl.Series([environment_text(one.environment) for one in combinations], dtype=pl.String),
    }
    for part in ("workload", "implementation", "protocol", "environment"):
        digests = [getattr(one, part).digest for one in combinations]
        columns[f"{part}_digest"] = pl.Series(digests, dtype=pl.String)
    for axis in axes:
        columns[f"axis_{axis}"] = pl.Series([one.reading.axes.get(axis) for one in combinations], dtype=pl.Int64)
    return pl.DataFrame(columns)


def flatten(rows: pl.DataFrame, files: Sequence[str], axes: Sequence[str]) -> pl.DataFrame:
    """Emitted rows that have the columns of `constants` as the flat table.

    Latencies are nanoseconds, null in memory rows; memory is bytes, null in speed rows; quantiles are null where the
    CSV holds none. `observed_at` is UTC. `file` and `line` are those of the CSV. A case that failed has a `status`, and
    neither values nor a line.
    """
    memory = pl.col("metric_name") == MEMORY
    paths = pl.Series("path", files, dtype=pl.String).gather(rows.get_column("file"))
    return rows.with_columns(paths).select(
        pl.col("kernel_name").alias("kernel"),
        pl.col("kernel_provider").alias("provider"),
        pl.col("kernel_operation_mode").alias("pass"),
        pl.col("metric_name").alias("metric"),
        pl.col("gpu_name").alias("gpu"),
        "operation",
        "case_key",
        "dtype",
        "x_name",
        "x_value",
        *(f"axis_{axis}" for axis in axes),
        pl.when(~memory).then("n50").alias("ns"),
        pl.when(~memory).then("n20").alias("p20_ns"),
        pl.when(~memory).then("n80").alias("p80_ns"),
        pl.when(memory).then("n50").alias("peak_bytes"),
        pl.when(memory).then("n20").alias("p20_bytes"),
        pl.when(memory).then("n80").alias("p80_bytes"),
        pl.col("moment").dt.replace_time_zone("UTC").alias("observed_at"),
        "liger_version",
        "role",
        pl.when(pl.col("caveats") == "")
        .then(pl.lit([], dtype=pl.List(pl.String)))
        .otherwise(pl.col("caveats").str.split(" "))
        .alias("caveats"),
        (pl.col("status").fill_null("passed") if "status" in rows.columns else pl.lit("passed")).alias("status"),
        "external_id",
        "run_digest",
        "workload_digest",
        "implementation_digest",
        "protocol_digest",
        "environment_digest",
        "environment",
        pl.col("path").alias("file"),
        "line",
    )
