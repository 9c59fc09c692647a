"""The README's rehearsal, command by command and line by line."""

import os
import re
import shlex
import subprocess
import sys

import pytest

from tests.conftest import ROOT, need

pytestmark = [pytest.mark.bench, pytest.mark.slow]

need("torch", "triton", "liger_kernel", "numpy")

ANY_LINES = "…"
VARIES = re.compile(r"[\d.e+-]+ ms|\(\d+:\d+ left\)")


def sessions():
    """(arguments of ligerimport, lines shown) for each command of the README's block with the rehearsal."""
    blocks = re.findall(r"^```\n(.*?)^```$", (ROOT / "README.md").read_text(), re.MULTILINE | re.DOTALL)
    (block,) = (one for one in blocks if "--rehearse" in one)
    for session in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, *lines = session.splitlines()
        program, *arguments = shlex.split(command)
        assert program == "ligerimport"
        yield arguments, lines


def masked(line):
    return VARIES.sub("#", line.rstrip())


def test_the_rehearsal_and_its_import_give_what_the_readme_shows(tmp_path):
    statuses = []
    for arguments, shown in sessions():
        done = subprocess.run(
            [sys.executable, "-m", "kernelindex_liger", *arguments],
            cwd=tmp_path,
            env={**os.environ, "COLUMNS": "110", "PYTHONPATH": str(ROOT)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        statuses.append(done.returncode)
        said = [masked(line) for line in done.stdout.splitlines()]
        parts = [[]]
        for line in shown:
            if line == ANY_LINES:
                parts.append([])
            else:
                parts[-1].append(masked(line))
        if len(parts) == 1:
            assert said == parts[0]
        else:
            first, last = parts
            assert said[: len(first)] == first
            assert said[-len(last) :] == last
            assert len(said) > len(first) + len(last)
    assert statuses == [0, 3]
    assert not (tmp_path / "out" / "runs").exists()
    assert (tmp_path / "out" / "report.json").exists()
