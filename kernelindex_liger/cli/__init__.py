"""The command `ligerimport`: one module a command, imported only when that command runs."""

from __future__ import annotations

import importlib

import click

from kernelindex_liger.cli._version import print_version

COMMANDS = {
    "csv": "Turn benchmark CSVs into linked KernelIndex documents.",
    "validate": "Check documents in a folder: models, digests, links, places.",
    "bench": "Run Liger's benchmarks on the GPU at hand and write their CSV.",
    "history": "Keep runs night after night; list and show them; accept changes.",
    "compare": "Say what got slower, against a history or between two inputs.",
    "report": "Write what a history or an import holds: a page, Markdown, JSON.",
    "nightly": "Bench, import, keep, judge and report in one go.",
    "catalog": "Show what is curated: kernels, providers, GPUs, caveats.",
}
"""Command name (also its module under `kernelindex_liger.cli`) and its line in `--help`."""

EXIT_STATUSES = """\b
Exit statuses:
  0  success
  1  a check failed: rows skipped under --strict, faults found by
     validate, something confirmed slower
  2  wrong usage
  3  bad input; what is good in it was still converted
  4  the benchmark failed or is incomplete
  5  nothing to judge: no history, or a changed environment
  6  the output cannot be written
"""


class LazyGroup(click.Group):
    """A group that knows its commands' names and help lines without importing their modules."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Commands in the order of `COMMANDS`: the order in which a user meets them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import `kernelindex_liger.cli.<name>` and return its `command`."""
        if cmd_name not in COMMANDS:
            return None
        command = importlib.import_module(f"kernelindex_liger.cli.{cmd_name}").command
        assert isinstance(command, click.Command)  # noqa: S101 - a broken command table is a bug
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the command list from the table, without importing any command."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog=EXIT_STATUSES,
)
@click.option("--verbose", is_flag=True, is_eager=True, help="With --version: all versions, for a bug report.")
@click.option(
    "-V", "--version", is_flag=True, expose_value=False, callback=print_version, help="Show the version and exit."
)
def main(verbose: bool) -> None:
    """Liger-Kernel benchmark results as linked, content-addressed documents.

    Documents go to files or stdout; words for people go to stderr.
    """
    if verbose:
        raise click.UsageError("--verbose belongs to --version")
