"""The report: what was read, what became of it, and that the sums add up."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import polars as pl
from pydantic import BaseModel, SerializerFunctionWrapHandler, model_serializer

from kernelindex_liger.conversion.rows import FAULTS, REASONS, Fault

FIRST_LINES = 5
"""Line numbers that a report names for each group of skipped rows."""

GROUPS = 10_000
"""Groups of skipped rows that a report tells apart; rows of any further ones are counted together, by reason."""

OTHERS = "…"
"""Stands for kernel, provider and GPU of those."""

DETAIL = 500
"""Characters of a group's detail."""


class Input(BaseModel):
    """A file that was read; size and SHA-256 of its bytes as they stand."""

    file: str
    bytes: int
    sha256: str
    rows: int
    error: str | None = None


class SkippedGroup(BaseModel):
    """Rows skipped for one reason, of one kernel, provider and GPU."""

    reason: str
    kernel: str
    provider: str
    gpu: str
    rows: int
    first: list[str]
    """Up to five of the rows, each `file:line`."""
    detail: str
    """What exactly was the matter with the first of them."""


class MalformedLine(BaseModel):
    """A line that is no row."""

    file: str
    line: int
    problem: str


class Documents(BaseModel):
    """Documents by whether this run had to write them, or they stood there already."""

    written: int
    unchanged: int


class SidecarFile(BaseModel):
    """A sidecar that was read; size and SHA-256 of its bytes as they stand."""

    file: str
    bytes: int
    sha256: str
    lines: int
    error: str | None = None


class Sidecars(BaseModel):
    """What the sidecars beside the CSVs told.

    Lines = series + faulty lines. Cases = measured + failed runs + failed memory cases that were not asked for + failed
    cases that were skipped + replaced + without row + contradicted.
    """

    files: list[SidecarFile]
    lines: int
    series: int
    faulty_lines: int
    """Lines that could not be used; their rows are converted as without them."""
    faults: list[MalformedLine]
    """What is wrong with them, and with contradicted cases; the first thousand."""
    rows: int
    """Rows of CSVs that a case tells of, skipped ones too."""
    rows_without: int
    """Rows of CSVs with a sidecar that no case tells of; they are converted as without one."""
    cases: int
    measured: int
    """Cases that a row of the CSV is of."""
    failed_runs: int
    """Failed cases that were given as runs without timing."""
    failed_by_status: dict[str, int]
    failed_memory: int
    """Failed cases of peak memory that were left aside, since memory was not asked for."""
    failed_skipped: int
    """Failed cases that give no run, for the same reasons as rows."""
    failed_skipped_by_reason: dict[str, int]
    skipped: list[SkippedGroup]
    replaced: int
    """Cases that a later line of the sidecar tells of again."""
    without_row: int
    """Measured cases whose row is not in the CSV."""
    contradicted: int
    """Cases that contradict the CSV or the catalogue; their rows are converted as without them."""

    @property
    def adds_up(self) -> bool:
        """Whether every line and every case is accounted for exactly once."""
        parts = (
            self.measured, self.failed_runs, self.failed_memory, self.failed_skipped,
            self.replaced, self.without_row, self.contradicted,
        )  # fmt: skip
        groups = sum(group.rows for group in self.skipped)
        return (
            self.lines == self.series + self.faulty_lines
            and self.cases == sum(parts)
            and self.failed_runs == sum(self.failed_by_status.values())
            and self.failed_skipped == sum(self.failed_skipped_by_reason.values()) == groups
        )

    @property
    def bad(self) -> bool:
        """Whether anything in a sidecar was at fault."""
        blamed = any(REASONS[word].blame == "input" for word in self.failed_skipped_by_reason)
        return bool(self.faulty_lines or self.contradicted or blamed or any(one.error for one in self.files))


