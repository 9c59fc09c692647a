"""`ligerimport history`: keep runs, list them, show a kernel's, write down decisions."""

from __future__ import annotations

import functools
import json
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

import click

from kernelindex_liger.cli._shared import catalog_option, console, fail, handled, safe
from kernelindex_liger.untrusted import safe_json

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kernelindex_liger.history.store import History

P = ParamSpec("P")
R = TypeVar("R")


class Moment(click.ParamType):  # type: ignore[type-arg]  # generic from click 8.4 on only
    """An ISO 8601 date or moment; UTC where it names no zone."""

    name = "moment"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> datetime:
        """Parse `value`, or fail with what would be right."""
        if isinstance(value, datetime):
            return value
        try:
            moment = datetime.fromisoformat(value)
        except ValueError:
            self.fail(f"{value!r} is no date or moment such as 2026-02-13 or 2026-02-13T00:30:17Z", param, ctx)
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


FAULT = 70
"""Exit status of a fault in the program itself. Python's own would be 1, which says that something got slower."""


def failing(command: Callable[P, R]) -> Callable[P, R]:
    """Turn what is wrong with inputs and folders into one message and its exit status."""

    @functools.wraps(command)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> R:
        from kernelindex_liger.history.errors import HistoryError

        try:
            return command(*args, **kwargs)
        except HistoryError as error:
            fail(str(error), error.status)

    known = handled(guarded)

    @functools.wraps(command)
    def outermost(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return known(*args, **kwargs)
        except (click.ClickException, click.exceptions.Exit, click.Abort):
            raise
        except Exception:  # noqa: BLE001 - whatever it is, it is told from a verdict
            import traceback

            traceback.print_exc()
            fail("a fault in the program itself; please report the lines above", FAULT)

    return outermost


history_option = click.option(
    "--history", "folder", required=True, type=click.Path(file_okay=False, path_type=Path), help="The history's folder."
)
format_option = click.option(
    "--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True, help="How to print."
)


def opened(folder: Path) -> History:
    """The history in `folder`, which must be there."""
    from kernelindex_liger.history.errors import BadInputError
    from kernelindex_liger.history.store import History

    if not folder.is_dir():
        raise BadInputError(f"{folder}: no such history; `ligerimport history add` makes one")
    return History(folder)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def command() -> None:
    """Keep runs night after night and look at them.

    A history is a folder of Parquet parts named by their content. Parts are added and never rewritten; a run is
    one label on one environment.
    """


@command.command()
@click.argument("inputs", metavar="OUT-OR-CSV...", nargs=-1, required=True, type=click.Path(path_type=Path))
@history_option
@click.option("--label", help="Commit or night that the inputs stand for [default: the folder's name].")
@click.option("--time", type=Moment(), help="When it was measured [default: the newest row's time].")
@catalog_option
@click.option("--quiet", is_flag=True, help="Say nothing when all went well.")
@failing
def add(
    inputs: tuple[Path, ...],
    folder: Path,
    label: str | None,
    time: datetime | None,
    catalog: tuple[Path, ...],
    quiet: bool,
) -> None:
    """Add runs: CSVs, folders of them, Parquet tables or folders that an import wrote.

    Adding the same run twice changes nothing. A folder of folders, such as `benchmarks/` on upstream's gh-pages
    branch, gives a label a folder.
    """
    from kernelindex_liger.history.feed import feed
    from kernelindex_liger.history.store import History

    for done in feed(History(folder), inputs, label, time, catalog):
        if quiet:
            continue
        what = f"{done.new} rows added" if done.new else "nothing new"
        known = f", {done.known} already there" if done.known else ""
        click.echo(safe(f"{done.label} on {done.machine}: {what}{known}"), err=True)


@command.command(name="list")
@history_option
@format_option
@failing
def list_(folder: Path, form: str) -> None:
    """List all runs, oldest first."""
    runs = opened(folder).runs()
    if form == "json":
        click.echo(safe_json(json.dumps([run.as_json() for run in runs], indent=2, ensure_ascii=False)))
        return
    lines = [
        (f"{run.time:%Y-%m-%d %H:%M}", run.label, run.machine, run.environment_key[:8], str(run.cases),
         str(len(run.kernels)), ", ".join(run.liger_versions))
        for run in runs
    ]  # fmt: skip
    show_table(("time (UTC)", "label", "machine", "environment", "cases", "kernels", "liger"), lines)


@command.command()
@click.argument("kernel")
@history_option
@click.option("--pass", "pass_", help="Only this pass.")
@click.option("--provider", help="Only this provider.")
@click.option("--metric", help="Only this metric: speed, speed_graph or memory.")
@click.option("--machine", help="Only this machine, as `history list` names it.")
@format_option
@failing
def show(kernel: str, folder: Path, form: str, pass_: str | None, **only: str | None) -> None:
    """Show each case of KERNEL through all runs."""
    from kernelindex_liger.history import view
    from kernelindex_liger.history.errors import UnknownNameError

    found = view.series(opened(folder), kernel, **{"pass": pass_, **only})
    if not found:
        raise UnknownNameError(f"{kernel}: the history has no such case; `history list` shows what it has")
    if form == "json":
        click.echo(safe_json(json.dumps(found, indent=2, ensure_ascii=False)))
        return
    lines = []
    for case in found:
        values = [point["value"] for point in case["points"]]
        last = view.amount(values[-1] if values else None, case["metric"])
        name = case["name"].removeprefix(f"{kernel}/")
        lines.append(
            (case["case"][:8], name, str(len(values)), view.sparkline(values), last, "; ".join(case["faults"]))
        )
    show_table(("case", "name", "runs", "history", "last", "left out"), lines)


def _decide(kind: str, case: str, why: str, folder: Path, label: str | None) -> None:
    from kernelindex_liger.history import marks
    from kernelindex_liger.history.errors import UnknownNameError

    history = opened(folder)
    runs, rows = history.table(["case", "name"])
    chosen = [run for run in runs if label is None or run.label == label]
    if not chosen:
        raise UnknownNameError(f"{label or folder}: no such run; `history list` shows them")
    run = chosen[-1] if label is None else chosen[0]
    now = datetime.now(UTC)
    mark = marks.Mark(kind=kind, case=case, why=why, label=run.label, since=run.time, made_at=now)
    fitting = marks.add(history, mark, rows.select("case", "name").unique().iter_rows())
    for name in fitting:
        click.echo(safe(f"{kind}: {name}"), err=True)


def _decision(kind: str, help_text: str) -> None:
    @command.command(name=kind, help=help_text)
    @click.argument("case")
    @click.option("--why", required=True, help="The reason, for whoever reads the report later.")
    @history_option
    @click.option("--label", help="The run from which on it holds [default: the newest run].")
    @failing
    def decide(case: str, why: str, folder: Path, label: str | None) -> None:
        _decide(kind, case, why, folder, label)


_decision(
    "accept",
    "Accept a wanted change: from the run on, the runs before it are no measure for CASE any more.\n\n"
    "CASE is a case's digits as `history show` prints them, or a pattern over names with * and ?.",
)
_decision("retire", "Stop alarming about CASE (its digits, or a pattern over names).")
_decision("restore", "Alarm about a retired CASE again.")


@command.command()
@history_option
@failing
def check(folder: Path) -> None:
    """Recompute every part's name from its content; exit 1 when one was changed or cannot be read."""
    history = opened(folder)
    faults = history.check()
    for fault in faults:
        click.echo(safe(fault), err=True)
    click.echo(f"{len(history.parts)} parts, {len(faults)} faults", err=True)
    sys.exit(1 if faults else 0)


def show_table(headings: tuple[str, ...], lines: Sequence[tuple[str, ...]]) -> None:
    """Print a table for people on standard output; cells are shown as they are, never as markup."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in headings:
        table.add_column(heading, overflow="fold")
    for line in lines:
        table.add_row(*map(safe, line))
    out = console(stderr=False)
    if not out.is_terminal:
        out.width = 200
    out.print(table)
