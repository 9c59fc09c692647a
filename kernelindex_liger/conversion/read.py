"""Read: bytes of CSVs become batches of rows as text columns, and faults for lines that are no rows.

Blocks are cut at line ends and parsed by polars. Where anything about a block is odd (a line too short or too long, a
stray quote, bytes that are not UTF-8), that block goes line by line through the csv module, which finds the faulty
lines and keeps the good ones. Where a block was cut makes no difference: a record that may go on waits for the next
block, and polars' reading counts only where the csv module would read the same.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import polars as pl

from kernelindex_liger.conversion.rows import COLUMNS, FAULTS, Fault, InputError
from kernelindex_liger.conversion.sources import Source
from kernelindex_liger.untrusted import spelled

LINE = 1 << 20
"""Bytes that one line may have at the most."""

PLAIN = 1 << 17
"""Bytes of a line that may be split at its commas: the csv module takes no longer field."""

RECORD_LINES = 50
"""Lines that a quoted field may span before its opening quote counts as a stray one."""

CONFIG = "extra_benchmark_config_str"
"""The column whose values hold quotes."""

MALFORMED = 1_000_000
"""Malformed lines of one source after which the rest of it is not read."""

SHORT = 60
"""Bytes a line below which a block may consist of lines that are no rows."""

LINES = 2**32 - 1
"""Lines of one source, as far as their numbers reach."""

BOM = b"\xef\xbb\xbf"
MAGIC = (b"\x1f\x8b", b"\x28\xb5", b"x\x01", b"x\x5e", b"x\x9c", b"x\xda")
"""First bytes of gzip, Zstandard and zlib streams."""


@dataclass(frozen=True)
class Batch:
    """Rows as text (`COLUMNS`, `file` an index into the sources, `line` counted from 1), and lines that are none.

    Of those, `faults` has the first thousand, and `malformed` is how many there are.
    """

    frame: pl.DataFrame
    faults: list[Fault]
    malformed: int


def read(source: Source, index: int) -> Iterator[Batch]:
    """The rows of one source, in order, in batches.

    Raises:
        InputError: if the source cannot be read, is empty, or has no header with exactly the 15 columns.
    """
    order: list[str] | None = None
    blank = bad = 0
    for chunk in _records(source):
        data, line = chunk.data, chunk.line
        faults, malformed = list(chunk.faults), len(chunk.faults)
        if order is None:
            if data and not chunk.last and not data.strip(b"\r\n"):
                blank = line + data.count(b"\n")
                continue
            order, data, line = _header(source, data, line)
        if data:
            parsed = _fast(data, order)
            if parsed is None:
                allowed = MALFORMED - bad - malformed
                parsed, numbers, found, more, chunk.rest = _slow(
                    source.name, data, line, order, allowed, more=not chunk.last
                )
                faults, malformed = faults + found, malformed + more
            else:
                numbers = pl.int_range(line, line + parsed.height, dtype=pl.UInt32, eager=True)
            frame = parsed.select(COLUMNS).with_columns(
                pl.lit(index, dtype=pl.UInt16).alias("file"), numbers.alias("line")
            )
            yield Batch(frame, faults, malformed)
        elif faults:
            yield Batch(empty(), faults, malformed)
        bad += malformed
        if bad > MALFORMED:
            raise InputError(f"{source.name}: more than {MALFORMED:,} malformed lines; the rest was not read")
    if order is None and blank:
        _header(source, b"", blank)
    if order is None:
        raise InputError(f"{source.name}: empty; expected a CSV with the header {','.join(COLUMNS)}")


def ahead(batches: Iterator[Batch]) -> Iterator[Batch]:
    """The same batches, each read while the one before is worked on."""
    with ThreadPoolExecutor(max_workers=1) as reader:
        following = reader.submit(next, batches, None)
        while (batch := following.result()) is not None:
            following = reader.submit(next, batches, None)
            yield batch


def empty() -> pl.DataFrame:
    """A batch's frame without rows."""
    schema = dict.fromkeys(COLUMNS, pl.String()) | {"file": pl.UInt16(), "line": pl.UInt32()}
    return pl.DataFrame(schema=schema)


@dataclass
class _Chunk:
    data: bytes
    line: int
    faults: list[Fault]
    last: bool = False
    rest: bytes = b""
    """What the reader leaves for the next chunk: a record that may go on there."""


