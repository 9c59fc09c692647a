"""What a judgement says: one `RunJudgement` a machine and environment, with a table of its cases."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import polars as pl

if TYPE_CHECKING:
    from kernelindex_liger.history.runs import Run

VERDICTS = ("same", "faster", "slower", "new", "vanished", "unknown")
"""Everything that can be said about a case. For memory, slower means more bytes and faster means fewer."""

CASES: dict[str, pl.DataType] = {
    "case": pl.String(),
    "name": pl.String(),
    "kernel": pl.String(),
    "pass": pl.String(),
    "provider": pl.String(),
    "metric": pl.String(),
    "case_key": pl.String(),
    "x_name": pl.String(),
    "x_value": pl.String(),
    "role": pl.String(),
    "verdict": pl.String(),
    "strength": pl.String(),
    "value": pl.Float64(),
    "reference": pl.Float64(),
    "ratio": pl.Float64(),
    "against_shift": pl.Float64(),
    "spread": pl.Float64(),
    "threshold": pl.Float64(),
    "runs": pl.Int64(),
    "previous": pl.String(),
    "reason": pl.String(),
    "retired": pl.Boolean(),
    "accepted": pl.String(),
    "caveats": pl.List(pl.String()),
}
"""Columns of a judgement's cases.

`value` and `reference` (the median of the earlier runs) are nanoseconds or bytes; `ratio` is value / reference;
`against_shift` is the ratio with the run-wide shift taken out; `spread` and `threshold` are shares (0.02 is 2 %);
`runs` counts the earlier runs that are the measure; `strength` is `suspected` or `confirmed` for slower and
faster, `drifted` for cases known to be slower than at their segment's start, or `standing` for what was confirmed when
the same commit was measured before; `previous` is the label of the case's run before; `accepted` is the reason given
when a change was accepted; `caveats` are those of the case's newest row."""


@dataclass(frozen=True)
class RunWide:
    """A run's shift: how far its median case moved, when most moved that way."""

    ratio: float
    """1.05: everything takes 5 % more time than the runs before."""
    share: float
    """Share of the judged cases that moved that way."""
    cases: int
    """Cases that it was worked out from."""
    strength: Literal["suspected", "confirmed"]
    """Confirmed when the run before had moved the same way too."""


@dataclass(frozen=True)
class Launches:
    """A run whose short cases moved together, baselines too: the host launched slower or faster than before."""

    direction: Literal["slower", "faster"]
    overhead: float
    """Nanoseconds: nineteen of twenty of the short cases that moved did so by no more than this."""
    share: float
    """Share of the short cases that moved."""
    cases: int
    """Short cases that it was worked out from."""
    strength: Literal["suspected", "confirmed"]
    """Confirmed when the run before had done the same."""


@dataclass(frozen=True)
class RunJudgement:
    """What is to be said about one run."""

    run: Run | None
    """The run that was judged; for two inputs without a history, None."""
    label: str
    machine: str
    cases: pl.DataFrame
    """Columns of `CASES`, ordered by kernel, pass, provider, metric, name and digest."""
    environment_changes: tuple[str, ...] = ()
    """What changed since the machine's run before; empty when nothing did or there was none."""
    previous: str | None = None
    """Label of the machine's run before."""
    earlier: int = 0
    """Earlier runs in the same environment."""
    shift: RunWide | None = None
    launches: Launches | None = None
    vanished_kernels: tuple[str, ...] = ()
    """Kernels that the machine's run before had and this one has not."""
    missing_kernels: dict[str, str] = field(default_factory=dict)
    """Kernels that vanished earlier and are still away, with the label of the last run that had them."""
    new_kernels: tuple[str, ...] = ()
    """Kernels that no earlier run on the machine had."""
    left_out: dict[str, int] = field(default_factory=dict)
    """Cases of the run that are left out of the judgement, by caveat or status."""
    with_caveats: dict[str, int] = field(default_factory=dict)
    """Cases of the run that are judged with a caveat, by caveat."""
    other_meaning: dict[str, int] = field(default_factory=dict)
    """Cases whose value means something else than in their run before, by what changed: `unit-gradient → none`."""
    repeats: str | None = None
    """Label of the run that measured the same commit first, just before."""

    @property
    def judged(self) -> int:
        """Cases about which something could be said."""
        return self.cases.filter(pl.col("verdict").is_in(["same", "faster", "slower"])).height

    @property
    def counts(self) -> dict[str, int]:
        """Cases by verdict; slower and faster apart as `confirmed slower` and `suspected slower`."""
        kinds = pl.concat_str("strength", "verdict", separator=" ", ignore_nulls=True)
        found = dict(self.cases.group_by(kinds.alias("kind")).len().iter_rows())
        return {str(kind): int(number) for kind, number in sorted(found.items())}

    @property
    def confirmed_slower(self) -> pl.DataFrame:
        """Cases that alarm: slower in the runs of two commits or nights in a row, and not retired."""
        return self.select("slower", "confirmed")

    def select(self, verdict: str, strength: str | None = None) -> pl.DataFrame:
        """Cases with this verdict (and strength) that are not retired, furthest moved first."""
        chosen = self.cases.filter(pl.col("verdict") == verdict, ~pl.col("retired"))
        if strength is not None:
            chosen = chosen.filter(pl.col("strength") == strength)
        return chosen.sort(
            pl.col("ratio").log().abs(), "name", "case", descending=[True, False, False], nulls_last=True
        )

    @property
    def alarming(self) -> bool:
        """Whether something is confirmed slower: a case, or the run as a whole."""
        whole = self.shift is not None and self.shift.ratio > 1 and self.shift.strength == "confirmed"
        return whole or not self.confirmed_slower.is_empty()


def exit_status(judgements: list[RunJudgement]) -> int:
    """1 when something is confirmed slower, 5 when nothing could be judged, else 0."""
    if any(judgement.alarming for judgement in judgements):
        return 1
    if not any(judgement.judged for judgement in judgements):
        return 5
    return 0
