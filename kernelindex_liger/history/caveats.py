"""Which known faults of a number keep it out of a judgement.

The catalogue's caveats are of three kinds. Those of kind `number` say that the value itself is not to be trusted. Those
of kind `meaning` (a pass that includes more than its name says) and `record` (a wrong release or time zone beside the
value) hold for every run of a case alike, so the case can be compared with itself all the same.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kernelindex_liger.history.thresholds import Caveats


def harmless(rules: Caveats) -> list[str]:
    """The ids of caveats that leave a row in the judgement; an id that nobody curated is not among them."""
    kept = {name for name, kind in _kinds() if kind not in rules.leave_out}
    return sorted(kept | set(rules.tolerate))


@lru_cache
def _kinds() -> tuple[tuple[str, str], ...]:
    from kernelindex_liger.catalog.load import load

    return tuple((caveat.id, caveat.kind) for caveat in load().caveats)
