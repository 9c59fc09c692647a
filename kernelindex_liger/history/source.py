"""Where runs come from: the one place that asks the importer for its flat table.

An input is a benchmark CSV, a folder of them, a Parquet file of runs, or a folder that an import wrote: its table
(`runs.parquet`), or else the CSVs that its report names, as long as they are what they were. What comes out has the
columns of `SCHEMA`, whatever else the importer adds.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from kernelindex_liger import tables
from kernelindex_liger.history.errors import BadInputError
from kernelindex_liger.history.imports import origins

if TYPE_CHECKING:
    from collections.abc import Sequence

SCHEMA: dict[str, pl.DataType] = {
    "kernel": pl.String(),
    "provider": pl.String(),
    "pass": pl.String(),
    "metric": pl.String(),
    "gpu": pl.String(),
    "operation": pl.String(),
    "case_key": pl.String(),
    "dtype": pl.String(),
    "x_name": pl.String(),
    "x_value": pl.String(),
    "ns": pl.Int64(),
    "p20_ns": pl.Int64(),
    "p80_ns": pl.Int64(),
    "peak_bytes": pl.Int64(),
    "p20_bytes": pl.Int64(),
    "p80_bytes": pl.Int64(),
    "observed_at": pl.Datetime("us", "UTC"),
    "liger_version": pl.String(),
    "role": pl.String(),
    "caveats": pl.List(pl.String()),
    "status": pl.String(),
    "external_id": pl.String(),
    "run_digest": pl.String(),
    "workload_digest": pl.String(),
    "implementation_digest": pl.String(),
    "protocol_digest": pl.String(),
    "environment_digest": pl.String(),
    "environment": pl.String(),
}
"""The importer's columns that a history keeps. Its axes stand in `case_key`; file and line are not kept, since
the same run read from another place must give the same part."""

TABLE_NAME = "runs.parquet"
"""The file in an import's folder that holds its flat table."""


def read(inputs: Sequence[Path], *, catalog: Sequence[Path] = ()) -> pl.DataFrame:
    """All runs of `inputs` in the columns of `SCHEMA`, in the importer's order.

    Raises `BadInputError` when an input cannot be read or holds no run that the catalogue knows.
    """
    ready = [path for path in map(_table_of, inputs) if path is not None]
    raw = [one for path in inputs if _table_of(path) is None for one in origins(path) or [path]]
    frames = [_read_parquet(path) for path in ready]
    if raw:
        frames.append(_conform(_convert(raw, catalog)))
    return pl.concat(frames) if frames else pl.DataFrame(schema=SCHEMA)


def read_each(groups: Sequence[tuple[str, Sequence[Path]]], *, catalog: Sequence[Path] = ()) -> list[pl.DataFrame]:
    """`read` for each group's inputs, with one conversion for all CSVs; errors as there."""
    raw = {path: place for place, (_, paths) in enumerate(groups) for path in paths if _table_of(path) is None}
    if len(raw) != sum(_table_of(path) is None for _, paths in groups for path in paths):
        return [read(paths, catalog=catalog) for _, paths in groups]
    frames: list[list[pl.DataFrame]] = [
        [_read_parquet(table) for table in map(_table_of, paths) if table is not None] for _, paths in groups
    ]
    if raw:
        table = _convert(list(raw), catalog)
        of_file = {file: _owner(Path(file), raw) for file in table["file"].unique()}
        table = table.with_columns(group=pl.col("file").replace_strict(of_file, return_dtype=pl.Int64))
        for (place,), rows in table.group_by("group", maintain_order=True):
            frames[int(str(place))].append(_conform(rows))
    return [pl.concat(own) if own else pl.DataFrame(schema=SCHEMA) for own in frames]


def _owner(file: Path, inputs: dict[Path, int]) -> int:
    """The group of the input that `file` is or stands below."""
    for path in (file, *file.parents):
        if path in inputs:
            return inputs[path]
    raise BadInputError(f"{file}: belongs to none of the inputs")


def _table_of(path: Path) -> Path | None:
    """The Parquet file that `path` is or, as an import's folder, holds; None for anything to be converted."""
    if path.is_dir():
        table = path / TABLE_NAME
        return table if table.is_file() else None
    return path if path.suffix == ".parquet" else None


def _read_parquet(path: Path) -> pl.DataFrame:
    try:
        return _conform(tables.read([path]), str(path))
    except tables.BrokenTableError as error:
        raise BadInputError(str(error)) from error


def _convert(inputs: Sequence[Path], catalog: Sequence[Path]) -> pl.DataFrame:
    for path in inputs:
        if not path.exists():
            raise BadInputError(f"{path}: no such file or folder")
    from kernelindex_liger.conversion import InputError, table

    try:
        return table(inputs, memory=True, catalog=catalog)
    except (InputError, OSError, ValueError) as error:
        raise BadInputError(str(error)) from error


def _conform(frame: pl.DataFrame, what: str = "the table of runs") -> pl.DataFrame:
    """`frame` cut to `SCHEMA`; columns that it lacks are empty, since older imports have fewer."""
    missing = [name for name in ("kernel", "provider", "pass", "metric", "gpu", "observed_at") if name not in frame]
    if missing:
        raise BadInputError(f"{what} lacks the columns {', '.join(missing)}")
    try:
        return frame.select(
            (pl.col(name) if name in frame.columns else pl.lit(None)).cast(kind).alias(name)
            for name, kind in SCHEMA.items()
        )
    except tables.BROKEN as error:
        raise BadInputError(f"{what} has columns of other kinds than an import's: {str(error)[:200]}") from error
