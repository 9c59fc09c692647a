"""`nightly.toml`: what a nightly job does. Everything has a default; unknown keys are refused.

version = 1
keep = 30                        # complete nights that stay in nights/
html = true                      # needs the `report` extra

[bench]
arguments = ["--kernel", "all"]  # as for `ligerimport bench`; -o is the job's own
hours = 6                        # after this the benchmark is stopped, and what it measured is used

[csv]                            # instead of bench; --csv on the command line goes first
source = "git+https://github.com/linkedin/Liger-Kernel@main:benchmark/data/all_benchmark_data.csv"
megabytes = 512                  # more than this is refused
seconds = 60                     # of silence before a download is given up
retries = 3

[judge]
thresholds = "thresholds.toml"   # relative to this file
preset = "default"               # without a thresholds file

[import]
format = "parquet"               # tree, jsonl, parquet or submission
edition = "published"
catalog = []                     # more curated facts, relative to this file
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from kernelindex_liger.history.errors import BadInputError
from kernelindex_liger.untrusted import read_small

NAME = "nightly.toml"
SIZE = 1 << 18
"""Bytes of the settings."""

Argument = Annotated[str, Field(pattern=r"^[^\x00]*$", max_length=10_000)]
"""What a process can be given."""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True, allow_inf_nan=False)


class Bench(_Strict):
    """The benchmark run."""

    arguments: Annotated[tuple[Argument, ...], Field(max_length=1000)] = ("--kernel", "all")
    hours: Annotated[float, Field(gt=0, le=168)] = 6.0


class Csv(_Strict):
    """A CSV that somebody else measures."""

    source: Argument | None = None
    megabytes: Annotated[float, Field(gt=0, le=1e6)] = 512.0
    seconds: Annotated[float, Field(gt=0, le=86_400)] = 60.0
    retries: Annotated[int, Field(ge=0, le=20)] = 3


class Judge(_Strict):
    """Limits of the judgement."""

    thresholds: Path | None = None
    preset: Literal["default", "strict", "lenient"] | None = None


class Import(_Strict):
    """How documents are written."""

    format: Literal["tree", "jsonl", "parquet", "submission"] = "parquet"
    edition: Literal["published", "corrected"] = "published"
    catalog: tuple[Path, ...] = ()


class Settings(_Strict):
    """Everything in `nightly.toml`."""

    version: Literal[1] = 1
    keep: Annotated[int, Field(ge=1, le=100_000)] = 30
    html: bool = True
    bench: Bench = Bench()
    csv: Csv = Csv()
    judge: Judge = Judge()
    import_: Import = Field(default=Import(), alias="import")


def load(home: Path) -> Settings:
    """The settings in `home`, or the defaults where it has none; paths in them made absolute.

    Raises `BadInputError` naming each key that is unknown or has a value it cannot have.
    """
    path = home / NAME
    if not path.exists():
        return Settings()
    try:
        given = tomllib.loads(read_small(path, SIZE).decode("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise BadInputError(f"{path}: not readable as TOML ({error})") from error
    try:
        found = Settings.model_validate(given)
    except ValidationError as error:
        faults = "; ".join(f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in error.errors()[:10])
        raise BadInputError(f"{path}: {faults}") from error
    if found.judge.thresholds is not None and found.judge.preset is not None:
        raise BadInputError(f"{path}: judge: thresholds and preset exclude each other; name the preset in the file")
    thresholds = None if found.judge.thresholds is None else home / found.judge.thresholds
    catalog = tuple(home / entry for entry in found.import_.catalog)
    return found.model_copy(
        update={
            "judge": found.judge.model_copy(update={"thresholds": thresholds}),
            "import_": found.import_.model_copy(update={"catalog": catalog}),
        }
    )
