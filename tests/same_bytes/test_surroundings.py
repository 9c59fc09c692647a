"""Hash seeds, locales, time zones, threads, and other Pythons."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.faults.harness import files

LOCALES = {"de_DE.ISO-8859-1": "de_DE", "tr_TR.ISO-8859-9": "tr_TR"}
"""Where a text's encoding, a decimal comma and dotless i differ from what is usual."""

PYTHONS = ("3.11", "3.12", "3.13", "3.14")


def everything(python: str, folder: Path, out: Path, **changes: str) -> dict[str, bytes]:
    """What an interpreter makes of a folder."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("LC_", "PYTHON"))}
    environment |= {"PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1", "LANG": "C.UTF-8"} | changes
    command = [python, "-m", "tests.same_bytes.everything", folder.name, str(out)]
    done = subprocess.run(command, cwd=folder.parent, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = files(out)
    found.pop("python")
    return found


@pytest.fixture(scope="module")
def reference(inputs: Path, tmp_path_factory) -> dict[str, bytes]:
    """What this interpreter makes of the inputs, in plain surroundings."""
    found = everything(sys.executable, inputs, tmp_path_factory.mktemp("reference"), PYTHONHASHSEED="0", TZ="UTC")
    assert {name.partition("/")[0] for name in found} == {"tree", "jsonl", "parquet", "submission", "history"}
    assert "größe.csv".encode() in found["jsonl/report.json"]
    return found


@pytest.fixture(scope="module")
def locales(tmp_path_factory) -> Path:
    """A folder of the locales, compiled from their sources."""
    folder = tmp_path_factory.mktemp("locales")
    if shutil.which("localedef") is None:
        pytest.skip("localedef is not installed, which makes locales")
    for name, source in LOCALES.items():
        command = ["localedef", "-i", source, "-f", name.partition(".")[2], str(folder / name)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if not (folder / name / "LC_CTYPE").exists():
            pytest.skip(f"no locale {name} can be made here: {done.stderr.strip()[-200:]}")
    return folder


def test_seeds_zones_and_threads_change_no_byte(inputs: Path, reference, tmp_path: Path) -> None:
    changes = {"PYTHONHASHSEED": "1", "TZ": "Asia/Kathmandu", "POLARS_MAX_THREADS": "1", "LC_ALL": "C"}
    assert everything(sys.executable, inputs, tmp_path, **changes) == reference


@pytest.mark.parametrize("name", LOCALES)
def test_locales_change_no_byte(inputs: Path, reference, locales: Path, tmp_path: Path, name: str) -> None:
    surroundings = {"LC_ALL": name, "LOCPATH": str(locales), "PYTHONHASHSEED": "random"}
    check = "import locale; locale.setlocale(locale.LC_ALL, ''); print(locale.getencoding())"
    told = subprocess.run(
        [sys.executable, "-c", check], env={**os.environ, **surroundings}, capture_output=True, text=True, check=True
    )
    assert told.stdout.strip().upper() == name.partition(".")[2]
    assert (
        everything(sys.executable, inputs, tmp_path, **surroundings, TZ="America/St_Johns", POLARS_MAX_THREADS="2")
        == reference
    )


@pytest.mark.slow
@pytest.mark.parametrize("version", PYTHONS)
def test_every_python_gives_the_same_bytes(inputs: Path, reference, tmp_path: Path, request, version: str) -> None:
    python = environment_of(version, Path(request.config.cache.mkdir("pythons")))
    assert everything(str(python), inputs, tmp_path) == reference
    assert (tmp_path / "python").read_text().startswith(f"{version}.")


def environment_of(version: str, cache: Path) -> Path:
    """An interpreter of this version with the core dependencies at this interpreter's versions; made once, kept."""
    made = cache / version / "bin" / "python"
    if (cache / version / "ready").exists():
        return made
    if not os.environ.get("KERNELINDEX_LIGER_PYTHONS"):
        pytest.skip("KERNELINDEX_LIGER_PYTHONS=all makes environments of other Pythons, which takes a minute each")
    base = found(version)
    if base is None:
        pytest.skip(f"no Python {version} on PATH, under ~/.pyenv/versions or in KERNELINDEX_LIGER_PYTHONS")
    shutil.rmtree(cache / version, ignore_errors=True)
    subprocess.run([base, "-m", "venv", str(cache / version)], check=True)
    done = subprocess.run(
        [str(made), "-m", "pip", "install", "-q", *pinned()], capture_output=True, text=True, check=False
    )
    if done.returncode:
        pytest.skip(f"the dependencies cannot be installed for Python {version}: {done.stderr.strip()[-300:]}")
    (cache / version / "ready").touch()
    return made


def found(version: str) -> str | None:
    """An interpreter of this version that runs: one that is named, kept by pyenv, or on PATH."""
    named = [name for name in os.environ.get("KERNELINDEX_LIGER_PYTHONS", "").split(os.pathsep) if os.sep in name]
    kept = map(str, sorted((Path.home() / ".pyenv" / "versions").glob(f"{version}.*/bin/python"), reverse=True))
    for python in (sys.executable, *named, *kept, shutil.which(f"python{version}")):
        told = python and subprocess.run([python, "-V"], capture_output=True, text=True, check=False)
        if told and told.stdout.startswith(f"Python {version}."):
            return python
    return None


def pinned() -> list[str]:
    """The core dependencies, each at the version that this interpreter has."""
    from importlib.metadata import version

    names = ("polars", "pydantic", "click", "rich", "rfc8785", "filelock")
    return [f"{name}=={version(name)}" for name in names]
