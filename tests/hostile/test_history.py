"""Histories, tables and marks that somebody else wrote: read within bounds, or refused with the file's name."""

from __future__ import annotations

import io
import json
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner

from kernelindex_liger.cli import main
from kernelindex_liger.history import marks, source, thresholds
from kernelindex_liger.history.errors import BadInputError
from kernelindex_liger.history.store import History
from tests.hostile.measured import MIB
from tests.hostile.measured import run as measured
from tests.hostile.parts import history, rows


def run(*arguments: str | Path) -> tuple[int, str]:
    result = CliRunner().invoke(main, [str(one) for one in arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.output


def parquet(frame: pl.DataFrame) -> bytes:
    buffer = io.BytesIO()
    frame.write_parquet(buffer, compression="zstd")
    return buffer.getvalue()


def test_the_history_that_the_others_vary_is_sound(tmp_path: Path) -> None:
    folder = history(tmp_path / "history", *(rows(night) for night in range(6)))
    assert run("history", "check", "--history", folder) == (0, "6 parts, 0 faults\n")
    assert run("compare", "--history", folder)[0] == 0


TIME = datetime(2026, 1, 1, tzinfo=UTC)
WRONG: dict[str, tuple[pl.DataFrame | bytes, str]] = {
    "empty": (b"", "not a readable Parquet table"),
    "no Parquet": (b"PAR1" + bytes(100) + b"PAR1", "not a readable Parquet table"),
    "truncated": (parquet(rows())[:-20], "not a readable Parquet table"),
    "no footer's length": (parquet(rows())[:-8] + b"\xff\xff\xff\x7fPAR1", "not a readable Parquet table"),
    "columns missing": (rows().drop("case"), "not a readable Parquet table"),
    "columns of another kind": (rows().with_columns(pl.lit(1).alias("label")), "its columns are not those of a part"),
    "no columns": (pl.DataFrame(), "not a readable Parquet table"),
    "no label": (rows(label=None), "3 rows without label"),
    "no time": (rows(time=None), "3 rows without time"),
    "no kernel": (rows(kernel=None), "3 rows without kernel"),
    "a time before all": (rows(time=TIME - timedelta(days=700_000)), "values of time outside the years"),
    "a time that Python does not know": (
        rows().with_columns(pl.lit(2**62).cast(pl.Datetime("us", "UTC")).alias("observed_at")),
        "values of observed_at outside the years",
    ),
    "nothing measured": (rows(ns=0), "values of ns that are not positive"),
    "less than nothing": (rows(ns=-5), "values of ns that are not positive"),
    "settings that are no JSON": (rows(settings="{"), "an environment is not JSON"),
    "settings that are no object": (rows(settings="[]"), "an environment is not a JSON object"),
    "settings of another form": (rows(settings='{"hardware": 1}'), "hardware and software are not JSON objects"),
    "settings with a wild count": (rows(settings='{"hardware": {"count": 1e999}}'), "an environment is not JSON"),
    "settings without end": (rows(settings='{"hardware":' * 7000), "an environment is not JSON"),
    "settings with no text": (rows(settings='{"hardware": {"product": "\\ud800"}}'), "an environment is not JSON"),
    "settings too long": (rows(settings=json.dumps({"a": "x" * 10**6})), "more than 100,000 characters"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_a_part_that_is_none_is_named(tmp_path: Path, wrong: str) -> None:
    part, said = WRONG[wrong]
    folder = history(tmp_path / "history", rows(0), part)
    for arguments in (("history", "list"), ("compare",), ("report", "--format", "md"), ("history", "check")):
        status, output = run(*arguments, "--history", folder)
        unread = {"list": ("ns", "observed_at"), "check": ()}.get(arguments[-1], ("observed_at",))
        if any(f"of {name} " in said for name in unread):
            continue  # it does not look at that column
        assert status == (1 if arguments[-1] == "check" else 3), output
        assert said in output or (arguments[-1] == "check" and "not those of a part" in output)
        assert str(folder / "parts") in output
        assert len(output) < 2000


def test_pipes_folders_and_links_among_the_parts(tmp_path: Path) -> None:
    folder = history(tmp_path / "history", rows())
    for make in (os.mkfifo, os.mkdir, lambda path: path.symlink_to(path)):
        place = folder / "parts" / "x.parquet"
        make(place)
        status, output = run("history", "list", "--history", folder)
        assert (status, str(place) in output) == (3, True)
        place.rmdir() if place.is_dir() else place.unlink()
    assert run("history", "list", "--history", folder)[0] == 0


def test_a_part_that_claims_more_rows_than_it_can_hold(tmp_path: Path) -> None:
    bomb = io.BytesIO()
    # run lengths of a dictionary: some kilobytes for any number of equal rows
    pl.select(label=pl.repeat("night", 20_000_000)).write_parquet(bomb, compression="zstd", statistics=False)
    assert len(bomb.getvalue()) < MIB
    folder = history(tmp_path / "history", bomb.getvalue())
    done = measured("history", "check", "--history", folder)
    assert done.status == 1
    assert "claims 20,000,000 rows in" in done.errors
    assert done.peak < 400 * MIB


MARK = {"kind": "accept", "case": "*", "why": "w", "label": "l", "since": "2026-01-01T00:00:00Z"}


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{}",
        b"null",
        b"\xff",
        b"[" * 60_000,
        b" " * 70_000,
        json.dumps(MARK).encode(),
        json.dumps(MARK | {"made_at": "2026-01-01T00:00:00"}).encode(),
        json.dumps(MARK | {"made_at": "2026-01-01T00:00:00Z", "why": "w" * 3000}).encode(),
        json.dumps(MARK | {"made_at": "2026-01-01T00:00:00Z", "case": "\ud800"}).encode(),
    ],
)
def test_a_mark_that_is_none_is_named(tmp_path: Path, content: bytes) -> None:
    folder = history(tmp_path / "history", rows())
    (folder / "marks").mkdir()
    (folder / "marks" / "x.json").write_bytes(content)
    status, output = run("compare", "--history", folder)
    assert (status, str(folder / "marks" / "x.json") in output) == (3, True)
    assert len(output) < 1000


def test_a_pattern_made_to_backtrack_is_matched_at_once() -> None:
    mark = marks.Mark(kind="retire", case="*a" * 200 + "b", why="w", label="l", since=TIME, made_at=TIME)
    assert not mark.matches("0" * 16, "a" * 10_000)


def test_the_version_of_a_history(tmp_path: Path) -> None:
    for content in (b"", b"[" * 60_000, b"\xff", b'{"version": "' + b"9" * 60_000 + b'"}', b" " * 70_000, b"{}"):
        folder = tmp_path / "history"
        folder.mkdir(exist_ok=True)
        (folder / "history.json").write_bytes(content)
        with pytest.raises(BadInputError) as caught:
            History(folder)
        assert str(folder / "history.json") in str(caught.value)
        assert len(str(caught.value)) < 1000
    (folder / "history.json").unlink()
    os.mkfifo(folder / "history.json")
    with pytest.raises(BadInputError, match="not readable"):
        History(folder)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"ns": pl.lit("fast")}, "columns of other kinds"),
        ({"caveats": pl.lit(1)}, "columns of other kinds"),
        ({"observed_at": pl.lit("yesterday")}, "columns of other kinds"),
        ({"observed_at": pl.lit(None)}, "rows without observed_at"),
        ({"kernel": pl.lit(None)}, "rows without kernel"),
        ({"environment": pl.lit("[]")}, "an environment is not a JSON object"),
        ({"environment": pl.lit('{"hardware": {"count": "two"}}')}, "count is not a positive integer"),
        ({"environment": pl.lit('{"software": []}')}, "not JSON objects"),
        ({"environment": pl.lit("[" * 90_000)}, "an environment is not JSON"),
        ({"ns": pl.lit(-1)}, "not positive"),
    ],
)
def test_a_table_of_somebody_else(tmp_path: Path, change: dict[str, pl.Expr], said: str) -> None:
    path = tmp_path / "runs.parquet"
    table = rows().select(list(source.SCHEMA))
    table.write_parquet(path)
    assert run("history", "add", path, "--history", tmp_path / "sound", "--label", "l")[0] == 0
    table.with_columns(**change).write_parquet(path)
    status, output = run("history", "add", path, "--history", tmp_path / "history", "--label", "l")
    assert (status, said in output) == (3, True), output
    assert not (tmp_path / "history" / "parts").exists()


