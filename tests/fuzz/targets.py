"""What is fuzzed: each target takes any bytes and raises only if something is wrong with the package.

Errors that are meant for people are no fault, but their messages are held to what messages must be.
"""

from __future__ import annotations

import csv
import functools
import gzip
import hashlib
import io
import json
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import polars as pl

from kernelindex_liger.bench import table
from kernelindex_liger.bench.results import read_sidecar
from kernelindex_liger.catalog import Catalog, CatalogError, load
from kernelindex_liger.catalog.check import problems
from kernelindex_liger.catalog.describe import describe, differences, listing
from kernelindex_liger.catalog.expressions import LIMIT, Expression, ExpressionError
from kernelindex_liger.catalog.load import _content, _merged, _refuse
from kernelindex_liger.conversion import emit
from kernelindex_liger.conversion import read as reader
from kernelindex_liger.conversion.bind import Binder
from kernelindex_liger.conversion.constants import Constants
from kernelindex_liger.conversion.linked import Linked
from kernelindex_liger.conversion.recorder import Recorder
from kernelindex_liger.conversion.rows import REASONS, InputError
from kernelindex_liger.conversion.sidecar import Sidecar
from kernelindex_liger.conversion.sources import FREE, RATIO, Source
from kernelindex_liger.conversion.validate import validate
from kernelindex_liger.documents.canonical import sha256
from kernelindex_liger.history import judge, marks, thresholds, view
from kernelindex_liger.history.errors import HistoryError
from kernelindex_liger.history.store import History
from kernelindex_liger.nightly import night, settings
from kernelindex_liger.report import json_, markdown, text
from kernelindex_liger.untrusted import UNSAFE, quoted, safe, safe_json, spelled
from tests.conftest import ROW
from tests.conftest import text as csv_text
from tests.hostile.parts import history as write_history
from tests.hostile.parts import rows
from tests.hostile.test_catalog import KERNEL, protocol
from tests.hostile.test_sidecar import SOUND

Target = Callable[[bytes], None]

MESSAGE = 10_000
"""Characters of a message for a person at the most."""


@functools.cache
def scratch() -> Path:
    """A folder for the files that targets read, in memory where the system has such a place."""
    memory = Path("/dev/shm")
    return Path(tempfile.mkdtemp(prefix="fuzz-", dir=memory if memory.is_dir() else None))


def said(error: Exception) -> None:
    """Hold a message for a person to what it must be."""
    message = str(error)
    assert message, error
    assert len(message) < MESSAGE, message[:200]
    # it can be shown and logged, whatever it tells of
    safe(message).encode()
    spelled(message).encode("ascii")


class Given(Source):
    """A source whose bytes are at hand, given in blocks of a size."""

    def __init__(self, data: bytes, size: int = 1 << 22) -> None:
        super().__init__("in.csv", Path("in.csv"))
        self.data, self.step = data, size

    def blocks(self) -> Iterator[bytes]:
        for start in range(0, len(self.data), self.step):
            yield self.data[start : start + self.step]


def _rows(data: bytes, size: int = 1 << 22) -> tuple[list[tuple[object, ...]], list[object], str]:
    found: list[tuple[object, ...]] = []
    faults: list[object] = []
    try:
        for batch in reader.read(Given(data, size), 0):
            assert len(batch.faults) <= batch.malformed
            assert batch.frame.height == 0 or batch.frame.null_count().transpose().to_series().sum() == 0
            found += batch.frame.rows()
            faults += batch.faults
    except InputError as error:
        said(error)
        return found, faults, str(error)
    return found, faults, ""


def read_csv(data: bytes) -> None:
    """A CSV gives the same rows and faults however it is cut, fast or slow, each of its lines at most once."""
    whole = _rows(data)
    numbers = [row[-1] for row in whole[0]]
    assert numbers == sorted(set(numbers))
    assert len(whole[0]) + len(whole[1]) <= data.count(b"\n") + 1
    assert _rows(data, 97) == whole
    fast, reader._fast = reader._fast, lambda *_: None  # type: ignore[assignment]
    try:
        assert _rows(data) == whole
    finally:
        reader._fast = fast


