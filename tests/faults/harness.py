"""What the fault tests share: inputs, runs of the command line, and what must be true of a folder afterwards."""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from unittest.mock import patch

from click.testing import CliRunner

from kernelindex_liger.cli import main
from kernelindex_liger.conversion import pipeline, sources
from kernelindex_liger.conversion.atomic import LOCK, TEMPORARY
from kernelindex_liger.conversion.formats import parquet, submission
from tests.conftest import ROW, text
from tests.faults.injection import Injection, Operation, injected

ALL = os.environ.get("KERNELINDEX_LIGER_FAULTS") == "all"
"""Walk through every operation, not through the first and the last of each kind."""

FORMATS = ("tree", "jsonl", "parquet", "submission")
WORDS = {"full": "No space left on device", "denied": "Permission denied", "interrupted": "Interrupted system call"}
Files = dict[str, bytes]


def rows(scale: float = 1.0) -> list[dict[str, str]]:
    """Eight rows: six runs of two operations, one of them twice, one contradicted."""
    made = []
    for kernel, x in (("rms_norm", 1024), ("rms_norm", 2048), ("rms_norm", 4096), ("rms_norm", 8192)):
        values = {"y_value_50": str(0.5 * scale), "y_value_20": str(0.4 * scale), "y_value_80": str(0.6 * scale)}
        made.append(ROW | {"kernel_name": kernel, "x_value": str(x)} | values)
    backward = [row | {"kernel_operation_mode": "backward"} for row in made[:2]]
    contradicted = ROW | {"x_value": "16384", "y_value_50": "0.51"}
    return [contradicted, *made, *backward, made[0], contradicted | {"y_value_50": "0.52"}]


def csvs(folder: Path) -> tuple[Path, Path]:
    """A CSV, and an older one with the same runs and other numbers."""
    new, old = folder / "new" / "in.csv", folder / "old" / "in.csv"
    for path, scale in ((new, 1.0), (old, 2.0)):
        path.parent.mkdir()
        path.write_text(text(rows(scale)), newline="")
    return new, old


@contextmanager
def small() -> Iterator[None]:
    """Small blocks, row groups and submissions, so that a few rows take every road; the catalogue is loaded once."""
    with ExitStack() as stack:
        for module, name, value in (
            (sources, "BLOCK", 1200), (parquet, "ROW_GROUP", 2), (submission, "RUNS", 4), (pipeline, "load", _loaded()),
        ):  # fmt: skip
            stack.enter_context(patch.object(module, name, value))
        yield


@functools.cache
def _loaded() -> Callable[..., object]:
    catalog = pipeline.load([])
    return lambda _=(): catalog


def run(*arguments: str) -> tuple[int, str]:
    """Exit status and what was said on stderr; any exception that would be a traceback is raised."""
    result = CliRunner().invoke(main, list(arguments))
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.stderr


def struck(root: Path, arguments: Sequence[str], fault: str | None = None, at: int = -1) -> tuple[int, str, Injection]:
    """A run with a fault, and the proof that every change below `root` was an operation."""
    with injected(Injection(root, fault, at)) as injection:
        status, said = run(*arguments)
    assert injection.strays == []
    return status, said, injection


def walk(operations: Sequence[Operation], faults: Sequence[str]) -> Iterator[tuple[str, int]]:
    """Faults, and the numbers of the operations that they strike.

    All of them by all; or the first and the last of each site by one fault, so that each fault gets its share.
    """
    if ALL:
        yield from ((fault, at) for fault in faults for at in range(len(operations)))
        return
    sites: dict[tuple[str, str], list[int]] = {}
    for number, operation in enumerate(operations):
        sites.setdefault(operation.site, []).append(number)
    numbers = sorted({number for each in sites.values() for number in (each[0], each[-1])})
    yield from ((faults[index % len(faults)], at) for index, at in enumerate(numbers))


COUNTS = re.compile(rb'"(written|unchanged)": \d+,?')


def files(folder: Path) -> Files:
    """Finished files below a folder, with their bytes; of reports without how many documents a run found there."""
    return {
        str(path.relative_to(folder)): COUNTS.sub(b"", content) if path.name == "report.json" else content
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.name.startswith(".")
        for content in [path.read_bytes()]
    }


def unfinished(folder: Path) -> list[str]:
    """Temporary files below a folder."""
    return [path.name for path in folder.rglob(f"{TEMPORARY}*") if path.name != LOCK]


def whole(folder: Path, *allowed: Files) -> None:
    """Every finished file has the bytes that one of `allowed` says it has."""
    for name, content in files(folder).items():
        assert any(one.get(name) == content for one in allowed), f"{name}: {len(content)} bytes that nobody wrote"


def well_said(said: str, fault: str) -> None:
    """The message names a place and a reason, once, and what to do; it is no traceback."""
    lines = said.strip().splitlines()
    assert len(lines) == 1, said
    assert re.fullmatch(r"ligerimport: \S+: .+; .+", lines[0]), said
    assert fault == "vanished" or WORDS[fault] in said, said
    assert "None" not in said
