"""`ligerimport compare`: what got slower, against a history or between two inputs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from kernelindex_liger.cli._shared import catalog_option
from kernelindex_liger.cli.history import failing

if TYPE_CHECKING:
    from kernelindex_liger.history.judgement import RunJudgement
    from kernelindex_liger.history.thresholds import Thresholds

leave_out_option = click.option(
    "--leave-out",
    multiple=True,
    metavar="CAVEAT",
    help="Leave rows with this caveat out of the judgement: an id, a kind (number, meaning, record), all, or none; "
    "repeatable [default: as the limits say].",
)


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("names", metavar="[LABEL | A B]", nargs=-1)
@click.option("--history", "folder", type=click.Path(file_okay=False, path_type=Path), help="The history's folder.")
@click.option("--thresholds", "file", type=click.Path(dir_okay=False, path_type=Path), help="TOML file with limits.")
@click.option("--preset", type=click.Choice(["default", "strict", "lenient"]), help="Named limits [default: default].")
@leave_out_option
@catalog_option
@click.option("--format", "form", type=click.Choice(["text", "md", "json"]), default="text", show_default=True)
@failing
def command(
    names: tuple[str, ...],
    folder: Path | None,
    file: Path | None,
    preset: str | None,
    leave_out: tuple[str, ...],
    catalog: tuple[Path, ...],
    form: str,
) -> None:
    """Say what got slower or faster.

    With --history: the run LABEL (or the newest) against the runs before it, or the run B against the history up to
    the run A. Without: the CSV or folder B against A; two runs alone cannot tell noise, so nothing is confirmed.

    \b
    Exit status: 0 nothing confirmed slower, 1 something is, 5 nothing could be judged.
    """
    from kernelindex_liger.history.judgement import exit_status

    limits = chosen_thresholds(file, preset, leave_out)
    note: str | None
    if folder is None:
        if len(names) != 2:
            raise click.UsageError("name two CSVs or folders, or a history with --history")
        judgements, note = _inputs(Path(names[0]), Path(names[1]), limits, catalog)
    else:
        judgements, note = _labels(folder, names, limits)
    click.echo(_rendered(judgements, note, form), nl=False)
    sys.exit(exit_status(judgements))


def chosen_thresholds(file: Path | None, preset: str | None, leave_out: tuple[str, ...] = ()) -> Thresholds:
    """The limits that the options ask for."""
    from kernelindex_liger.history import thresholds
    from kernelindex_liger.history.caveats import with_leave_out
    from kernelindex_liger.history.errors import BadInputError

    if file is not None and preset is not None:
        raise click.UsageError("--thresholds and --preset exclude each other: name the preset in the file")
    limits = thresholds.load(file) if file is not None else thresholds.preset(preset or "default")
    try:
        return with_leave_out(limits, leave_out) if leave_out else limits
    except BadInputError as error:
        raise click.BadParameter(str(error), param_hint="--leave-out") from error


def _inputs(before: Path, after: Path, limits: Thresholds, catalog: tuple[Path, ...]) -> tuple[list[RunJudgement], str]:
    from kernelindex_liger.history import pair, source

    tables = [source.read([path], catalog=catalog) for path in (before, after)]
    return pair.compare(tables[0], tables[1], limits, (str(before), str(after))), pair.CAUTION


def _labels(folder: Path, names: tuple[str, ...], limits: Thresholds) -> tuple[list[RunJudgement], str | None]:
    from kernelindex_liger.cli.history import opened
    from kernelindex_liger.history import judge

    history = opened(folder)
    if len(names) == 2:
        return judge.judge_since(history, limits, names[0], names[1]), None
    if len(names) > 2:
        raise click.UsageError("with --history name no label, one, or two")
    return judge.judge(history, limits, names[0] if names else None), None


def _rendered(judgements: list[RunJudgement], note: str | None, form: str) -> str:
    from kernelindex_liger.report import json_, markdown, text

    renderers = {"text": text.render, "md": markdown.render, "json": json_.render}
    return renderers[form](judgements, note)
