"""Folders of documents that somebody else wrote: every fault is said, none ends the check, nothing is waited for."""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

from kernelindex_liger.conversion import InputError, Options, convert
from kernelindex_liger.conversion.validate import validate
from tests.conftest import ROW, text
from tests.hostile.files import sparse
from tests.hostile.measured import MIB, run

ODD = [
    None, True, 0, -1, 10**400, 1e308, "", "\ud800", "\x1b[2J", "x" * 10**5, [], [[]], {}, {"": {}}, {"kind": []},
    {"kind": {}}, {"kind": "BenchmarkRun"}, {"kind": "SoftwareProject", "metadata": 1, "spec": None},
]  # fmt: skip


@pytest.fixture
def out(tmp_path: Path) -> Path:
    path = tmp_path / "in.csv"
    path.write_text(text([ROW]), newline="")
    convert([path], tmp_path / "out")
    return tmp_path / "out"


def wrong(out: Path) -> list[str]:
    return [f"{one.place}: {one.problem}" for one in validate(out).faults]


def spoiled(value: object, odd: Iterator[object]) -> Iterator[object]:
    """The JSON value with each of its parts in turn, and at last itself, replaced by the next of `odd`."""
    if isinstance(value, dict):
        for key, one in value.items():
            yield from ({**value, key: other} for other in spoiled(one, odd))
    elif isinstance(value, list):
        for place, one in enumerate(value):
            yield from ([*value[:place], other, *value[place + 1 :]] for other in spoiled(one, odd))
    yield next(odd)


def test_any_value_anywhere_in_a_document(out: Path) -> None:
    assert wrong(out) == []
    odd = itertools.cycle(ODD)
    documents = [
        next((out / "runs").rglob("*.json")),
        *(next(one.glob("*.json")) for one in (out / "linked").iterdir()),
    ]
    for path in documents:
        content = path.read_bytes()
        for value in (*spoiled(json.loads(content), odd), *ODD):
            path.write_text(json.dumps(value))
            found = wrong(out)
        assert found
        path.write_bytes(content)


@pytest.mark.parametrize(
    "content", [b"", b"[" * 10**6, b'{"a":' * 10**5, b"\xff", b"NaN", b"9" * 10**5, b"{}" * 2, b'{"kind": 1e999}']
)
def test_a_file_that_is_no_document(out: Path, content: bytes) -> None:
    path = next((out / "runs").rglob("*.json"))
    path.write_bytes(content)
    assert any(one.startswith("runs/") for one in wrong(out))
    (out / "runs.jsonl").write_bytes(content + b"\n")
    (out / "operations.jsonl").write_bytes(content + b"\n")
    (out / "submission.yaml").write_bytes(content)
    (out / "report.json").write_bytes(content)
    found = wrong(out)
    for place in ("runs.jsonl:1", "submission.yaml", "report.json"):
        assert any(one.startswith(place) for one in found) or content.startswith(b'{"kind"'), place


@pytest.mark.parametrize("odd", ODD, ids=[str(number) for number in range(len(ODD))])
def test_any_section_of_a_submission(tmp_path: Path, odd: object) -> None:
    for section in ("projects", "operations", "workloads", "implementations", "runs"):
        for value in ({section: odd}, {section: [odd]}, {section: [{"manifest": odd, "projectSlug": odd}]}):
            (tmp_path / "submission.yaml").write_text(json.dumps(value))
            assert wrong(tmp_path)


def test_pipes_links_and_folders_among_documents(out: Path) -> None:
    os.mkfifo(out / "runs" / "pipe.json")
    (out / "runs" / "loop").symlink_to(out / "runs", target_is_directory=True)
    (out / "linked" / "self.json").symlink_to(out / "linked" / "self.json")
    (out / "report.json").unlink()
    os.mkfifo(out / "report.json")
    os.mkfifo(out / "submission.yaml")
    os.mkfifo(out / "runs.jsonl")
    os.mkfifo(out / "runs.parquet")
    found = wrong(out)
    for place in ("runs/pipe.json", "runs/loop", "linked/self.json", "report.json", "submission.yaml"):
        assert any(one.startswith(f"{place}: ") for one in found), place


def test_tables_that_are_none(tmp_path: Path) -> None:
    path = tmp_path / "runs.parquet"
    for content in (b"", b"PAR1" + bytes(50) + b"PAR1"):
        path.write_bytes(content)
        assert any("not the table of runs" in one for one in wrong(tmp_path))
    for frame in (pl.DataFrame({"external_id": [[1]]}), pl.DataFrame({"other": ["a"]}), pl.DataFrame()):
        frame.write_parquet(path)
        assert any("not the table of runs" in one for one in wrong(tmp_path))


def test_lines_and_files_without_end(tmp_path: Path) -> None:
    sparse(tmp_path / "runs.jsonl", b"{}\n", 1024 * MIB, b"\n{}\n")
    (tmp_path / "runs").mkdir()
    sparse(tmp_path / "runs" / "x.json", b"{}", 1024 * MIB, b"\n")
    done = run("validate", tmp_path)
    assert done.status == 1
    assert "runs.jsonl:2: longer than 16,777,216 bytes" in done.output
    assert "runs.jsonl:3: not a bundle" in done.output
    assert "runs/x.json: cannot be read: larger than 16,777,216 bytes" in done.output
    assert done.peak < 300 * MIB


def test_faults_without_end_are_cut(tmp_path: Path) -> None:
    (tmp_path / "runs.jsonl").write_text("x\n" * 100_000)
    assert len(validate(tmp_path).faults) == 10_000


def test_a_folder_of_something_else(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no documents"):
        validate(tmp_path)


def test_a_submission_names_projects_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "in.csv"
    path.write_text(text([ROW]), newline="")
    convert([path], tmp_path / "out", Options(format="submission"))
    assert wrong(tmp_path / "out") == []
    whole = json.loads((tmp_path / "out" / "submission.yaml").read_text())
    (tmp_path / "out" / "submission-1.yaml").write_text(json.dumps({"implementations": whole["implementations"]}))
    assert any("which is not there" in one for one in wrong(tmp_path / "out"))
