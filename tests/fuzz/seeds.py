"""Well-formed inputs that the targets begin with."""

from __future__ import annotations

import io
import json

import polars as pl

from tests.conftest import ROW
from tests.conftest import text as csv_text
from tests.hostile.test_catalog import KERNEL, protocol


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
