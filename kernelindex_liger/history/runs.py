"""A run: everything measured under one label in one environment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from kernelindex_liger.history import cases as case_names

if TYPE_CHECKING:
    from datetime import datetime


@dataclass(frozen=True)
class Run:
    """One label on one environment, as the parts of a history tell it."""

    index: int
    """Place among all runs of the history, oldest first."""
    label: str
    """The commit or night that it stands for."""
    time: datetime
    """When it was measured: what was given with it, or else its newest row's time (UTC)."""
    machine: str
    """GPU model, and how many of them when more than one."""
    environment_key: str
    """Digest of `settings` and machine; runs that share it are compared."""
    settings: dict[str, Any]
    """Hardware, software and settings that the environment recorded."""
    measured: int
    """Rows measured in it, failures included."""
    cases: int
    """Distinct cases among them."""
    kernels: tuple[str, ...]
    """Kernels among them, in alphabetical order."""
    liger_versions: tuple[str, ...]
    """Releases of liger-kernel that its rows name."""

    def as_json(self) -> dict[str, Any]:
        """The run as plain JSON values."""
        return {
            "label": self.label,
            "time": self.time.isoformat(),
            "machine": self.machine,
            "environment": self.environment_key,
            "settings": self.settings,
            "measured": self.measured,
            "cases": self.cases,
            "kernels": list(self.kernels),
            "ligerVersions": list(self.liger_versions),
        }


def runs_of(rows: pl.DataFrame) -> list[Run]:
    """The runs in `rows` (columns of a part), oldest first; label and environment settle equal times."""
    own = rows.filter(~pl.col("carried"))
    found = (
        own.group_by("label", "environment_key")
        .agg(
            pl.col("time").min(),
            pl.col("machine", "settings").first(),
            pl.len().alias("measured"),
            pl.col("case").n_unique().alias("cases"),
            pl.col("kernel").unique().sort(),
            pl.col("liger_version").drop_nulls().unique().sort(),
        )
        .sort("time", "label", "environment_key")
    )
    return [
        Run(
            index=index,
            label=row["label"],
            time=row["time"],
            machine=row["machine"],
            environment_key=row["environment_key"],
            settings=case_names.settings(row["settings"]),
            measured=row["measured"],
            cases=row["cases"],
            kernels=tuple(row["kernel"]),
            liger_versions=tuple(row["liger_version"]),
        )
        for index, row in enumerate(found.iter_rows(named=True))
    ]


def with_runs(rows: pl.DataFrame, runs: list[Run]) -> pl.DataFrame:
    """`rows` with `run`, the index of the run that each belongs to; rows of no run are left out."""
    numbers = pl.DataFrame(
        {
            "label": [run.label for run in runs],
            "environment_key": [run.environment_key for run in runs],
            "run": [run.index for run in runs],
        },
        schema={"label": pl.String, "environment_key": pl.String, "run": pl.Int64},
    )
    return rows.join(numbers, on=["label", "environment_key"], how="inner", maintain_order="left")
