"""The command line: exit statuses, streams, start-up, two runs at once, a killed run."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner
from filelock import FileLock

from kernelindex_liger.cli import main
from kernelindex_liger.conversion import Options, convert
from kernelindex_liger.conversion.validate import validate
from tests.conftest import FIXTURES, ROOT, ROW, text

NINE = str(FIXTURES / "csv" / "nine.csv")
SEEDS = str(FIXTURES / "csv" / "seeds.csv")


def run(*arguments: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(main, list(arguments))
    return result.exit_code, result.stdout, result.stderr


def spawn(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "kernelindex_liger", *arguments]


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (["csv", SEEDS, "-o", "{out}"], 0, "bundles"),
        (["csv", SEEDS, "--dry-run", "--strict"], 0, "nothing was written"),
        (["csv", NINE, "-o", "{out}"], 3, "bad_value"),
        (["csv", NINE, "-o", "{out}", "--strict", "--quiet"], 3, ""),
        (["csv", SEEDS], 2, "-o OUT"),
        (["csv"], 2, "Missing argument"),
        (["csv", "/no/such.csv", "-o", "{out}"], 3, "no such file"),
        (["csv", SEEDS, "-o", "/dev/null/x"], 6, "cannot be made"),
        (["csv", SEEDS, "-o", "{out}", "--exclude-caveat", "nothing"], 3, "no caveat nothing"),
        (["validate", "{out}"], 2, "does not exist"),
        (["validate", str(FIXTURES)], 3, "holds no documents"),
        (["catalog", "show", "rms_nrom"], 3, "did you mean rms_norm"),
        (["catalog", "show", "rms_norm"], 0, ""),
        (["nonsense"], 2, "No such command"),
    ],
)
def test_exit_statuses(tmp_path: Path, arguments: list[str], status: int, said: str) -> None:
    code, _, errors = run(*(argument.replace("{out}", str(tmp_path / "out")) for argument in arguments))
    assert code == status, errors
    assert said in errors


def test_strict_fails_on_rows_that_nobody_curated(write_csv: Callable[..., Path], tmp_path: Path) -> None:
    path = str(write_csv({}, {"kernel_name": "unheard_of"}))
    assert run("csv", path, "-o", str(tmp_path / "out"))[0] == 0
    assert run("csv", path, "-o", str(tmp_path / "out"), "--strict")[0] == 1


def test_words_for_people_go_to_stderr(tmp_path: Path) -> None:
    _, output, errors = run("csv", SEEDS, "-o", str(tmp_path / "out"))
    assert output == ""
    assert "rows read" in errors
    assert run("csv", SEEDS, "-o", str(tmp_path / "out"), "-q")[1:] == ("", "")


def test_escape_codes_never_reach_the_terminal_raw(write_csv: Callable[..., Path], tmp_path: Path) -> None:
    evil = "\x1b[2J\x07[red]\u202e"
    changes = [{column: evil} for column in ROW]
    _, output, errors = run("csv", str(write_csv({}, *changes)), "-o", str(tmp_path / "out"))
    assert "\x1b" not in output + errors
    assert "\u202e" not in output + errors
    assert "\\x1b[2J" in errors


def test_help_imports_nothing_heavy_and_nothing_ever_imports_torch(tmp_path: Path) -> None:
    code = (
        "import sys\nfrom kernelindex_liger.cli import main\n"
        "try: main(sys.argv[1:])\nexcept SystemExit: pass\n"
        "print(sorted({name.partition('.')[0] for name in sys.modules} & {'torch', 'polars', 'pydantic', 'rich'}))"
    )

    def imported(*arguments: str) -> str:
        command = [sys.executable, "-c", code, *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT).stdout.splitlines()[-1]

    assert imported("--help") == "[]"
    assert "torch" not in imported("csv", SEEDS, "-o", str(tmp_path / "out"))


def test_a_second_run_waits_for_the_first_and_says_so(tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    with FileLock(out / ".ligerimport.lock"):
        second = subprocess.Popen(spawn("csv", SEEDS, "-o", str(out)), stderr=subprocess.PIPE, text=True, cwd=ROOT)
        assert second.stderr is not None
        assert "another run is writing" in second.stderr.readline()
        assert not (out / "report.json").exists()
    _, errors = second.communicate(timeout=60)
    assert second.returncode == 0, errors
    assert validate(out).faults == []


@pytest.mark.parametrize("format_", ["tree", "jsonl", "parquet", "submission"])
def test_a_killed_run_is_completed_by_the_next(tmp_path: Path, format_: str) -> None:
    source = tmp_path / "in.csv"
    rows = [ROW | {"x_value": str(1024 + 8 * index)} for index in range(2000)]
    source.write_text(text(rows), newline="")
    whole = tmp_path / "whole"
    convert([source], whole, Options(format=format_))
    out = tmp_path / "out"
    for delay in (0.4, 0.8, 1.2):
        process = subprocess.Popen(spawn("csv", str(source), "-o", str(out), "--format", format_, "-q"), cwd=ROOT)
        time.sleep(delay)
        process.send_signal(signal.SIGKILL)
        process.wait()
        for path in out.rglob("*.json") if out.exists() else ():
            json.loads(path.read_bytes())
    convert([source], out, Options(format=format_))

    def files(folder: Path) -> dict[str, bytes]:
        names = (path for path in folder.rglob("*") if path.is_file() and path.name != ".ligerimport.lock")
        found = {str(path.relative_to(folder)): path.read_bytes() for path in names}
        # how many documents this run wrote and how many it found tells of the kill, not of the rows
        counted = json.loads(found.pop("report.json"))
        assert sum(counted.pop("documents").values()) > 0
        return found | {"report.json": json.dumps(counted).encode()}

    assert files(out) == files(whole)


def test_a_link_in_the_output_leads_nowhere_else(write_csv: Callable[..., Path], tmp_path: Path) -> None:
    out, elsewhere = tmp_path / "out", tmp_path / "elsewhere"
    out.mkdir()
    elsewhere.mkdir()
    (out / "runs").symlink_to(elsewhere)
    code, _, errors = run("csv", str(write_csv({})), "-o", str(out))
    assert code == 6
    assert "symbolic link leads outside" in errors
    assert not list(elsewhere.iterdir())


def test_validate_names_each_fault(tmp_path: Path) -> None:
    out = tmp_path / "out"
    run("csv", SEEDS, "-o", str(out))
    assert run("validate", str(out))[0] == 0
    first, second = sorted((out / "runs").rglob("*.json"))
    first.write_text(first.read_text().replace('"passed"', '"splendid"'))
    second.rename(second.with_name("elsewhere.json"))
    gone = next((out / "linked" / "workloads").glob("liger-group-norm-*"))
    gone.unlink()
    project = next((out / "linked" / "projects").iterdir())
    project.write_text("{")
    code, output, _ = run("validate", str(out))
    assert code == 1
    for said in ("spec.status", "its external id belongs at", "which is not there", "not JSON"):
        assert said in output


def test_validate_recomputes_digests(tmp_path: Path) -> None:
    out = tmp_path / "out"
    run("csv", SEEDS, "-o", str(out), "--format", "jsonl")
    path = out / "runs.jsonl"
    path.write_text(path.read_text().replace("NVIDIA B200", "NVIDIA B201"))
    code, output, _ = run("validate", str(out))
    assert code == 1
    assert "environmentDigest is not the digest" in output


def test_documentation_and_help_agree() -> None:
    done = subprocess.run([sys.executable, "scripts/help_in_docs", "--check"], cwd=ROOT, check=False, env=os.environ)
    assert done.returncode == 0


def test_readme_names_every_exit_status() -> None:
    readme = (ROOT / "README.md").read_text()
    for status in range(7):
        assert f"| {status} " in readme
