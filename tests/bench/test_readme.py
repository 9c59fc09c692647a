"""The README's rehearsal, command by command and line by line, with no more than the extra that it names."""

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
PATH = os.pathsep.join([str(ROOT / "tests" / "bench" / "only_extra"), str(ROOT)])
VARIES = re.compile(r"[\d.e+-]+ ms|\(\d+:\d+ left\)")


IMPORTS = """
import importlib, sys
from kernelindex_liger.bench import registry
from kernelindex_liger.bench.interpreter import enable
enable()
assert importlib.util.find_spec("pytest") is None, "what the extra does not bring is hidden"
for name in registry.names():
    kernel = registry.kernel(name)
    if not any(p.role == "liger" and not p.requires for p in kernel.providers):
        continue
    for module in kernel.liger:
        importlib.import_module(module)
        print(module)
"""


def test_the_extra_brings_all_that_liger_kernel_imports():
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", IMPORTS],
        env={**os.environ, "TRITON_INTERPRET": "1", "PYTHONPATH": PATH},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert len(set(done.stdout.split())) > 30


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
            env={**os.environ, "COLUMNS": "110", "PYTHONPATH": PATH},
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
