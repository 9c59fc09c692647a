"""Which known faults of a number keep it out of a judgement, and which only tell numbers apart.

The catalogue's caveats are of three kinds. Those of kind `number` say that the value itself is not to be trusted: such
rows are left out. Those of kind `meaning` say what a value includes beyond, or other than, its name: a case is
comparable with itself as long as they stay the same, and starts anew when they change (older rows of a kernel do not
draw a gradient in the timed call, newer ones do). Those of kind `record` are about a release or a time zone that
stands beside the value, and do not touch it.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import polars as pl

from kernelindex_liger.history.errors import BadInputError

if TYPE_CHECKING:
    from kernelindex_liger.history.thresholds import Caveats, Thresholds

SEPARATOR = "\x1f"

KINDS = ("number", "meaning", "record")
"""All kinds of caveats."""


def usable(rows: pl.DataFrame, thresholds: Thresholds) -> pl.DataFrame:
    """`rows` with `fault`: why a row is no measure (its status or caveats), or null; and `meaning`: the caveats that
    tell its value from others of the case, joined by plus signs.
    """
    harmless, telling = set(_harmless(thresholds.caveats)), set(_telling(thresholds.caveats))
    # Rows have a few combinations of caveats: each is looked at once.
    rows = rows.with_columns(pl.col("caveats").list.join(SEPARATOR).fill_null("").alias("combination"))
    blocking, meaning = {}, {}
    for combination in rows["combination"].unique():
        names = sorted(combination.split(SEPARATOR)) if combination else []
        blocking[combination] = " + ".join(name for name in names if name not in harmless) or None
        meaning[combination] = " + ".join(name for name in names if name in telling)
    known = pl.DataFrame(
        {"combination": list(blocking), "blocking": list(blocking.values()), "meaning": list(meaning.values())},
        schema={"combination": pl.String, "blocking": pl.String, "meaning": pl.String},
    )
    return (
        rows.join(known, on="combination", how="left", maintain_order="left")
        .with_columns(
            pl.when(pl.col("status") != "passed")
            .then("failed: " + pl.col("status"))
            .when(pl.col("blocking").is_not_null())
            .then("caveat: " + pl.col("blocking"))
            .when(pl.coalesce("ns", "peak_bytes").is_null())
            .then(pl.lit("no value"))
            .alias("fault")
        )
        .drop("combination", "blocking")
    )


def with_leave_out(thresholds: Thresholds, names: tuple[str, ...]) -> Thresholds:
    """`thresholds` with other caveats left out: kinds, ids, `all` or `none`. Raises `BadInputError` for other names."""
    chosen = KINDS if "all" in names else tuple(name for name in names if name != "none")
    rules = thresholds.caveats.model_copy(update={"leave_out": chosen})
    _harmless(rules)
    return thresholds.model_copy(update={"caveats": rules})


def left_out(rows: pl.DataFrame) -> dict[str, int]:
    """How many cases of a run's `rows` (`case`, `fault`) are no measure, by reason; those with a good row are."""
    good = rows.filter(pl.col("fault").is_null()).select("case")
    bad = rows.filter(pl.col("fault").is_not_null()).join(good, on="case", how="anti").select("case", "fault").unique()
    return {str(fault): int(cases) for fault, cases in bad.group_by("fault").len().sort("fault").iter_rows()}


def kept(rows: pl.DataFrame) -> dict[str, int]:
    """How many cases of a run's `rows` are judged with a caveat, by caveat."""
    shown = rows.filter(pl.col("fault").is_null()).select("case", "caveats").explode("caveats").drop_nulls().unique()
    return {str(name): int(cases) for name, cases in shown.group_by("caveats").len().sort("caveats").iter_rows()}


def _harmless(rules: Caveats) -> list[str]:
    """The ids of caveats that leave a row in the judgement; an id that nobody curated is not among them."""
    known = dict(kinds())
    strange = [name for name in rules.leave_out if name not in KINDS and name not in known]
    if strange:
        raise BadInputError(
            f"to leave out: neither a kind ({', '.join(KINDS)}) nor a caveat: {', '.join(strange)}; "
            "`ligerimport catalog caveats` lists them"
        )
    kept = {name for name, kind in known.items() if kind not in rules.leave_out and name not in rules.leave_out}
    return sorted(kept | set(rules.tolerate))


def _telling(rules: Caveats) -> list[str]:
    return sorted(name for name, kind in kinds() if kind == "meaning" and name not in rules.tolerate)


@lru_cache
def kinds() -> tuple[tuple[str, str], ...]:
    """(id, kind) of every curated caveat."""
    from kernelindex_liger.catalog.load import load

    return tuple((caveat.id, caveat.kind) for caveat in load().caveats)
