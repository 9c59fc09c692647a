"""`ligerimport report`: a history or one import as a page, Markdown, JSON or text."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from kernelindex_liger.cli._shared import catalog_option
from kernelindex_liger.cli.compare import chosen_thresholds, leave_out_option
from kernelindex_liger.cli.history import failing

if TYPE_CHECKING:
    from kernelindex_liger.history.thresholds import Thresholds

FORMATS = ("html", "md", "json", "text")
SUFFIXES = {".html": "html", ".htm": "html", ".md": "md", ".json": "json", ".txt": "text"}


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("source", metavar="[OUT-OR-CSV]", required=False, type=click.Path(exists=True, path_type=Path))
@click.option("--history", "folder", type=click.Path(file_okay=False, path_type=Path), help="The history's folder.")
@click.option("--label", help="The run to report on [default: the newest].")
@click.option(
    "-o", "--output", type=click.Path(dir_okay=False, path_type=Path), help="File to write [default: stdout]."
)
@click.option("--format", "form", type=click.Choice(FORMATS), help="[default: by the file's ending, else html]")
@click.option("--thresholds", "file", type=click.Path(dir_okay=False, path_type=Path), help="TOML file with limits.")
@click.option("--preset", type=click.Choice(["default", "strict", "lenient"]), help="Named limits [default: default].")
@leave_out_option
@catalog_option
@click.option("--title", default="Liger kernel benchmarks", show_default=True, help="The page's title.")
@failing
def command(
    source: Path | None,
    folder: Path | None,
    label: str | None,
    output: Path | None,
    form: str | None,
    file: Path | None,
    preset: str | None,
    leave_out: tuple[str, ...],
    catalog: tuple[Path, ...],
    title: str,
) -> None:
    """Report on the newest run of a history, or on one import.

    The page (html) is one file that needs no network: what moved, each kernel over x, Liger against its baselines,
    every case's history. It needs the `report` extra.

    \b
    Exit status with --history: 0 nothing confirmed slower, 1 something is, 5 nothing could be judged.
    """
    from kernelindex_liger.files import make_folder, write_text

    if (source is None) == (folder is None):
        raise click.UsageError("name an import or a history with --history, one of the two")
    form = form or (SUFFIXES.get(output.suffix.lower(), "html") if output else "html")
    if folder is not None:
        text, status = _of_history(folder, label, form, title, chosen_thresholds(file, preset, leave_out))
    else:
        assert source is not None  # noqa: S101 - the usage check above
        if label is not None or file is not None or preset is not None or leave_out:
            raise click.UsageError("--label, --thresholds, --preset and --leave-out are for a history")
        text, status = _of_import(source, form, title, catalog), 0
    if output is None:
        click.echo(text, nl=False)
    else:
        make_folder(output.parent, parents=True)
        write_text(output, text)
    sys.exit(status)


def _of_history(folder: Path, label: str | None, form: str, title: str, limits: Thresholds) -> tuple[str, int]:
    from kernelindex_liger.cli.history import opened
    from kernelindex_liger.history.judge import judge
    from kernelindex_liger.history.judgement import exit_status
    from kernelindex_liger.report import json_, markdown, text

    history = opened(folder)
    if form == "html":
        from kernelindex_liger.report import html, sheets

        found = sheets.of_history(history, limits, label)
        judgements = [sheet.judgement for sheet in found if sheet.judgement is not None]
        return html.render(found, title), exit_status(judgements)
    judgements = judge(history, limits, label)
    render = {"md": markdown.render, "json": json_.render, "text": text.render}[form]
    return render(judgements), exit_status(judgements)


def _of_import(source: Path, form: str, title: str, catalog: tuple[Path, ...]) -> str:
    from kernelindex_liger.history.source import read
    from kernelindex_liger.report import html, plain, sheets

    found = sheets.of_table(read([source], catalog=catalog), source.absolute().name)
    if form == "html":
        return html.render(found, title)
    return {"md": plain.markdown, "json": plain.json_, "text": plain.text}[form](found)
