"""A report in a real browser whose reader prefers dark pages, and then light ones."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rebecsim.report import GROUND, dark_colour
from tests.report.test_html import render
from tests.web.chromium import browsing, needs_chromium

LAYOUT = "document.getElementById('chart-1')._fullLayout"
COLOURS = f"[{LAYOUT}.paper_bgcolor, {LAYOUT}.xaxis.tickfont.color]"


@needs_chromium
@pytest.mark.slow
def test_charts_follow_the_reader(tmp_path: Path, make_report: Callable[[], Any]) -> None:
    file = tmp_path / "report.html"
    file.write_text(render(make_report()), "utf-8")
    with browsing() as browser:
        page = browser.new_context(color_scheme="dark").new_page()
        page.goto(file.as_uri())
        dark = page.evaluate(COLOURS)
        page.emulate_media(color_scheme="light")
        page.wait_for_function(f"{LAYOUT}.paper_bgcolor == '#ffffff'")
        light = page.evaluate(COLOURS)
    assert (dark, light) == ([GROUND, dark_colour("#1a1a1a")], ["#ffffff", "#1a1a1a"])
