"""Targets of what a conversion reads, checks and shows."""

from __future__ import annotations

import csv
import hashlib
import io
import json

from kernelindex_liger.bench import table
from kernelindex_liger.bench.results import read_sidecar
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
from kernelindex_liger.untrusted import UNSAFE, quoted, safe, safe_json, spelled
from tests.conftest import ROW
from tests.conftest import text as csv_text
from tests.fuzz.common import MESSAGE, Given, facts, said, scratch


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