def _records(source: Source) -> Iterator[_Chunk]:
    """Whole lines, with the number of the first."""
    pending, line, first, skipping = b"", 1, True, False
    for block in source.blocks():
        if first:
            block = _text_start(source, block)
            first = False
        if skipping:
            newline = block.find(b"\n")
            if newline < 0:
                continue
            block, skipping, line = block[newline + 1 :], False, line + 1
        pending += block
        cut = pending.rfind(b"\n") + 1
        if not cut:
            if len(pending) > LINE:
                yield _Chunk(b"", line, [Fault(source.name, line, f"longer than {LINE} bytes")])
                pending, skipping = b"", True
            continue
        chunk = _Chunk(pending[:cut], line, [])
        yield chunk
        cut -= len(chunk.rest)
        line += pending.count(b"\n", 0, cut)
        if line > LINES - len(pending):
            raise InputError(f"{source.name}: more than {line:,} lines; split it")
        pending = pending[cut:]
    if pending:
        yield _Chunk(pending, line, [], last=True)


def _text_start(source: Source, block: bytes) -> bytes:
    if block.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise InputError(f"{source.name}: UTF-16 text; save it as UTF-8")
    if block.startswith((b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"PK\x03\x04", b"PAR1")):
        raise InputError(f"{source.name}: a compressed or binary file; compressed CSVs are named .csv.gz or .csv.zst")
    return block.removeprefix(BOM)


def _header(source: Source, data: bytes, line: int) -> tuple[list[str], bytes, int]:
    while data[:1] in (b"\r", b"\n"):
        line += data[:1] == b"\n"
        data = data[1:]
    end = data.find(b"\n")
    head, rest = (data, b"") if end < 0 else (data[: end + 1], data[end + 1 :])
    try:
        names = next(csv.reader([head[:LINE].decode().rstrip("\r\n")], strict=True), [])
    except (UnicodeDecodeError, csv.Error):
        names = []
    if sorted(names) == sorted(COLUMNS):
        return names, rest, line + 1
    counts = Counter(names)
    missing = [name for name in COLUMNS if name not in counts]
    doubled = sorted(name for name, count in counts.items() if count > 1)
    extra = [name for name in counts if name not in COLUMNS]
    if len(missing) == len(COLUMNS):
        raise InputError(f"{source.name}:{line}: not a Liger-Kernel benchmark CSV; its header is {','.join(COLUMNS)}")
    found = [
        f"{what} {', '.join(spelled(one[:40]) for one in columns[:5])}"
        for what, columns in (("missing", missing), ("doubled", doubled), ("unknown", extra))
        if columns
    ]
    raise InputError(f"{source.name}:{line}: the header has other columns: {'; '.join(found)}")


def _fast(data: bytes, order: list[str]) -> pl.DataFrame | None:
    """The block by polars, or None where polars might have read it otherwise than it was written."""
    returns = data.count(b"\r") if b"\r" in data else 0
    quotes = data.count(b'"')
    # polars would decompress a block that happens to begin like a compressed file
    if data.startswith(MAGIC) or quotes % 2 or (returns and returns != data.count(b"\r\n")):
        return None
    ends = data.count(b"\n")
    lines = ends + (not data.endswith(b"\n"))
    # polars fills short rows up, so that many short lines would take a hundred times their memory
    if len(data) < SHORT * lines and data.count(b",") < lines * (len(order) - 1):
        return None
    try:
        frame = pl.read_csv(
            io.BytesIO(data), has_header=False, new_columns=order, schema=dict.fromkeys(order, pl.String())
        )
    except (pl.exceptions.PolarsError, UnicodeDecodeError, OSError):
        return None
    # polars fills short rows with nulls, so a null in the last column may be one
    if frame.height != lines or frame.get_column(order[-1]).null_count():
        return None
    size = pl.all().str.len_bytes()
    sizes = frame.select(size.max().name.prefix("max "), size.sum().name.prefix("sum ")).row(0)
    longest, total = [length or 0 for length in sizes[: len(order)]], sum(sizes[len(order) :])
    # a quote takes two bytes in a line
    if max(longest) > csv.field_size_limit() or 2 * sum(longest) + 3 * len(order) > LINE:
        return None
    dropped = len(data) - total - frame.height * (len(order) - 1) - ends - returns
    if quotes and not (_quoted(frame, quotes, dropped) or _rewritten(frame, crlf=returns > 0).startswith(data)):
        return None
    return frame.with_columns(pl.all().fill_null("")) if any(column.null_count() for column in frame) else frame


