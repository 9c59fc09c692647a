"""Bind: a batch of text rows becomes bound rows and skipped rows, in columns.

Every row of a batch ends in exactly one of the two, a skipped row under exactly one reason.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import polars as pl

from kernelindex_liger.catalog import Catalog
from kernelindex_liger.conversion.combine import FAMILY, KEYS, Combination, Combiner, Family
from kernelindex_liger.conversion.index import Index, Key, distinct
from kernelindex_liger.conversion.link import Linker
from kernelindex_liger.conversion.match import Labels
from kernelindex_liger.conversion.reading import Skip
from kernelindex_liger.conversion.rows import X
from kernelindex_liger.documents.base import SAFE
from kernelindex_liger.documents.naming import slug

MEMORY = "memory"
MIB = 1 << 20
MS = 1_000_000
RELEASE_LENGTH = 200

_TAKEN = Skip("")


@dataclass(frozen=True)
class Bound:
    """What a batch became.

    Attributes:
        rows: bound rows: the text columns, `combination` (index into `Binder.combinations`), `p20` `p50` `p80` in
            the CSV's unit, `n20` `n50` `n80` in nanoseconds or bytes (20 and 80 null where the row has no spread),
            `observed_at`, `moment_slug`, `caveats` (ids, list).
        skipped: skipped rows: kernel, provider, GPU, file, line, `reason`, `detail`.
        memory: how many memory rows the batch held.
    """

    rows: pl.DataFrame
    skipped: pl.DataFrame
    memory: int


class Binder:
    """Binds batches by one catalogue in one edition; remembers combinations from batch to batch."""

    def __init__(
        self, catalog: Catalog, edition: str = "published", *, memory: bool = False, excluded: Sequence[str] = ()
    ) -> None:
        self.catalog = catalog
        self.linker = Linker(catalog)
        self.combinations: list[Combination] = []
        self._combiner = Combiner(catalog, self.linker)
        self._corrections = [one for one in catalog.corrections if one.edition in ("both", edition)]
        self._memory = memory
        self._excluded = list(excluded)
        self._labels = {
            "corrections": Labels([(str(index), one.match) for index, one in enumerate(self._corrections)]),
            "caveats": Labels([(one.id, one.match) for one in catalog.caveats]),
        }
        self._family_keys: list[Key] = []
        self._asked: list[list[Callable[[str], int]]] = []
        self._families: dict[Key, int] = {}
        self._keys: list[tuple[int, str]] = []
        self._profiles = Index(KEYS, self._profile)
        self._deciders: dict[tuple[int, str], Family] = {}
        self._decisions = Index(("key", "corrections"), self._decide)

    def bind(self, frame: pl.DataFrame, *, valued: bool = True) -> Bound:
        """The rows of a batch, bound or skipped; not `valued` are cases that failed, which have no numbers to check."""
        memory = int(frame.get_column("metric_name").eq(MEMORY).sum())
        if memory and not self._memory:
            frame = frame.filter(pl.col("metric_name") != MEMORY)
        frame = self._profiles.attach(_moments(_numbers(frame)))
        for name, labels in self._labels.items():
            frame = frame.with_columns(labels.texts(frame, f"{name}_profile").alias(name))
        reason = _first_reason(self._excluded) if valued else _first_reason((), valued=False)
        frame = self._decisions.attach(self._shifted(frame)).with_columns(reason)
        skipped = frame.clear()
        if frame.get_column("reason").ne("").any():
            skipped = frame.filter(pl.col("reason") != "")
            frame = frame.filter(pl.col("reason") == "")
        skipped = skipped.select(
            "kernel_name", "kernel_provider", "gpu_name", "file", "line", "reason", _detail().alias("detail")
        )
        return Bound(_with_units(frame), skipped, memory)

    def _profile(self, keys: Sequence[Key]) -> pl.DataFrame:
        """Of tuples of `KEYS`: their number as `key`, and which corrections and caveats may match their rows."""
        first, place = len(self._keys), KEYS.index(X)
        self._keys += [(self._family(key[:place] + key[place + 1 :]), key[place]) for key in keys]
        columns = {"key": list(range(first, len(self._keys)))}
        for number, name in enumerate(self._labels):
            columns[f"{name}_profile"] = [self._asked[family][number](x) for family, x in self._keys[first:]]
        return pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.UInt32))

    def _family(self, key: Key) -> int:
        """The number of a tuple of `FAMILY`."""
        known = self._families.setdefault(key, len(self._families))
        if known == len(self._family_keys):
            self._family_keys.append(key)
            named = dict(zip(FAMILY, key, strict=True))
            self._asked.append([labels.by_x(named) for labels in self._labels.values()])
        return known

    def _shifted(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Moments that a correction knows to be local time, as UTC."""
        for index, correction in enumerate(self._corrections):
            if correction.utc_offset_minutes is not None:
                marked = pl.col("corrections").str.split(" ").list.contains(str(index))
                if frame.select(marked.any()).item():
                    utc = pl.col("moment") - pl.duration(minutes=correction.utc_offset_minutes)
                    text = utc.dt.strftime("%Y-%m-%dT%H:%M:%S%.3fZ")
                    frame = frame.with_columns(
                        pl.when(marked).then(utc).otherwise(pl.col("moment")).alias("moment"),
                        pl.when(marked).then(text).otherwise(pl.col("observed_at")).alias("observed_at"),
                    )
        return frame

    def _decide(self, marked: Sequence[Key]) -> pl.DataFrame:
        """Of keys and corrections: their `combination`, or the `word` for which they are skipped and `why`."""
        found: list[int | None] = []
        skips: list[Skip] = []
        for key, marks in marked:
            family, x = self._keys[key]
            decider = self._deciders.get((family, marks))
            if decider is None:
                corrections = tuple(self._corrections[int(mark)] for mark in marks.split())
                decider = self._deciders[family, marks] = self._combiner.family(self._family_keys[family], corrections)
            decision = decider.decide(x)
            if isinstance(decision, Skip):
                found.append(None)
                skips.append(decision)
            else:
                found.append(len(self.combinations))
                skips.append(_TAKEN)
                self.combinations.append(decision)
        return pl.DataFrame(
            {
                "combination": pl.Series(found, dtype=pl.UInt32),
                "word": pl.Series([one.word for one in skips], dtype=pl.String),
                "why": pl.Series([one.detail for one in skips], dtype=pl.String),
            }
        )


