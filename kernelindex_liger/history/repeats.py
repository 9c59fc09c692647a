"""A commit measured again: what its second measurement may say, and what only another commit's could."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

if TYPE_CHECKING:
    from kernelindex_liger.history.judgement import RunJudgement

AGAIN = "the commit of the run before measured again, which confirms nothing by itself"
"""Reason of a case that another commit's run would have confirmed."""

STOOD = "confirmed when the commit was measured first, and still so"
"""Reason of a case that its commit's first run confirmed."""


def nothing_new(judgement: RunJudgement, first: RunJudgement) -> RunJudgement:
    """`judgement` of a commit's repetition, told what its `first` measurement came to.

    What that one confirmed is `standing` where it still shows, anything else suspected: code that did not change
    has not got slower since, and one commit is one night, however often it is measured.
    """
    known = first.cases.filter(pl.col("strength").is_in(["confirmed", "drifted"])).select(
        "case", "verdict", stood=pl.lit(value=True)
    )
    measured = first.cases.filter(pl.col("value").is_not_null()).select("case", repeated=pl.lit(value=True))
    confirmed = pl.col("strength").eq("confirmed") & pl.col("repeated")
    cases = judgement.cases.join(known, on=["case", "verdict"], how="left", maintain_order="left").join(
        measured, on="case", how="left", maintain_order="left"
    )
    cases = cases.with_columns(
        strength=pl.when(confirmed & pl.col("stood"))
        .then(pl.lit("standing"))
        .when(confirmed)
        .then(pl.lit("suspected"))
        .otherwise("strength"),
        reason=pl.when(confirmed & pl.col("stood"))
        .then(pl.lit(STOOD))
        .when(confirmed)
        .then(pl.lit(AGAIN))
        .otherwise("reason"),
    )
    shift = None if judgement.shift is None else replace(judgement.shift, strength="suspected")
    return replace(judgement, cases=cases.select(judgement.cases.columns), shift=shift, repeats=first.label)
