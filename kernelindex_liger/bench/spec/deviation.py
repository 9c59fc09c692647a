"""What differs from upstream, or is odd in upstream and kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Decision: TypeAlias = Literal["reproduced", "corrected", "renamed"]


@dataclass(frozen=True, slots=True)
class NoCaveat:
    """No row needs to be told apart or distrusted for this, because of `why`."""

    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Deviation:
    """Something odd about what upstream measures, what we do about it and why.

    `reproduced`: rows mean what upstream's mean, oddity included. `corrected`: ours differ on purpose (say how in
    `text`). `renamed`: done right under another provider or kernel name. Empty `providers`/`passes` mean all.
    """

    slug: str
    text: str
    decision: Decision
    reason: str
    caveat: str | NoCaveat
    """Id of the catalogue's caveat on the rows that carry the oddity: upstream's and ours where it is reproduced, only
    upstream's (told apart by their time) where it is corrected."""
    providers: tuple[str, ...] = ()
    passes: tuple[str, ...] = ()
