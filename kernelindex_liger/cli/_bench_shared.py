"""What the ways of `bench` share: the request, tables for people, words about what is left out."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from kernelindex_liger.untrusted import safe

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kernelindex_liger.bench.spec import Request


def request_of(options: dict[str, Any], total_gib: int) -> Request:
    """What --model and --bt ask for, on a device of that size."""
    from kernelindex_liger.bench.models import MODELS
    from kernelindex_liger.bench.spec import Request

    return Request(model=MODELS[options["model"]], bt=options["bt"], total_gib=total_gib)


def print_table(rows: Sequence[Sequence[str]], title: str = "", *, stderr: bool = False) -> None:
    """A table, the first row its headings: boxed on a terminal, aligned with blanks elsewhere."""
    from kernelindex_liger.bench.summary import plain

    if not (sys.stderr if stderr else sys.stdout).isatty():
        click.echo(safe(plain(rows), keep="\n"), err=stderr)
        return
    from rich.table import Table

    from kernelindex_liger.cli._shared import console

    shown = Table(*rows[0], title=title or None)
    for row in rows[1:]:
        shown.add_row(*map(safe, row))
    console(stderr=stderr).print(shown)


def say_left_out(left: Iterable[Any], beyond: Iterable[Any]) -> None:
    """Tell which providers cannot run here, and which cases no single GPU can run."""
    for provider in left:
        click.echo(f"{provider.kernel}: without {provider.provider}: {'; '.join(provider.reasons)}", err=True)
    for cases in beyond:
        click.echo(str(cases), err=True)
