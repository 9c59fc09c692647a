"""Convert the CSVs of a folder into each format; run by other interpreters, so it needs the core dependencies alone.

usage: python -m tests.same_bytes.everything FOLDER OUT

The folder is named relative to the working directory. OUT/<format> holds what came of it, OUT/history a history of it,
OUT/python the interpreter's version.
"""

from __future__ import annotations

import platform
import sys
from pathlib import Path

from kernelindex_liger import convert
from kernelindex_liger.conversion import Options, pipeline

FORMATS = ("tree", "jsonl", "parquet", "submission")


def main() -> None:
    """Do it."""
    from kernelindex_liger.history import feed, store

    folder, out = Path(sys.argv[1]), Path(sys.argv[2])
    catalog = pipeline.load([])
    pipeline.load = lambda _=(): catalog  # type: ignore[assignment]
    for name in FORMATS:
        convert([folder], out / name, Options(format=name, memory=True))  # type: ignore[arg-type]
    list(feed.feed(store.History(out / "history"), [folder], "a", None, ()))
    (out / "python").write_text(platform.python_version())


if __name__ == "__main__":
    main()
