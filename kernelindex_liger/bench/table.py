"""The CSV: upstream's columns, texts, merge rule and line ends."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

from kernelindex_liger import files
from kernelindex_liger.bench.plan import UNITS, Series
from kernelindex_liger.documents.upstream import COLUMNS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

KEY = (
    "kernel_name",
    "kernel_provider",
    "kernel_operation_mode",
    "metric_name",
    "x_name",
    "x_value",
    "extra_benchmark_config_str",
    "gpu_name",
)
"""Columns that say which measurement a row is; rows that share them are one measurement made again."""

Row = dict[str, str]


class BadTableError(ValueError):
    """The file is there and is not a benchmark CSV that rows could be merged into."""


def key(row: Mapping[str, str]) -> tuple[str, ...]:
    """The row's merge key."""
    return tuple(row.get(column) or "" for column in KEY)


def number(value: float) -> str:
    """A value as the CSV carries it: the shortest text of the float64, `nan` for a missing one."""
    return repr(float(value))


def rows_of(
    series: Series,
    *,
    gpu: str,
    liger_version: str,
    timestamp: str = "",
    values: Mapping[int | str, tuple[float, float, float]] | None = None,
) -> list[Row]:
    """The series' rows: one an x in `values` (y50, y20, y80); all, with empty values, where it is None."""
    rows = []
    for x in series.x_values:
        if values is not None and x not in values:
            continue
        ys = ("", "", "") if values is None else tuple(number(y) for y in values[x])
        texts = (
            series.kernel,
            series.tagged,
            series.pass_name,
            series.metric,
            UNITS[series.metric],
            series.x_name,
            series.x_label,
            str(x),
            *ys,
            series.config_text,
            gpu,
            timestamp,
            liger_version,
        )
        rows.append(dict(zip(COLUMNS, texts, strict=True)))
    return rows


def read(path: Path) -> list[Row]:
    """Rows of a CSV as texts; empty when there is no file.

    Raises BadTableError when the file has other columns than a benchmark CSV, a line of too many or too few fields
    (which could not be written back), or is not text.
    """
    if not path.exists():
        return []
    try:
        with path.open(encoding="utf-8", newline="") as file:
            reader = csv.reader(file)
            names = next(reader, None)
            if names is None:
                return []
            if tuple(names) != COLUMNS:
                raise BadTableError(f"{path}: its columns are not those of a benchmark CSV; choose another -o")
            rows = []
            for fields in reader:
                if not fields:
                    continue
                if len(fields) != len(COLUMNS):
                    raise BadTableError(
                        f"{path}:{reader.line_num}: {len(fields)} fields where {len(COLUMNS)} are expected; "
                        "mend the line or choose another -o"
                    )
                rows.append(dict(zip(COLUMNS, fields, strict=True)))
            return rows
    except UnicodeDecodeError as error:
        raise BadTableError(f"{path}: not UTF-8 at byte {error.start}; choose another -o") from error
    except csv.Error as error:
        raise BadTableError(f"{path}: not a CSV ({error}); choose another -o") from error


def merge(existing: Iterable[Row], new: Iterable[Row], *, overwrite: bool) -> list[Row]:
    """Upstream's rule: a new row whose key is there replaces it in place under `overwrite`, else is dropped.

    Rows of one key collapse: the first one's place, the last one's content.
    """
    merged = {key(row): row for row in existing}
    for row in new:
        if overwrite or key(row) not in merged:
            merged[key(row)] = row
    return list(merged.values())


def write(path: Path, rows: Iterable[Row]) -> None:
    """Replace the file by these rows, whole or not at all. Raises OutputError."""
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, fieldnames=COLUMNS)
    writer.writeheader()
    writer.writerows(rows)
    files.write_text(path, text.getvalue())
