"""One self-contained page: no file beside it, nothing from a network, a table for every chart."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from kernelindex_liger.history.view import amount
from kernelindex_liger.report import charts, tables
from kernelindex_liger.report.data import is_number
from kernelindex_liger.report.summary import headline, sentences
from kernelindex_liger.report.text import SECTIONS
from kernelindex_liger.untrusted import escape, safe_json

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kernelindex_liger.report.data import Panel, Sheet

POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline' 'unsafe-eval'; img-src data:; "
    "base-uri 'none'; form-action 'none'"
)
"""What the page may do: run its own script and nothing else. Vega compiles its expressions, hence `unsafe-eval`."""

NO_SCRIPT = "The charts and their tables are drawn by this page's own script, which is switched off."

WIDE = 8.0
"""Values further apart than this factor get a logarithmic axis."""


def render(sheets: list[Sheet], title: str) -> str:
    """The page as text. Raises `charts.MissingExtraError` without the `report` extra."""
    page = _Page()
    body = "".join(page.sheet(number, sheet) for number, sheet in enumerate(sheets))
    if not sheets:
        body = "<p>The history is empty: nothing to report.</p>"
    data = _json({"templates": page.templates, "charts": page.data, "tables": page.tables})
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(POLICY)}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{escape(title)}</title>\n<style>\n{_asset('page.css')}</style>\n</head>\n<body>\n"
        f"<header><h1>{escape(title)}</h1></header>\n<noscript><p>{NO_SCRIPT}</p></noscript>\n{_contents(sheets)}<main>\n{body}</main>\n"
        f'<script id="data" type="application/json">{data}</script>\n'
        f"<script>{_script(charts.bundle())}</script>\n<script>{_asset('page.js')}</script>\n</body>\n</html>\n"
    )


def _asset(name: str) -> str:
    return (files("kernelindex_liger.report") / "assets" / name).read_text("utf-8")


def _json(value: Any) -> str:
    """JSON that cannot end the script element that holds it."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return safe_json(text).replace("<", "\\u003c")


def _script(source: str) -> str:
    r"""A script that cannot end its own element; `<\/` means `</` inside its strings."""
    return source.replace("</script", "<\\/script").replace("<!--", "<\\!--")


def _contents(sheets: list[Sheet]) -> str:
    if len(sheets) == 1:
        kernels = dict.fromkeys(panel.kernel for panel in sheets[0].panels)
        links = "".join(f'<li><a href="#{_anchor(0, kernel)}">{escape(kernel)}</a></li>' for kernel in kernels)
    else:
        links = "".join(f'<li><a href="#m{n}">{escape(sheet.machine)}</a></li>' for n, sheet in enumerate(sheets))
    return f'<nav aria-label="Contents"><ul>{links}</ul></nav>\n' if links else ""


def _anchor(number: int, kernel: str) -> str:
    return f"m{number}-" + "".join(letter if letter.isalnum() else "-" for letter in kernel)


