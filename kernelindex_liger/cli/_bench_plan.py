"""`bench --plan`: the rows that would be measured, without measuring them."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from kernelindex_liger.cli._bench_shared import request_of, say_left_out
from kernelindex_liger.cli._shared import OUTPUT_FAILED, fail

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from kernelindex_liger.bench.plan import Selection
    from kernelindex_liger.bench.spec import Kernel


def plan(kernels: Sequence[Kernel], selection: Selection, options: dict[str, Any]) -> None:
    """Write the planned rows to --output or standard output."""
    from kernelindex_liger.bench import table
    from kernelindex_liger.bench.device import described
    from kernelindex_liger.bench.plan import left_out, series_of
    from kernelindex_liger.bench.reach import beyond
    from kernelindex_liger.bench.requirements import version
    from kernelindex_liger.files import OutputError

    output: Path | None = options["output"]
    if output and output.exists() and not options["overwrite"]:
        raise click.UsageError(f"{output} is there; a plan would replace it: choose another -o, or --overwrite")
    gpu, found_gib = described(options["devices"].split(",")[0])
    gib = options["gpu_memory"] or found_gib
    request = request_of(options, gib)
    rows = [
        row
        for kernel in kernels
        for series in series_of(kernel, selection, request)
        for row in table.rows_of(series, gpu=gpu, liger_version=version("liger-kernel") or "")
    ]
    say_left_out(left_out(kernels, selection), beyond(kernels, selection, request))
    click.echo(f"{len(rows)} rows, planned for {gib} GiB with estimates of memory", err=True)
    if output is None:
        _print(rows)
        return
    try:
        table.write(output, rows)
    except OutputError as error:
        fail(str(error), OUTPUT_FAILED)


def _print(rows: Sequence[dict[str, str]]) -> None:
    import csv

    from kernelindex_liger.documents.upstream import COLUMNS

    writer = csv.DictWriter(sys.stdout, fieldnames=COLUMNS)
    writer.writeheader()
    writer.writerows(rows)
