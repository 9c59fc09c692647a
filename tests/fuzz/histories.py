"""Targets of what stands in histories and nights."""

from __future__ import annotations

import io
from pathlib import Path

import polars as pl

from kernelindex_liger.history import judge, marks, thresholds, view
from kernelindex_liger.history.errors import HistoryError
from kernelindex_liger.history.store import History
from kernelindex_liger.nightly import night, settings
from kernelindex_liger.report import json_, markdown, text
from tests.fuzz.common import said, scratch
from tests.hostile.parts import history as write_history
from tests.hostile.parts import rows


def _history(folder: Path) -> None:
    kept = History(folder)

    def judged() -> None:
        found = judge.judge(kept, thresholds.preset())
        for render in (text.render, markdown.render, json_.render):
            render(found).encode()

    # each on its own: one does not look at all that the others do
    for step in (kept.check, kept.runs, lambda: view.series(kept, "rms_norm"), judged):
        try:
            step()
        except HistoryError as error:
            said(error)


def read_part(data: bytes) -> None:
    """A part of a history is refused or judged."""
    folder = scratch() / "history"
    if not folder.exists():
        write_history(folder, *(rows(number) for number in range(4)))
    (folder / "parts" / "foreign.parquet").write_bytes(data)
    _history(folder)


def read_values(data: bytes) -> None:
    """A part whose values are anything, in columns of the right kinds, is refused or judged and reported."""
    frame = rows()
    changes: dict[str, pl.Expr] = {}
    for line in data.decode(errors="replace").split("\n")[:5]:
        name, _, value = line.partition("=")
        if name in frame.columns:
            kind = frame.schema[name]
            literal = pl.lit(value or None, dtype=pl.String)
            if kind == pl.List(pl.String):
                literal = literal.str.split(",")
            elif isinstance(kind, pl.Datetime):
                literal = literal.cast(pl.Int64, strict=False).cast(kind)
            elif kind != pl.String:
                literal = literal.cast(pl.Int64, strict=False).cast(kind, strict=False)
            changes[name] = literal
    buffer = io.BytesIO()
    frame.with_columns(**changes).write_parquet(buffer)
    read_part(buffer.getvalue())


FILES = ("mark", "version", "thresholds", "nightly", "state")


def read_files(data: bytes) -> None:
    """The small files of histories and nights, the first byte says which, are refused or used."""
    kind, data = FILES[data[0] % len(FILES)] if data else FILES[0], data[1:]
    folder = scratch() / "files"
    if not folder.exists():
        write_history(folder, rows())
        (folder / "marks").mkdir()
        (folder / "nights" / "2026-01-01").mkdir(parents=True)
    places = {
        "mark": folder / "marks" / "x.json",
        "version": folder / "history.json",
        "thresholds": folder / "thresholds.toml",
        "nightly": folder / settings.NAME,
        "state": folder / "nights" / "2026-01-01" / "state.json",
    }
    places[kind].write_bytes(data)
    try:
        if kind in {"mark", "version"}:
            kept = History(folder)
            for mark in marks.load(kept):
                mark.matches("0" * 16, "a name")
            judge.judge(kept, thresholds.preset())
        elif kind == "thresholds":
            judge.judge(History(folder), thresholds.load(places[kind]))
        elif kind == "nightly":
            settings.load(folder)
        else:
            list(night.all_nights(folder))
            night.take_up(folder / "none", "bench")
    except HistoryError as error:
        said(error)
    finally:
        (folder / "history.json").write_text('{"version": 1}\n')
        (folder / "marks" / "x.json").unlink(missing_ok=True)
