"""Matches of facts, on rows at the edges of their spans of time."""

from __future__ import annotations

import datetime as dt

import polars as pl
import pytest
from pydantic import ValidationError

from kernelindex_liger.catalog.matching import Match
from kernelindex_liger.conversion.match import Labels
from tests.conftest import ROW

SPAN = (dt.datetime.fromisoformat("2026-01-01T00:00:00"), dt.datetime.fromisoformat("2026-01-02T00:00:00"))
SINCE = dt.datetime.fromisoformat("2026-03-01T00:00:00")


def marked(match: Match, *moments: str) -> list[bool]:
    labels = Labels([("it", match)])
    frame = pl.DataFrame(
        {
            "profile": [labels.by_x(ROW)(ROW["x_value"])] * len(moments),
            "liger_version": "0.7.0",
            "moment": [dt.datetime.fromisoformat(moment) for moment in moments],
            "p20": 0.4,
            "p50": 0.5,
            "p80": 0.6,
        }
    )
    return [text == "it" for text in labels.texts(frame, "profile").to_list()]


@pytest.mark.parametrize(
    ("match", "expected"),
    [
        (Match(times=(SPAN,), since=SINCE), [False, True, True, False, True, True]),
        (Match(since=SINCE), [False, False, False, False, True, True]),
        (Match(times=(SPAN,)), [False, True, True, False, False, False]),
        (Match(since=SPAN[0], not_times=((SPAN[1], SINCE),)), [False, True, False, False, False, True]),
        (Match(kernel="swiglu", since=SINCE), [False] * 6),
    ],
)
def test_spans_are_inclusive_and_since_has_no_end(match: Match, expected: list[bool]) -> None:
    moments = ("2025-12-31T23:59:59", "2026-01-01", "2026-01-02", "2026-01-02T00:00:01", "2026-03-01", "2099-01-01")
    assert marked(match, *moments) == expected


def test_a_span_that_reaches_into_what_holds_anyway_is_refused() -> None:
    with pytest.raises(ValidationError, match="reaches into what holds since 2026-01-02"):
        Match(times=(SPAN,), since=SPAN[1])
