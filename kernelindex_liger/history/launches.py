"""Telling a slow host from slow kernels.

What a case of some microseconds measures is mostly how fast the host launches kernels. On another host, or a busy
one, these cases get slower together, PyTorch's with Liger's, each by about the same time, up to several times
what they took. That is one fact about the run, not hundreds about kernels.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import polars as pl

from kernelindex_liger.history.judgement import Launches
from kernelindex_liger.history.measure import LEAST_GROUP

if TYPE_CHECKING:
    from kernelindex_liger.history.thresholds import Thresholds

GROUP_SHARE = 0.6
"""Of baselines and of the other cases, each has to reach this part of the share asked of all."""

MOST = 0.95
"""The overhead is the time that this share of the short cases that moved stayed within."""


def launches_of(moves: pl.DataFrame, thresholds: Thresholds) -> Launches | None:
    """Whether a run's launches were slower or faster than before.

    `moves` has, a timed case, `net` (log ratio, the run-wide shift taken out), `limit`, `reference` and `value`
    (nanoseconds) and `role`. The strength is `suspected`; whether the run before agrees, the caller knows.
    """
    limits = thresholds.launch
    short = moves.filter(pl.col("reference") < limits.shorter_than_us * 1000)
    if short.height < thresholds.shift.least_cases:
        return None
    return _moved(short, "slower", limits.share) or _moved(short, "faster", limits.share)


def _moved(short: pl.DataFrame, direction: Literal["slower", "faster"], share: float) -> Launches | None:
    sign = 1 if direction == "slower" else -1
    along = pl.col("net") * sign > pl.col("limit")
    baseline = pl.col("role").eq_missing("baseline")
    asked = (
        (short, share),
        (short.filter(baseline), share * GROUP_SHARE),
        (short.filter(~baseline), share * GROUP_SHARE),
    )
    for group, least in asked:
        if group.height >= LEAST_GROUP and group.filter(along).height < least * group.height:
            return None
    moved = short.filter(along)
    overhead = moved.select(((pl.col("value") - pl.col("reference")) * sign).quantile(MOST)).item()
    return Launches(direction, float(overhead), moved.height / short.height, short.height, "suspected")
