"""`tree`: one file a row at `runs/<external id>.json`, linked documents under `linked/<kind>/<name>.json`."""

from __future__ import annotations

import functools
from collections.abc import Sequence

import polars as pl

from kernelindex_liger.conversion.atomic import Folder, write_file
from kernelindex_liger.conversion.combine import Combination
from kernelindex_liger.conversion.constants import Constants
from kernelindex_liger.conversion.formats import Counts, by_folder
from kernelindex_liger.conversion.linked import Linked
from kernelindex_liger.documents.canonical import pretty


class TreeWriter:
    """Writes each bundle as it comes; a file that stands there with the same bytes is left alone."""

    needs_file_text = True

    def __init__(self, folder: Folder) -> None:
        self._folder = folder
        self._counts = Counts()
        self._ids: list[pl.Series] = []
        self._written: dict[str, bool] = {}
        self._tails = Constants(_tails)

    def add(self, rows: pl.DataFrame, combinations: Sequence[Combination]) -> None:
        """Write the batch's bundles; an external id that came before is left to `finish`."""
        text = pl.concat_str(pl.lit("{\n  "), "file_run", "tail")
        rows = self._tails.attach(rows.select("external_id", "file_run", "combination"), combinations).select(
            "external_id", text.alias("text")
        )
        ids = rows.get_column("external_id")
        self._ids.append(ids)
        for external_id, content in zip(ids.to_list(), rows.get_column("text").to_list(), strict=True):
            if external_id in self._written:
                continue
            changed = write_file(self._folder, f"runs/{external_id}.json", content.encode())
            self._written[external_id] = changed

    def finish(self, drop: pl.Series, linked: Sequence[Linked]) -> Counts:
        """Take away the files of rows that contradict one another, and write the linked documents."""
        if drop.len():
            every = pl.concat(self._ids)
            kept = set(every.filter(~pl.int_range(every.len(), dtype=pl.UInt64, eager=True).is_in(drop.implode())))
            for external_id in set(every.gather(drop).to_list()) - kept:
                # it goes even if it stood there before: a run that was killed may have left it
                del self._written[external_id]
                self._folder.remove(f"runs/{external_id}.json")
        for changed in self._written.values():
            self._counts.add(changed=changed)
        for name, documents in by_folder(linked).items():
            for one in documents:
                content = pretty(one.document).encode()
                self._counts.add(changed=write_file(self._folder, f"linked/{name}/{one.name}.json", content))
        return self._counts


def _tails(combinations: Sequence[Combination]) -> pl.DataFrame:
    return pl.DataFrame({"tail": pl.Series([_tail(one) for one in combinations], dtype=pl.String)})


def _tail(combination: Combination) -> str:
    return (
        ",\n  "
        + _member("protocol", combination.protocol)
        + ",\n  "
        + _member("environment", combination.environment)
        + "\n}\n"
    )


@functools.lru_cache(maxsize=4096)
def _member(name: str, one: Linked) -> str:
    return pretty({name: one.document}).removeprefix("{\n  ").removesuffix("\n}\n")
