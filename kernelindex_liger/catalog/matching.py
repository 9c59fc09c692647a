"""Facts about groups of rows: caveats on numbers, and corrections of the published reading."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, NaiveDatetime, model_validator

from kernelindex_liger.catalog.facts import ConfigValue, Fact, Finite, Implementation

OneOrMore = str | tuple[str, ...]


class Match(Fact):
    """Which rows: every condition that is given must hold; lists mean any of them.

    Times are the CSV's own timestamps, without zone; `times` holds inclusive spans.
    """

    kernel: OneOrMore | None = None
    provider: OneOrMore | None = None
    pass_: Annotated[OneOrMore | None, Field(alias="pass")] = None
    metric: OneOrMore | None = None
    gpu: OneOrMore | None = None
    x_name: OneOrMore | None = None
    x: OneOrMore | None = None
    config_keys: tuple[str, ...] | None = None
    """The exact set of config keys."""
    config: dict[str, ConfigValue | tuple[ConfigValue, ...]] = {}
    """Config values, each one value or any of several."""
    release: OneOrMore | None = None
    times: Annotated[tuple[tuple[NaiveDatetime, NaiveDatetime], ...], Field(max_length=1000)] = ()
    since: NaiveDatetime | None = None
    """Also rows from this time on, without an end: what upstream's newest scripts do, and this package's runner."""
    not_times: Annotated[tuple[tuple[NaiveDatetime, NaiveDatetime], ...], Field(max_length=1000)] = ()
    single_sample: bool = False
    """p20 = p50 = p80."""
    above_ms: Finite | None = None
    """Only rows whose p50 is at least this, in the CSV's own unit."""
    below_ms: Finite | None = None
    """Only rows whose p50 is below this, in the CSV's own unit."""

    @model_validator(mode="after")
    def _not_everything(self) -> Match:
        if not self.model_dump(exclude_defaults=True):
            raise ValueError("a match without conditions would take every row")
        for start, end in (*self.times, *self.not_times):
            if start > end:
                raise ValueError(f"the span {start} … {end} ends before it starts")
        if self.since and any(end >= self.since for _, end in self.times):
            raise ValueError(f"a span of times reaches into what holds since {self.since}")
        return self


class Caveat(Fact):
    """A known fault of numbers: the rows keep their digests and carry the id in a label."""

    id: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]*$", max_length=48)]
    sentence: Annotated[str, Field(min_length=20)]
    evidence: Annotated[str, Field(min_length=7)]
    kind: Literal["number", "meaning", "record"] = "number"
    """Whether the number itself, what it means, or a recorded fact about it is at fault."""
    match: Match


class Correction(Fact):
    """What scripts really did, where the published reading is wrong, or where it changed over time."""

    id: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9-]*$")]
    sentence: Annotated[str, Field(min_length=20)]
    evidence: Annotated[str, Field(min_length=7)]
    match: Match
    shape: str | None = None
    """Id of the shape, in the kernel's file, that reads these rows."""
    implementation: Implementation | None = None
    protocol: str | None = None
    utc_offset_minutes: Annotated[int, Field(gt=-1440, lt=1440)] | None = None
    """Local time of the timestamp, minutes east of UTC."""
    edition: Literal["corrected", "both"] = "corrected"
    """Which edition applies it; `both` where nothing is published that it would contradict."""

    @model_validator(mode="after")
    def _does_something(self) -> Correction:
        if (self.shape, self.implementation, self.protocol, self.utc_offset_minutes) == (None,) * 4:
            raise ValueError(f"correction {self.id} changes nothing")
        return self
