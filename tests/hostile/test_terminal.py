"""Nothing that stands in an input drives a terminal, turns text around or hides in it, whatever command shows it."""

from __future__ import annotations

import json
import unicodedata
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from kernelindex_liger.cli import main
from kernelindex_liger.documents.sidecar import SCHEMA
from kernelindex_liger.untrusted import UNSAFE, quoted, safe, safe_json, spelled
from tests.conftest import FIXTURES, ROW, text
from tests.hostile.parts import history, rows

EVIL = "\x1b[2J\x1b]0;owned\x07\x9b31m[red]\u202e\u200b\u2066\U000e0041<b>|`*"
SEEN = "x1b[2J", "u001b[2J", "x1b\\[2J"
"""What is shown of it, in text, in JSON and in Markdown."""


def run(*arguments: str | Path, seen: bool = True, keep: str = "\n") -> Result:
    """A command that has to show `EVIL` (where it is `seen`), and does so escaped."""
    result = CliRunner().invoke(main, [str(one) for one in arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    said = result.output
    raw = {one for one in said if one not in keep and unicodedata.category(one) in UNSAFE}
    assert not raw, (arguments, {f"U+{ord(one):04X}" for one in raw})
    assert not seen or any(one in said for one in SEEN), said
    return result


@pytest.mark.parametrize("column", list(ROW))
def test_any_column_of_a_csv(tmp_path: Path, column: str) -> None:
    path = tmp_path / "in.csv"
    path.write_text(text([ROW, ROW | {column: EVIL, "x_value": EVIL if column == "x_value" else ""}]), newline="")
    run("csv", path, "-o", tmp_path / EVIL)


def test_names_of_files_and_what_is_in_them(tmp_path: Path) -> None:
    path = tmp_path / f"{EVIL.replace('/', '')}.csv"
    run("csv", path, "-o", tmp_path / "out")
    path.write_text("")
    run("csv", path, "-o", tmp_path / "out")
    path.write_text(",".join([*ROW, EVIL]) + "\n")
    run("csv", path, "-o", tmp_path / "out")
    path.write_text(text([ROW]) + f"{EVIL}\n")
    run("csv", path, "-o", tmp_path / "out")
    run("history", "add", path.with_name(f"no{path.name}"), "--history", tmp_path / "history")
    run("history", "add", path, "--history", tmp_path / "history")
    run("history", "add", path, "--history", tmp_path / "history", "--label", EVIL)
    run("compare", path, path)
    run("report", path, "--format", "text")
    run("report", path, "--format", "md")
    run("report", path, "--format", "json")


def test_what_a_person_types(tmp_path: Path) -> None:
    for arguments in (
        [EVIL],
        ["csv", f"--no-such-{EVIL}", "x.csv"],
        ["csv", FIXTURES / "csv" / "nine.csv", "--dry-run", "--exclude-caveat", EVIL],
        ["csv", "x.csv", "-o", "out", "--catalog", EVIL],
        ["catalog", "show", EVIL],
        ["validate", EVIL],
        ["report", EVIL],
        ["history", "list", "--history", EVIL],
        ["history", "show", "k", "--history", EVIL],
        ["compare", "--history", EVIL],
        ["nightly", "--home", tmp_path / EVIL, "--csv", EVIL],
    ):
        run(*arguments)


FACTS = """
[projects.evil]
name = "EVIL"
repository = "EVIL"
host = { kind = "EVIL" }
[providers.evil]
title = "EVIL"
project = "evil"
language = "python"
description = "EVIL EVIL"
declared = "EVIL"
[[gpus]]
vendor = "v"
product = "EVIL"
architecture = "a"
names = { "EVIL" = "EVIL" }
[models."EVIL"]
"EVIL" = "EVIL"
[protocols.evil]
name = "EVIL"
title = "EVIL"
timer = "t"
notes = "EVIL"
passes = { "EVIL" = "EVIL" }
[[caveats]]
id = "evil"
sentence = "EVIL is no sentence at all."
evidence = "EVIL is no evidence."
match = { kernel = "EVIL" }
[[corrections]]
id = "evil"
sentence = "EVIL is no sentence at all."
evidence = "EVIL is no evidence."
match = { kernel = "EVIL" }
utc_offset_minutes = 1
"""


def test_a_catalogue_file(tmp_path: Path) -> None:
    facts = tmp_path / "facts.toml"
    facts.write_text(FACTS.replace("EVIL", json.dumps(EVIL)[1:-1].replace("\\udb40\\udc41", "\\U000e0041")))
    for what in ("providers", "gpus", "protocols", "models"):
        run("catalog", "list", what, "--catalog", facts, keep="\n\t")
    run("catalog", "caveats", "--catalog", facts)
    run("catalog", "diff", "--catalog", facts)
    for content in ('"\\u001b[2J\\u202e" = 1', "\x1b[2J = 1", '[providers."\\u001b[2J"]', 'kernel = "\x1b[2J"'):
        facts.write_text(content)
        run("catalog", "check", facts, seen="u001b" in content)


def test_a_sidecar(tmp_path: Path) -> None:
    path = tmp_path / "in.csv"
    path.write_text(text([ROW]), newline="")
    series = {name: ROW[name] for name in ROW if not name.startswith(("y_", "x_value"))}
    line = {
        "schema": SCHEMA,
        "series": series | {"kernel_provider": EVIL},
        "gpu": {"name": ROW["gpu_name"], "count": 1},
        "software": {"runner": "1"},
        "protocol": {"harness": "triton.testing.do_bench"},
        "cases": [{"x_value": EVIL, "status": "runtime_error", "error": EVIL}],
    }
    for one in (line, line | {EVIL: 1}, line | {"gpu": {"name": EVIL, "count": 1}}, line | {"protocol": EVIL}):
        (tmp_path / "in.meta.jsonl").write_text(json.dumps(one) + "\n")
        run("csv", path, "-o", tmp_path / "out", seen="protocol" not in one or one["protocol"] != EVIL)


@pytest.mark.parametrize("column", ["label", "machine", "kernel", "provider", "pass", "name", "case", "case_key"])
def test_a_history_of_somebody_else(tmp_path: Path, column: str) -> None:
    folder = history(
        tmp_path / "history",
        *(rows(night, **{"case": "0" * 16, column: EVIL, "ns": 1000 if night < 6 else 2000}) for night in range(8)),
    )
    kernel = EVIL if column == "kernel" else "rms_norm"
    shown = {
        "label": ["list", "json", "compare", "report"],
        "machine": ["list", "show", "json", "compare", "report"],
        "kernel": ["json", "compare", "report"],
        "provider": ["json", "report"],
        "pass": ["json", "report"],
        "name": ["show", "json", "compare"],
        "case": ["json"],
        "case_key": ["report"],
    }[column]
    commands = {
        "list": [("history", "list", "--history", folder)],
        "show": [("history", "show", kernel, "--history", folder)] if column == "name" else [],
        "json": [
            ("history", "show", kernel, "--history", folder, "--format", "json"),
            ("compare", "--history", folder, "--format", "json"),
        ],
        "compare": [("compare", "--history", folder)] if column != "kernel" else [],
        "report": [("report", "--history", folder, "--format", "md")],
    }
    for one in shown:
        for arguments in commands[one]:
            run(*arguments)


def test_a_broken_history(tmp_path: Path) -> None:
    folder = history(tmp_path / EVIL, b"PAR1" + EVIL.encode())
    run("history", "list", "--history", folder)
    run("history", "check", "--history", folder)
    folder = history(tmp_path / "marks", rows())
    (folder / "marks").mkdir()
    (folder / "marks" / "1.json").write_text(json.dumps({"kind": EVIL, EVIL: 1}))
    run("compare", "--history", folder, seen=False)
    (folder / "history.json").write_text(json.dumps({"version": EVIL}))
    run("history", "list", "--history", folder)


def test_settings_and_thresholds(tmp_path: Path) -> None:
    key = json.dumps(EVIL).replace("\\udb40\\udc41", "\\U000e0041")
    settings, thresholds = tmp_path / "nightly.toml", tmp_path / "thresholds.toml"
    csv = "[csv]\nsource = 'in.csv'\n"
    for content in (
        f"{key} = 1",
        f"[csv]\n{key} = 1",
        f"[csv]\nsource = {key}",
        '[csv]\nsource = "git+\\u001b[2J"',
        '[csv]\nsource = "https://\\u001b[2J/x.csv"',
        f"{csv}[judge]\nthresholds = {key}",
        f"{csv}[import]\ncatalog = [{key}]",
    ):
        settings.write_text(content)
        (tmp_path / "in.csv").write_text(text([ROW]), newline="")
        for form in ("text", "json"):
            run("nightly", "--home", tmp_path, "--log", form)
    log = (tmp_path / "nightly.log").read_text()
    assert not {one for one in log if one != "\n" and unicodedata.category(one) in UNSAFE}
    for content in (f"{key} = 1", f"preset = {key}", f"[[rule]]\n{key} = 1"):
        thresholds.write_text(content)
        run("compare", tmp_path / "in.csv", tmp_path / "in.csv", "--thresholds", thresholds)


def test_documents_of_somebody_else(tmp_path: Path) -> None:
    out = tmp_path / "out"
    (out / "runs").mkdir(parents=True)
    (out / "runs" / f"{EVIL.replace('/', '')}.json").write_text(json.dumps({"kind": EVIL}))
    (out / "runs.jsonl").write_text(json.dumps({"run": {"kind": "BenchmarkRun", EVIL: 1}}) + "\n")
    (out / "submission.yaml").write_text(
        json.dumps({"implementations": [{"manifest": {}, "projectSlug": EVIL}], "projects": [{EVIL: EVIL}]})
    )
    run("validate", out)


def test_what_is_escaped_is_still_told() -> None:
    assert safe("é\tü") == "é\\tü"
    assert spelled("caf\u00e9 \u0435") == "caf\\xe9 \\u0435"
    assert quoted("x" * 1000) == f"'{'x' * 199}…"
    for one in (EVIL, "\ud800", "plain", "\u2028", "\U0001f600"):
        assert json.loads(safe_json(json.dumps(one, ensure_ascii=False))) == one
        assert safe(one, keep="").encode()
