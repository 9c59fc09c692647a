"""What differs from upstream, or is odd in upstream and kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Decision: TypeAlias = Literal["reproduced", "corrected", "renamed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Deviation:
    """Something odd about what upstream measures, what we do about it and why: a caveat in the catalogue.

    `reproduced`: rows mean what upstream's mean. `corrected`: ours differ on purpose (say how in `text`).
    `renamed`: done right under another provider or kernel name. Empty `providers`/`passes` mean all.
    """

    slug: str
    text: str
    decision: Decision
    reason: str
    providers: tuple[str, ...] = ()
    passes: tuple[str, ...] = ()
