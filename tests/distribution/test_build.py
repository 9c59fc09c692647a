"""The wheel and the source archive: the same bytes from the same sources, and the right files in them."""

from __future__ import annotations

import os
import subprocess
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.distribution.conftest import PROJECT, Dist, build

NAME = f"kernelindex_liger-{PROJECT['project']['version']}"
NOT_SHIPPED = {".ci/run"}


def different(sources: Callable[[str], Path]) -> Path:
    """The same sources at another place: other times, other permissions, and what tools leave lying about."""
    folder = sources("a folder elsewhere")
    for path in sorted(folder.rglob("*"), reverse=True):
        if path.is_file():
            # What git keeps of permissions is whether the owner may execute.
            path.chmod(0o700 if path.stat().st_mode & 0o100 else 0o600)
            os.utime(path, (1_234_567_890, 1_234_567_890))
    left = folder / "kernelindex_liger" / "__pycache__" / "x.cpython-311.pyc"
    left.parent.mkdir()
    left.write_bytes(b"left")
    (folder / ".venv").mkdir()
    (folder / ".venv" / "pyvenv.cfg").write_text("home = /")
    return folder


def same(one: Dist, other: Dist) -> bool:
    """Whether names and bytes of both files are equal."""
    pairs = ((one.wheel, other.wheel), (one.sdist, other.sdist))
    return all(a.name == b.name and a.read_bytes() == b.read_bytes() for a, b in pairs)


def test_place_time_umask_and_locale_change_no_byte(dist: Dist, sources: Callable[[str], Path], tmp_path: Path) -> None:
    before = os.umask(0o077)
    try:
        other = build(
            different(sources), tmp_path, TZ="Pacific/Kiritimati", LC_ALL="C", PYTHONHASHSEED="7", HOME=str(tmp_path)
        )
    finally:
        os.umask(before)
    assert same(dist, other)


def test_a_stated_time_is_kept_and_gives_the_same_bytes_again(
    dist: Dist, sources: Callable[[str], Path], tmp_path: Path
) -> None:
    stated = {"SOURCE_DATE_EPOCH": "1700000000"}
    first = build(sources("stated"), tmp_path / "first", **stated)
    second = build(different(sources), tmp_path / "second", TZ="Asia/Kathmandu", **stated)
    assert same(first, second)
    with tarfile.open(first.sdist) as archive:
        assert {member.mtime for member in archive} == {1700000000}
    assert not same(dist, first), "the time is stated in the files"


def test_the_wheel_of_the_source_archive_is_the_wheel(dist: Dist, tmp_path: Path) -> None:
    with tarfile.open(dist.sdist) as archive:
        archive.extractall(tmp_path, filter="data")
    again = build(tmp_path / NAME, tmp_path / "dist")
    assert same(dist, again)


def test_the_wheel_holds_the_package_and_nothing_else(dist: Dist) -> None:
    with zipfile.ZipFile(dist.wheel) as archive:
        held = set(archive.namelist())
    package = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "kernelindex_liger").rglob("*")
        if path.is_file() and path.suffix != ".pyc"
    }
    info = f"{NAME}.dist-info"
    own = {f"{info}/{name}" for name in ("METADATA", "WHEEL", "RECORD", "entry_points.txt", "licenses/LICENSE")}
    assert held == package | own
    assert "kernelindex_liger/py.typed" in held
    assert "kernelindex_liger/catalog/data/kernels/rms_norm.toml" in held


def test_the_source_archive_holds_every_file_of_the_repository(dist: Dist) -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("not a clone: nothing to compare the archive with")
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
    tracked = {name for name in listed.stdout.split("\0") if name and (ROOT / name).exists()}
    with tarfile.open(dist.sdist) as archive:
        held = {member.name.removeprefix(f"{NAME}/") for member in archive if member.isfile()}
        modes = {member.mode for member in archive if member.name.startswith(f"{NAME}/scripts/") and member.isfile()}
    assert tracked - held == NOT_SHIPPED
    assert {name for name in held - tracked if "/" not in name} == {"PKG-INFO"}
    assert 0o755 in modes
