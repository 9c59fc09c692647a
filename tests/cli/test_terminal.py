"""What a person meets at a terminal: help everywhere, completion, colours that can be switched off."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from kernelindex_liger.cli import COMMANDS, main
from tests.conftest import FIXTURES, ROOT

NINE = str(FIXTURES / "csv" / "nine.csv")
ESCAPE = re.compile(r"\x1b\[[\d;?]*[A-Za-z]")
COLOUR = re.compile(r"\x1b\[(?:\d+;)*(?:3[0-8]|4[0-8]|9[0-7]|10[0-7])[\d;]*m")
AS_INSTALLED = "from kernelindex_liger.cli import main; main(prog_name='ligerimport')"


def paths(command: click.Command, above: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    yield above
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            assert below is not None
            yield from paths(below, (*above, name))


@pytest.mark.parametrize("path", list(paths(main)), ids=" ".join)
def test_every_command_and_every_command_below_it_has_short_and_long_help(path: tuple[str, ...]) -> None:
    long, short = (CliRunner().invoke(main, [*path, flag]) for flag in ("--help", "-h"))
    assert long.exit_code == short.exit_code == 0
    assert long.output == short.output
    assert long.output.startswith("Usage: ")
    assert "-h, --help" in long.output


def complete(*words: str) -> list[str]:
    """What completion offers for the last word, without the kind in front of it."""
    environment = {
        **os.environ,
        "_LIGERIMPORT_COMPLETE": "bash_complete",
        "COMP_WORDS": " ".join(("ligerimport", *words)),
        "COMP_CWORD": str(len(words)),
    }
    command = [sys.executable, "-c", AS_INSTALLED]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.stderr == ""
    return [line.partition(",")[2] for line in done.stdout.splitlines()]


def test_commands_options_and_choices_are_completed() -> None:
    assert complete("") == list(COMMANDS)
    assert complete("c") == ["csv", "compare", "catalog"]
    assert complete("catalog", "sh") == ["show"]
    assert complete("bench", "--reh") == ["--rehearse"]
    assert complete("csv", "--format", "p") == ["parquet"]


def test_completing_a_command_imports_nothing_heavy() -> None:
    code = (
        "import atexit, sys\n"
        "atexit.register(lambda: print({'polars', 'pydantic', 'torch', 'rich'} & set(sys.modules), file=sys.stderr))\n"
        + AS_INSTALLED
    )
    environment = {
        **os.environ,
        "_LIGERIMPORT_COMPLETE": "bash_complete",
        "COMP_WORDS": "ligerimport v",
        "COMP_CWORD": "1",
    }
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert done.stdout == "plain,validate\n"
    assert done.stderr == "set()\n"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_that_the_readme_names_is_there_for_each_shell(shell: str) -> None:
    assert f"{shell}_source" in (ROOT / "README.md").read_text()
    environment = {**os.environ, "_LIGERIMPORT_COMPLETE": f"{shell}_source"}
    command = [sys.executable, "-c", AS_INSTALLED]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, cwd=ROOT)
    assert f"_LIGERIMPORT_COMPLETE={shell}_complete" in done.stdout


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash here")
def test_bash_completes_with_the_script(tmp_path: Path) -> None:
    program = tmp_path / "ligerimport"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -c "{AS_INSTALLED}" "$@"\n')
    program.chmod(0o755)
    typed = (
        'eval "$(_LIGERIMPORT_COMPLETE=bash_source ligerimport)"\n'
        "COMP_WORDS=(ligerimport cat) COMP_CWORD=1\n"
        '"$(complete -p ligerimport | sed "s/.*-F \\([^ ]*\\) .*/\\1/")" ligerimport\necho "${COMPREPLY[@]}"\n'
    )
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(["bash", "-c", typed], env=environment, capture_output=True, text=True, check=False)
    assert done.stdout == "catalog\n", done.stderr


def at_terminal(*arguments: str, **environment: str) -> str:
    """What a command prints when its streams are a terminal."""
    pty = pytest.importorskip("pty", reason="no pseudo-terminals here")
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "kernelindex_liger", *arguments], stdin=theirs, stdout=theirs, stderr=theirs, cwd=ROOT,
        env={name: value for name, value in os.environ.items() if name not in {"NO_COLOR", "FORCE_COLOR"}}
        | {"TERM": "xterm-256color", **environment},
    )  # fmt: skip
    os.close(theirs)
    said = b""
    try:
        while block := os.read(ours, 65536):
            said += block
    except OSError:  # the other end is closed
        pass
    os.close(ours)
    process.wait(timeout=60)
    return said.decode()


def test_no_color_switches_colours_off(tmp_path: Path) -> None:
    command = ("csv", NINE, "-o", str(tmp_path / "out"))
    assert COLOUR.search(at_terminal(*command)), "progress on a terminal is in colour"
    plain = at_terminal(*command, NO_COLOR="1")
    assert "rows read" in plain
    assert not COLOUR.search(plain)


@pytest.mark.parametrize("arguments", [("csv", NINE, "--dry-run"), ("catalog", "list", "gpus"), ("bench", "--list")])
def test_away_from_a_terminal_no_escape_code_is_written(arguments: tuple[str, ...]) -> None:
    command = [sys.executable, "-m", "kernelindex_liger", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.stdout + done.stderr
    assert not ESCAPE.search(done.stdout + done.stderr)
