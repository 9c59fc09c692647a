"""The sidecar of a CSV: which file it is, what its lines say, and to which rows.

A line that cannot be used is a fault, and its rows convert as they would without it. Rows are joined by what a series
shares and x: in columns, once a batch, and only for a CSV that has a sidecar.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

import polars as pl
from pydantic import ValidationError

from kernelindex_liger.conversion.bind import Binder
from kernelindex_liger.conversion.combine import KEYS
from kernelindex_liger.conversion.read import BOM
from kernelindex_liger.conversion.recorder import Recorder
from kernelindex_liger.conversion.rows import COLUMNS, FAULTS, Fault, InputError
from kernelindex_liger.conversion.sources import Source
from kernelindex_liger.documents.sidecar import LINE, Readings, SeriesCase, SeriesMeta
from kernelindex_liger.untrusted import quoted

ROW = (*KEYS, "timestamp", "liger_version")
"""The columns that a row and its case share."""

CASE = tuple(name for name in KEYS if name != "metric_unit")
"""The columns that name a case; the later of two lines that name the same one counts."""

RUN_STATUS = {"crashed": "runtime_error"}
"""The status of a run, where it is not the case's own."""

SIZE = 128 << 20
"""Bytes of a sidecar, decompressed: what it tells is in memory while the CSV is read."""

CASES = 500_000
"""Cases of a sidecar; each takes nearly a kilobyte."""

ERROR_LENGTH = 500
LABEL_LENGTH = 200
HELP = "correct the line or take it out"

_FOLDERS = re.compile(r"(?<![\w/:.])/(?:[^\s/'\"():,]+/)+")
"""Folders of paths in a failure's text: where things stand on a machine is nobody's business."""

_SCHEMA = dict.fromkeys((*COLUMNS, "status", "description", "clock_events"), pl.String()) | {
    "samples": pl.Int64(),
    "facts": pl.UInt32(),
    "line": pl.UInt32(),
}


