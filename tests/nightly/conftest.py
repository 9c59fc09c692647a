from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture
def home(tmp_path):
    folder = tmp_path / "home"
    folder.mkdir()
    (folder / "nightly.toml").write_text("html = false\n[csv]\nseconds = 0.5\nretries = 1\nmegabytes = 1\n")
    return folder
