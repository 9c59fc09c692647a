"""Kernels are taken up when they are asked for; what comes of it is the same as taking up all."""

from __future__ import annotations

import dataclasses
from importlib import resources
from pathlib import Path

import pytest

from kernelindex_liger.catalog import CatalogError, load
from kernelindex_liger.catalog.check import problems
from kernelindex_liger.catalog.load import Shelf
from kernelindex_liger.conversion.bind import Binder
from kernelindex_liger.conversion.read import read
from kernelindex_liger.conversion.sources import find
from tests.conftest import FIXTURES

DATA = Path(str(resources.files("kernelindex_liger.catalog") / "data"))
SOFTMAX = DATA / "kernels" / "softmax.toml"


def shelf(contents: dict[str, bytes]) -> Shelf:
    return Shelf({Path(name): content for name, content in contents.items()}, load())


def test_the_facts_are_those_of_all_files_taken_up_at_once() -> None:
    one_by_one, at_once = load(), load([DATA])
    assert list(one_by_one.kernels) == list(at_once.kernels)
    assert dict(one_by_one.kernels) == dict(at_once.kernels)
    assert one_by_one == dataclasses.replace(at_once, digest=one_by_one.digest)


def test_the_packages_own_facts_hold_together() -> None:
    assert problems(load()) == []


def test_only_kernels_of_the_rows_are_taken_up() -> None:
    catalog = load()
    (source,) = find([FIXTURES / "csv" / "seeds.csv"])
    for batch in read(source, 0):
        Binder(catalog, "published").bind(batch.frame)
    assert isinstance(catalog.kernels, Shelf)
    assert set(catalog.kernels.taken) == {"fused_add_rms_norm", "group_norm"}


def test_a_file_that_nobody_asks_for_harms_nothing() -> None:
    kernels = shelf({"softmax.toml": SOFTMAX.read_bytes(), "broken.toml": b"kernel ="})
    assert list(kernels) == ["broken", "softmax"]
    assert len(kernels) == 2
    assert "broken" in kernels
    assert "sparsemax" not in kernels
    assert kernels["softmax"].name == "softmax"
    assert kernels["softmax"] is kernels["softmax"]
    with pytest.raises(CatalogError, match=r"broken\.toml: not TOML"):
        kernels["broken"]
    with pytest.raises(KeyError):
        kernels["sparsemax"]


@pytest.mark.parametrize(
    ("name", "more", "message"),
    [
        ("sparsemax.toml", b"", "must hold facts on kernel sparsemax alone"),
        ("softmax.toml", b'\n[metrics]\nspeed = "do_bench"\n', "must hold facts on kernel softmax alone"),
        ("softmax.toml", b'\n[implementations.nobody]\ntitle = "x"\n', r"implementations\.nobody: no such provider"),
    ],
)
def test_a_kernels_file_is_checked_when_it_is_taken_up(name: str, more: bytes, message: str) -> None:
    kernels = shelf({name: SOFTMAX.read_bytes() + more})
    with pytest.raises(CatalogError, match=message):
        kernels[name.removesuffix(".toml")]


def test_the_digest_names_what_stands_in_the_files(tmp_path: Path) -> None:
    extra = tmp_path / "softmax.toml"
    extra.write_bytes(SOFTMAX.read_bytes())
    first = load([extra]).digest
    assert load([extra]).digest == first != load().digest
    extra.write_bytes(SOFTMAX.read_bytes() + b"# one more line\n")
    assert load([extra]).digest not in {first, load().digest}