@dataclass
class Sidecar:
    """One sidecar as it was read.

    Attributes:
        source: the file.
        lines: lines that are not blank.
        series: lines that could be used.
        faulty: lines that could not.
        rows: rows that a case tells of.
        rows_without: the other rows of the CSV.
        faults: what is wrong with those, and with cases that contradict the CSV; the first ones.
        cases: a line each case: `COLUMNS` (values empty), `case` (index), `status`, `description`, `samples`,
            `clock_events`, `facts` (index into the recorder's), `line`.
        error: why the file could not be read, or read to its end.
    """

    source: Source
    lines: int = 0
    series: int = 0
    faulty: int = 0
    rows: int = 0
    rows_without: int = 0
    faults: list[Fault] = field(default_factory=list)
    cases: pl.DataFrame = field(default_factory=lambda: _frame([]))
    error: str | None = None
    _seen: set[int] = field(default_factory=set)
    _contradicted: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._applied: dict[tuple[int, int], int | None] = {}
        self._index()

    def _index(self) -> None:
        self._rows = self.cases.select(*ROW, "case", "status").unique(ROW, keep="last", maintain_order=True)

    def read(self, recorder: Recorder) -> None:
        """Read all lines; nothing is raised, whatever the file holds."""
        found: list[tuple[object, ...]] = []
        try:
            for number, line in _lines(self.source):
                if line is not None and not line.strip():
                    continue
                self.lines += 1
                try:
                    found += _cases(line, number, recorder)
                    self.series += 1
                    if len(found) > CASES:
                        raise InputError(f"{self.source.name}: more than {CASES:,} cases; the rest was not read")
                except ValueError as error:
                    # pydantic's ValidationError is one too, and so is Python's of a number with too many digits
                    self.faulty += 1
                    self._fault(number, str(error))
        except InputError as error:
            self.error = str(error)
        self.cases = _frame(found)
        self._index()

    def tell(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Rows as they were read with `case`: the case that each is, null where the sidecar has none for it."""
        joined = frame.join(self._rows, on=ROW, how="left", maintain_order="left")
        measured = pl.col("status") == "ok"
        told = joined.filter(pl.col("case").is_not_null()).select("case", measured.alias("measured")).unique()
        self._seen.update(told.filter("measured").get_column("case").to_list())
        for case in told.filter(~pl.col("measured")).get_column("case").to_list():
            self._contradict(case, "the CSV has a row of a case that failed")
        joined = joined.with_columns(pl.when(measured).then("case").alias("case")).drop("status")
        without = joined.get_column("case").null_count()
        self.rows, self.rows_without = self.rows + joined.height - without, self.rows_without + without
        return joined

    def note(self, rows: pl.DataFrame, binder: Binder, recorder: Recorder) -> pl.DataFrame:
        """Bound rows that have `case`, with the combination, `samples` and `clock_events` that their case tells."""
        facts = self.cases.select("case", "facts", "samples", "clock_events")
        rows = rows.join(facts, on="case", how="left", maintain_order="left")
        pairs = rows.select("combination", "facts").drop_nulls().unique(maintain_order=True)
        noted = [self._apply(combination, number, binder, recorder) for combination, number in pairs.iter_rows()]
        table = pairs.with_columns(pl.Series("noted", noted, dtype=pl.UInt32))
        rows = rows.join(table, on=["combination", "facts"], how="left", maintain_order="left")
        lost = rows.filter(pl.col("noted").is_null() & pl.col("case").is_not_null())
        for case in lost.get_column("case").unique().to_list():
            self._contradict(case, "protocol.harness is not how the catalogue says such rows are measured")
        told = pl.col("noted").is_not_null()
        return rows.with_columns(
            pl.coalesce("noted", "combination").alias("combination"),
            *(pl.when(told).then(name).alias(name) for name in ("case", "samples", "clock_events")),
        ).drop("noted", "facts")

    def _apply(self, combination: int, number: int, binder: Binder, recorder: Recorder) -> int | None:
        key = (combination, number)
        if key not in self._applied:
            noted = recorder.apply(binder.combinations[combination], number)
            if noted is not None:
                binder.combinations.append(noted)
            self._applied[key] = None if noted is None else len(binder.combinations) - 1
        return self._applied[key]

    def _contradict(self, case: int, problem: str) -> None:
        if case not in self._contradicted:
            self._contradicted.add(case)
            line = self.cases.item(case, "line")
            x = self.cases.item(case, "x_value")
            self._fault(line, f"x {quoted(x, 40)}: {problem}")

    def _fault(self, line: int, problem: str) -> None:
        if len(self.faults) < FAULTS:
            self.faults.append(Fault(self.source.name, line, f"{problem}; {HELP}"))

    @property
    def contradicted(self) -> int:
        """Cases that the CSV or the catalogue contradicts."""
        return len(self._contradicted)

    def outcomes(self) -> pl.DataFrame:
        """Cases with `outcome`: `contradicted`, `row`, `replaced` (by a later line), `failed`, or `no_row`."""

        def among(cases: set[int]) -> pl.Expr:
            return pl.col("case").is_in(pl.Series(sorted(cases), dtype=pl.UInt32).implode())

        return self.cases.with_columns(
            pl.when(among(self._contradicted))
            .then(pl.lit("contradicted"))
            .when(among(self._seen))
            .then(pl.lit("row"))
            .when(pl.col("case") < pl.col("case").max().over(CASE))
            .then(pl.lit("replaced"))
            .when(pl.col("status") != "ok")
            .then(pl.lit("failed"))
            .otherwise(pl.lit("no_row"))
            .alias("outcome")
        )


def _lines(source: Source) -> Iterator[tuple[int, bytes | None]]:
    """Lines with their numbers, without their ends; None for one that is too long to be any."""
    pending, number, long, left = b"", 1, False, SIZE
    for block in source.blocks():
        left -= len(block)
        if left < 0:
            raise InputError(f"{source.name}: larger than {SIZE >> 20} MiB; the rest was not read")
        *whole, pending = (pending + block).split(b"\n")
        for line in whole:
            yield number, None if long or len(line) > LINE else line
            number, long = number + 1, False
        if len(pending) > LINE:
            pending, long = b"", True
    if pending or long:
        yield number, None if long else pending


def _cases(line: bytes | None, number: int, recorder: Recorder) -> list[tuple[object, ...]]:
    """A line's cases as lines of the table.

    Raises:
        ValueError: saying what is wrong with the line.
    """
    if line is None:
        raise ValueError(f"longer than {LINE} bytes")
    try:
        meta = SeriesMeta.model_validate_json(line.removeprefix(BOM) if number == 1 else line, strict=True)
    except ValidationError as error:
        raise ValueError(_problem(error)) from error
    facts = recorder.number(meta)
    shared = meta.series.model_dump()
    texts = [str(shared.get(name, "")) for name in COLUMNS]
    x = COLUMNS.index("x_value")
    found: list[tuple[object, ...]] = []
    for case in meta.cases:
        status = case.status if case.status == "ok" else RUN_STATUS.get(case.status, case.status)
        row = [*texts[:x], case.x_value, *texts[x + 1 :]]
        found.append((*row, status, _description(case), _clock_events(case), case.samples, facts, number))
    return found


def _problem(error: ValidationError) -> str:
    first = error.errors()[0]
    place = ".".join(str(part) for part in first["loc"])[:100]
    return f"{place}: {first['msg']}" if place else str(first["msg"])


def _description(case: SeriesCase) -> str | None:
    """Why a case failed."""
    if case.status == "ok":
        return None
    said = _FOLDERS.sub("…/", case.error or "")
    return f"{case.status}: {said}"[:ERROR_LENGTH] if said else case.status


def _clock_events(case: SeriesCase) -> str | None:
    """Why clocks were held back before and after the case; None where the device did not tell."""
    told = [
        f"{when}: {', '.join(reading.clock_event_reasons) or 'none'}"
        for when, reading in (("before", case.before), ("after", case.after))
        if isinstance(reading, Readings) and reading.clock_event_reasons is not None
    ]
    return "; ".join(told)[:LABEL_LENGTH] or None


def _frame(cases: list[tuple[object, ...]]) -> pl.DataFrame:
    return pl.DataFrame(cases, schema=_SCHEMA, orient="row").with_row_index("case")
