"""Worker processes must find the fakes: they stand on PYTHONPATH while a test of this folder runs."""

import os
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
if str(HERE) not in sys.path:
    sys.path.insert(0, str(HERE))


@pytest.fixture(autouse=True)
def _fakes_on_path(monkeypatch, tmp_path):
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(HERE), str(ROOT)]))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)


@pytest.fixture(scope="session")
def shared():
    """The folder with upstream's facts, beside the clone or named by KERNELINDEX_LIGER_SHARED."""
    folder = Path(os.environ.get("KERNELINDEX_LIGER_SHARED") or ROOT.parent / "shared")
    if not (folder / "upstream" / "bench_matrix.json").exists():
        pytest.skip("the matrix of upstream's scripts is not beside this clone")
    return folder
