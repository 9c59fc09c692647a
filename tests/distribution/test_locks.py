"""The locked requirements, against what pyproject.toml asks for."""

from __future__ import annotations

import re

import pytest

from tests.conftest import ROOT
from tests.distribution.conftest import PROJECT

requirements = pytest.importorskip("packaging.requirements", reason="packaging is not installed: scripts/test does")

TABLE = PROJECT["project"]
GROUPS = PROJECT["dependency-groups"]


def canonical(name: str) -> str:
    return re.sub("[-_.]+", "-", name).lower()


def locked(name: str) -> dict[str, set[str]]:
    """Package -> its versions (several where they differ by Python), of a file in requirements/."""
    text = (ROOT / "requirements" / name).read_text()
    versions: dict[str, set[str]] = {}
    for package, version in re.findall(r"^([\w.-]+)==([^\s;]+)", text, re.MULTILINE):
        versions.setdefault(canonical(package), set()).add(version)
    return versions


DEV = locked("dev.txt")
FUZZ = locked("fuzz.txt")
REHEARSAL = locked("rehearsal.txt") | locked("torch.txt")
ASKED = {
    "dev.txt": (*TABLE["dependencies"], *TABLE["optional-dependencies"]["report"], *GROUPS["lint"], *GROUPS["test"],
                *GROUPS["build"]),
    "fuzz.txt": GROUPS["fuzz"],
    "rehearsal.txt and torch.txt": (
        *TABLE["optional-dependencies"]["bench"], *TABLE["optional-dependencies"]["transformers"],
        *TABLE["optional-dependencies"]["megatron"]
    ),
}  # fmt: skip
LOCKS = {"dev.txt": DEV, "fuzz.txt": FUZZ, "rehearsal.txt and torch.txt": REHEARSAL}


@pytest.mark.parametrize("name", ASKED)
def test_what_is_asked_for_is_locked_at_a_version_that_fits(name: str) -> None:
    for text in ASKED[name]:
        asked = requirements.Requirement(text)
        versions = LOCKS[name].get(canonical(asked.name), set())
        assert versions, f"{asked.name} is not locked: scripts/lock"
        assert all(asked.specifier.contains(version) for version in versions), f"{text}: {versions}: scripts/lock"


@pytest.mark.parametrize("other", [FUZZ, REHEARSAL])
def test_locks_that_are_installed_together_agree(other: dict[str, set[str]]) -> None:
    for package in DEV.keys() & other.keys():
        assert DEV[package] == other[package], package


@pytest.mark.parametrize("name", ["dev.txt", "fuzz.txt", "rehearsal.txt"])
def test_every_locked_version_has_hashes(name: str) -> None:
    text = (ROOT / "requirements" / name).read_text()
    entries = re.split(r"^(?=[\w.-]+==)", text, flags=re.MULTILINE)[1:]
    assert len(entries) == sum(map(len, locked(name).values()))
    for entry in entries:
        assert re.search(r"--hash=sha256:[0-9a-f]{64}", entry), entry


def test_torch_alone_has_none() -> None:
    assert set(locked("torch.txt")) == {"torch"}
    assert "torch" not in locked("rehearsal.txt")


def test_every_upper_bound_has_its_reason() -> None:
    lines = (ROOT / "pyproject.toml").read_text().splitlines()
    bounded = [line for line in lines if re.search(r'^\s*"[\w.-]+>=[\w.]+,<', line)]
    assert bounded
    for line in bounded:
        assert " # " in line, line
