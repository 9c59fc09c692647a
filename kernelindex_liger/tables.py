"""Parquet tables from elsewhere: read whole and within bounds, or refused with the file's name."""

from __future__ import annotations

import errno
import stat
from collections.abc import Sequence
from pathlib import Path

import polars as pl

ROWS = 1_000_000
"""Rows that files may hold whatever their size; beyond, at most one for each of their bytes. Runs take some 30 each."""

BROKEN = (OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException)
"""What polars raises for bytes that are no Parquet; it panics at some that look much like one."""


class BrokenTableError(ValueError):
    """A file that is no such table; the message names it and says why."""


def read(paths: Sequence[Path], columns: Sequence[str] | None = None) -> pl.DataFrame:
    """The rows of Parquet files of one form, in the order of the files; all columns, or those named.

    Raises:
        BrokenTableError: if one is no regular file, cannot be read, has other columns than the rest, or claims more
            rows than it can hold.
    """
    for path in paths:
        _regular(path)
    try:
        return _frame(paths, columns)
    except BROKEN as error:
        for path in paths:
            try:
                _frame([path], columns)
            except BROKEN as found:
                raise BrokenTableError(f"{path}: not a readable Parquet table ({_words(found)})") from found
        raise BrokenTableError(f"{paths[0].parent}: its tables do not fit together ({_words(error)})") from error


def _frame(paths: Sequence[Path], columns: Sequence[str] | None) -> pl.DataFrame:
    scan = pl.scan_parquet(list(paths), glob=False, hive_partitioning=False)
    rows, size = scan.select(pl.len()).collect().item(), sum(path.stat().st_size for path in paths)
    if rows > max(ROWS, size):
        raise OSError(errno.EFBIG, f"it claims {rows:,} rows in {size:,} bytes")
    return (scan if columns is None else scan.select(columns)).collect()


def _regular(path: Path) -> None:
    """Refuse what would be waited for."""
    try:
        mode = path.stat().st_mode
    except OSError as error:
        raise BrokenTableError(f"{path}: cannot be read: {_words(error)}") from error
    if not stat.S_ISREG(mode):
        raise BrokenTableError(f"{path}: not a regular file")


def _words(error: BaseException) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return (str(error).splitlines() or [type(error).__name__])[0][:200]
