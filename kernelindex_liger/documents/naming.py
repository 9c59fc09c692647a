"""Names of documents: slugs and case keys, by the rules that the published names follow."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping

SLUG_LENGTH = 100
_OUTSIDE = re.compile(r"[^a-z0-9]+")


def slug_once(text: str) -> str:
    """`slug` of a text that is not expected to come again."""
    return _OUTSIDE.sub("-", text.lower()).strip("-")[:SLUG_LENGTH]


@functools.lru_cache(maxsize=1 << 14)
def slug(text: str) -> str:
    """Lower case, runs of anything but `a-z0-9` become one dash, no dash at either end, cut to 100 characters.

    The cut comes last, so a slug can end in a dash, as published names do.
    """
    return slug_once(text)


def case_key(axes: Mapping[str, int], dtype: str, switches: Mapping[str, str] | None = None) -> str:
    """Axes sorted by name, each written name then value, joined with dashes, then the float dtype.

    `switches` are scalars that tell two workloads of equal axes apart (a bias switch, a stride); they are
    sorted in among the axes.

    >>> case_key({"rows": 2048, "hidden": 1024}, "fp32")
    'hidden1024-rows2048-fp32'
    """
    parts = {name: str(value) for name, value in axes.items()} | dict(switches or {})
    return "-".join([*(name + parts[name] for name in sorted(parts)), dtype])
