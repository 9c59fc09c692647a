"""Every target with its corpus, and with what a bounded number of changes makes of it.

`KERNELINDEX_LIGER_FUZZ=N` tries N changed inputs a target, chosen anew each time, in place of the same few.
"""

from __future__ import annotations

import functools
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.fuzz.targets import TARGETS

CORPUS = Path(__file__).parent / "corpus"
KNOWN = [(name, path) for name in TARGETS for path in sorted((CORPUS / name).glob("*"))]

MORE = int(os.environ.get("KERNELINDEX_LIGER_FUZZ", "0"))

PIECES = [
    b"", b"\x00", b"\xff", b"\n", b"\r", b'"', b",", b"{", b"}", b"[", b"]", b":", b"=", b"\\", b"\\ud800", b"null",
    b"true", b"NaN", b"Infinity", b"-1", b"0", b"1e999", b"9" * 20, b"9" * 400, b"1.5", b'""', b"[" * 300,
    b"\xef\xbb\xbf",    "\u202e".encode(), "\u2028".encode(), b"\x1b[2J", b"..", b"/", b"torch.bfloat16",
]  # fmt: skip
"""What is put in; bytes that mean something to one reader or another."""


EXAMPLES = {"part": 40, "values": 40, "binder": 60}
"""Fewer of what takes a tenth of a second."""


@functools.cache
def inputs(name: str) -> list[bytes]:
    return [*TARGETS[name][1], *(path.read_bytes() for target, path in KNOWN if target == name)]


@st.composite
def changed(draw: st.DrawFn, name: str) -> bytes:
    """An input with up to four pieces of it replaced by others, or by pieces of another input."""
    data = draw(st.sampled_from(inputs(name)))
    for _ in range(draw(st.integers(0, 4))):
        start = draw(st.integers(0, len(data)))
        end = min(len(data), start + draw(st.sampled_from([0, 1, 2, 8, 64, 1024])))
        other = draw(st.sampled_from(inputs(name)))
        place = draw(st.integers(0, len(other)))
        piece = draw(st.sampled_from([*PIECES, other[place : place + 32], data[start:end] * 2]) | st.binary(max_size=8))
        data = data[:start] + piece + data[end:]
    return data


@pytest.mark.parametrize(("name", "path"), KNOWN, ids=[f"{name}-{path.name}" for name, path in KNOWN])
def test_the_corpus(name: str, path: Path) -> None:
    TARGETS[name][0](path.read_bytes())


@pytest.mark.parametrize("name", TARGETS)
def test_what_the_fuzzer_begins_with(name: str) -> None:
    for data in TARGETS[name][1]:
        TARGETS[name][0](data)


@pytest.mark.parametrize("name", TARGETS)
def test_what_changes_make_of_it(name: str) -> None:
    @settings(
        max_examples=MORE or EXAMPLES.get(name, 100),
        derandomize=not MORE,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(changed(name))
    def run(data: bytes) -> None:
        TARGETS[name][0](data)

    run()