def test_a_path_with_brackets_is_no_pattern(tmp_path: Path) -> None:
    path = tmp_path / "runs[1]*.parquet"
    rows().select(list(source.SCHEMA)).write_parquet(path)
    assert run("history", "add", path, "--history", tmp_path / "history", "--label", "l")[0] == 0


@pytest.mark.parametrize(
    "label", ["", "x" * 201, "a\nb", "\u202egnikcah", "zero\u200bwidth", "\ud800", "\x9b31m", "a\u2028b"]
)
def test_a_label_that_could_mislead_is_refused(tmp_path: Path, label: str) -> None:
    with pytest.raises(BadInputError, match="cannot be a label") as caught:
        History(tmp_path / "history").add(rows().select(list(source.SCHEMA)), label)
    assert label[:1] in {"", "x", "a", "z"} or label not in str(caught.value)


@pytest.mark.parametrize(
    "content", [b"[" * 200_000, b"x = " + b"[" * 200_000, b"\xff", b"a = " + b"9" * 10_000, b"#" * (1 << 19)]
)
def test_thresholds_that_are_none(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "thresholds.toml"
    path.write_bytes(content)
    with pytest.raises(BadInputError, match="not readable as TOML") as caught:
        thresholds.load(path)
    assert len(str(caught.value)) < 1000