def _numbers(frame: pl.DataFrame) -> pl.DataFrame:
    """Rows with `p50`, `p20` and `p80`, null where the text is no number."""
    texts = {f"p{level}": pl.col(f"y_value_{level}") for level in (50, 20, 80)}
    numbers = frame.select(**{name: text.cast(pl.Float64, strict=False) for name, text in texts.items()})
    if any(one.null_count() for one in numbers):
        numbers = frame.select(
            **{name: text.str.strip_chars().cast(pl.Float64, strict=False) for name, text in texts.items()}
        )
    return pl.concat([frame, numbers], how="horizontal")


def _moments(frame: pl.DataFrame) -> pl.DataFrame:
    """Rows with `moment` in UTC and as text, `observed_at`, null where they name none, and `moment_slug`."""
    timestamps, places = distinct(frame.select("timestamp"))
    texts = timestamps.get_column("timestamp").to_list()
    moments = [_moment(text) for text in texts]
    known = pl.DataFrame(
        {
            "observed_at": pl.Series(
                [one and f"{one.isoformat(timespec='milliseconds')}Z" for one in moments], dtype=pl.String
            ),
            "moment": pl.Series(moments, dtype=pl.Datetime("us")),
            "moment_slug": pl.Series([slug(text) for text in texts], dtype=pl.String),
        }
    )
    return pl.concat([frame, known[places]], how="horizontal")


