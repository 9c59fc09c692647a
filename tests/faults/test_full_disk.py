"""Real file systems that are full or read-only, where this machine lets a test mount one."""

from __future__ import annotations

import functools
import json
import subprocess
import sys

import pytest

from tests.conftest import ROOT
from tests.faults.harness import FORMATS

NAMESPACE = ["unshare", "--map-root-user", "--mount"]


@functools.cache
def why_not() -> str:
    """Why no file system can be mounted here; empty where one can."""
    try:
        done = subprocess.run([*NAMESPACE, "mount", "-t", "tmpfs", "tmpfs", "/mnt"], capture_output=True, text=True)  # noqa: PLW1510
    except FileNotFoundError:
        return "unshare is not installed"
    return done.stderr.strip() if done.returncode else ""


def mounted(*command: str) -> subprocess.CompletedProcess[str]:
    if why_not():
        pytest.skip(f"no file system can be mounted here: {why_not()}")
    return subprocess.run([*NAMESPACE, *command], capture_output=True, text=True, check=False, cwd=ROOT)


@pytest.fixture(scope="module")
def attempts(tmp_path_factory) -> list[dict]:
    """What became of each command on each size of disk."""
    mount, scratch = tmp_path_factory.mktemp("mount"), tmp_path_factory.mktemp("scratch")
    done = mounted(sys.executable, "-m", "tests.faults.full_disk", str(mount), str(scratch))
    assert done.returncode == 0, done.stderr
    assert "Exception ignored" not in done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.parametrize("name", [*FORMATS, "history", "report", "nightly"])
def test_a_full_disk_is_said_and_room_completes_it(attempts: list[dict], name: str) -> None:
    ample, *tight = [one for one in attempts if one["name"] == name]
    good = {"history": 0, "report": 0, "nightly": 3}.get(name, 3)
    assert ample["status"] == good
    assert tight
    for one in tight:
        assert one["status"] == 6, one["pages"]
        assert "No space left on device" in one["said"]
        assert "Traceback" not in one["said"]
        assert one["unfinished"] == [], one["pages"]
        if name != "nightly":
            assert len(one["said"].splitlines()) == 1
            assert one["before"].items() <= ample["after"].items() or name == "tree", one["pages"]
        assert one["again"] == good, one["said_again"]
        assert one["after"] == ample["after"], one["pages"]
        assert one["unfinished_after"] == []


def test_a_read_only_disk_is_said(attempts: list[dict]) -> None:
    (told,) = [one["said"] for one in attempts if one["name"] == "read-only"]
    assert len(told) == 4
    for status, said in told:
        assert status == 6
        assert len(said.splitlines()) == 1
        assert "Read-only file system" in said
