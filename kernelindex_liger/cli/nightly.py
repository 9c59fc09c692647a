"""`ligerimport nightly`: the whole road in one go, for cron or a systemd timer."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Literal

import click

from kernelindex_liger.cli.history import failing


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--home",
    required=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder of the job: settings, nights, history.",
)
@click.option(
    "--csv",
    metavar="SOURCE",
    help="Take a CSV instead of running the benchmark: a file, a folder, an https address, or git+URL@BRANCH:PATH.",
)
@click.option(
    "--log", "form", type=click.Choice(["text", "json"]), default="text", show_default=True, help="Log lines."
)
@click.option("-q", "--quiet", is_flag=True, help="On stderr only what failed; nightly.log has everything.")
@failing
def command(home: Path, csv: str | None, form: Literal["text", "json"], quiet: bool) -> None:
    """Bench, import, keep, judge, report and tidy up, in this order.

    Settings stand in HOME/nightly.toml. Each night has a folder in HOME/nights; HOME/latest points at the newest
    complete one. A job that was interrupted goes on where it stopped when it is started again.

    \b
    Exit status: 0 nothing confirmed slower; 1 something is; 3 the source or a CSV
    is bad; 4 the benchmark failed or is incomplete; 5 nothing new, or nothing could
    be judged; 6 HOME cannot be written, or another job is at work in it.
    """
    from kernelindex_liger.nightly import job, settings
    from kernelindex_liger.nightly.log import Log

    chosen = settings.load(home)
    sys.exit(job.run(home, chosen, Log(home / "nightly.log", form, quiet=quiet), csv))
