"""A process killed in the middle of every write: half of it reached the disk, and nothing tidies up after it."""

from __future__ import annotations

import shutil
import signal
from pathlib import Path

import pytest

from tests.faults.forks import Forks
from tests.faults.harness import ALL, FORMATS, small, walk, whole
from tests.faults.test_conversion import arguments, completed, operations, prepared, scene  # noqa: F401 - a fixture


@pytest.fixture(scope="module")
def forks():
    with Forks() as started:
        yield started


@pytest.mark.parametrize("format_", FORMATS)
def test_a_killed_conversion_is_whole_and_completed_by_the_next(
    scene,  # noqa: F811
    forks: Forks,
    tmp_path: Path,
    format_: str,
) -> None:
    new, old, reference, older, contradicted = scene(format_)
    start = "empty" if format_ == "tree" else "older"
    with small():
        numbers = [at for _, at in walk(operations(format_, start, new, old), ["killed"])]
        for at in numbers if ALL else numbers[FORMATS.index(format_) % 2 :: 2]:
            out = prepared(tmp_path / "out", format_, start, old)
            assert forks.killed(out, arguments(new, out, format_), at) == -signal.SIGKILL
            whole(out, reference, older if start == "older" else {}, contradicted)
            completed(out, new, format_, reference, f"killed at {at}")
            shutil.rmtree(out)
