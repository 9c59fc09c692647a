"""Folders of documents are read through the CSVs that their reports name, as long as these are what they were."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from kernelindex_liger.cli import main
from kernelindex_liger.history import source
from kernelindex_liger.history.errors import BadInputError
from tests.conftest import FIXTURES

NINE = FIXTURES / "csv" / "nine.csv"


@pytest.fixture
def csv(tmp_path: Path) -> Path:
    return Path(shutil.copy(NINE, tmp_path / "results.csv"))


def imported(csv: Path, out: Path, *options: str) -> Path:
    done = CliRunner().invoke(main, ["csv", str(csv), "-o", str(out), "-q", *options])
    assert done.exit_code == 3, done.output  # some of the nine rows are there to be skipped
    return out


@pytest.mark.parametrize("form", ["tree", "jsonl", "submission"])
def test_documents_give_the_runs_that_their_csv_gives(csv: Path, tmp_path: Path, form: str) -> None:
    out = imported(csv, tmp_path / "out", "--format", form)
    assert source.read([out]).equals(source.read([csv]))
    assert source.read([out, csv]).equals(source.read([csv])), "one CSV, read once"
    done = CliRunner().invoke(main, ["report", str(out), "--format", "json"])
    assert done.exit_code == 0
    assert json.loads(done.stdout) == json.loads(
        CliRunner().invoke(main, ["report", str(csv), "--format", "json"]).stdout.replace("results.csv", "out")
    )


@pytest.mark.parametrize("label", [(), ("--label", "abc")])
def test_a_history_takes_them_under_the_folders_name_or_the_label(
    csv: Path, tmp_path: Path, label: tuple[str, ...]
) -> None:
    out, history = imported(csv, tmp_path / "night-1"), str(tmp_path / "history")
    assert CliRunner().invoke(main, ["history", "add", str(out), "--history", history, *label]).exit_code == 0
    listed = CliRunner().invoke(main, ["history", "list", "--history", history, "--format", "json"])
    assert {run["label"] for run in json.loads(listed.stdout)} == {"abc" if label else "night-1"}


def test_a_csv_that_changed_or_went_is_not_taken_for_what_it_was(csv: Path, tmp_path: Path) -> None:
    out = imported(csv, tmp_path / "out")
    csv.write_bytes(csv.read_bytes() + b"\n")
    with pytest.raises(BadInputError, match=r"results\.csv, which they were made of, is another file by now"):
        source.read([out])
    csv.unlink()
    with pytest.raises(BadInputError, match=r"results\.csv, which they were made of, is not there"):
        source.read([out])
    done = CliRunner().invoke(main, ["report", str(out), "--format", "md"])
    assert done.exit_code == 3
    assert "--format parquet" in done.stderr


def test_documents_of_the_corrected_edition_are_no_published_runs(csv: Path, tmp_path: Path) -> None:
    out = imported(csv, tmp_path / "out", "--edition", "corrected")
    with pytest.raises(BadInputError, match="of the edition corrected"):
        source.read([out])


@pytest.mark.parametrize("content", ["{}", "not JSON", '{"inputs": "'])
def test_another_report_says_nothing_about_csvs(tmp_path: Path, content: str) -> None:
    (tmp_path / "report.json").write_text(content)
    with pytest.raises(BadInputError, match="no CSV below this folder"):
        source.read([tmp_path])
