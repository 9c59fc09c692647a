"""What the sidecars of a conversion tell: opened one a CSV, failed cases given as runs, everything counted."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import polars as pl

from kernelindex_liger.conversion import ledger
from kernelindex_liger.conversion.bind import Binder
from kernelindex_liger.conversion.report import MalformedLine, SidecarFile, Sidecars, Tally
from kernelindex_liger.conversion.rows import COLUMNS, FAULTS, InputError
from kernelindex_liger.conversion.sources import Source, beside

if TYPE_CHECKING:
    from kernelindex_liger.conversion.recorder import Recorder
    from kernelindex_liger.conversion.sidecar import Sidecar

Choice = Literal["beside"] | Path | None
"""Which sidecar: the one beside each CSV, one that is named, or none."""

FAILED = "-failed"
"""How external ids of failed cases end, after the timestamp: no timestamp ends so, hence no row has such an id."""


class Told:
    """The sidecars of some sources, opened as the sources are read."""

    def __init__(self, sources: Sequence[Source], choice: Choice, binder: Binder) -> None:
        """Raises InputError if a sidecar is named for several sources."""
        if isinstance(choice, Path) and len(sources) > 1:
            raise InputError(f"{choice}: one sidecar for {len(sources)} CSVs; name one CSV, or put it beside its own")
        self._sources = sources
        self._choice = choice
        self._binder = binder
        self._opened: dict[int, Sidecar] = {}
        self._outcomes: Counter[str] = Counter()
        self._statuses: Counter[str] = Counter()
        self._memory = 0
        self._names = ["" for _ in sources]
        self._tally = Tally(self._names)

    @functools.cached_property
    def _recorder(self) -> Recorder:
        from kernelindex_liger.conversion.recorder import Recorder

        return Recorder(self._binder.catalog, self._binder.linker)

    def open(self, index: int) -> Sidecar | None:
        """The sidecar of a source, read; None where it has none."""
        csv = self._sources[index].path
        path = self._choice if self._choice != "beside" else None if csv is None else beside(csv)
        if path is None:
            return None
        from kernelindex_liger.conversion.sidecar import Sidecar

        sidecar = self._opened[index] = Sidecar(Source(str(path), path))
        self._names[index] = str(path)
        if self._choice == "beside" and not path.is_file():
            # nobody named it, so a pipe that never ends must not be waited for
            sidecar.error = f"{path}: cannot be read: not a regular file"
        else:
            sidecar.read(self._recorder)
        return sidecar

    def note(self, sidecar: Sidecar, rows: pl.DataFrame) -> pl.DataFrame:
        """Bound rows of a source with what its sidecar tells."""
        return sidecar.note(rows, self._binder, self._recorder)

    def failed(self, *, memory: bool) -> pl.DataFrame | None:
        """Failed cases of all sidecars as bound rows without numbers, once all rows are read; None if there are none.

        Columns as of rows with notes; `line` is the sidecar's.
        """
        found = [rows for index in self._opened if (rows := self._failed_of(index, memory=memory)).height]
        return pl.concat(found) if found else None

    def _failed_of(self, index: int, *, memory: bool) -> pl.DataFrame:
        sidecar = self._opened[index]
        outcomes = sidecar.outcomes()
        self._outcomes.update(dict(outcomes.get_column("outcome").value_counts().iter_rows()))
        failed = outcomes.filter(pl.col("outcome") == "failed").select(
            *COLUMNS, pl.lit(index, dtype=pl.UInt16).alias("file"), "line", "case", "status", "description"
        )
        bound = self._binder.bind(failed, valued=False)
        self._memory += 0 if memory else bound.memory
        self._tally.skipped(bound.skipped)
        rows = self.note(sidecar, bound.rows)
        lost = rows.get_column("case").null_count()
        self._outcomes.update({"failed": -lost, "contradicted": lost})
        return rows.filter(pl.col("case").is_not_null()).with_columns(
            pl.lit("").alias("caveats"), pl.col("moment_slug") + FAILED
        )

    def settle(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Failed cases as emitted, without repeated ones, counted."""
        seen = ledger.Ledger()
        seen.add(rows)
        repeats = seen.repeats()
        if repeats.height:
            self._tally.skipped(ledger.skipped(repeats, self._binder.combinations))
            places = pl.int_range(pl.len(), dtype=pl.UInt64)
            rows = rows.filter(~places.is_in(repeats.get_column("position").implode()))
        self._statuses.update(dict(rows.get_column("status").value_counts().iter_rows()))
        return rows.with_columns(pl.lit(None, dtype=pl.UInt32).alias("line"))

    def report(self) -> Sidecars | None:
        """What was told, after `failed` and `settle`; None where no source has a sidecar."""
        if not self._opened:
            return None
        every = list(self._opened.values())
        faults = [fault for one in every for fault in one.faults][:FAULTS]
        reasons = self._tally.by_reason()
        return Sidecars(
            files=[
                SidecarFile(
                    file=one.source.name, bytes=one.source.size, sha256=one.source.sha256, lines=one.lines,
                    error=one.error,
                )
                for one in every
            ],
            lines=sum(one.lines for one in every),
            series=sum(one.series for one in every),
            faulty_lines=sum(one.faulty for one in every),
            faults=[MalformedLine(file=one.file, line=one.line, problem=one.message) for one in faults],
            rows=sum(one.rows for one in every),
            rows_without=sum(one.rows_without for one in every),
            cases=sum(one.cases.height for one in every),
            measured=self._outcomes["row"],
            failed_runs=sum(self._statuses.values()),
            failed_by_status=dict(sorted(self._statuses.items())),
            failed_memory=self._memory,
            failed_skipped=sum(reasons.values()),
            failed_skipped_by_reason=reasons,
            skipped=self._tally.groups(),
            replaced=self._outcomes["replaced"],
            without_row=self._outcomes["no_row"],
            contradicted=self._outcomes["contradicted"],
        )  # fmt: skip
