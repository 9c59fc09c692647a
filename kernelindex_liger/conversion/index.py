"""Distinct values of columns, so that what they decide is worked out once for each and not for each row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from sys import intern
from typing import Any

import polars as pl

CHUNKS = 32
"""Pieces in which a growing table may lie: looking up in many is slow, and so is joining them for each new one."""

Key = tuple[Any, ...]


def distinct(keys: pl.DataFrame) -> tuple[pl.DataFrame, pl.Series]:
    """The distinct rows of a frame, in the order in which they come, and which of them each row is (UInt32)."""
    first = keys.with_row_index("row").select(pl.col("row").first().over(keys.columns)).to_series()
    places = first.unique(maintain_order=True)
    numbers = pl.int_range(places.len(), dtype=pl.UInt32, eager=True)
    return keys[places], first.replace_strict(places, numbers, return_dtype=pl.UInt32)


class Grown:
    """A table that grows at its end, looked up by line."""

    def __init__(self, empty: pl.DataFrame) -> None:
        self._table = empty

    @property
    def height(self) -> int:
        """How many lines it has."""
        return self._table.height

    def grow(self, lines: pl.DataFrame) -> None:
        """Add lines at the end."""
        self._table = self._table.vstack(lines)
        if self._table.n_chunks() > CHUNKS:
            self._table = self._table.rechunk()

    def take(self, lines: pl.Series) -> pl.DataFrame:
        """The lines of these numbers."""
        return self._table[lines]


class Index:
    """What distinct keys decide: columns that `build` makes of new keys, once each."""

    def __init__(self, columns: Sequence[str], build: Callable[[Sequence[Key]], pl.DataFrame]) -> None:
        self._columns = list(columns)
        self._build = build
        self._numbers: dict[Key, int] = {}
        self._table = Grown(build([]))

    def attach(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Rows with the columns that their key decides."""
        keys, places = distinct(frame.select(self._columns))
        fresh: list[Key] = []
        numbers: list[int] = []
        known, following = self._numbers, len(self._numbers)
        for key in keys.rows():
            number = known.get(key)
            if number is None:
                # keys differ in few of their texts, which need not be held again for each
                key = tuple([intern(one) if isinstance(one, str) else one for one in key])
                number = known[key] = following
                fresh.append(key)
                following += 1
            numbers.append(number)
        if fresh:
            self._table.grow(self._build(fresh))
        lines = pl.Series(numbers, dtype=pl.UInt32).gather(places)
        return pl.concat([frame, self._table.take(lines)], how="horizontal")
