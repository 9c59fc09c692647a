"""Builds of the wheel and the source archive, by the build tool that is locked for the tests."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.conftest import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
SOURCES = (*PROJECT["tool"]["hatch"]["build"]["targets"]["sdist"]["include"], "pyproject.toml", ".gitignore")
MADE = shutil.ignore_patterns("__pycache__", "*.py[co]")


@dataclass(frozen=True)
class Dist:
    """What a build gave."""

    wheel: Path
    sdist: Path


def build(sources: Path, out: Path, **environment: str) -> Dist:
    """Build both in the folder of sources; skips where the build tool is not installed."""
    pytest.importorskip("hatchling", reason="hatchling is not installed: scripts/test installs it")
    inherited = {name: value for name, value in os.environ.items() if name != "SOURCE_DATE_EPOCH"}
    done = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "--directory", str(out)],
        cwd=sources, env={**inherited, **environment}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    (wheel,), (sdist,) = out.glob("*.whl"), out.glob("*.tar.gz")
    return Dist(wheel, sdist)


@pytest.fixture(scope="session")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Copies the sources to a new folder of the given name; returns the folder."""

    def copy(name: str) -> Path:
        target = tmp_path_factory.mktemp(name) / name
        target.mkdir()
        for entry in SOURCES:
            path = ROOT / entry
            if path.is_dir():
                shutil.copytree(path, target / entry, ignore=MADE)
            else:
                (target / entry).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(path, target / entry)
        return target

    return copy


@pytest.fixture(scope="session")
def dist(sources: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> Dist:
    """One build of the sources as they are."""
    return build(sources("plain"), tmp_path_factory.mktemp("dist"))
