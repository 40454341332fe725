"""Lessons and the tour in a real browser."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.web.chromium import assert_accessible, browsing, needs_chromium, running

pytestmark = [
    needs_chromium,
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with running(tmp_path_factory.mktemp("mine")) as found:
        yield found


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with browsing() as found:
        yield found


@pytest.mark.parametrize("colours", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_pages_are_accessible_and_fit(browser: Any, address: str, colours: str, width: int) -> None:
    context = browser.new_context(
        viewport={"width": width, "height": 844}, color_scheme=colours, bypass_csp=True
    )
    page = context.new_page()
    for path in ("lessons", "lessons/train_crossing", "lessons/teacher", "tour/2"):
        page.goto(f"{address}{path}")
        for summary in page.locator(".lesson summary").all():
            summary.click()
        assert_accessible(page, width)
    context.close()


def test_a_lesson_is_done_and_the_tour_taken(browser: Any, address: str) -> None:
    page = browser.new_page()
    page.goto(address)
    page.get_by_role("link", name="Lessons", exact=True).click()
    page.get_by_role("link", name="Begin the lesson: Train crossing").click()
    page.get_by_text("Answer").click()
    page.get_by_role("link", name="a gate of 3 units").click()
    page.get_by_role("link", name="Show me").wait_for(timeout=30_000)
    page.get_by_role("link", name="Lessons", exact=True).click()
    page.get_by_role("link", name="Begin the tour").click()
    for stop in range(1, 8):
        page.get_by_role("heading", name=f"{stop} of 7").wait_for()
        if stop == 5:
            for step in (7, 6):
                page.keyboard.press("k")
                page.get_by_text(f"Step {step} of 8").wait_for()
            page.get_by_role("heading", name="5 of 7").wait_for()
        if stop < 7:
            page.get_by_role("link", name="Next stop").click()
    page.get_by_text("No violation in any order").wait_for(timeout=30_000)
    page.get_by_role("link", name="leave the tour").click()
    page.get_by_role("heading", name="7 of 7").wait_for(state="detached")
    page.close()
