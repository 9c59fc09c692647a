"""What is fuzzed: each target takes any bytes and raises only if something is wrong with the package.

Errors that are meant for people are no fault, but their messages are held to what messages must be.
"""

from __future__ import annotations

import gzip

from tests.fuzz.catalogues import evaluate, load_catalogue
from tests.fuzz.common import Target
from tests.fuzz.conversions import bind_rows, check_documents, merge_table, read_csv, read_gzip, read_sidecars, show
from tests.fuzz.histories import read_files, read_part, read_values
from tests.fuzz.seeds import CATALOGUES, LIMITS, LINE, MARK, NIGHTLY, RUN, STATE, parquet
from tests.hostile.parts import rows
from tests.hostile.test_sidecar import SOUND

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