def _quoted(frame: pl.DataFrame, quotes: int, dropped: int) -> bool:
    """Whether all quotes of the lines are where they should be: configs in quotes, each quote in them twice.

    polars does not ask. It drops quotes and nothing else, except that of a field that begins with a quote it drops the
    last byte whatever it is, and keeps a quote only where two stand together or where the field does not begin with
    one. A config with a comma cannot have been such a field. So if no other value holds a quote, and what was `dropped`
    is just the quotes around configs and one of each two in them, nothing else was.
    """
    rows = kept = 0
    for config, count in frame.get_column(CONFIG).value_counts().rows():
        inside, comma = (config or "").count('"'), "," in (config or "")
        if inside and not comma:
            return False
        kept += count * inside
        rows += count * comma
    return dropped == kept + 2 * rows and quotes == 2 * kept + 2 * rows


def _rewritten(frame: pl.DataFrame, *, crlf: bool) -> bytes:
    """The lines as they should be written."""
    buffer = io.BytesIO()
    frame.write_csv(buffer, include_header=False, line_terminator="\r\n" if crlf else "\n")
    return buffer.getvalue()


def _slow(
    name: str, data: bytes, line: int, order: list[str], allowed: int, *, more: bool
) -> tuple[pl.DataFrame, pl.Series, list[Fault], int, bytes]:
    """Rows, their line numbers, faults and how many, and the bytes at the end that may belong with what comes after."""
    rows: list[list[str]] = []
    numbers: list[int] = []
    faults: list[Fault] = []
    malformed = 0
    lines = data.split(b"\n")
    if not lines[-1]:
        lines.pop()
    at = 0
    while at < len(lines) and malformed <= allowed:
        if not lines[at].strip(b"\r"):
            at += 1
            continue
        fields, taken, problem = _record(lines, at, more=more)
        if not taken:
            break
        if problem:
            malformed += 1
            if malformed <= FAULTS:
                faults.append(Fault(name, line + at, problem))
        else:
            rows.append(fields)
            numbers.append(line + at)
        at += taken
    frame = pl.DataFrame(rows, schema=dict.fromkeys(order, pl.String()), orient="row")
    rest = b"".join(one + b"\n" for one in lines[at:])
    return frame, pl.Series(numbers, dtype=pl.UInt32), faults, malformed, rest


def _record(lines: list[bytes], at: int, *, more: bool) -> tuple[list[str], int, str]:
    """The record that starts at a line: its fields, how many lines it takes, or what is wrong with its first line.

    It takes no line where it may go on after these lines, if there are `more`.
    """
    raw = lines[at].removesuffix(b"\r")
    if len(raw) > LINE:
        return [], 1, f"longer than {LINE} bytes"
    if len(raw) <= PLAIN and raw.isascii() and b'"' not in raw and b"\r" not in raw:
        # what the csv module would make of it, in a tenth of the time
        fields = raw.decode().split(",")
        return (fields, 1, "") if len(fields) == len(COLUMNS) else ([], 1, _wrong_number(fields))
    taken, quotes = 1, lines[at].count(b'"')
    while quotes % 2 and taken < RECORD_LINES and at + taken < len(lines):
        quotes += lines[at + taken].count(b'"')
        taken += 1
    if quotes % 2 and more and taken < RECORD_LINES:
        return [], 0, ""
    if quotes % 2:
        return [], 1, "a quote opens and never closes"
    raw = b"\n".join(lines[at : at + taken]).removesuffix(b"\r")
    if len(raw) > LINE:
        return [], 1, f"longer than {LINE} bytes"
    try:
        text = raw.decode()
    except UnicodeDecodeError as error:
        return [], 1, f"not UTF-8: byte 0x{raw[error.start]:02x} at column {error.start + 1}"
    try:
        fields = next(csv.reader(io.StringIO(text, newline=""), strict=True))
    except (csv.Error, StopIteration) as error:
        return [], 1, f"not CSV: {error}"
    if len(fields) != len(COLUMNS):
        return [], 1, _wrong_number(fields) if taken == 1 else "a quote opens and never closes"
    return fields, taken, ""


def _wrong_number(fields: list[str]) -> str:
    return f"{len(fields)} fields where {len(COLUMNS)} are expected"
