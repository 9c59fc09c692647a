"""Readings and workloads that are made from a pattern, against those that are made one by one."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelindex_liger.catalog import load
from kernelindex_liger.conversion.link import Linker
from kernelindex_liger.conversion.linked import Linked
from kernelindex_liger.conversion.reading import Reading, Skip, Unread, read_workload
from kernelindex_liger.conversion.readings import Readings
from kernelindex_liger.conversion.workload import Form
from tests.conftest import FIXTURES

CATALOG = load()


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


KEYS = sorted(
    {
        (row["kernel_name"], row["kernel_provider"], row["x_name"], row["extra_benchmark_config_str"], row["x_value"])
        for path in (FIXTURES / "csv").glob("*.csv")
        for row in _rows(path)
        if row["kernel_name"] in CATALOG.kernels
    }
)
ODD = ["0", "-1", "1.5", "", "x", "1" * 17, str(2**53 - 1), str(2**53), "9007199254740001", "(1, 2)", "LLAMA_3_8B"]
XS = st.integers(1, 1 << 20).map(str) | st.integers(1, 64).map(lambda n: str(n * 1024)) | st.sampled_from(ODD)


def one_by_one(key: tuple[str, str, str, str], x: str) -> Reading | Skip:
    kernel, provider, x_name, config = key
    try:
        return read_workload(CATALOG, kernel, provider, x_name, x, config, None)
    except Unread as unread:
        return unread.skip


def made(reading: Reading, *, plainly: bool) -> Linked | str:
    form = Form(reading, Linker(CATALOG).operation(reading.operation))
    form._usable &= not plainly
    try:
        return form.fill(reading)
    except ValueError as error:
        return str(error)


@given(st.sampled_from(KEYS), st.lists(XS, max_size=6))
def test_a_pattern_gives_what_reading_one_by_one_gives(known: tuple[str, str, str, str, str], xs: list[str]) -> None:
    *key, first = known
    readings = Readings(CATALOG, *key, None)
    for x in (first, *xs, first):
        found = readings.of(x)
        plain = one_by_one(tuple(key), x)
        assert (found._replace(pattern=None) if isinstance(found, Reading) else found) == plain
        if isinstance(found, Reading):
            one, other = made(found, plainly=False), made(found, plainly=True)
            if isinstance(one, Linked) and isinstance(other, Linked):
                assert (one.name, one.text, one.digest) == (other.name, other.text, other.digest)
            else:
                assert one == other


def test_conditions_on_sizes_hold_with_a_pattern_too() -> None:
    asked = 0
    for *key, first in KEYS:
        readings, found = Readings(CATALOG, *key, None), one_by_one(tuple(key), first)
        if (
            isinstance(found, Reading)
            and any("x" in text for text in found.shape.zero)
            and found.shape.reads == "integer"
        ):
            asked += 1
            given = [readings.of(x) for x in (first, *map(str, range(1, 130)))]
            assert [isinstance(one, Reading) for one in given] == [
                isinstance(one_by_one(tuple(key), x), Reading) for x in (first, *map(str, range(1, 130)))
            ]
    assert asked


def test_sweeps_of_sizes_have_a_pattern() -> None:
    patterned = sum(
        isinstance(found := Readings(CATALOG, *key, None).of(x), Reading) and found.pattern is not None
        for *key, x in KEYS
    )
    assert patterned > len(KEYS) / 2


@pytest.mark.parametrize("x", ["1024", "2048"])
def test_where_x_decides_more_than_sizes_there_is_none(x: str) -> None:
    """fused_linear_cross_entropy's rows of a model's name, and shapes whose conditions ask for x."""
    by_name = [key for key in KEYS if key[4].startswith("LLAMA") or "model" in key[2]]
    assert by_name
    for *key, name in by_name:
        readings = Readings(CATALOG, *key, None)
        for one in (name, x):
            found = readings.of(one)
            assert not isinstance(found, Reading) or found.pattern is None
