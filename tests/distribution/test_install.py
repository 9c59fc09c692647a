"""The wheel in an empty environment: no more than the core dependencies, and it works."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from tests.conftest import FIXTURES, REHEARSED
from tests.distribution.conftest import PROJECT, Dist

pytestmark = pytest.mark.slow

CORE = {re.split(r"[>=<]", one)[0] for one in PROJECT["project"]["dependencies"]}
CLOSURE = """
import json, re, sys
from importlib import metadata
from pip._vendor.packaging.requirements import Requirement

def canonical(name):
    return re.sub("[-_.]+", "-", name).lower()

found, left = set(), [canonical(name) for name in sys.argv[1:]]
while left:
    name = left.pop()
    if name not in found:
        found.add(name)
        wanted = map(Requirement, metadata.requires(name) or ())
        left += [canonical(one.name) for one in wanted if not one.marker or one.marker.evaluate({"extra": ""})]
held = {canonical(one.metadata["Name"]) for one in metadata.distributions()}
print(json.dumps({"needed": sorted(found), "held": sorted(held)}))
"""


@pytest.fixture(scope="module")
def bin_(dist: Dist, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of a new environment that holds the wheel; skips where no package index answers."""
    folder = tmp_path_factory.mktemp("empty")
    venv.create(folder, with_pip=True)
    done = subprocess.run(
        [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", str(dist.wheel)],
        env=clean(), capture_output=True, text=True, check=False,
    )  # fmt: skip
    unreachable = re.search(
        r"NewConnectionError|ConnectTimeout|Temporary failure|No matching distribution", done.stderr
    )
    if done.returncode and unreachable and not REHEARSED:
        pytest.skip(f"the core dependencies cannot be downloaded here: {unreachable[0]}")
    assert done.returncode == 0, done.stderr
    return folder / "bin"


def clean() -> dict[str, str]:
    """The environment without what would let the sources in."""
    return {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}


def run(program: Path, *arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(program), *arguments], cwd=cwd, env=clean(), capture_output=True, text=True, check=False)


def test_nothing_but_the_core_dependencies_is_installed(bin_: Path, tmp_path: Path) -> None:
    done = run(bin_ / "python", "-c", CLOSURE, *CORE, cwd=tmp_path)
    said = json.loads(done.stdout)
    assert set(said["needed"]) >= CORE
    # What venv itself puts there may be more than pip on an older Python.
    assert set(said["held"]) - {"pip", "setuptools", "kernelindex-liger"} == set(said["needed"]) - {"setuptools"}


def test_the_command_works(bin_: Path, tmp_path: Path) -> None:
    shown = run(bin_ / "ligerimport", "--help", cwd=tmp_path)
    assert shown.returncode == 0
    assert shown.stdout.startswith("Usage: ligerimport ")
    versions = run(bin_ / "ligerimport", "--version", "--verbose", cwd=tmp_path).stdout
    for name in CORE:
        assert re.search(rf"^  {name} +\d", versions, re.MULTILINE), versions
    done = run(bin_ / "ligerimport", "csv", str(FIXTURES / "csv" / "nine.csv"), "-o", "out", cwd=tmp_path)
    assert done.returncode == 3, done.stderr
    assert len(list((tmp_path / "out" / "runs").rglob("*.json"))) == 4
    assert run(bin_ / "ligerimport", "validate", "out", cwd=tmp_path).returncode == 0


def test_without_extras_commands_say_what_to_install(bin_: Path, tmp_path: Path) -> None:
    bench = run(bin_ / "ligerimport", "bench", "--kernel", "rms_norm", "-o", "results.csv", cwd=tmp_path)
    assert bench.returncode == 4
    assert "pip install 'kernelindex-liger[bench]'" in bench.stderr
    page = run(bin_ / "ligerimport", "report", str(FIXTURES / "csv" / "seeds.csv"), "-o", "page.html", cwd=tmp_path)
    assert page.returncode != 0
    assert "kernelindex-liger[report]" in page.stderr
    assert not list(tmp_path.glob("*.csv")) + list(tmp_path.glob("*.html"))


def test_its_types_reach_a_user(bin_: Path, tmp_path: Path) -> None:
    pytest.importorskip("mypy", reason="mypy is not installed: scripts/test installs it")
    (tmp_path / "user.py").write_text(
        "from kernelindex_liger import Options, convert\nreveal_type(convert(['a.csv'], 'out', Options()).bundles)\n"
        "convert(7)\n"
    )
    done = run(
        Path(sys.executable), "-m", "mypy", "--python-executable", str(bin_ / "python"), "--strict", "user.py",
        cwd=tmp_path,
    )  # fmt: skip
    assert 'Revealed type is "int"' in done.stdout.replace("builtins.", ""), done.stdout
    assert "incompatible type" in done.stdout
    assert "missing library stubs" not in done.stdout
