"""`ligerimport catalog`: what is curated, for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from kernelindex_liger.cli._shared import BAD_INPUT, catalog_option, console, fail, handled

if TYPE_CHECKING:
    from pathlib import Path


@click.group()
def command() -> None:
    """Show what is curated: kernels, providers, GPUs, caveats, corrections."""


@command.command("list")
@click.argument("what", type=click.Choice(["kernels", "providers", "gpus", "protocols", "models"]), default="kernels")
@catalog_option
@handled
def list_(what: str, catalog: tuple[Path, ...]) -> None:
    """List what is known: kernels (the default), providers, gpus, protocols or models."""
    from kernelindex_liger.catalog import load
    from kernelindex_liger.catalog.describe import listing

    heads, rows = listing(load(catalog), what)
    _print_table(heads, rows)


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
        fail(f"no kernel {kernel!r} in the catalogue" + (f"; did you mean {close}?" if close else ""), BAD_INPUT)
    click.echo(describe(facts, facts.kernels[kernel]), nl=False)


@command.command()
@catalog_option
@handled
def caveats(catalog: tuple[Path, ...]) -> None:
    """List known faults of numbers, with their evidence."""
    from kernelindex_liger.catalog import load

    for one in load(catalog).caveats:
        click.echo(f"{one.id} ({one.kind})\n  {one.sentence}\n  evidence: {one.evidence}")


@command.command()
@catalog_option
@handled
def diff(catalog: tuple[Path, ...]) -> None:
    """Show where the corrected edition differs from the published one, and why."""
    from kernelindex_liger.catalog import load
    from kernelindex_liger.catalog.describe import differences

    click.echo(differences(load(catalog)), nl=False)


def _print_table(heads: list[str], rows: list[tuple[str, ...]]) -> None:
    """A table on standard output: aligned on a terminal, tab-separated in a pipe."""
    import sys

    if not sys.stdout.isatty():
        for row in (tuple(heads), *rows):
            click.echo("\t".join(row))
        return
    from rich.table import Table

    table = Table(*heads, box=None, pad_edge=False, header_style="bold")
    for row in rows:
        table.add_row(*row)
    console(stderr=False).print(table)
