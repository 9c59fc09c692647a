"""The page in a real browser: `scripts/check_page` finds nothing on a good page, and what is wrong on a bad one."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from synthetic import environment, night

from kernelindex_liger.history.store import History
from kernelindex_liger.history.thresholds import preset
from kernelindex_liger.report import html, sheets

pytestmark = pytest.mark.slow

for _module in ("altair", "vl_convert"):
    pytest.importorskip(_module, reason="the report extra is not installed")
for _module in ("playwright", "axe_playwright_python"):
    pytest.importorskip(_module, reason=f"{_module} is not installed, which scripts/check_page needs")
if not any(map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable"))):
    pytest.skip("no Chromium on PATH", allow_module_level=True)

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "check_page"
VIEWS = ("desktop", "phone", "dark", "print")


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """A page with all that a page can have: segments, caveats, moves, words that are no markup."""
    history = History(tmp_path_factory.mktemp("page") / "history")
    for number in range(12):
        by = 1.3 if number > 9 else 1.0
        rows = night(
            number,
            kernels=2,
            xs=4,
            environment=environment(driver="550" if number < 5 else "560"),
            caveats=["fp32-output"],
            factor=lambda kernel, who, _x, by=by: by if (kernel, who) == ("kernel_1", "liger") else 1.0,
        )
        history.add(rows, f"<b>n{number}</b>")
    text = html.render(sheets.of_history(history, preset()), "Nights </script><img src=x>")
    assert "Confirmed slower (4)" in text
    return text


def checked(text, path, *options):
    path.write_text(text)
    return subprocess.run(
        [sys.executable, str(SCRIPT), str(path), *options], check=False, capture_output=True, text=True
    )


def test_a_good_page_has_no_fault_in_any_view(page, tmp_path):
    done = checked(page, tmp_path / "good.html", "--pictures", str(tmp_path / "pictures"))
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    assert [line.split(":")[0] for line in lines] == [f"good.html, {view}" for view in VIEWS]
    for line in lines:
        assert "6 charts drawn" in line
        assert "6 tables; 0 faults" in line
    assert sum("axe took" in line for line in lines) == 3
    pictures = sorted((tmp_path / "pictures").glob("*.png"))
    assert len(pictures) == 2 * len(VIEWS)
    assert all(picture.stat().st_size > 10_000 for picture in pictures)


BAD = {
    '<img src="https://example.org/x.png" alt="">': "example.org/x.png",
    '<script>console.error("broken")</script>': "console: broken",
    "<script>no_such_name()</script>": "error on the page: no_such_name is not defined",
    '<p style="color:#ccc;background:#fff">pale</p>': "axe: serious: color-contrast",
    '<div style="width:3000px">wide</div>': "pixels wide",
    '<div class="chart" data-chart="0" data-done="yes"></div>': "1 of 7 charts are not drawn",
    "<details data-table='0' data-done='yes'><summary>t</summary></details>": "1 of 7 tables stay empty",
}
"""Markup that makes a page bad, and what is to be said about it."""


def test_everything_that_is_wrong_with_a_page_is_said(page, tmp_path):
    done = checked(page.replace("</main>", "".join(BAD) + "</main>"), tmp_path / "bad.html")
    assert done.returncode == 1, done.stderr
    for said in BAD.values():
        assert said in done.stdout, said


def test_a_page_that_asks_another_place_is_stopped_and_told(page, tmp_path):
    open_page = page.replace("default-src 'none'", "default-src *").replace("img-src data:", "img-src *")
    done = checked(open_page.replace("</main>", f"{next(iter(BAD))}</main>"), tmp_path / "asking.html")
    assert done.returncode == 1, done.stderr
    assert "asks for https://example.org/x.png" in done.stdout
