"""Chart templates, made with altair once a shape; the page fills in the data.

Colours come from the page (`currentColor`) so that one drawing serves light and dark mode and print; series differ by
dash and mark shape as well as by colour, and the page writes the legend, which wraps where Vega's would be cut off.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from kernelindex_liger.history.errors import BadInputError

if TYPE_CHECKING:
    from types import ModuleType

COLOURS = ["#3b82c4", "#d97706", "#059669", "#c0518f", "#8b6fd0", "#0d9aa8", "#b45309", "#7c8694"]
"""Mid-tones that stand out on white and on near-black."""

DASHES = [[1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [4, 2], [10, 4], [3, 3, 1, 3], [1, 3]]
SHAPES = ["circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right", "triangle-left"]


class MissingExtraError(BadInputError):
    """altair or vl-convert is not installed."""

    status = 2


def _altair() -> ModuleType:
    try:
        import altair as alt
    except ImportError as error:
        raise MissingExtraError(
            "an HTML report needs altair and vl-convert: pip install 'kernelindex-liger[report]'"
        ) from error
    module: ModuleType = alt
    return module


@lru_cache
def bundle() -> str:
    """Vega, Vega-Lite and vega-embed as one script that needs nothing from a network."""
    alt = _altair()
    try:
        import vl_convert
    except ImportError as error:
        raise MissingExtraError("an HTML report needs vl-convert: pip install 'kernelindex-liger[report]'") from error
    version = ".".join(alt.SCHEMA_VERSION.split(".")[:2])
    script: str = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;", version)
    return script


@lru_cache
def template(kind: str, x: str, y: str) -> dict[str, Any]:
    """The Vega-Lite specification of a chart without its data.

    `kind` is `band` (fields x, y, lo, hi, s), `line` (x, y, s), `ratio` (x, y, s) or `history` (x: run, y, s, d: case,
    m: a case that moved, p: newest value of its case, cut: what changed); `x` is
    `log`, `linear` or `ordinal`, `y` is `log` or `linear`. `y`'s title is set by the page.
    """
    alt = _altair()
    chart = {"band": _band, "line": _line, "ratio": _ratio, "history": _history}[kind](alt, x, y)
    chart = chart.properties(width="container", height=260)
    chart = chart.configure(background="transparent", font="system-ui, sans-serif", aria=False).configure_view(
        stroke=None
    )
    chart = chart.configure_axis(
        labelColor="currentColor", titleColor="currentColor", tickColor="currentColor", domainColor="currentColor",
        gridColor="currentColor", gridOpacity=0.15, labelFontSize=12, titleFontSize=12, titleFontWeight="normal",
    )  # fmt: skip
    spec: dict[str, Any] = chart.to_dict(validate=True)
    for part in (spec, *spec["layer"]):
        part.pop("data", None)  # altair writes an empty one, which would hide the page's
    for part in spec["layer"]:
        if "datum" in part["encoding"].get("y", {}):
            part["data"] = {"values": [{}]}  # one line at 1, not one a row
    spec.pop("datasets", None)
    return spec


def _x(alt: ModuleType, x: str) -> Any:
    if x == "ordinal":
        return alt.X("x:O", sort=None, title=None, axis=alt.Axis(labelAngle=-35, labelLimit=120))
    scale = alt.Scale(type="log", base=2, nice=False) if x == "log" else alt.Scale(zero=False)
    return alt.X(
        "x:Q",
        title=None,
        scale=scale,
        axis=alt.Axis(format=".12~g", labelOverlap="greedy", labelSeparation=6, tickCount=6),
    )


def _y(alt: ModuleType, y: str) -> Any:
    return alt.Y(
        "y:Q", title=None, scale=_y_scale(alt, y), axis=alt.Axis(format="~r" if y == "log" else "~g", tickCount=6)
    )


def _y_scale(alt: ModuleType, y: str) -> Any:
    return alt.Scale(type="log", nice=False) if y == "log" else alt.Scale(zero=False, nice=True)


def _series(alt: ModuleType) -> dict[str, Any]:
    return {
        "color": alt.Color("s:N", scale=alt.Scale(range=COLOURS), legend=None),
        "strokeDash": alt.StrokeDash("s:N", scale=alt.Scale(range=DASHES), legend=None),
    }


def _band(alt: ModuleType, x: str, y: str) -> Any:
    scale, colour = _y_scale(alt, y), alt.Color("s:N", scale=alt.Scale(range=COLOURS), legend=None)
    low = alt.Y("lo:Q", scale=scale, title=None)
    band = alt.Chart().mark_area(opacity=0.22).encode(x=_x(alt, x), y=low, y2="hi:Q", color=colour)
    return alt.layer(band, *_line(alt, x, y).layer)


def _line(alt: ModuleType, x: str, y: str) -> Any:
    base = alt.Chart().encode(x=_x(alt, x), y=_y(alt, y), **_series(alt))
    tooltip = [alt.Tooltip("s:N", title="series"), alt.Tooltip("x:N", title="x"), alt.Tooltip("t:N", title="median")]
    points = base.mark_point(size=45, filled=True).encode(
        shape=alt.Shape("s:N", scale=alt.Scale(range=SHAPES), legend=None), tooltip=tooltip
    )
    return alt.layer(base.mark_line(strokeWidth=2), points)


def _ratio(alt: ModuleType, x: str, y: str) -> Any:
    base = alt.Chart().encode(x=_x(alt, x), y=_y(alt, y), **_series(alt))
    tooltip = [alt.Tooltip("s:N", title="ratio"), alt.Tooltip("x:N", title="x"), alt.Tooltip("y:Q", format=".3~f")]
    even = alt.Chart().mark_rule(color="currentColor", strokeWidth=1.5, opacity=0.7).encode(y=alt.datum(1))
    points = base.mark_point(size=45, filled=True).encode(
        shape=alt.Shape("s:N", scale=alt.Scale(range=SHAPES), legend=None), tooltip=tooltip
    )
    return alt.layer(even, base.mark_line(strokeWidth=2), points)


def _history(alt: ModuleType, x: str, y: str) -> Any:
    del x  # runs stand side by side in their order, whatever the days between them
    axis = alt.X("x:O", sort=None, title=None, axis=alt.Axis(labelAngle=-60, labelLimit=90, labelOverlap=True))
    base = alt.Chart().encode(x=axis, y=_y(alt, y), detail="d:N", **_series(alt))
    tooltip = [
        alt.Tooltip("d:N", title="case"), alt.Tooltip("x:O", title="run"), alt.Tooltip("t:N", title="value"),
        alt.Tooltip("y:Q", title="to its median", format=".3~f"),
    ]  # fmt: skip
    even = alt.Chart().mark_rule(color="currentColor", opacity=0.4).encode(y=alt.datum(1))
    # Rules that nobody sees: at least 10 % up and down is shown, so that noise does not look like news.
    edges = [alt.Chart().mark_rule(opacity=0).encode(y=alt.datum(edge)) for edge in (1 / 1.1, 1.1)]
    cut = (
        alt.Chart()
        .transform_filter("datum.cut")
        .mark_rule(color="currentColor", strokeWidth=2, strokeDash=[2, 3])
        .encode(x=axis, tooltip=[alt.Tooltip("cut:N", title="new segment")])
    )
    lines = base.mark_line().encode(
        strokeWidth=alt.condition("datum.m", alt.value(2.6), alt.value(1.2)),
        opacity=alt.condition("datum.m", alt.value(1), alt.value(0.6)),
    )
    # One mark a case, at its newest value: a mark a run would be most of what the page holds.
    points = (
        base.transform_filter("datum.p")
        .mark_point(size=30, filled=True, opacity=1)
        .encode(shape=alt.Shape("s:N", scale=alt.Scale(range=SHAPES), legend=None), tooltip=tooltip)
    )
    return alt.layer(even, *edges, cut, lines, points)
