"""`ligerimport validate`: check documents in a folder."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from kernelindex_liger.cli._shared import CHECK_FAILED, handled, safe


@click.command()
@click.argument("out", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("-q", "--quiet", is_flag=True, help="No summary; faults only.")
@handled
def command(out: Path, *, quiet: bool) -> None:
    """Check what stands in a folder that `ligerimport csv` wrote.

    Each document is held against its model, each digest is computed again, each link is followed, and each file must
    stand where its external id or name says. Faults go to standard output, one a line: place, then what is wrong.

    \b
    Exit status: 0 sound; 1 faults found; 2 wrong usage; 3 nothing to check.
    """
    from kernelindex_liger.conversion.validate import validate

    outcome = validate(out)
    for fault in outcome.faults:
        click.echo(f"{safe(fault.place)}: {safe(fault.problem)}")
    if not quiet:
        kinds = ", ".join(f"{count:,} {kind}" for kind, count in sorted(outcome.documents.items()))
        click.echo(f"checked {kinds}; {len(outcome.faults):,} faults", err=True)
    sys.exit(CHECK_FAILED if outcome.faults else 0)
