"""Folders of documents that an import wrote: they hold no table, but their report names the CSVs behind them."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from kernelindex_liger.history.errors import BadInputError
from kernelindex_liger.untrusted import read_small

REPORT = "report.json"
SIZE = 1 << 26
"""Bytes that a report may have at the most."""


def origins(folder: Path) -> list[Path]:
    """The CSVs that the documents in an import's folder were made of; none for any other folder.

    Raises:
        BadInputError: if one of them is gone or is another file by now, or the documents are of the corrected edition.
    """
    if not (folder / REPORT).is_file():
        return []
    from kernelindex_liger.conversion.report import parse

    try:
        report = parse(read_small(folder / REPORT, SIZE).decode(errors="replace"))
    except OSError as error:
        raise BadInputError(f"{folder / REPORT}: cannot be read: {error.strerror or error}") from error
    if report is None:
        return []
    what = f"{folder}: holds documents, and no table of runs (`ligerimport csv --format parquet` writes one)"
    if report.edition != "published":
        raise BadInputError(f"{what}; they are of the edition {report.edition}")
    found = [Path(one.file) for one in report.inputs if not one.error]
    for path, one in zip(found, (one for one in report.inputs if not one.error), strict=True):
        if not path.is_file():
            raise BadInputError(f"{what}; {os.fspath(path)}, which they were made of, is not there")
        with path.open("rb") as file:
            if hashlib.file_digest(file, "sha256").hexdigest() != one.sha256:
                raise BadInputError(f"{what}; {os.fspath(path)}, which they were made of, is another file by now")
    if not found:
        raise BadInputError(f"{what}; its report names no CSV that was read")
    return found
