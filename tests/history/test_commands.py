"""The commands history, compare and report: what they print, write and exit with."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner
from synthetic import night

from kernelindex_liger.cli import main


@pytest.fixture
def parquet(tmp_path):
    """Writes a night as a table of runs, as an import does; gives its folder."""

    def write(number, name=None, **over):
        folder = tmp_path / "imports" / (name or f"n{number}")
        folder.mkdir(parents=True, exist_ok=True)
        night(number, **over).write_parquet(folder / "runs.parquet")
        return str(folder)

    return write


@pytest.fixture
def call(tmp_path):
    def run(*arguments):
        return CliRunner().invoke(main, [*arguments], catch_exceptions=False)

    return run


@pytest.fixture
def folder(tmp_path):
    return str(tmp_path / "history")


def slow(kernel, provider, _x):
    return 1.3 if (kernel, provider) == ("kernel_1", "liger") else 1.0


def filled(call, parquet, folder, nights=5):
    for number in range(nights):
        assert call("history", "add", parquet(number), "--history", folder).exit_code == 0


def test_add_list_and_show(call, parquet, folder):
    filled(call, parquet, folder, 3)
    again = call("history", "add", parquet(2), "--history", folder)
    assert "nothing new" in again.stderr
    listed = json.loads(call("history", "list", "--history", folder, "--format", "json").stdout)
    assert [run["label"] for run in listed] == ["n0", "n1", "n2"]
    assert "n2" in call("history", "list", "--history", folder).stdout
    shown = json.loads(call("history", "show", "kernel_1", "--history", folder, "--format", "json").stdout)
    assert len(shown) == 10
    assert [point["label"] for point in shown[0]["points"]] == ["n0", "n1", "n2"]
    only = call("history", "show", "kernel_1", "--history", folder, "--provider", "torch")
    assert only.stdout.count("torch") == 5


def test_compare_with_a_history_gives_0_then_1(call, parquet, folder):
    filled(call, parquet, folder)
    assert call("compare", "--history", folder).exit_code == 0
    for number in (5, 6):
        call("history", "add", parquet(number, factor=slow), "--history", folder)
    done = call("compare", "--history", folder, "--format", "json")
    assert done.exit_code == 1
    assert json.loads(done.stdout)["runs"][0]["counts"]["confirmed slower"] == 5
    assert call("compare", "--history", folder, "n5").exit_code == 0
    call("history", "accept", "kernel_1/*/liger/*", "--why", "a feature", "--history", folder, "--label", "n5")
    assert call("compare", "--history", folder).exit_code in {0, 5}
    assert call("compare", "--history", folder).exit_code == 0


def test_compare_of_two_labels_uses_the_history_up_to_the_first(call, parquet, folder):
    filled(call, parquet, folder)
    for number in (5, 6):
        call("history", "add", parquet(number, factor=slow), "--history", folder)
    assert call("compare", "--history", folder, "n4", "n6").exit_code == 1
    assert call("compare", "--history", folder, "n4", "n5").exit_code == 0
    assert call("compare", "--history", folder, "n0", "n6").exit_code == 5
    backwards = call("compare", "--history", folder, "n6", "n4")
    assert (backwards.exit_code, "name the earlier one first" in backwards.stderr) == (2, True)


def test_leave_out_names_kinds_and_ids_of_caveats(call, parquet, folder):
    for number in range(4):
        call("history", "add", parquet(number, caveats=["unit-gradient"]), "--history", folder)

    def left(*options):
        done = call("compare", "--history", folder, "--format", "json", *options)
        return done.exit_code, json.loads(done.stdout)["runs"][0]["leftOut"]

    without = (5, {"caveat: unit-gradient": 60})
    assert left() == (0, {})
    assert (
        left("--leave-out", "meaning") == left("--leave-out", "unit-gradient") == left("--leave-out", "all") == without
    )
    strange = call("compare", "--history", folder, "--leave-out", "unit-gradeint")
    assert (strange.exit_code, "unit-gradeint" in strange.stderr) == (2, True)
    assert "unit-gradient" in call("report", "--history", folder, "--format", "md", "--leave-out", "all").stdout
    assert call("report", parquet(9), "--format", "md", "--leave-out", "all").exit_code == 2


def test_compare_of_two_imports_confirms_nothing_and_says_so(call, parquet):
    done = call("compare", parquet(0), parquet(1, factor=slow), "--format", "json")
    assert done.exit_code == 0
    document = json.loads(done.stdout)
    assert document["note"].startswith("two runs alone cannot tell")
    assert document["runs"][0]["counts"] == {"same": 55, "suspected slower": 5}


def test_compare_of_different_machines_judges_nothing(call, parquet):
    done = call("compare", parquet(0), parquet(1, gpu="NVIDIA H200"))
    assert done.exit_code == 5


def test_nothing_to_judge_gives_5(call, parquet, folder):
    filled(call, parquet, folder, 1)
    assert call("compare", "--history", folder).exit_code == 5


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (["compare", "a"], 2, "two CSVs"),
        (["compare", "no-such.csv", "neither.csv"], 3, "no such file"),
        (["compare", "--history", "nowhere"], 3, "no such history"),
        (["history", "list", "--history", "nowhere"], 3, "no such history"),
        (["history", "add", "no-such.csv", "--history", "h"], 3, "no such file"),
        (["history", "add", ".", "--history", "h", "--time", "yesterday"], 2, "no date or moment"),
        (["report"], 2, "one of the two"),
    ],
)
def test_what_is_wrong_is_said_with_its_status(call, arguments, status, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = call(*arguments)
    assert (done.exit_code, said in done.stderr) == (status, True), done.stderr


def test_unknown_names_are_usage_errors(call, parquet, folder):
    filled(call, parquet, folder, 1)
    for arguments in (
        ["compare", "--history", folder, "nope"],
        ["history", "show", "nope", "--history", folder],
        ["history", "accept", "nope", "--why", "x", "--history", folder],
        ["history", "retire", "kernel_1/*", "--why", "x", "--history", folder, "--label", "nope"],
    ):
        assert call(*arguments).exit_code == 2


def test_check_finds_a_changed_part(call, parquet, folder, tmp_path):
    filled(call, parquet, folder, 2)
    assert call("history", "check", "--history", folder).exit_code == 0
    part = next((tmp_path / "history" / "parts").iterdir())
    part.write_bytes(part.read_bytes()[:-10])
    assert call("history", "check", "--history", folder).exit_code == 1


@pytest.mark.parametrize("form", ["md", "json", "text"])
def test_report_of_a_history_and_of_one_import(call, parquet, folder, tmp_path, form):
    filled(call, parquet, folder, 4)
    suffix = {"text": "txt"}.get(form, form)
    out = tmp_path / f"report.{suffix}"
    assert call("report", "--history", folder, "-o", str(out)).exit_code == 0
    assert "n3" in out.read_text()
    alone = call("report", parquet(9), "--format", form)
    assert alone.exit_code == 0
    assert "torch ÷ liger" in alone.stdout


def test_a_report_that_cannot_be_written_is_status_6(call, parquet, tmp_path):
    (tmp_path / "file").write_text("")
    done = call("report", parquet(0), "-o", str(tmp_path / "file" / "r.md"))
    assert (done.exit_code, "cannot be written" in done.stderr) == (6, True)
