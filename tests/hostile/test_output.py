"""Links, pipes and folders planted where something is to be written: nothing outside OUT is touched, nothing waits."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from kernelindex_liger.cli import main
from kernelindex_liger.conversion import Options, convert
from kernelindex_liger.conversion.pipeline import Format
from kernelindex_liger.conversion.validate import validate
from tests.conftest import ROW, text

FORMATS: tuple[Format, ...] = ("tree", "jsonl", "parquet", "submission")


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "in.csv"
    path.write_text(text([ROW, ROW | {"x_value": "4096"}]), newline="")
    return path


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "file").write_text("precious")
    return folder


def untouched(outside: Path) -> bool:
    return {one.name: one.read_text() for one in outside.iterdir()} == {"file": "precious"}


def run(*arguments: str | Path) -> tuple[int, str]:
    result = CliRunner().invoke(main, [str(one) for one in arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.output


def link(path: Path, outside: Path) -> None:
    path.symlink_to(outside / "file")


def folder_link(path: Path, outside: Path) -> None:
    path.symlink_to(outside, target_is_directory=True)


def dangling(path: Path, outside: Path) -> None:
    path.symlink_to(outside / "new")


def loop(path: Path, outside: Path) -> None:
    path.symlink_to(path)


def pipe(path: Path, outside: Path) -> None:
    os.mkfifo(path)


def folder(path: Path, outside: Path) -> None:
    (path / "more").mkdir(parents=True)


PLANTS = (link, folder_link, dangling, loop, pipe, folder)
Plant = Callable[[Path, Path], None]


def places(out: Path) -> list[str]:
    """Every file and folder of an output, and the names of what is there only while it is written."""
    found = sorted(str(one.relative_to(out)) for one in out.rglob("*"))
    return [*found, ".ligerimport-runs.jsonl", f".ligerimport-{os.getpid()}", ".ligerimport-part-000000"]


@pytest.mark.parametrize("plant", PLANTS, ids=lambda one: one.__name__)
@pytest.mark.parametrize("format_", FORMATS)
def test_whatever_stands_in_the_way_in_out(
    tmp_path: Path, source: Path, outside: Path, format_: Format, plant: Plant
) -> None:
    whole = tmp_path / "whole"
    convert([source], whole, Options(format=format_))
    for number, place in enumerate(places(whole)):
        out = tmp_path / f"out{number}"
        (out / place).parent.mkdir(parents=True, exist_ok=True)
        plant(out / place, outside)
        status, said = run("csv", source, "-o", out, "--format", format_)
        assert untouched(outside), place
        assert status in {0, 6}, (place, said)
        if status:
            assert str(out) in said
            assert not (out / "report.json").is_file() or (out / "report.json").is_symlink()
            standing = out / place
            if standing.is_dir() and not standing.is_symlink():
                shutil.rmtree(standing)
            else:
                standing.unlink(missing_ok=True)
            assert run("csv", source, "-o", out, "--format", format_)[0] == 0, place
        assert not validate(out).faults, place
        assert untouched(outside), place


@pytest.mark.parametrize("plant", [dangling, loop, pipe, link], ids=lambda one: one.__name__)
def test_out_itself_is_something_else(tmp_path: Path, source: Path, outside: Path, plant: Plant) -> None:
    plant(tmp_path / "out", outside)
    status, said = run("csv", source, "-o", tmp_path / "out")
    assert (status, untouched(outside)) == (6, True)
    assert "name another folder with -o" in said


def test_out_may_be_named_by_a_link(tmp_path: Path, source: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "out").symlink_to("real", target_is_directory=True)
    assert run("csv", source, "-o", tmp_path / "out")[0] == 0
    assert (tmp_path / "real" / "report.json").is_file()


@pytest.mark.parametrize("out", ["/proc/out", "/proc/self/out", "/sys/out", "/dev/null/out"])
def test_out_where_nothing_can_be_written(source: Path, out: str) -> None:
    for arguments in (
        ("csv", source, "-o", out),
        ("history", "add", source, "--history", out),
        ("nightly", "--home", out, "--csv", source),
        ("report", source, "--format", "md", "-o", f"{out}/report.md"),
    ):
        status, said = run(*arguments)
        assert status == 6, said
        assert out in said


@pytest.mark.parametrize("plant", PLANTS, ids=lambda one: one.__name__)
def test_whatever_stands_in_the_way_in_a_history(tmp_path: Path, source: Path, outside: Path, plant: Plant) -> None:
    for place in ("parts", "marks", ".lock", "history.json"):
        history = tmp_path / f"history-{place}"
        history.mkdir()
        if place != "history.json":
            (history / "history.json").write_text('{"version": 1}\n')
        plant(history / place, outside)
        status, said = run("history", "add", source, "--history", history)
        if status == 0:
            status, said = run("history", "accept", "*", "--why", "because", "--history", history)
        assert untouched(outside), place
        assert status in {0, 3, 6}, said
        if status:
            assert str(history) in said


@pytest.mark.parametrize("plant", PLANTS, ids=lambda one: one.__name__)
def test_whatever_stands_in_the_way_in_a_nightly_home(
    tmp_path: Path, source: Path, outside: Path, plant: Plant
) -> None:
    for place in ("nights", ".lock", "latest", ".latest-new", "nights/2026-01-01", "nightly.toml", "history"):
        home = tmp_path / f"home-{place.replace('/', '-')}"
        (home / place).parent.mkdir(parents=True)
        if place != "nightly.toml":
            (home / "nightly.toml").write_text("html = false\n")
        plant(home / place, outside)
        status, said = run("nightly", "--home", home, "--csv", source)
        # a history that stands elsewhere is a person's choice
        chosen = place == "history" and plant is folder_link
        assert (outside / "file").read_text() == "precious" if chosen else untouched(outside), place
        assert status in {0, 3, 5, 6}, said
        if status not in {0, 5}:
            assert str(home) in said


def test_a_night_of_somebody_else_is_not_taken_up(tmp_path: Path, source: Path, outside: Path) -> None:
    home = tmp_path / "home"
    (home / "nights").mkdir(parents=True)
    (outside / "state.json").write_text(
        '{"begun": "2026-01-01T00:00:00+00:00", "kind": "x", "steps": {}, "complete": true}'
    )
    (home / "nights" / "2026-01-01").symlink_to(outside, target_is_directory=True)
    status, said = run("nightly", "--home", home, "--csv", source)
    assert status == 3
    assert "a symbolic link in place of a night" in said
    assert (outside / "file").read_text() == "precious"


@pytest.mark.parametrize(
    "state",
    [
        "[" * 100_000, "null", "{}", '{"begun": 1}', "\xff", " " * (1 << 20) + "{}",
        '{"begun": "2026-01-01T00:00:00", "kind": "x", "steps": {}, "complete": false}',
        '{"begun": "2026-01-01T00:00:00+00:00", "kind": [], "steps": {}, "complete": false}',
        '{"begun": "2026-01-01T00:00:00+00:00", "kind": "x", "steps": {"measure": 1}, "complete": false}',
        '{"begun": "2026-01-01T00:00:00+00:00", "kind": "x", "steps": {"history": {"labels": [1]}}, "complete": true}',
        '{"begun": "2026-01-01T00:00:00+00:00", "kind": "x", "steps": {"judge": {"status": "a"}}, "complete": true}',
    ],
)  # fmt: skip
def test_a_state_that_is_none_is_said(tmp_path: Path, source: Path, state: str) -> None:
    night = tmp_path / "home" / "nights" / "2026-01-01"
    night.mkdir(parents=True)
    (night / "state.json").write_text(state, encoding="latin-1")
    status, said = run("nightly", "--home", tmp_path / "home", "--csv", source)
    assert status == 3
    assert "not a night's state" in said
    assert len(said) < 1000
