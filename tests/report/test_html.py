"""The page: one file, nothing from outside, a table for each chart, nothing that input can break out of."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser

import polars as pl
import pytest
from synthetic import environment, night, row, table

from kernelindex_liger.history.thresholds import preset
from kernelindex_liger.report import charts, data, html, sheets

altair = pytest.importorskip("altair", reason="the report extra is not installed")
pytest.importorskip("vl_convert", reason="the report extra is not installed")


class Page(HTMLParser):
    """What of a page matters here."""

    def __init__(self, text):
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.words: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in {"meta", "link", "img", "br"}:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, text):
        if self.open and self.open[-1] not in {"script", "style"}:
            self.words.append(text)

    def count(self, tag, **attributes):
        return sum(1 for name, have in self.tags if name == tag and attributes.items() <= have.items())


@pytest.fixture
def sheet(history):
    for number in range(5):
        driver = "550" if number < 3 else "560"
        history.add(night(number, kernels=2, xs=4, environment=environment(driver=driver)), f"n{number}")
    (found,) = sheets.of_history(history, preset())
    return found


def loaded(text):
    found = json.loads(re.search(r'<script id="data" type="application/json">(.*?)</script>', text, re.DOTALL)[1])
    for chart in found["charts"]:
        chart["v"] = {name: unpacked(column) for name, column in chart["v"].items()}
    return found


def unpacked(column):
    if isinstance(column, list):
        return column
    return [None if place is None else column["of"][place] for place in column["at"]]


def test_the_page_asks_for_nothing_outside(sheet):
    text = html.render([sheet], "T")
    page = Page(text)
    assert page.open == []
    assert page.count("link") == page.count("img") == page.count("iframe") == 0
    assert all("src" not in have for name, have in page.tags if name == "script")
    assert page.count("meta", content=html.POLICY) == 1
    assert html.POLICY.startswith("default-src 'none'")


def test_every_chart_has_words_and_a_table(sheet):
    text = html.render([sheet], "T")
    page, tables = Page(text), loaded(text)["tables"]
    figures = page.count("figure")
    assert figures == 2 * 3
    assert page.count("div", role="img") == page.count("figcaption") == figures
    assert all(have.get("aria-label") for name, have in page.tags if name == "div" and have.get("role") == "img")
    assert page.count("details", **{"data-table": "0"}) == 1
    assert sum("data-table" in have for _, have in page.tags) == len(tables) == figures
    assert all(len(row) == len(table["h"]) for table in tables for row in table["r"])
    assert all(table["c"] and table["r"] for table in tables)


def test_a_table_has_the_numbers_of_its_chart(sheet):
    found = loaded(html.render([sheet], "T"))
    values, _, history = found["tables"][:3]
    assert values["h"] == ["series", "H", "median", "p20", "p80", "caveats"]
    drawn = found["charts"][0]["v"]
    assert [(row[0], float(row[1]), row[2]) for row in values["r"]] == [
        *zip(drawn["s"], drawn["x"], drawn["t"], strict=True)
    ]
    assert history["h"] == ["case", "n4", "n3 (new segment)", "n2", "n1", "n0"]
    newest = {d: t for d, t, p in zip(*(found["charts"][2]["v"][n] for n in "dtp"), strict=True) if p}
    assert {row[0]: row[1] for row in history["r"]} == newest


def test_every_template_is_a_chart_that_vega_lite_draws(sheet):
    import vl_convert

    found = loaded(html.render([sheet], "T"))
    for chart in found["charts"]:
        spec = dict(found["templates"][chart["t"]])
        columns = chart["v"]
        size = len(next(iter(columns.values())))
        spec["data"] = {"values": [{name: column[i] for name, column in columns.items()} for i in range(size)]}
        spec["width"] = 300
        drawn = vl_convert.vegalite_to_svg(spec)
        assert drawn.count("<path") > 5


def test_segments_are_marked_in_the_chart_and_the_table(sheet):
    text = html.render([sheet], "T")
    (history_chart, *_) = [chart for chart in loaded(text)["charts"] if chart["t"].startswith("history")]
    assert "driver 550 → 560" in history_chart["v"]["cut"]
    assert history_chart["o"] == ["n0", "n1", "n2", "n3", "n4"]
    assert any("n3 (new segment)" in table["h"] for table in loaded(text)["tables"])


def test_nothing_that_input_holds_becomes_markup(history):
    evil = "</script><img src=x onerror=alert(1)>"
    rows = [row("rms_norm", x, 1000 * x, 0, provider=evil, case_key=evil) for x in (1, 2)]
    history.add(table(rows), "a")
    page = Page(html.render(sheets.of_history(history, preset()), evil))
    assert page.count("img") == 0
    assert page.count("script") == 3
    assert any(evil in word for word in page.words)


def test_an_import_alone_has_no_judgement():
    (found,) = sheets.of_table(night(0, kernels=1, xs=3), "results.csv")
    page = Page(html.render([found], "T"))
    assert "One import, without a history: nothing is judged." in page.words
    assert page.count("figure", **{"class": "history"}) == 0


def test_ratios_are_baseline_over_measured_at_the_same_x():
    rows = [row("k", 1, 100, 0), row("k", 1, 250, 0, provider="torch"), row("k", 2, 100, 0)]
    (panel,) = sheets.of_table(table(rows), "l")[0].panels
    assert [(ratio.x, ratio.series, ratio.value) for ratio in panel.ratios] == [("1", "torch ÷ liger", 2.5)]


def test_lines_are_told_apart_by_the_axes_that_x_does_not_decide():
    rows = [
        row("k", 1, 100, 0, case_key="batch2-hidden1-bf16", workload_digest="a"),
        row("k", 1, 100, 0, case_key="batch4-hidden1-bf16", workload_digest="b"),
        row("k", 2, 100, 0, case_key="batch2-hidden2-bf16", workload_digest="c"),
    ]
    (panel,) = sheets.of_table(table(rows), "l")[0].panels
    assert [point.series for point in panel.points] == ["liger batch2", "liger batch2", "liger batch4"]


def test_x_that_is_no_number_stands_in_order():
    rows = [row("k", 1, 100, 0, x_value="llama"), row("k", 2, 200, 0, x_value="qwen")]
    (found,) = sheets.of_table(table(rows), "l")
    assert not found.panels[0].numeric
    assert {chart["t"] for chart in loaded(html.render([found], "T"))["charts"]} == {"line-ordinal-linear"}


def test_a_failed_case_is_no_point():
    rows = [row("k", 1, 100, 0), row("k", 2, None, 0)]
    (panel,) = sheets.of_table(table(rows), "l")[0].panels
    assert [point.x for point in panel.points] == ["1"]


def test_the_page_is_the_same_whatever_the_order_of_rows():
    rows = night(0, kernels=2, xs=3)
    one, two = (html.render(sheets.of_table(frame, "l"), "T") for frame in (rows, rows.reverse()))
    assert one == two


def test_without_the_extra_the_message_says_what_to_install(sheet, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "altair", None)
    charts.template.cache_clear()
    with pytest.raises(charts.MissingExtraError, match=r"kernelindex-liger\[report\]"):
        html.render([sheet], "T")


def test_an_empty_history_gives_a_page_that_says_so(history):
    assert sheets.of_history(history, preset()) == []
    assert "The history is empty" in html.render([], "T")


def test_numbers_in_charts_keep_five_digits():
    assert data.is_number("-12.5")
    assert not data.is_number("1e400")
    (found,) = sheets.of_table(pl.concat([table([row("k", 1, 123_456_789, 0)])]), "l")
    (chart,) = loaded(html.render([found], "T"))["charts"]
    assert chart["v"]["y"] == [123.46]
