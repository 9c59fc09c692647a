"""What can be wrong with a history, its inputs and its settings, each with the exit status it means."""

from __future__ import annotations


class HistoryError(Exception):
    """Base of all errors here; the message says what is wrong, where, and what to do."""

    status = 3


class BadInputError(HistoryError):
    """An input, part, mark or thresholds file cannot be read as what it should be."""


class UnknownNameError(HistoryError):
    """A label, case or kernel was named that the history does not hold."""

    status = 2
