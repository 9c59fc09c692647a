"""What a row is, and the reasons for which a row gives no bundle."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from kernelindex_liger.documents.upstream import COLUMNS

__all__ = ["COLUMNS", "FAULTS", "REASONS", "Blame", "Fault", "InputError", "Reason", "X"]

X = "x_value"
"""The column in which alone the rows of a sweep differ."""

FAULTS = 1000
"""Malformed lines that a report lists one by one; all are counted."""

Blame = Literal["uncurated", "input", "choice"]
"""Why a row is skipped: nobody curated it, the input is bad, or the user asked for it."""


@dataclass(frozen=True)
class Reason:
    """A stable word for a skipped row, whose fault it is, and what a person can do."""

    word: str
    blame: Blame
    help: str


REASONS: Final = {
    reason.word: reason
    for reason in (
        Reason("malformed_line", "input", "the line is not a row of 15 fields"),
        Reason("unknown_metric", "uncurated", "metric_name is neither speed nor memory, or its unit is another"),
        Reason("unknown_kernel", "uncurated", "no catalogue file for this kernel; add one with --catalog"),
        Reason("unknown_shape", "uncurated", "the kernel's file has no shape for this x name and these config keys"),
        Reason("unknown_provider", "uncurated", "no provider of this name in the catalogue"),
        Reason("unknown_gpu", "uncurated", "no GPU of this name in the catalogue"),
        Reason("unknown_pass", "uncurated", "no protocol for this pass in the catalogue"),
        Reason("unmet_condition", "uncurated", "the config's values are not those that the shape answers for"),
        Reason("bad_config", "input", "extra_benchmark_config_str is not a JSON object of plain values"),
        Reason("bad_x", "input", "x_value is not what the shape's x is: a positive integer, a model, a tuple"),
        Reason("bad_value", "input", "a value is not a finite positive number"),
        Reason("disordered_quantiles", "input", "the quantiles do not rise from p20 over p50 to p80"),
        Reason("bad_timestamp", "input", "timestamp is no date and time"),
        Reason("bad_release", "input", "liger_version is longer than 200 characters"),
        Reason("rehearsal", "input", "measured by a rehearsal on the CPU: no GPU measurement"),
        Reason("duplicate", "choice", "the same row stands in the input before"),
        Reason("conflict", "input", "other rows of the same external id carry other numbers; none of them is taken"),
        Reason("excluded_caveat", "choice", "left out by --exclude-caveat"),
    )
}
"""Every reason, by its word."""


@dataclass(frozen=True)
class Fault:
    """A line that is no row: where it stands and what is wrong with it."""

    file: str
    line: int
    message: str


class InputError(Exception):
    """Input that gives no rows at all: the message says which file, what is wrong, and what to do."""
