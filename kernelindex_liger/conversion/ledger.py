"""Which rows stand in the input twice: known only at the end, kept as a few bytes a row until then."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from kernelindex_liger.conversion.combine import Combination

SHARE = 1_000_000
"""Rows, about, that are sorted at once."""


class Ledger:
    """Remembers every emitted row by hashes of its external id and of its content."""

    def __init__(self) -> None:
        self._parts: list[pl.DataFrame] = []

    def add(self, rows: pl.DataFrame) -> None:
        """Emitted rows, in order."""
        self._parts.append(
            rows.select(
                pl.col("external_id").hash(seed=1).alias("id"),
                (pl.col("run_digest") + pl.col("liger_version")).hash(seed=2).alias("content"),
                "combination",
                "file",
                "line",
                pl.col("caveats").cast(pl.Categorical),
            )
        )

    def repeats(self) -> pl.DataFrame:
        """Rows to take out again: the same row, all but the first; other numbers under one id, every one of them.

        Asked once, at the end: what was remembered is forgotten, since writing what was kept needs room too.

        Columns: `position` (order of emission, ascending), `reason` (`duplicate` or `conflict`), `combination`, `file`,
        `line` and `caveats`.
        """
        schema = {
            "position": pl.UInt64,
            "reason": pl.String,
            "combination": pl.UInt32,
            "file": pl.UInt16,
            "line": pl.UInt32,
            "caveats": pl.Categorical,
        }
        if not self._parts:
            return pl.DataFrame(schema=schema)
        twice, parts = self._twice(), self._parts
        self._parts = []
        if twice.is_empty():
            return pl.DataFrame(schema=schema)
        start, found = 0, []
        for part in parts:
            places = pl.int_range(start, start + part.height, dtype=pl.UInt64, eager=True).alias("position")
            found.append(part.with_columns(places).filter(pl.col("id").is_in(twice.implode())))
            start += part.height
        rows = pl.concat(found).with_columns(
            (pl.col("content").n_unique().over("id") > 1).alias("differs"),
            (pl.col("position") == pl.col("position").min().over("id")).alias("first"),
        )
        rows = rows.filter(pl.col("differs") | ~pl.col("first")).with_columns(
            pl.when("differs").then(pl.lit("conflict")).otherwise(pl.lit("duplicate")).alias("reason")
        )
        return rows.select(list(schema)).sort("position")

    def _twice(self) -> pl.Series:
        """The hashes of ids that stand more than once; sorted by shares, since sorting copies what it sorts."""
        ids = [part.get_column("id") for part in self._parts]
        shares = 1 + sum(one.len() for one in ids) // SHARE
        found = []
        for share in range(shares):
            some = pl.concat([one.filter(one % shares == share) for one in ids]).sort()
            found.append(some.filter(some == some.shift(1)).unique())
        return pl.concat(found)


def skipped(repeats: pl.DataFrame, combinations: Sequence[Combination]) -> pl.DataFrame:
    """Repeats as skipped rows: with kernel, provider, GPU and `detail`."""
    keys = [
        (one.reading.kernel.name, one.shared.provider_name, one.shared.gpu)
        for one in (combinations[index] for index in repeats.get_column("combination").to_list())
    ]
    names = pl.DataFrame(keys, schema=["kernel_name", "kernel_provider", "gpu_name"], orient="row")
    detail = pl.when(pl.col("reason") == "conflict").then(
        pl.lit("two rows have this external id and different numbers")
    )
    return pl.concat([repeats.drop("caveats"), names], how="horizontal").with_columns(detail.alias("detail"))
