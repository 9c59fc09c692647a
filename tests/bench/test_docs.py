"""What docs/bench.md says, against what is declared."""

import os
import subprocess
import sys
from pathlib import Path
from typing import get_args

from kernelindex_liger.bench import registry
from kernelindex_liger.documents.sidecar import CaseStatus

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "bench.md").read_text()


def test_the_table_of_what_cannot_be_rehearsed_is_what_kernels_declare():
    declared = [
        f"| {name} | {provider.name} | {provider.cannot_rehearse} |"
        for name in registry.names()
        for provider in registry.kernel(name).providers
        if provider.cannot_rehearse
    ]
    assert TEXT.split("| kernel | provider | why |")[1].split("\n\n")[0].strip().splitlines()[1:] == declared


def test_every_status_is_explained():
    for status in get_args(CaseStatus):
        assert f"`{status}`" in TEXT


def test_the_table_of_deviations_is_what_kernels_declare():
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "scripts/deviations_in_docs", "--check"], cwd=ROOT, env=environment, check=False
    )
    assert done.returncode == 0
    for name in registry.names():
        for deviation in registry.kernel(name).deviations:
            if isinstance(deviation.caveat, str):
                assert f"| `{deviation.caveat}` |" in TEXT
