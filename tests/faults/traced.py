"""A conversion whose operations are told, to be compared with what the system saw.

usage: python -m tests.faults.traced CSV OUT FORMAT
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path

from tests.faults.harness import small, struck


def main() -> None:
    """Convert, and print the operations as JSON."""
    csv, out, format_ = sys.argv[1:]
    with small():
        status, said, injection = struck(Path(out), ["csv", csv, "-o", out, "--format", format_, "-q"])
    assert status == 3, said
    print(json.dumps([asdict(one) for one in injection.operations]))


if __name__ == "__main__":
    main()
