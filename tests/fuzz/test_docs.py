"""docs/robustness.md names tests and targets that are there."""

from __future__ import annotations

import re

from tests.conftest import ROOT
from tests.fuzz.run import NAMES
from tests.fuzz.targets import TARGETS

DOC = (ROOT / "docs" / "robustness.md").read_text()


def test_every_test_that_is_named_is_there() -> None:
    written = "".join(path.read_text() for path in (ROOT / "tests").rglob("test_*.py"))
    named = set(re.findall(r"`(test_\w+)`", DOC))
    assert len(named) > 20
    assert {name for name in named if f"def {name}(" not in written} == set()


def test_every_file_that_is_named_is_there() -> None:
    for name in set(re.findall(r"`((?:tests/)?[\w/]*test_\w+\.py)`", DOC)):
        assert (ROOT / name).is_file() or (ROOT / "tests" / "hostile" / name).is_file(), name


def test_the_targets_are_those_of_the_script_and_of_the_document() -> None:
    table = re.findall(r"^\| `(\w+)` \|", DOC[DOC.index("## Fuzzing") :], re.MULTILINE)
    assert list(NAMES) == list(TARGETS)
    assert set(table) == set(NAMES)
