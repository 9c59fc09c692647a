"""`ligerimport csv`: benchmark CSVs to linked documents."""

from __future__ import annotations

import atexit
import functools
import gc
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, ParamSpec, TypeVar

import click

from kernelindex_liger.cli._shared import BAD_INPUT, CHECK_FAILED, catalog_option, console, handled, safe, spelled

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.table import Table

    from kernelindex_liger.conversion import Report
    from kernelindex_liger.conversion.report import MalformedLine, Sidecars, SkippedGroup

P = ParamSpec("P")
R = TypeVar("R")

GROUPS = 15
"""Groups of skipped rows that the terminal shows; report.json has them all."""


def uncollected(function: Callable[P, R]) -> Callable[P, R]:
    """Run a function without the collector of cyclic garbage.

    A conversion makes objects that stay, and no cycles for its rows: looking for cycles finds none and takes a tenth of
    a small conversion's time, and a fifth where every row has a workload of its own.
    """

    @functools.wraps(function)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> R:
        enabled = gc.isenabled()
        gc.disable()
        # nor when the process ends, which gives all memory back at once
        atexit.register(gc.freeze)
        try:
            return function(*args, **kwargs)
        finally:
            if enabled:
                gc.enable()

    return wrapper


@click.command()
@click.argument("inputs", nargs=-1, required=True, metavar="INPUT...")
@click.option("-o", "--out", metavar="OUT", help="Folder for the documents; made where it is missing.")
@click.option(
    "--format",
    "format_",
    type=click.Choice(["tree", "jsonl", "parquet", "submission"]),
    default="tree",
    show_default=True,
    help="tree: a file a row and linked/; jsonl: a bundle a line; parquet: one flat table; submission: what "
    "KernelIndex's contribution path takes.",
)
@click.option(
    "--edition",
    type=click.Choice(["published", "corrected"]),
    default="published",
    show_default=True,
    help="published: the digests that KernelIndex publishes; corrected: what the scripts really did.",
)
@click.option("--memory", is_flag=True, help="Also convert rows of peak memory.")
@click.option(
    "--exclude-caveat",
    "exclude",
    multiple=True,
    metavar="ID",
    help="Leave out rows that carry this caveat (`ligerimport catalog caveats`). Repeatable.",
)
@catalog_option
@click.option(
    "--sidecar",
    "named",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="What the runner recorded of the one INPUT, where it does not stand beside it as NAME.meta.jsonl.",
)
@click.option("--no-sidecar", is_flag=True, help="Read no sidecar: documents as of the CSV alone.")
@click.option("--dry-run", is_flag=True, help="Write nothing; report all the same.")
@click.option("--strict", is_flag=True, help="Fail with status 1 if any speed row or failed case is skipped.")
@click.option("-q", "--quiet", is_flag=True, help="No table and no progress; errors only.")
@uncollected
@handled
def command(
    inputs: tuple[str, ...],
    out: str | None,
    format_: str,
    edition: str,
    exclude: tuple[str, ...],
    catalog: tuple[Path, ...],
    named: Path | None,
    *,
    memory: bool,
    no_sidecar: bool,
    dry_run: bool,
    strict: bool,
    quiet: bool,
) -> None:
    """Turn benchmark CSVs into linked KernelIndex documents.

    INPUT is a CSV file (.csv, .csv.gz, .csv.zst), a folder of them, or - for standard input. Every speed row becomes
    a bundle of BenchmarkRun, BenchmarkProtocol and ExecutionEnvironment, or is skipped and counted under one reason;
    OUT/report.json says which. Running again changes nothing.

    Where NAME.meta.jsonl stands beside NAME.csv, as `ligerimport bench` writes it, documents also tell of software,
    set-up, warm-up, window and samples, and failed cases become runs without timing.

    \b
    Exit status: 0 converted (rows that nobody curated are counted in the report);
    1 rows were skipped under --strict; 2 wrong usage; 3 something in the input was
    bad, the good rows are converted; 6 OUT cannot be written.
    """
    if out is None and not dry_run:
        raise click.UsageError("name a folder for the documents with -o OUT, or use --dry-run")
    if named is not None and no_sidecar:
        raise click.UsageError("--sidecar and --no-sidecar exclude one another")
    from kernelindex_liger.conversion import Options, convert

    with _progress(quiet=quiet) as progress:
        options = Options(
            format=format_,  # type: ignore[arg-type]
            edition=edition,  # type: ignore[arg-type]
            memory=memory,
            catalog=catalog,
            exclude_caveats=exclude,
            sidecar=None if no_sidecar else named or "beside",
            wait=lambda: click.echo(
                f"ligerimport: another run is writing to {safe(str(out))}; waiting for it", err=True
            ),
            progress=progress,
        )
        report = convert(inputs, None if dry_run else out, options)
    for one in (*report.inputs, *(report.sidecars.files if report.sidecars else ())):
        if one.error:
            click.echo(f"ligerimport: {safe(one.error)}", err=True)
    if not quiet:
        show(report, None if dry_run else out)
    if report.bad_input:
        sys.exit(BAD_INPUT)
    if strict and (report.skipped_rows or (report.sidecars and report.sidecars.failed_skipped)):
        sys.exit(CHECK_FAILED)


