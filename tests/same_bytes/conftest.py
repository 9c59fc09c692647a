"""Inputs that take many roads, and what they become."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from kernelindex_liger.conversion import pipeline
from tests.conftest import FIXTURES, ROW, text


@pytest.fixture(scope="session")
def inputs(tmp_path_factory) -> Path:
    """A folder of CSVs, a compressed one among them: rows good, bad, doubled and contradicted across files."""
    folder = tmp_path_factory.mktemp("inputs") / "csvs"
    folder.mkdir()
    for name in ("nine.csv", "seeds.csv"):
        (folder / name).write_bytes((FIXTURES / "csv" / name).read_bytes())
    for path in (FIXTURES / "sidecar").glob("results.*"):
        (folder / path.name).write_bytes(path.read_bytes())
    mine = ROW | {"x_value": "4096"}
    other = mine | {"y_value_50": "0.55"}
    lone = ROW | {"x_value": "8192"}
    (folder / "größe.csv").write_text(text([mine, lone, ROW | {"kernel_provider": "İstanbul"}]), newline="")
    (folder / "b.csv.gz").write_bytes(gzip.compress(text([lone, other, ROW | {"gpu_name": "ẞ"}]).encode(), mtime=0))
    return folder


@pytest.fixture
def one_catalogue(monkeypatch) -> None:
    """Load the catalogue once for many conversions."""
    catalog = pipeline.load([])
    monkeypatch.setattr(pipeline, "load", lambda _=(): catalog)
