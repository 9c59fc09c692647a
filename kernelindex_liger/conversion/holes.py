"""Documents written once by their models, with holes where many of them differ."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

FIRST = 9_007_199_254_740_000
"""The first of the numbers that stand for holes; constant parts of a document must stay below it."""

_HOLE = re.compile(r"<([a-z_]+)>|9007199254740(\d{3})")


def number_hole(index: int) -> int:
    """The number that stands for the `index`-th numeric hole, 0 to 990; text holes are `<name>` inside a string."""
    if not 0 <= index <= 990:
        raise ValueError(f"no hole {index}: a document has at most 991")
    return FIRST + index


def cut(text: str, numbers: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Pairs of constant text and the name of the hole behind it, which is empty behind the last; `numbers` by index."""
    end = 0
    for hole in _HOLE.finditer(text):
        yield text[end : hole.start()], hole[1] or numbers[int(hole[2])]
        end = hole.end()
    yield text[end:], ""


def percent(text: str, numbers: Sequence[str]) -> str:
    """A text with holes as a format for `%` and a mapping."""
    return "".join(
        constant.replace("%", "%%") + (f"%({name})s" if name else "") for constant, name in cut(text, numbers)
    )