def read_gzip(data: bytes) -> None:
    """A compressed file gives its blocks up to where it is broken, or within its bound; then the message says so."""
    path = scratch() / "in.csv.gz"
    path.write_bytes(data)
    source = Source(str(path), path)
    given = 0
    try:
        for block in source.blocks():
            given += len(block)
    except InputError as error:
        said(error)
    else:
        assert source.size == len(data)
        assert source.sha256 == hashlib.sha256(data).hexdigest()
    assert given <= max(FREE, RATIO * len(data))


def merge_table(data: bytes) -> None:
    """A CSV that the runner merges into is refused, or written again without a loss."""
    path = scratch() / "out.csv"
    path.write_bytes(data)
    try:
        found = table.read(path)
        table.write(path, found)
    except table.BadTableError as error:
        said(error)
        assert path.read_bytes() == data
        return
    assert table.read(path) == found
    # no field is lost: those that are read are those that the csv module finds
    fields_found = [one for one in csv.reader(io.StringIO(data.decode(), newline="")) if one]
    assert [list(row.values()) for row in found] == fields_found[1:]


@functools.cache
def facts() -> Catalog:
    """The package's catalogue."""
    return load()


def bind_rows(data: bytes) -> None:
    """Every row is bound, skipped for one reason that can be told, or left aside; what is bound becomes a document."""
    header = csv_text([]).encode()
    constants = Constants(emit.constants)
    for edition in ("published", "corrected"):
        binder = Binder(facts(), edition, memory=True)
        try:
            for batch in reader.read(Given(header + data), 0):
                bound = binder.bind(batch.frame)
                assert bound.rows.height + bound.skipped.height == batch.frame.height
                for reason, detail in bound.skipped.select("reason", "detail").iter_rows():
                    assert reason in REASONS
                    assert len(detail or "") < MESSAGE
                made = emit.emit(emit.identify(constants.attach(bound.rows, binder.combinations)))
                for external_id in made.get_column("external_id").to_list():
                    assert ".." not in external_id.split("/")
                    assert external_id.isascii()
                    assert external_id.isprintable()
                _linked(binder)
        except InputError as error:
            said(error)


def _linked(binder: Binder) -> None:
    for one in binder.combinations:
        pending: list[Linked] = [one.workload, one.implementation, one.protocol, one.environment]
        while pending:
            document = pending.pop()
            assert document.text
            pending += document.links


@functools.cache
def common() -> dict[str, object]:
    """The tables of the package's catalogue that a kernel's facts name."""
    catalog = load()
    return {name: getattr(catalog, name) for name in ("projects", "providers", "metrics", "protocols", "models")}


def joined(own: Catalog) -> Catalog:
    """A file's facts with those that they may name: much of what `load([file])` gives, without 67 kernels."""
    tables = {name: {**known, **getattr(own, name)} for name, known in common().items()}  # type: ignore[dict-item]
    return replace(own, **tables, gpus=(*own.gpus, *facts().gpus))


def load_catalogue(data: bytes) -> None:
    """A catalogue file is refused, or usable: described, digested, and asked about a row."""
    path = scratch() / "facts.toml"
    path.write_bytes(data)
    try:
        catalog = joined(_merged([(path, _content(path))], sha256(data.hex())))
        _refuse(problems(catalog))
    except CatalogError as error:
        said(error)
        return
    for kernel in catalog.kernels.values():
        describe(catalog, kernel).encode()
    for what in ("kernels", "providers", "gpus", "protocols", "models"):
        listing(catalog, what)
    differences(catalog).encode()
    binder = Binder(catalog, "corrected", memory=True)
    names = [ROW | {"kernel_name": name} for name in [*list(catalog.kernels)[:3], "rms_norm"]]
    for batch in reader.read(Given(csv_text(names).encode()), 0):
        bound = binder.bind(batch.frame)
        assert bound.rows.height + bound.skipped.height == batch.frame.height


def evaluate(data: bytes) -> None:
    """An expression has an integer value within the bound, or says why not."""
    names: dict[str, object] = {"x": 3, "M": 2**40, "text": "a", "list": [1], "flag": True, "none": None}
    try:
        value = Expression(data.decode(errors="surrogateescape")).value(names)
    except ExpressionError as error:
        said(error)
        return
    assert type(value) is int
    assert abs(value) <= LIMIT