class Report(BaseModel):
    """What a conversion did. Rows read = bundles + skipped rows + memory rows that were not asked for."""

    tool: str
    catalog: str
    edition: Literal["published", "corrected"]
    format: str
    inputs: list[Input]
    rows_read: int
    """Rows and malformed lines."""
    bundles: int
    memory_rows: int
    """Rows of peak memory that were left aside, since memory was not asked for."""
    skipped_rows: int
    skipped_by_reason: dict[str, int]
    skipped: list[SkippedGroup]
    malformed: list[MalformedLine]
    caveats: dict[str, int]
    """Bundles by the caveats that they carry."""
    sidecars: Sidecars | None = None
    """Left out where no CSV has a sidecar."""
    documents: Documents

    @model_serializer(mode="wrap")
    def _without_nothing(self, default: SerializerFunctionWrapHandler) -> dict[str, Any]:
        values: dict[str, Any] = default(self)
        if self.sidecars is None:
            values.pop("sidecars", None)
        return values

    @property
    def adds_up(self) -> bool:
        """Whether every row that was read is accounted for exactly once."""
        by_group = sum(group.rows for group in self.skipped) + self.skipped_by_reason.get("malformed_line", 0)
        return (
            self.rows_read == self.bundles + self.memory_rows + self.skipped_rows
            and self.skipped_rows == sum(self.skipped_by_reason.values()) == by_group
            and (self.sidecars is None or self.sidecars.adds_up)
        )

    def blamed(self, blame: str) -> int:
        """Skipped rows whose reason is of one kind: `uncurated`, `input` or `choice`."""
        return sum(count for word, count in self.skipped_by_reason.items() if REASONS[word].blame == blame)

    @property
    def bad_input(self) -> bool:
        """Whether anything in the input was at fault."""
        told_wrong = self.sidecars is not None and self.sidecars.bad
        return self.blamed("input") > 0 or told_wrong or any(one.error for one in self.inputs)

    def same_but_counts(self, other: Report) -> bool:
        """Whether two reports tell of the same input and output, whatever each run found there."""
        return self.model_copy(update={"documents": other.documents}) == other


class Tally:
    """Gathers skipped rows batch by batch, as groups rather than rows."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = names
        self._groups: dict[tuple[str, str, str, str], tuple[int, list[tuple[int, int]], str]] = {}
        self._faults: list[Fault] = []
        self.malformed = 0

    def faults(self, faults: Sequence[Fault], malformed: int) -> None:
        """Malformed lines: the first ones, and how many there are."""
        self.malformed += malformed
        self._faults += faults[: max(0, FAULTS - len(self._faults))]

    def skipped(self, rows: pl.DataFrame) -> None:
        """Skipped rows: `reason`, kernel, provider, GPU, `file`, `line`, `detail`."""
        if rows.is_empty():
            return
        keys = ["reason", "kernel_name", "kernel_provider", "gpu_name"]
        groups = rows.group_by(keys, maintain_order=True).agg(
            pl.len(), pl.col("file").head(FIRST_LINES), pl.col("line").head(FIRST_LINES), pl.col("detail").first()
        )
        for reason, kernel, provider, gpu, count, files, lines, detail in groups.iter_rows():
            key = (reason, kernel[:100], provider[:100], gpu[:100])
            if key not in self._groups and len(self._groups) >= GROUPS:
                key = (reason, OTHERS, OTHERS, OTHERS)
            known, first, why = self._groups.get(key, (0, [], (detail or "")[:DETAIL]))
            first += list(zip(files, lines, strict=True))[: FIRST_LINES - len(first)]
            self._groups[key] = (known + count, first, why)

    def by_reason(self) -> dict[str, int]:
        """Skipped rows by reason, in the order of `REASONS`."""
        counts = {"malformed_line": self.malformed}
        for (reason, *_), (count, _, _) in self._groups.items():
            counts[reason] = counts.get(reason, 0) + count
        return {word: counts[word] for word in REASONS if counts.get(word)}

    def groups(self) -> list[SkippedGroup]:
        """Groups, by reason and then by how many rows they hold."""
        order = list(REASONS)
        found = [
            SkippedGroup(
                reason=reason,
                kernel=kernel,
                provider=provider,
                gpu=gpu,
                rows=count,
                first=[f"{self._names[file]}:{line}" for file, line in first],
                detail=detail,
            )
            for (reason, kernel, provider, gpu), (count, first, detail) in self._groups.items()
        ]
        return sorted(found, key=lambda one: (order.index(one.reason), -one.rows, one.kernel, one.provider, one.gpu))

    def lines(self) -> list[MalformedLine]:
        """Malformed lines, the first thousand."""
        return [MalformedLine(file=one.file, line=one.line, problem=one.message) for one in self._faults]


def json_text(report: Report) -> str:
    """The report as the text of `report.json`."""
    return report.model_dump_json(indent=2) + "\n"


def parse(text: str) -> Report | None:
    """A report that was written before; None where the text is none."""
    try:
        return Report.model_validate_json(text)
    except ValueError:
        return None
