"""The history's folder: Parquet parts named by their content, added and never rewritten.

DIR/history.json         the format's version
DIR/parts/<sha256>.parquet   one run's rows, or what one more `add` found of it
DIR/marks/<sha256>.json      one decision of a person (see `marks`)
"""

from __future__ import annotations

import hashlib
import io
import json
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from kernelindex_liger import files, tables
from kernelindex_liger.files import OutputError
from kernelindex_liger.history import cases, sound
from kernelindex_liger.history.errors import BadInputError
from kernelindex_liger.history.runs import Run, runs_of, with_runs
from kernelindex_liger.history.source import SCHEMA
from kernelindex_liger.untrusted import quoted, read_small, safe

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime
    from pathlib import Path

VERSION = 1
"""Of the folder's format. 1: parts with the columns of `PART`."""

PART: dict[str, pl.DataType] = {
    "label": pl.String(),
    "time": pl.Datetime("us", "UTC"),
    "machine": pl.String(),
    "environment_key": pl.String(),
    "settings": pl.String(),
    "case": pl.String(),
    "name": pl.String(),
    "carried": pl.Boolean(),
} | SCHEMA
"""Columns of a part. A carried row is no measurement of its run: the input still held it, but an earlier run
had it already, so it only says that the case has not vanished."""

SAME_ROW = (
    "case", "environment_key", "observed_at", "external_id", "status", "ns", "p20_ns", "p80_ns", "peak_bytes",
)  # fmt: skip
"""Two rows equal in all of these are one measurement read twice."""

LABEL = 200
"""Characters that a label may have; all of them printable, since it is shown on terminals and in pages."""

MARKER = 1 << 16
"""Bytes of `history.json`."""

LOCK_SECONDS = 60
"""How long `add` waits for another one on the same history."""


@dataclass(frozen=True)
class Added:
    """What one `add` did for one run."""

    label: str
    machine: str
    environment_key: str
    new: int
    """Rows that the history did not have."""
    known: int
    """Rows that it had already, under this or another label."""
    part: str | None
    """Name of the part that was written; None when nothing was new."""


