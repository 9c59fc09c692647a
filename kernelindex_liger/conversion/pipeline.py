"""The conversion from end to end: read, bind, link, emit, write, report."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import polars as pl

import kernelindex_liger
from kernelindex_liger.catalog import Catalog, load
from kernelindex_liger.conversion import emit, flat, ledger
from kernelindex_liger.conversion.atomic import LOCK, Folder, write_file
from kernelindex_liger.conversion.bind import Binder
from kernelindex_liger.conversion.constants import Constants
from kernelindex_liger.conversion.formats import Counts, Writer, named, writer
from kernelindex_liger.conversion.linked import Linked
from kernelindex_liger.conversion.read import ahead, empty, read
from kernelindex_liger.conversion.report import Documents, Input, Report, Tally, json_text, parse
from kernelindex_liger.conversion.rows import InputError
from kernelindex_liger.conversion.sources import Source, find
from kernelindex_liger.conversion.told import Choice, Told
from kernelindex_liger.files import refusal, unlinked

if TYPE_CHECKING:
    from kernelindex_liger.conversion.sidecar import Sidecar

Format = Literal["tree", "jsonl", "parquet", "submission"]
Edition = Literal["published", "corrected"]


@dataclass(frozen=True)
class Options:
    """How to convert.

    Attributes:
        format: what the output folder holds.
        edition: the published reading, or the one in which known errors are corrected.
        memory: also give a run for each row of peak memory.
        catalog: files or folders of curated facts, added to the package's own.
        exclude_caveats: ids of caveats whose rows are left out.
        sidecar: `beside`: what stands beside each CSV (`results.meta.jsonl`) is read; a path: that one, for the only
            input; None: none is.
        wait: called once when another process is writing to the same folder, before waiting for it.
        progress: called with the rows read so far, the bytes read so far, and the bytes to read (0 where unknown).
    """

    format: Format = "tree"
    edition: Edition = "published"
    memory: bool = False
    catalog: Sequence[Path] = ()
    exclude_caveats: Sequence[str] = ()
    sidecar: Choice = "beside"
    wait: Callable[[], None] = lambda: None
    progress: Callable[[int, int, int], None] = lambda *_: None


@dataclass
class _Stream:
    """Emitted batches of a set of sources, and what is known once they are through."""

    sources: Sequence[Source]
    catalog: Catalog
    options: Options
    binder: Binder = field(init=False)
    tally: Tally = field(init=False)
    told: Told = field(init=False)
    ledger: ledger.Ledger = field(default_factory=ledger.Ledger)
    rows: list[int] = field(default_factory=list)
    errors: dict[int, str] = field(default_factory=dict)
    memory: int = 0
    bundles: int = 0
    caveats: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.binder = Binder(
            self.catalog,
            self.options.edition,
            memory=self.options.memory,
            excluded=self.options.exclude_caveats,
        )
        self.tally = Tally([source.name for source in self.sources])
        self.told = Told(self.sources, self.options.sidecar, self.binder)
        self.rows = [0] * len(self.sources)
        self._constants = Constants(emit.constants)

    def batches(self, *, files: bool) -> Iterator[pl.DataFrame]:
        """Emitted rows, batch by batch, then failed cases; a source that cannot be read is noted, the next is read."""
        total = sum(map(_size, self.sources))
        for index, source in enumerate(self.sources):
            sidecar = self.told.open(index)
            if source.absent:
                continue
            batches = read(source, index)
            try:
                # standard input may keep a reader waiting for ever, and a thread that waits cannot be interrupted
                for batch in batches if source.path is None else ahead(batches):
                    self.tally.faults(batch.faults, batch.malformed)
                    self.rows[index] += batch.frame.height + batch.malformed
                    rows = self._emit(batch.frame, sidecar, files=files)
                    self.options.progress(sum(self.rows), sum(one.size for one in self.sources), total)
                    if rows.height:
                        yield rows
            except InputError as error:
                self.errors[index] = str(error)
        failed = self.told.failed(memory=self.options.memory)
        if failed is not None and (failed := self.told.settle(self._emitted(failed, files=files))).height:
            yield failed

    def _emit(self, frame: pl.DataFrame, sidecar: Sidecar | None, *, files: bool) -> pl.DataFrame:
        bound = self.binder.bind(frame if sidecar is None else sidecar.tell(frame))
        self.memory += 0 if self.options.memory else bound.memory
        self.tally.skipped(bound.skipped)
        rows = self._emitted(bound.rows if sidecar is None else self.told.note(sidecar, bound.rows), files=files)
        self.ledger.add(rows)
        self.bundles += rows.height
        self._count_caveats(rows, 1)
        return rows

    def _emitted(self, rows: pl.DataFrame, *, files: bool) -> pl.DataFrame:
        return emit.emit(emit.identify(self._constants.attach(rows, self.binder.combinations)), files=files)

    def _count_caveats(self, rows: pl.DataFrame, sign: int) -> None:
        marked = rows.filter(pl.col("caveats") != "").get_column("caveats")
        for text, count in marked.value_counts().iter_rows():
            for caveat in text.split(" "):
                self.caveats[caveat] = self.caveats.get(caveat, 0) + sign * count

    def settle(self) -> pl.Series:
        """Count repeated rows as skipped; the positions of the bundles that they had become."""
        repeats = self.ledger.repeats()
        if repeats.height:
            self.tally.skipped(ledger.skipped(repeats, self.binder.combinations))
            self.bundles -= repeats.height
            self._count_caveats(repeats.with_columns(pl.col("caveats").cast(pl.String)), -1)
        return repeats.get_column("position")

    def linked(self) -> list[Linked]:
        """The documents that the runs name and that are not in their bundles."""
        return named(self.binder.combinations)

    def report(self, documents: Documents) -> Report:
        """What was done so far."""
        inputs = [
            Input(
                file=source.name, bytes=source.size, sha256=source.sha256, rows=self.rows[index],
                error=self.errors.get(index),
            )
            for index, source in enumerate(self.sources)
        ]  # fmt: skip
        reasons = self.tally.by_reason()
        report = Report(
            tool=f"kernelindex-liger {kernelindex_liger.__version__}",
            catalog=self.catalog.digest,
            edition=self.options.edition,
            format=self.options.format,
            inputs=inputs,
            rows_read=sum(self.rows),
            bundles=self.bundles,
            memory_rows=self.memory,
            skipped_rows=sum(reasons.values()),
            skipped_by_reason=reasons,
            skipped=self.tally.groups(),
            malformed=self.tally.lines(),
            caveats={name: count for name, count in sorted(self.caveats.items()) if count},
            sidecars=self.told.report(),
            documents=documents,
        )
        if not report.adds_up:
            raise AssertionError(f"rows read do not add up: {report.model_dump_json()}")
        return report


def convert(
    inputs: Sequence[str | Path],
    out: str | Path | None,
    options: Options = Options(),
) -> Report:
    """Convert benchmark CSVs to linked documents in a folder.

    Args:
        inputs: CSV files (`.gz` and `.zst` too), folders of them, or `-` for standard input.
        out: the output folder, made where it is missing; None writes nothing and reports all the same.
        options: format, edition, catalogue and the like.

    Returns:
        The report, which also stands in `report.json` in the folder.

    Raises:
        InputError: if no input can be read at all.
        OutputError: if the output cannot be written; what stood there before is then still whole.
        CatalogError: if a catalogue file cannot be used.
    """
    sources = find(inputs, sidecars=options.sidecar == "beside")
    catalog = load(options.catalog)
    _known_caveats(catalog, options.exclude_caveats)
    stream = _Stream(sources, catalog, options)
    if out is None:
        for _ in stream.batches(files=False):
            pass
        stream.settle()
        _readable(stream)
        return stream.report(Documents(written=0, unchanged=0))
    folder = Folder(Path(out))
    with _locked(folder, options.wait), folder:
        target = writer(options.format, folder, catalog, [source.name for source in sources])
        counts = _write(stream, target)
        report = stream.report(Documents(written=counts.written, unchanged=counts.unchanged))
        _write_report(folder, report)
    return report


def table(
    inputs: Sequence[str | Path],
    *,
    memory: bool = True,
    catalog: Sequence[Path] = (),
    edition: Edition = "published",
    sidecar: Choice = "beside",
) -> pl.DataFrame:
    """Benchmark CSVs as one flat table of runs in memory: the columns of the format `parquet`, failed cases last.

    Raises:
        InputError: if an input cannot be read.
        CatalogError: if a catalogue file cannot be used.
    """
    facts = load(catalog)
    sources = find(inputs, sidecars=sidecar == "beside")
    stream = _Stream(sources, facts, Options(memory=memory, edition=edition, sidecar=sidecar))
    batches = list(stream.batches(files=False)) or [no_rows()]
    if stream.errors:
        raise InputError("; ".join(stream.errors.values()))
    drop = stream.settle()
    axes = facts.axis_names
    constants = Constants(functools.partial(flat.constants, axes=axes))
    rows = constants.attach(pl.concat(batches, how="diagonal"), stream.binder.combinations)
    frame = flat.flatten(rows, [source.name for source in sources], axes)
    return frame.filter(~pl.int_range(pl.len(), dtype=pl.UInt64).is_in(drop.implode()))


def no_rows() -> pl.DataFrame:
    """Emitted rows of no input: the columns alone."""
    from kernelindex_liger.catalog.load import nothing

    binder = Binder(nothing())
    rows = Constants(emit.constants).attach(binder.bind(empty()).rows, [])
    return emit.emit(emit.identify(rows))


def _size(source: Source) -> int:
    """Bytes to read, for the progress alone: 0 where that is not known, or the file has gone since it was found."""
    try:
        return 0 if source.path is None else source.path.stat().st_size
    except OSError:
        return 0


def _write(stream: _Stream, target: Writer) -> Counts:
    try:
        for rows in stream.batches(files=target.needs_file_text):
            target.add(rows, stream.binder.combinations)
        _readable(stream)
        return target.finish(stream.settle(), stream.linked())
    except OSError as error:
        raise refusal(error.filename or "output", error) from error


def _write_report(folder: Folder, report: Report) -> None:
    known = _known_report(folder.root / "report.json")
    # a run that changed nothing leaves the report of the run that did the work
    if known is None or report.documents.written or not report.same_but_counts(known):
        write_file(folder, "report.json", json_text(report).encode())


def _known_report(path: Path) -> Report | None:
    if path.is_symlink() or not path.is_file():
        return None
    try:
        return parse(path.read_text(encoding="utf-8", errors="replace"))
    except OSError as error:
        raise refusal(path, error) from error


def _readable(stream: _Stream) -> None:
    if len(stream.errors) == len(stream.sources):
        raise InputError("\n".join(stream.errors.values()))


def _known_caveats(catalog: Catalog, excluded: Sequence[str]) -> None:
    known = {caveat.id for caveat in catalog.caveats}
    if unknown := sorted(set(excluded) - known):
        raise InputError(f"no caveat {', '.join(unknown)}; `ligerimport catalog caveats` lists them")


@contextmanager
def _locked(folder: Folder, wait: Callable[[], None]) -> Iterator[None]:
    from filelock import FileLock, Timeout

    lock = FileLock(unlinked(folder.root / LOCK))
    try:
        try:
            lock.acquire(timeout=0)
        except Timeout:
            wait()
            lock.acquire()
    except OSError as error:
        raise refusal(folder.root, error) from error
    try:
        yield
    finally:
        lock.release()
