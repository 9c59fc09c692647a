"""From what a person names on the command line to runs with labels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kernelindex_liger.history import source
from kernelindex_liger.history.errors import BadInputError
from kernelindex_liger.history.imports import origins

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from pathlib import Path

    from kernelindex_liger.history.store import Added, History


def labelled(inputs: Sequence[Path], label: str | None) -> list[tuple[str, list[Path]]]:
    """Which label each input gets: the given one, or else the name of the folder that a CSV stands in.

    A folder of folders with CSVs (upstream's `gh-pages` keeps one a commit) gives a label a folder. A CSV that is
    named alone and is no `benchmark.csv` or `runs.parquet` gives its own name. Raises `BadInputError` for an
    input that does not exist or holds nothing to read.
    """
    for path in inputs:
        if not path.exists():
            raise BadInputError(f"{path}: no such file or folder")
    if label is not None:
        return [(label, [one for path in inputs for one in _whole(path)])]
    found: dict[str, list[Path]] = {}
    for path in inputs:
        for name, item in _units(path):
            found.setdefault(name, []).append(item)
    return list(found.items())


def _units(path: Path) -> list[tuple[str, Path]]:
    path = path.absolute()
    if path.is_file():
        general = path.name in {"benchmark.csv", "benchmark.csv.gz", source.TABLE_NAME}
        return [(path.parent.name if general else path.name.split(".")[0], path)]
    if (path / source.TABLE_NAME).is_file() or _csvs(path):
        return [(path.name, path)]
    if csvs := origins(path):
        return [(path.name, csv) for csv in csvs]
    inner = [child for child in sorted(path.iterdir()) if child.is_dir() and (_csvs(child) or _table(child))]
    if not inner:
        raise BadInputError(f"{path}: neither a CSV nor {source.TABLE_NAME} in it or in its folders")
    return [(child.name, child) for child in inner]


def _whole(path: Path) -> list[Path]:
    return [path] if not path.is_dir() or _table(path) or _csvs(path) else origins(path) or [path]


def _csvs(folder: Path) -> list[Path]:
    return [path for path in folder.glob("*.csv*") if path.suffix in {".csv", ".gz", ".zst"}]


def _table(folder: Path) -> bool:
    return (folder / source.TABLE_NAME).is_file()


def feed(
    history: History,
    inputs: Sequence[Path],
    label: str | None = None,
    time: datetime | None = None,
    catalog: Sequence[Path] = (),
) -> list[Added]:
    """Read `inputs` and add them to `history`, oldest label first; return what was done, a run each.

    Everything is read before anything is added, so that a bad input adds nothing.
    """
    groups = labelled(inputs, label)
    read = source.read_each(groups, catalog=catalog)
    tables = [(name, table) for (name, _), table in zip(groups, read, strict=True)]
    empty = [name for name, table in tables if table.is_empty()]
    if empty:
        raise BadInputError(f"label {', '.join(empty)}: no run in it that the catalogue knows")
    tables.sort(key=lambda item: (str(item[1]["observed_at"].max()), item[0]))
    return [added for name, table in tables for added in history.add(table, name, time)]