def read_sidecars(data: bytes) -> None:
    """Every line of a sidecar is used or counted as faulty, by the importer and by the runner."""
    path = scratch() / "in.meta.jsonl"
    path.write_bytes(data)
    binder = Binder(facts(), memory=True)
    sidecar = Sidecar(Given(data, 1 << 16))
    sidecar.read(Recorder(binder.catalog, binder.linker))
    assert sidecar.error is None
    assert sidecar.lines == sidecar.series + sidecar.faulty
    for fault in sidecar.faults:
        said(ValueError(fault.message))
    read_sidecar(path)
    frame = next(reader.read(Given(csv_text([ROW]).encode()), 0)).frame
    told = sidecar.tell(frame)
    assert told.height == 1
    failed = sidecar.outcomes()
    assert failed.height == sidecar.cases.height


def _history(folder: Path) -> None:
    try:
        kept = History(folder)
        kept.check()
        kept.runs()
        view.series(kept, "rms_norm")
        judged = judge.judge(kept, thresholds.preset())
        for render in (text.render, markdown.render, json_.render):
            render(judged).encode()
    except HistoryError as error:
        said(error)


def read_part(data: bytes) -> None:
    """A part of a history is refused or judged."""
    folder = scratch() / "history"
    if not folder.exists():
        write_history(folder, *(rows(number) for number in range(4)))
    (folder / "parts" / "foreign.parquet").write_bytes(data)
    _history(folder)


def read_values(data: bytes) -> None:
    """A part whose values are anything, in columns of the right kinds, is refused or judged and reported."""
    frame = rows()
    changes: dict[str, pl.Expr] = {}
    for line in data.decode(errors="replace").split("\n")[:5]:
        name, _, value = line.partition("=")
        if name in frame.columns:
            kind = frame.schema[name]
            literal = pl.lit(value or None, dtype=pl.String)
            if kind == pl.List(pl.String):
                literal = literal.str.split(",")
            elif isinstance(kind, pl.Datetime):
                literal = literal.cast(pl.Int64, strict=False).cast(kind)
            elif kind != pl.String:
                literal = literal.cast(pl.Int64, strict=False).cast(kind, strict=False)
            changes[name] = literal
    buffer = io.BytesIO()
    frame.with_columns(**changes).write_parquet(buffer)
    read_part(buffer.getvalue())


FILES = ("mark", "version", "thresholds", "nightly", "state")


def read_files(data: bytes) -> None:
    """The small files of histories and nights, the first byte says which, are refused or used."""
    kind, data = FILES[data[0] % len(FILES)] if data else FILES[0], data[1:]
    folder = scratch() / "files"
    if not folder.exists():
        write_history(folder, rows())
        (folder / "marks").mkdir()
        (folder / "nights" / "2026-01-01").mkdir(parents=True)
    places = {
        "mark": folder / "marks" / "x.json",
        "version": folder / "history.json",
        "thresholds": folder / "thresholds.toml",
        "nightly": folder / settings.NAME,
        "state": folder / "nights" / "2026-01-01" / "state.json",
    }
    places[kind].write_bytes(data)
    try:
        if kind in {"mark", "version"}:
            kept = History(folder)
            for mark in marks.load(kept):
                mark.matches("0" * 16, "a name")
            judge.judge(kept, thresholds.preset())
        elif kind == "thresholds":
            judge.judge(History(folder), thresholds.load(places[kind]))
        elif kind == "nightly":
            settings.load(folder)
        else:
            list(night.all_nights(folder))
            night.take_up(folder / "none", "bench")
    except HistoryError as error:
        said(error)
    finally:
        (folder / "history.json").write_text('{"version": 1}\n')
        (folder / "marks" / "x.json").unlink(missing_ok=True)


def check_documents(data: bytes) -> None:
    """Documents of any form are checked to the end."""
    folder = scratch() / "documents"
    folder.mkdir(exist_ok=True)
    (folder / "runs.jsonl").write_bytes(data)
    (folder / "operations.jsonl").write_bytes(data)
    (folder / "submission.yaml").write_bytes(data)
    (folder / "report.json").write_bytes(data)
    for fault in validate(folder).faults:
        said(ValueError(f"{fault.place}: {fault.problem[: MESSAGE // 2]}"))


