"""Readings of rows that differ in x alone: what x does not decide is worked out once for all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kernelindex_liger.catalog import Catalog
from kernelindex_liger.catalog.expressions import ExpressionError, parse
from kernelindex_liger.catalog.facts import FromConfig, Shape, TypedScalar
from kernelindex_liger.conversion.holes import FIRST, number_hole, percent
from kernelindex_liger.conversion.reading import Reading, Skip, Unread, claim, integer, named, read_workload


class Readings:
    """What rows of one kernel, provider, x name and config mean, x by x; each is worked out once.

    Args:
        shape: id of the shape that a correction names, instead of the one whose keys claim the rows.
    """

    def __init__(
        self, catalog: Catalog, kernel: str, provider: str, x_name: str, config: str, shape: str | None
    ) -> None:
        self._catalog = catalog
        self._key = (kernel, provider, x_name, config, shape)
        self._known: dict[str, Reading | Skip] = {}
        self._pattern: Pattern | None = None
        self._patternless = False

    def of(self, x: str) -> Reading | Skip:
        """The reading of an x, or why its rows are skipped."""
        known = self._known.get(x)
        if known is None:
            known = self._known[x] = (self._pattern and self._pattern.read(x)) or self._read(x)
        return known

    def _read(self, x: str) -> Reading | Skip:
        kernel, provider, x_name, config, shape = self._key
        try:
            found = read_workload(self._catalog, kernel, provider, x_name, x, config, shape)
        except Unread as unread:
            return unread.skip
        if self._pattern is None and not self._patternless:
            _, values, candidates = claim(self._catalog, kernel, x_name, config, shape)
            self._patternless = not _alike(found, values, candidates)
            if not self._patternless:
                self._pattern = Pattern(found, values)
                found = found._replace(pattern=self._pattern)
        return found


class Pattern:
    """One reading as the pattern of all that differ from it in sizes alone.

    Args:
        reading: the reading of some x.
        config: the config's values.
    """

    def __init__(self, reading: Reading, config: Mapping[str, Any]) -> None:
        self._like = reading
        self._names = named(config)
        texts = [(axis, text) for axis, text in reading.shape.axes.items() if isinstance(text, str)]
        self._x = [axis for axis, text in texts if text == "x"]
        self._formulas = [(axis, parse(text)) for axis, text in texts if text != "x" and "x" in parse(text).names]
        self._zero = [parse(text) for text in reading.shape.zero if "x" in parse(text).names]
        holes = {axis: number_hole(index) for index, axis in enumerate(reading.axes)}
        self._key = percent(reading.key(holes), tuple(holes))

    def read(self, x: str) -> Reading | None:
        """The reading of an x; None where something is the matter with it."""
        number = integer(x)
        if number is None:
            return None
        like = self._like
        axes = like.axes.copy()
        for axis in self._x:
            axes[axis] = number
        if (self._formulas or self._zero) and not self._filled(axes, number):
            return None
        return Reading(
            like.kernel, like.shape, like.operation, axes, like.dtype, self._key % axes, like.dtypes, like.scalars,
            like.gpus, like.name, self,
        )  # fmt: skip

    def _filled(self, axes: dict[str, int], x: int) -> bool:
        """Fill the axes that are more than x itself; whether x meets all conditions."""
        names = self._names | {"x": x}
        try:
            for axis, expression in self._formulas:
                axes[axis] = expression.value(names)
                if axes[axis] <= 0:
                    return False
            return not any(expression.value(names) for expression in self._zero)
        except ExpressionError:
            return False


def _alike(reading: Reading, config: Mapping[str, Any], candidates: Sequence[Shape]) -> bool:
    """Whether every x of a config gives this reading with other sizes, or none."""
    shape = reading.shape
    typed = (*shape.scalars.values(), *shape.dtypes.values(), shape.dtype)
    chosen_by_x = "x" not in config and any("x" in one.where for one in candidates)
    # a number that looks like a hole would be taken for one
    odd = any(isinstance(value, int) and abs(value) >= FIRST for _, value in reading.scalars.values())
    told_by_x = "x" in parse(shape.gpus).names or any(_asks(one) == "x" for one in typed)
    return shape.reads == "integer" and not (chosen_by_x or odd or told_by_x)


def _asks(told: float | str | TypedScalar | FromConfig) -> float | str:
    """What a scalar or dtype is taken from."""
    return told.value if isinstance(told, TypedScalar) else told.key if isinstance(told, FromConfig) else told
