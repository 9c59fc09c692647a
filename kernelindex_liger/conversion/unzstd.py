"""Zstandard text as plain text on standard output, by a process of its own that may take only so much memory.

polars is the one Zstandard reader among the core dependencies, and it holds a line whole, however long it is. Bounded
from outside, such a line ends this process and nothing else. usage: unzstd.py FILE
"""

from __future__ import annotations

import os
import sys

MEMORY = 768 << 20
"""Bytes that the process may take; the largest window of Zstandard's own levels is 128 MiB."""

UNREADABLE = 3
"""Exit status for a file that is no such text; the reason stands on standard error."""


def main(path: str) -> int:
    """Write the lines of `path`; an exit status."""
    import resource

    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    # each thread reserves memory of its own, and one is enough: it is faster than the reader that takes its lines
    os.environ |= {"POLARS_MAX_THREADS": "1", "RUST_BACKTRACE": "0"}
    import polars as pl

    try:
        for lines in pl.scan_lines(path, glob=False).collect_batches(chunk_size=20_000, maintain_order=True):
            lines.write_csv(sys.stdout.buffer, include_header=False, quote_style="never")
    except BrokenPipeError:
        # what reads has seen enough; nothing is left to flush
        os._exit(0)
    except (OSError, pl.exceptions.PolarsError) as error:
        sys.stderr.write(f"{error}\n")
        return UNREADABLE
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
