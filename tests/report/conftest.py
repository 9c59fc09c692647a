from __future__ import annotations

import sys
from pathlib import Path

import pytest

from kernelindex_liger.history.store import History

sys.path.insert(0, str(Path(__file__).parent.parent / "history"))


@pytest.fixture
def history(tmp_path):
    return History(tmp_path / "history")
