"""Where results go: the CSV, and the sidecar beside it, each series at once and whole."""

from __future__ import annotations

import datetime as dt
from contextlib import suppress
from typing import TYPE_CHECKING

from pydantic import ValidationError

from kernelindex_liger import files
from kernelindex_liger.bench import table
from kernelindex_liger.bench.locks import file_lock
from kernelindex_liger.bench.plan import UNITS, Series
from kernelindex_liger.documents.sidecar import (
    LINE,
    SCHEMA,
    Gpu,
    Protocol,
    SeriesCase,
    SeriesIdentity,
    SeriesMeta,
    Software,
)
from kernelindex_liger.documents.upstream import SUFFIX
from kernelindex_liger.untrusted import lines

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


def utc_now() -> str:
    """This moment as the CSV's timestamp, in UTC."""
    return dt.datetime.now(dt.UTC).strftime("%Y-%m-%d %H:%M:%S")


def sidecar_path(csv: Path) -> Path:
    """`results.csv` -> `results.meta.jsonl`."""
    return csv.with_name(csv.stem + SUFFIX)


def read_sidecar(path: Path) -> list[SeriesMeta]:
    """Its lines, without those that cannot be read."""
    found: list[SeriesMeta] = []
    if not path.is_file():
        return found
    with path.open("rb") as file:
        for _, line in lines(file, LINE):
            if line is not None:
                with suppress(ValidationError):
                    found.append(SeriesMeta.model_validate_json(line))
    return found


class Results:
    """The CSV at `path` and its sidecar; safe for several threads and for several runs."""

    def __init__(self, path: Path, *, overwrite: bool) -> None:
        self.path = path
        self.overwrite = overwrite

    def present(self) -> set[tuple[str, ...]]:
        """Merge keys of the rows that are there. Raises table.BadTableError, and OutputError for links and devices."""
        # now rather than when the first series is measured; and a pipe would be waited for
        for path in (self.path, sidecar_path(self.path)):
            files.permissions(path)
        return {table.key(row) for row in table.read(self.path)}

    def failed(self) -> set[tuple[str, ...]]:
        """Merge keys of the cases whose last record is a failure."""
        found: dict[tuple[str, ...], bool] = {}
        for meta in read_sidecar(sidecar_path(self.path)):
            shared = meta.series.model_dump()
            for case in meta.cases:
                found[table.key({**shared, "x_value": case.x_value})] = case.status != "ok"
        return {key for key, failed in found.items() if failed}

    def add(
        self,
        series: Series,
        values: Mapping[int | str, tuple[float, float, float]],
        *,
        cases: tuple[SeriesCase, ...],
        gpu: Gpu,
        software: Software,
        protocol: Protocol,
        liger_version: str,
    ) -> None:
        """Merge a series' rows into the CSV and add its line to the sidecar. Raises OutputError."""
        timestamp = utc_now()
        rows = table.rows_of(series, gpu=gpu.name, liger_version=liger_version, timestamp=timestamp, values=values)
        meta = SeriesMeta(
            schema_=SCHEMA,
            series=SeriesIdentity(
                kernel_name=series.kernel,
                kernel_provider=series.tagged,
                kernel_operation_mode=series.pass_name,
                metric_name=series.metric,
                metric_unit=UNITS[series.metric],
                x_name=series.x_name,
                x_label=series.x_label,
                extra_benchmark_config_str=series.config_text,
                gpu_name=gpu.name,
                timestamp=timestamp,
                liger_version=liger_version,
            ),
            gpu=gpu.model_copy(update={"count": series.devices}),
            software=software,
            protocol=protocol,
            cases=cases,
        )
        with file_lock(self.path):
            # the sidecar first: a run killed in between measures these rows again, and no row lacks its line
            self._append(meta.model_dump_json(exclude_none=True))
            if rows:
                table.write(self.path, table.merge(table.read(self.path), rows, overwrite=self.overwrite))

    def _append(self, line: str) -> None:
        path = sidecar_path(self.path)
        # whatever bytes stand there stay: what was measured must not be lost over a line that is broken
        before = path.read_bytes() if path.is_file() else b""
        end = b"" if before.endswith(b"\n") or not before else b"\n"
        with files.replacing(path) as file:
            file.write(before + end + line.encode() + b"\n")
