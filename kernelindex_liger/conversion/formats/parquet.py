"""`parquet`: `runs.parquet`, one flat typed table of all runs."""

from __future__ import annotations

import functools
import io
from collections.abc import Sequence

import polars as pl

from kernelindex_liger.catalog import Catalog
from kernelindex_liger.conversion import flat
from kernelindex_liger.conversion.atomic import Folder
from kernelindex_liger.conversion.combine import Combination
from kernelindex_liger.conversion.constants import Constants
from kernelindex_liger.conversion.formats import Counts
from kernelindex_liger.conversion.formats.sink import sink
from kernelindex_liger.conversion.linked import Linked
from kernelindex_liger.files import open_new

ROW_GROUP = 100_000
"""Rows of a row group; fixed, so that the file does not depend on how the input was cut."""


class ParquetWriter:
    """Collects row groups of a fixed size into parts, then joins the parts into one file."""

    needs_file_text = False

    def __init__(self, folder: Folder, catalog: Catalog, files: Sequence[str]) -> None:
        self._folder = folder
        self._axes = catalog.axis_names
        self._files = files
        self._waiting: list[pl.DataFrame] = []
        self._held = 0
        self._parts: list[str] = []
        self._rows = 0
        self._constants = Constants(functools.partial(flat.constants, axes=self._axes))

    def add(self, rows: pl.DataFrame, combinations: Sequence[Combination]) -> None:
        """Keep the batch; full row groups go to disk."""
        rows = self._constants.attach(rows, combinations)
        self._waiting.append(flat.flatten(rows, self._files, self._axes))
        self._held += rows.height
        self._rows += rows.height
        if self._held >= ROW_GROUP:
            self._spill()

    def _spill(self) -> None:
        path = self._folder.scratch(f"part-{len(self._parts):06d}")
        self._parts.append(path)
        with open_new(path) as file, sink(file) as target:
            # they are read back a batch at a time, several at once
            pl.concat(self._waiting).write_ipc(target, compression="lz4", record_batch_size=ROW_GROUP // 10)
        self._waiting, self._held = [], 0

    def finish(self, drop: pl.Series, linked: Sequence[Linked]) -> Counts:
        """Write the table; linked documents are not part of it."""
        counts = Counts()
        with self._folder.replacing("runs.parquet") as (file, replacement):
            if self._parts:
                self._spill_rest()
                lazy = pl.concat([pl.scan_ipc(part) for part in self._parts])
                if drop.len():
                    lazy = lazy.with_row_index("_position")
                    lazy = lazy.filter(~pl.col("_position").cast(pl.UInt64).is_in(drop.implode())).drop("_position")
                with sink(file) as target:
                    lazy.sink_parquet(target, compression="zstd", row_group_size=ROW_GROUP, maintain_order=True)
            else:
                frame = pl.concat(self._waiting) if self._waiting else self._nothing()
                frame = frame.filter(~pl.int_range(pl.len(), dtype=pl.UInt64).is_in(drop.implode()))
                buffer = io.BytesIO()
                frame.write_parquet(buffer, compression="zstd", row_group_size=ROW_GROUP)
                file.write(buffer.getbuffer())
        counts.add(changed=replacement.changed, number=self._rows - drop.len())
        return counts

    def _spill_rest(self) -> None:
        if self._waiting:
            self._spill()

    def _nothing(self) -> pl.DataFrame:
        from kernelindex_liger.conversion.pipeline import no_rows

        return flat.flatten(self._constants.attach(no_rows(), []), self._files, self._axes)