def _moment(text: str) -> datetime | None:
    """A timestamp as UTC without zone; one that names no zone is taken as UTC."""
    if not text[:1].isdigit() or len(text) < len("2026-01-02 03:04"):
        return None
    try:
        moment = datetime.fromisoformat(text)
        return moment.astimezone(UTC).replace(tzinfo=None) if moment.tzinfo else moment
    except (ValueError, OverflowError):
        return None


def _first_reason(excluded: Sequence[str], *, valued: bool = True) -> pl.Expr:
    """The one reason for which a row is skipped, or nothing: the first that applies, in this order."""
    positive = pl.col("p50").is_finite() & (pl.col("p50") > 0)
    spread = [pl.col(f"p{level}").is_null() & (pl.col(f"y_value_{level}") != "") for level in (20, 80)]
    negative = [pl.col(f"p{level}").is_finite() & (pl.col(f"p{level}") < 0) for level in (20, 80)]
    scale = _scale()
    too_large = [(pl.col(f"p{level}") * scale > SAFE) & pl.col(f"p{level}").is_finite() for level in (20, 50, 80)]
    vanishing = pl.col("p50") * scale < 0.5
    bad_value = ~positive.fill_null(value=False) | pl.any_horizontal(
        *(term.fill_null(value=False) for term in (*spread, *negative, *too_large, vanishing))
    )
    finite = pl.col("p20").is_finite() & pl.col("p80").is_finite()
    disordered = finite & ((pl.col("p20") > pl.col("p50")) | (pl.col("p50") > pl.col("p80")))
    chain = (
        pl.when(pl.col("word") != "")
        .then(pl.col("word"))
        .when(bad_value & valued)
        .then(pl.lit("bad_value"))
        .when(disordered.fill_null(value=False))
        .then(pl.lit("disordered_quantiles"))
        .when(pl.col("observed_at").is_null())
        .then(pl.lit("bad_timestamp"))
        .when(pl.col("liger_version").str.len_chars() > RELEASE_LENGTH)
        .then(pl.lit("bad_release"))
    )
    if excluded:
        taken = pl.any_horizontal(*(pl.col("caveats").str.split(" ").list.contains(one) for one in excluded))
        chain = chain.when(taken).then(pl.lit("excluded_caveat"))
    return chain.otherwise(pl.lit("")).alias("reason")


def _detail() -> pl.Expr:
    values = pl.concat_str(
        *(pl.lit(f"p{level} ") + pl.col(f"y_value_{level}").str.slice(0, 40) for level in (20, 50, 80)), separator=", "
    )
    return (
        pl.when(pl.col("reason").is_in(["bad_value", "disordered_quantiles"]))
        .then(values)
        .when(pl.col("reason") == "bad_timestamp")
        .then(pl.lit("timestamp ") + pl.col("timestamp").str.slice(0, 40))
        .when(pl.col("reason") == "bad_release")
        .then(pl.lit("liger_version ") + pl.col("liger_version").str.slice(0, 40) + pl.lit("…"))
        .otherwise(pl.col("why"))
    )


def _scale() -> pl.Expr:
    """Nanoseconds, or bytes, in the CSV's unit."""
    return pl.when(pl.col("metric_name") == MEMORY).then(MIB).otherwise(MS)


def _with_units(frame: pl.DataFrame) -> pl.DataFrame:
    """Adds whole nanoseconds (or bytes), rounded half up as the published catalogue rounds; nulls without a spread."""
    scale = _scale()
    spread = pl.col("p20").is_finite().fill_null(value=False) & pl.col("p80").is_finite().fill_null(value=False)

    def whole(level: int) -> pl.Expr:
        value = pl.col(f"p{level}") * scale
        floor = value.floor()
        return (floor + (value - floor >= 0.5)).cast(pl.Int64)

    return frame.with_columns(
        whole(50).alias("n50"),
        *(pl.when(spread).then(whole(level)).alias(f"n{level}") for level in (20, 80)),
    )
