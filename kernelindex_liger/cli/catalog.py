"""`ligerimport catalog`: what is curated, for people."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from kernelindex_liger.cli._shared import BAD_INPUT, CHECK_FAILED, catalog_option, console, fail, handled, safe
from kernelindex_liger.untrusted import quoted

WHAT = ("kernels", "providers", "gpus", "protocols", "models")


@click.group()
def command() -> None:
    """Show what is curated: kernels, providers, GPUs, caveats, corrections."""


@command.command("list")
@click.argument("what", type=click.Choice(WHAT), default="kernels", metavar=f"[{'|'.join(WHAT)}]")
@catalog_option
@handled
def list_(what: str, catalog: tuple[Path, ...]) -> None:
    """List what is known: kernels (the default), providers, gpus, protocols or models."""
    from kernelindex_liger.catalog import load
    from kernelindex_liger.catalog.describe import listing

    heads, rows = listing(load(catalog), what)
    _print_table(heads, [tuple(map(safe, row)) for row in rows])


@command.command()
@click.argument("kernel")
@catalog_option
@handled
def show(kernel: str, catalog: tuple[Path, ...]) -> None:
    """Show one kernel: its operations, and how each shape of its rows is read."""
    import difflib

    from kernelindex_liger.catalog import load
    from kernelindex_liger.catalog.describe import describe

    facts = load(catalog)
    if kernel not in facts.kernels:
        close = ", ".join(difflib.get_close_matches(kernel[:100], facts.kernels, n=3))
        fail(f"no kernel {quoted(kernel)} in the catalogue" + (f"; did you mean {close}?" if close else ""), BAD_INPUT)
    click.echo(safe(describe(facts, facts.kernels[kernel]), keep="\n"), nl=False)


@command.command()
@catalog_option
@handled
def caveats(catalog: tuple[Path, ...]) -> None:
    """List known faults of numbers, with their evidence."""
    from kernelindex_liger.catalog import load

    for one in load(catalog).caveats:
        click.echo(f"{one.id} ({one.kind})\n  {safe(one.sentence)}\n  evidence: {safe(one.evidence)}")


@command.command()
@catalog_option
@handled
def diff(catalog: tuple[Path, ...]) -> None:
    """Show where the corrected edition differs from the published one, and why."""
    from kernelindex_liger.catalog import load
    from kernelindex_liger.catalog.describe import differences

    click.echo(safe(differences(load(catalog)), keep="\n"), nl=False)


@command.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.argument("inputs", nargs=-1, metavar="[CSV...]")
@catalog_option
@handled
def check(file: Path, inputs: tuple[str, ...], catalog: tuple[Path, ...]) -> None:
    """Check a catalogue file, and show which rows of CSVs each of its shapes takes.

    \b
    Exit status: 0 sound, and every row of its kernel is taken; 1 some rows are not;
    3 the file cannot be used.
    """
    from kernelindex_liger.conversion.authoring import check as check_file

    _, coverages = check_file(file, inputs, catalog)
    click.echo(f"{safe(str(file))}: sound", err=True)
    for coverage in coverages:
        for shape, count in coverage.taken.items():
            click.echo(f"{coverage.kernel}, shape {shape}: {count:,} rows")
        for shape, example in coverage.example.items():
            text = safe(example, keep="\n")
            click.echo(f"\nthe first row of shape {shape} is this workload:\n{text}", nl=False)
        for (reason, detail), (count, first) in coverage.missed.items():
            click.echo(f"{safe(first)}: {count:,} rows not taken: {reason}: {safe(detail)}")
    if any(coverage.missed for coverage in coverages):
        sys.exit(CHECK_FAILED)


def _print_table(heads: list[str], rows: list[tuple[str, ...]]) -> None:
    """A table on standard output: aligned on a terminal, tab-separated in a pipe."""
    if not sys.stdout.isatty():
        for row in (tuple(heads), *rows):
            click.echo("\t".join(row))
        return
    from rich.table import Table

    table = Table(*heads, box=None, pad_edge=False, header_style="bold")
    for row in rows:
        table.add_row(*row)
    console(stderr=False).print(table)
