"""Which facts match which rows: what a combination decides is answered once for it, the rest row by row.

A match asks for columns that combinations are made of (kernel, provider, x, config, …) and for what only the row
has (release, moment, numbers).
"""

from __future__ import annotations

import functools
import json
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import polars as pl

from kernelindex_liger.catalog.facts import allowed
from kernelindex_liger.catalog.matching import Match
from kernelindex_liger.conversion.index import distinct
from kernelindex_liger.conversion.reading import CONFIG_LENGTH
from kernelindex_liger.conversion.rows import X

COMBINATIONS = {
    "kernel": "kernel_name",
    "provider": "kernel_provider",
    "pass_": "kernel_operation_mode",
    "metric": "metric_name",
    "gpu": "gpu_name",
    "x_name": "x_name",
    "x": X,
}
"""The conditions of a match, next to those on the config, that combinations meet or not, and their columns."""

ROWS = frozenset({"release", "times", "since", "not_times", "single_sample", "above_ms", "below_ms"})
"""The conditions of a match that only single rows can meet or not."""


class Labels:
    """The labels of the facts that match rows, joined with blanks in the order of the facts.

    Keys that can match the same facts share a profile.
    """

    def __init__(self, facts: Sequence[tuple[str, Match]]) -> None:
        self._labels = [label for label, _ in facts]
        self._conditions = [_Condition(match) for _, match in facts]
        self._matches = [match for _, match in facts]
        self._rest: dict[int, pl.Expr] = {}
        self._profiles: dict[tuple[int, ...], int] = {}
        self._facts: list[tuple[int, ...]] = []
        self._asked: dict[int, list[int]] = {}
        # most facts are of one kernel, so a key looks at few
        self._everywhere: list[int] = []
        self._of_kernel: dict[str, list[int]] = {}
        for index, (_, match) in enumerate(facts):
            if match.kernel is None:
                self._everywhere.append(index)
                continue
            for kernel in (match.kernel,) if isinstance(match.kernel, str) else match.kernel:
                self._of_kernel.setdefault(kernel, []).append(index)

    def by_x(self, key: Mapping[str, str]) -> Callable[[str], int]:
        """What gives the profile of an x, the other columns of a combination being those of `key`."""
        candidates = sorted([*self._everywhere, *self._of_kernel.get(key["kernel_name"], ())])
        matching = [(index, self._conditions[index].x) for index in candidates if self._conditions[index].holds(key)]
        if all(x is None for _, x in matching):
            same = self._profile(tuple(index for index, _ in matching))
            return lambda _: same
        return lambda x: self._profile(tuple(index for index, wanted in matching if wanted is None or x in wanted))

    def _profile(self, matching: tuple[int, ...]) -> int:
        known = self._profiles.setdefault(matching, len(self._profiles))
        if known == len(self._facts):
            self._facts.append(matching)
            for index in matching:
                if ROWS & self._matches[index].model_fields_set:
                    self._asked.setdefault(index, []).append(known)
        return known

    def texts(self, frame: pl.DataFrame, profile: str) -> pl.Series:
        """Each row's labels; the frame has `liger_version`, `moment`, `p20`, `p50`, `p80`, and a column of profiles."""
        present = set(frame.get_column(profile).unique().to_list())
        asked = [index for index, profiles in self._asked.items() if not present.isdisjoint(profiles)]
        terms = [(self._held(index) & pl.col(profile).is_in(self._asked[index])).alias(str(index)) for index in asked]
        answers, places = distinct(frame.select(profile, *terms))
        texts = [self._text(known, dict(zip(asked, held, strict=True))) for known, *held in answers.iter_rows()]
        return pl.Series(texts, dtype=pl.String).gather(places)

    def _held(self, index: int) -> pl.Expr:
        if index not in self._rest:
            self._rest[index] = _remainder(self._matches[index])
        return self._rest[index]

    def _text(self, profile: int, held: Mapping[int, bool]) -> str:
        return " ".join(self._labels[index] for index in self._facts[profile] if held.get(index, True))


class _Condition:
    """What a match asks of the columns that combinations are made of."""

    def __init__(self, match: Match) -> None:
        self._columns = [
            (column, frozenset((wanted,) if isinstance(wanted, str) else wanted))
            for name, column in COMBINATIONS.items()
            if column != X and (wanted := getattr(match, name)) is not None
        ]
        self.x = None if match.x is None else frozenset((match.x,) if isinstance(match.x, str) else match.x)
        """The x values that it asks for; None where any will do."""
        self._config_keys = None if match.config_keys is None else set(match.config_keys)
        self._config = match.config

    def holds(self, key: Mapping[str, str]) -> bool:
        """Whether a key meets it, whatever its x."""
        for column, wanted in self._columns:
            if key[column] not in wanted:
                return False
        if self._config_keys is None and not self._config:
            return True
        values = _parsed(key["extra_benchmark_config_str"])
        if not isinstance(values, dict) or (self._config_keys is not None and self._config_keys != set(values)):
            return False
        return all(allowed(values.get(name), wanted) for name, wanted in self._config.items())


def _remainder(match: Match) -> pl.Expr:
    """What a match that asks something of single rows asks of them."""
    terms: list[pl.Expr] = []
    if match.release is not None:
        releases = [match.release] if isinstance(match.release, str) else list(match.release)
        terms.append(pl.col("liger_version").is_in(releases))
    if match.times or match.since:
        open_ended = [pl.col("moment") >= pl.lit(match.since)] if match.since else []
        terms.append(pl.any_horizontal(*_spans(match.times), *open_ended))
    if match.not_times:
        terms.append(~pl.any_horizontal(*_spans(match.not_times)))
    if match.single_sample:
        terms.append((pl.col("p20") == pl.col("p50")) & (pl.col("p50") == pl.col("p80")))
    if match.above_ms is not None:
        terms.append(pl.col("p50") >= match.above_ms)
    if match.below_ms is not None:
        terms.append(pl.col("p50") < match.below_ms)
    return functools.reduce(operator.and_, terms).fill_null(value=False)


def _spans(spans: tuple[tuple[Any, Any], ...]) -> list[pl.Expr]:
    return [pl.col("moment").is_between(pl.lit(start), pl.lit(end)) for start, end in spans]


def _parsed(text: str) -> object:
    # a longer config is skipped for its length alone; it would only fill the memory
    return None if len(text) > CONFIG_LENGTH else _value(text)


@functools.lru_cache(maxsize=10_000)
def _value(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
