"""What rows take from their combination: built once for each combination, looked up by its index."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import polars as pl

from kernelindex_liger.conversion.combine import Combination
from kernelindex_liger.conversion.index import Grown

Build = Callable[[Sequence[Combination]], pl.DataFrame]


class Constants:
    """A table with a line for each combination, in their order, which grows as combinations come."""

    def __init__(self, build: Build) -> None:
        self._build = build
        self._table = Grown(build([]))

    def attach(self, rows: pl.DataFrame, combinations: Sequence[Combination]) -> pl.DataFrame:
        """Rows with the columns of their combination; `combinations` are all that are known so far."""
        known = self._table.height
        if known < len(combinations):
            self._table.grow(self._build(combinations[known:]))
        return pl.concat([rows, self._table.take(rows.get_column("combination"))], how="horizontal")
