"""What commands share: exit statuses, errors as messages, text that is safe to print, shared options."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, ParamSpec, TypeVar

import click

from kernelindex_liger.untrusted import safe, spelled

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["catalog_option", "console", "fail", "handled", "safe", "spelled"]

OK, CHECK_FAILED, USAGE, BAD_INPUT, BENCH_FAILED, NOTHING_TO_JUDGE, OUTPUT_FAILED, INTERRUPTED = (
    0,
    1,
    2,
    3,
    4,
    5,
    6,
    130,
)

P = ParamSpec("P")
R = TypeVar("R")


def handled(function: Callable[P, R]) -> Callable[P, R]:
    """Turn the errors that users can mend into one message on stderr and the documented exit status."""

    @functools.wraps(function)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> R:
        from kernelindex_liger.catalog import CatalogError
        from kernelindex_liger.conversion.rows import InputError
        from kernelindex_liger.files import OutputError, refusal

        try:
            return function(*args, **kwargs)
        except (InputError, CatalogError) as error:
            fail(str(error), BAD_INPUT)
        except OutputError as error:
            fail(str(error), OUTPUT_FAILED)
        except BrokenPipeError:
            sys.stderr.close()
            sys.exit(OK)
        except OSError as error:
            _forget_stdout()
            fail(str(refusal(error.filename or "standard output", error)), OUTPUT_FAILED)
        except KeyboardInterrupt:
            fail("interrupted; nothing is left half-written, and running again completes it", INTERRUPTED)

    return wrapper


def _forget_stdout() -> None:
    """Let what still waits for standard output go nowhere: it would fail again when the interpreter ends."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def fail(message: str, status: int) -> NoReturn:
    """Say what is wrong on stderr and exit."""
    for line in message.splitlines():
        click.echo(f"ligerimport: {safe(line)}", err=True)
    sys.exit(status)


def console(*, stderr: bool = True) -> Console:
    """A rich console that prints text as it is: no markup, no emoji codes, no colour where NO_COLOR asks for none."""
    from rich.console import Console

    return Console(stderr=stderr, markup=False, emoji=False, highlight=False)


def catalog_option(function: Callable[P, R]) -> Callable[P, R]:
    """The option --catalog, the same for every command that reads the catalogue."""
    return click.option(
        "--catalog",
        "catalog",
        multiple=True,
        type=click.Path(exists=True, path_type=Path),
        metavar="FILE-OR-FOLDER",
        help="Add curated facts from TOML files, or replace those of the same name. Repeatable.",
    )(function)