class History:
    """A folder of runs. Reading takes no lock: parts appear whole and stay as they are."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._check_version()

    @property
    def parts(self) -> list[Path]:
        """The files of runs, by name."""
        return sorted(part for part in (self.folder / "parts").glob("*.parquet") if not part.name.startswith("."))

    def rows(self, columns: list[str] | None = None) -> pl.DataFrame:
        """All parts' rows, with the columns of `PART` or those named.

        Raises `BadInputError` naming the part that cannot be read.
        """
        columns = columns or list(PART)
        parts = self.parts
        if not parts:
            return pl.DataFrame(schema={name: PART[name] for name in columns})
        rows, fault = _read(parts, columns)
        if fault is None:
            return rows
        found = next((one for part in parts if (one := _read([part], columns)[1]) is not None), fault)
        raise BadInputError(f"{found}; move it away and add its run again")

    def runs(self) -> list[Run]:
        """All runs, oldest first."""
        columns = ["label", "time", "machine", "environment_key", "settings", "case", "carried", "kernel"]
        return runs_of(self.rows([*columns, "liger_version"]))

    def table(self, columns: list[str] | None = None) -> tuple[list[Run], pl.DataFrame]:
        """All runs, and all rows with the column `run` that tells which one each belongs to."""
        needed = ["label", "time", "machine", "environment_key", "settings", "case", "carried", "kernel"]
        wanted = None if columns is None else list(dict.fromkeys([*needed, "liger_version", *columns]))
        rows = self.rows(wanted)
        runs = runs_of(rows)
        return runs, with_runs(rows, runs)

    def add(self, runs: pl.DataFrame, label: str, time: datetime | None = None) -> list[Added]:
        """Keep `runs` (columns of `source.SCHEMA`) under `label`, a run an environment; return what was done.

        Rows that the history holds already are not added again, whatever their label was. `time` orders the
        run among others; without it the newest row's time does. Raises `BadInputError` for a label that cannot
        be one or rows without a time, `OutputError` when the folder cannot be written.
        """
        if not 0 < len(label) <= LABEL or safe(label) != label:
            raise BadInputError(
                f"{quoted(label)} cannot be a label: 1 to {LABEL} characters, none of them a control character, "
                "invisible, or one that turns text around"
            )
        if found := sound.fault(runs):
            raise BadInputError(f"label {label}: {found}")
        with self._locked():
            held = self.rows([*SAME_ROW, "label"])
            return [
                self._add_run(group, held, label, time)
                for _, group in sorted(
                    cases.with_cases(runs).group_by("environment_key"), key=lambda item: str(item[0])
                )
            ]

    def _add_run(self, run: pl.DataFrame, held: pl.DataFrame, label: str, time: datetime | None) -> Added:
        run = run.unique(subset=SAME_ROW, maintain_order=True)
        fresh = run.join(held, on=list(SAME_ROW), how="anti", nulls_equal=True)
        first = run.row(0, named=True)
        done = Added(label, first["machine"], first["environment_key"], fresh.height, run.height - fresh.height, None)
        if fresh.is_empty():
            return done
        elsewhere = run.join(fresh, on="case", how="anti").unique("case", keep="last", maintain_order=True)
        part = _part(fresh, elsewhere, label, time or fresh["observed_at"].max())  # type: ignore[arg-type]
        name = f"{content_digest(part)}.parquet"
        path = self.folder / "parts" / name
        if not path.exists():
            files.make_folder(path.parent)
            with files.replacing(path) as file:
                file.write(_parquet(part))
        return Added(label, done.machine, done.environment_key, done.new, done.known, name)

    def check(self) -> list[str]:
        """Recompute each part's name from its content; return what is wrong, one sentence a part."""
        faults = []
        for part in self.parts:
            rows, found = _read([part])
            if found is not None:
                faults.append(found)
            elif f"{content_digest(rows)}.parquet" != part.name:
                faults.append(f"{part}: its content does not give its name; it was changed after it was written")
        return faults

    def _check_version(self) -> None:
        marker = self.folder / "history.json"
        if not marker.exists():
            if (self.folder / "parts").exists():
                raise BadInputError(f"{self.folder}: has parts but no history.json; it is not a history")
            return
        try:
            version = json.loads(read_small(marker, MARKER))["version"]
        except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
            raise BadInputError(f"{marker}: not readable ({error})") from error
        if version != VERSION:
            raise BadInputError(f"{marker}: format {quoted(version)}; this release reads {VERSION}")

    @contextmanager
    def _locked(self) -> Iterator[None]:
        import filelock

        marker = self.folder / "history.json"
        files.make_folder(self.folder, parents=True)
        try:
            files.unlinked(self.folder / "parts")
            with filelock.FileLock(files.unlinked(self.folder / ".lock"), timeout=LOCK_SECONDS):
                if not marker.exists():
                    files.write_text(marker, json.dumps({"version": VERSION}) + "\n")
                yield
        except filelock.Timeout as error:
            raise OutputError(f"{self.folder}: another add is at work; try again when it is done") from error
        except OSError as error:
            raise files.refusal(self.folder, error) from error


def content_digest(part: pl.DataFrame) -> str:
    """SHA-256 of a part's values in a fixed order of rows and columns, whatever file format holds them."""
    flat = part.select(list(PART)).with_columns(pl.col("caveats").list.sort().list.join("\x1f"))
    text = flat.sort(flat.columns, nulls_last=True).write_csv(line_terminator="\n", quote_style="non_numeric")
    return hashlib.sha256(text.encode()).hexdigest()


def _parquet(part: pl.DataFrame) -> bytes:
    buffer = io.BytesIO()
    part.write_parquet(buffer, compression="zstd")
    return buffer.getvalue()


def _part(fresh: pl.DataFrame, elsewhere: pl.DataFrame, label: str, time: datetime) -> pl.DataFrame:
    marked = [fresh.with_columns(carried=pl.lit(value=False)), elsewhere.with_columns(carried=pl.lit(value=True))]
    rows = pl.concat(marked).with_columns(label=pl.lit(label), time=pl.lit(time))
    return rows.select(pl.col(name).cast(kind) for name, kind in PART.items()).sort("carried", "name", "observed_at")


def _read(parts: list[Path], columns: list[str] | None = None) -> tuple[pl.DataFrame, str | None]:
    """The rows of parts, and what keeps them from being used, with the file's name or the folder's."""
    where = parts[0] if len(parts) == 1 else parts[0].parent
    try:
        rows = tables.read(parts, columns)
    except tables.BrokenTableError as error:
        return pl.DataFrame(), str(error)
    if dict(rows.schema) != {name: PART[name] for name in columns or PART}:
        return rows, f"{where}: its columns are not those of a part"
    found = sound.fault(rows)
    return rows, None if found is None else f"{where}: {found}"
