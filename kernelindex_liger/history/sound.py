"""What must hold of a table of runs before anything is made of it, whoever wrote it."""

from __future__ import annotations

from datetime import UTC, datetime

import polars as pl

from kernelindex_liger.history import cases
from kernelindex_liger.history.errors import BadInputError

NEEDED = (
    "label", "time", "machine", "environment_key", "settings", "case", "name", "carried", "kernel", "pass",
    "provider", "metric", "observed_at",
)  # fmt: skip
"""Columns in which every row has a value."""

POSITIVE = ("ns", "peak_bytes")
TIMES = ("time", "observed_at")
FIRST, LAST = datetime(1970, 1, 1, tzinfo=UTC), datetime(9000, 1, 1, tzinfo=UTC)
"""Moments that runs can be of; beyond them Python and reports cannot follow."""


def fault(rows: pl.DataFrame) -> str | None:
    """What is wrong with the columns that `rows` has, in words; None where nothing is."""
    for name in NEEDED:
        if name in rows.columns and rows[name].null_count():
            return f"{rows[name].null_count()} rows without {name}"
    for name in POSITIVE:
        if name in rows.columns and (rows[name] <= 0).any():
            return f"values of {name} that are not positive"
    for name in TIMES:
        if name in rows.columns and not rows[name].is_between(FIRST, LAST).all():
            return f"values of {name} outside the years {FIRST.year} to {LAST.year}"
    for text in rows["settings"].unique() if "settings" in rows.columns else ():
        try:
            cases.settings(text)
        except BadInputError as error:
            return str(error)
    return None