@contextmanager
def _progress(*, quiet: bool) -> Iterator[Callable[[int, int, int], None]]:
    if quiet or not sys.stderr.isatty():
        yield lambda *_: None
        return
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.fields[rows]:,} rows"), BarColumn(), TextColumn("{task.fields[rate]:,.0f} rows/s"))
    with Progress(*columns, TimeRemainingColumn(), console=console(), transient=True) as bar:
        task = bar.add_task("", total=None, rows=0, rate=0.0)

        def update(rows: int, done: int, total: int) -> None:
            elapsed = bar.tasks[0].elapsed or 1e-9
            bar.update(task, completed=done, total=total or None, rows=rows, rate=rows / elapsed)

        yield update


def show(report: Report, out: str | None) -> None:
    """The report as a table for people, on stderr."""
    from rich.table import Table

    screen = console()
    told = report.sidecars
    _lines(report.malformed, report.skipped_by_reason.get("malformed_line", 0), "malformed lines")
    _skipped(report.skipped, "rows")
    if told is not None:
        _lines(told.faults, told.faulty_lines + told.contradicted, "faults of sidecars")
        _skipped(told.skipped, "cases")
    summary = Table(box=None, show_header=False, pad_edge=False)
    summary.add_column()
    summary.add_column(justify="right")
    summary.add_row("rows read", f"{report.rows_read:,}")
    summary.add_row("  bundles", f"{report.bundles:,}")
    summary.add_row("  skipped rows", f"{report.skipped_rows:,}")
    summary.add_row("  memory rows, not asked for", f"{report.memory_rows:,}")
    for caveat, count in report.caveats.items():
        summary.add_row(f"  bundles with caveat {safe(caveat)}", f"{count:,}")
    if told is not None:
        _told(summary, told)
    if out is not None:
        summary.add_row("documents written", f"{report.documents.written:,}")
        summary.add_row("documents already there", f"{report.documents.unchanged:,}")
    screen.print(summary)
    if out is None:
        screen.print("dry run: nothing was written")
    elif not report.documents.written:
        screen.print(f"nothing changed in {safe(out)}", soft_wrap=True)
    else:
        screen.print(f"wrote {safe(out)}", soft_wrap=True)


def _lines(lines: list[MalformedLine], number: int, what: str) -> None:
    screen = console()
    for line in lines[:GROUPS]:
        screen.print(f"{safe(line.file)}:{line.line}: {safe(line.problem)}", soft_wrap=True)
    if number > GROUPS:
        screen.print(f"… and {number - GROUPS} more {what}")


def _skipped(groups: list[SkippedGroup], what: str) -> None:
    from rich.table import Table

    from kernelindex_liger.conversion import REASONS

    if not groups:
        return
    screen = console()
    table = Table("reason", "kernel", "provider", "GPU", what, "first", box=None, pad_edge=False, header_style="bold")
    table.columns[4].justify = "right"
    for group in groups[:GROUPS]:
        cells = (group.kernel, group.provider, group.gpu, f"{group.rows:,}", group.first[0].rpartition("/")[2])
        table.add_row(group.reason, *map(spelled, cells))
    screen.print(table)
    if len(groups) > GROUPS:
        screen.print(f"… and {len(groups) - GROUPS} more groups, all in report.json")
    for word in dict.fromkeys(group.reason for group in groups):
        detail = next(group.detail for group in groups if group.reason == word)
        screen.print(f"{word}: {REASONS[word].help}" + (f" ({safe(detail)})" if detail else ""), soft_wrap=True)
    screen.print()


def _told(summary: Table, told: Sidecars) -> None:
    """The sidecars' part of the summary; lines that are usually 0 only where they are not."""
    if told.faulty_lines:
        summary.add_row("sidecar lines not used", f"{told.faulty_lines:,}")
    if told.rows_without:
        summary.add_row("rows that no sidecar line tells of", f"{told.rows_without:,}")
    summary.add_row("cases in sidecars", f"{told.cases:,}")
    summary.add_row("  measured, of rows read", f"{told.measured:,}")
    for status, count in told.failed_by_status.items():
        summary.add_row(f"  failed, now runs: {status}", f"{count:,}")
    for text, count in (
        ("failed, skipped", told.failed_skipped),
        ("failed in memory, not asked for", told.failed_memory),
        ("told of again by a later line", told.replaced),
        ("measured, without a row", told.without_row),
        ("contradicted", told.contradicted),
    ):
        if count:
            summary.add_row(f"  {text}", f"{count:,}")