class _Page:
    """Collects chart templates and data while the sections are written."""

    def __init__(self) -> None:
        self.templates: dict[str, dict[str, Any]] = {}
        self.data: list[dict[str, Any]] = []
        self.tables: list[dict[str, Any]] = []

    def sheet(self, number: int, sheet: Sheet) -> str:
        parts = [f'<section id="m{number}"><h2>{escape(sheet.label)} on {escape(sheet.machine)}</h2>']
        parts += _judgement(sheet)
        parts.append(tables.facts(sheet))
        kernels: dict[str, list[Panel]] = {}
        for panel in sheet.panels:
            kernels.setdefault(panel.kernel, []).append(panel)
        for kernel, own in kernels.items():
            parts.append(f'<section class="kernel" id="{_anchor(number, kernel)}"><h3>{escape(kernel)}</h3>')
            parts += [text for panel in own for text in self._panel(sheet, panel)]
            parts.append("</section>")
        return "\n".join(parts) + "\n</section>\n"

    def _panel(self, sheet: Sheet, panel: Panel) -> Iterator[str]:
        metric = "" if panel.metric == "speed" else f", {panel.metric.replace('_', ' ')}"
        title = f"{panel.pass_}{metric}, over {panel.x_name}"
        yield f"<h4>{escape(title)}</h4>"
        yield '<div class="figures">'
        scale, unit = _unit(panel)
        x = _x_axis(panel)
        kind = "band" if any(point.low is not None and point.high is not None for point in panel.points) else "line"
        unit += ", with the p20 to p80 band" if kind == "band" and panel.metric != "memory" else ""
        values = [point.value / scale for point in panel.points]
        rows = []
        for point in panel.points:
            row = {"x": _x(panel, point.x), "y": point.value / scale, "s": point.series}
            row["t"] = amount(point.value, panel.metric)
            if point.low is not None and point.high is not None:
                row |= {"lo": point.low / scale, "hi": point.high / scale}
            rows.append(row)
        yield self._figure(
            kind, x, _spread(values), rows, unit, f"{panel.kernel} {title}: {unit}", tables.values(panel)
        )
        if panel.ratios:
            ratio = [{"x": _x(panel, one.x), "y": one.value, "s": one.series} for one in panel.ratios]
            what = "baseline ÷ measured: above 1, the measured one needs less"
            shape = _spread([one.value for one in panel.ratios] + [1.0])
            yield self._figure("ratio", x, shape, ratio, what, f"{panel.kernel} {title}: {what}", tables.ratios(panel))
        if panel.tracks and len(sheet.runs) > 1:
            yield self._history(sheet, panel, title)
        yield "</div>"

    def _history(self, sheet: Sheet, panel: Panel, title: str) -> str:
        rows: list[dict[str, Any]] = []
        cuts = tables.segments(sheet)
        series = {point.case: point.provider for point in panel.points}
        moved = _moved(sheet)
        for track in panel.tracks:
            known = sorted(value for value in track.values if value)
            if not known:
                continue
            middle = known[len(known) // 2]
            for run, value in zip(sheet.runs, track.values, strict=True):
                if value is not None:
                    rows.append({"x": run.label, "y": value / middle, "s": series[track.case], "d": track.name})
                    rows[-1] |= {"m": 1} if track.case in moved else {}
                    newest = value
            rows[-1] |= {"p": 1, "t": amount(newest, panel.metric)}
        for label, why in cuts.items():
            rows.append({"x": label, "y": 1, "cut": why})
        order = [run.label for run in sheet.runs]
        what = "each case against its own median; heavy lines moved; a dotted upright line starts a new environment"
        shape = _spread([row["y"] for row in rows])
        caption = f"{panel.kernel} {title}: {what}"
        return self._figure("history", "ordinal", shape, rows, what, caption, tables.tracks(sheet, panel), order)

    def _figure(
        self, kind: str, x: str, y: str, rows: list[dict[str, Any]], what: str, label: str,
        table: tables.Lazy, order: list[str] | None = None,
    ) -> str:  # fmt: skip
        name = f"{kind}-{x}-{y}"
        if name not in self.templates:
            self.templates[name] = charts.template(kind, x, y)
        self.data.append({"t": name, "v": _columns(rows), "o": order})
        self.tables.append(table.as_json())
        place = len(self.data) - 1
        return (
            f'<figure class="{kind}"><figcaption>{escape(what)}</figcaption>'
            f'<div class="chart" role="img" aria-label="{escape(label)}" data-chart="{place}"></div>'
            f'<details data-table="{place}"><summary>Table</summary></details></figure>'
        )


def _columns(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Rows as columns, which the page reads back: numbers to five digits, repeated words once (`of`, by their `at`)."""
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: _packed([_short(row.get(name)) for row in rows]) for name in names}


def _packed(values: list[Any]) -> Any:
    words = {value: place for place, value in enumerate(dict.fromkeys(v for v in values if isinstance(v, str)))}
    if not words or len(words) * 2 > len(values):
        return values
    return {"of": list(words), "at": [words.get(value) for value in values]}


def _short(value: Any) -> Any:
    return float(f"{value:.5g}") if isinstance(value, float) else value


def _moved(sheet: Sheet) -> set[str]:
    """Cases that the judgement finds slower or faster."""
    if sheet.judgement is None:
        return set()
    return {case for verdict in ("slower", "faster") for case in sheet.judgement.select(verdict)["case"]}


def _unit(panel: Panel) -> tuple[float, str]:
    if panel.metric == "memory":
        return 2**20, "peak memory in MiB"
    highest = max((point.value for point in panel.points), default=0.0)
    scale, unit = (1e6, "ms") if highest >= 1e6 else (1e3, "µs")
    return scale, f"time in {unit}"


def _x(panel: Panel, text: str) -> float | str:
    return float(text) if panel.numeric else text


def _x_axis(panel: Panel) -> str:
    if not panel.numeric:
        return "ordinal"
    return _spread([float(point.x) for point in panel.points if is_number(point.x)])


def _spread(values: list[float]) -> str:
    low, high = min(values, default=0.0), max(values, default=0.0)
    return "log" if low > 0 and high / low >= WIDE else "linear"


def _judgement(sheet: Sheet) -> list[str]:
    judgement = sheet.judgement
    if judgement is None:
        return ["<p>One import, without a history: nothing is judged.</p>"]
    kind = "bad" if judgement.alarming else ("good" if judgement.judged else "open")
    sign = {"bad": "✗", "good": "✓", "open": "?"}[kind]
    out = [f'<p class="headline {kind}"><span aria-hidden="true">{sign}</span> {escape(headline(judgement))}</p>']
    facts = "".join(f"<li>{escape(fact)}</li>" for fact in sentences(judgement))
    if facts:
        out.append(f"<ul>{facts}</ul>")
    for heading, verdict, strength in SECTIONS:
        cases = judgement.select(verdict, strength)
        if cases.height:
            opened = " open" if strength == "confirmed" else ""
            out.append(
                f"<details{opened}><summary><strong>{escape(heading)} ({cases.height})</strong></summary>"
                f"{tables.moved(cases, heading)}</details>"
            )
    return out