def show(data: bytes) -> None:
    """What is shown is harmless, can be encoded, and as JSON is what it was."""
    import unicodedata

    shown = data.decode(errors="surrogateescape")
    for one in (safe(shown), quoted(shown), spelled(shown), safe_json(json.dumps(shown, ensure_ascii=False))):
        one.encode()
        assert not {letter for letter in one if unicodedata.category(letter) in UNSAFE}
    assert json.loads(safe_json(json.dumps(shown, ensure_ascii=False))) == shown


def parquet(frame: pl.DataFrame) -> bytes:
    """A table's bytes."""
    buffer = io.BytesIO()
    frame.write_parquet(buffer, compression="uncompressed")
    return buffer.getvalue()


MARK = json.dumps(
    {
        "kind": "accept",
        "case": "*",
        "why": "w",
        "label": "l",
        "since": "2026-01-01T00:00:00Z",
        "made_at": "2026-01-01T00:00:00Z",
    }
).encode()
LIMITS = b'preset = "strict"\n[time]\nchange = 0.1\n[[rule]]\nkernel = "*"\nchange = 0.2'
NIGHTLY = b'keep = 3\n[csv]\nsource = "x"\n[judge]\npreset = "strict"'
STATE = json.dumps(
    {"begun": "2026-01-01T00:00:00+00:00", "kind": "x", "steps": {"judge": {"status": 0}}, "complete": False}
).encode()
PROTOCOL = protocol("{timed}", "t")
RULES = """
[[caveats]]
id = "c"
kind = "meaning"
sentence = "This is a sentence of some length."
evidence = "evidence"
match = { kernel = "rms_norm_too", x_name = ["H"], config = { eps = [1e-6, 1] }, since = 2025-01-01T00:00:00 }
[[corrections]]
id = "C"
sentence = "This is a sentence of some length."
evidence = "evidence"
match = { kernel = "rms_norm_too", times = [[2026-01-01T00:00:00, 2026-12-31T00:00:00]], above_ms = 0.1 }
utc_offset_minutes = 60
protocol = "p"
"""
TABLES = """
[models.tiny]
hidden_size = 64
[metrics]
speed = "p"
[[gpus]]
vendor = "v"
product = "p"
architecture = "sm_1"
names = { "A GPU" = "" }
"""
CATALOGUES = tuple(one.encode() for one in (KERNEL, PROTOCOL, KERNEL + RULES + PROTOCOL, TABLES + PROTOCOL))
RUN = csv_text([ROW]).encode()
LINE = RUN.partition(b"\n")[2]

TARGETS: dict[str, tuple[Target, tuple[bytes, ...]]] = {
    "reader": (read_csv, (RUN, RUN.replace(b"\r", b"") * 2, RUN.replace(b"hidden size", b'"hidden, ""size"""'))),
    "gzip": (read_gzip, (gzip.compress(RUN, mtime=0), gzip.compress(b"", mtime=0) + gzip.compress(RUN, 0, mtime=0))),
    "table": (merge_table, (RUN,)),
    "binder": (bind_rows, (LINE, LINE.replace(b"speed", b"memory").replace(b",ms,", b",MB,"))),
    "catalogue": (load_catalogue, CATALOGUES),
    "expression": (evaluate, (b"x * (M - 3) // 2 % 5", b"text", b"none + 1")),
    "sidecar": (read_sidecars, (SOUND, SOUND + b"\n\n" + SOUND)),
    "part": (read_part, (parquet(rows()),)),
    "values": (read_values, (b"ns=5\nkernel=k", b"settings={}\ntime=5", b"caveats=a,b\nstatus=failed")),
    "files": (
        read_files, (b"\x00" + MARK, b'\x01{"version": 1}', b"\x02" + LIMITS, b"\x03" + NIGHTLY, b"\x04" + STATE),
    ),
    "documents": (
        check_documents, (b'{"run": {}, "protocol": {}, "environment": {}}', b'{"projects": [], "runs": [{}]}'),
    ),
    "shown": (show, ("\x1b[2J\u202e\u200b\U000e0041\u2028é".encode(), b"\xff\x9b")),
}  # fmt: skip
"""Name, function, and well-formed inputs to begin with."""
