"""A newcomer's way through the explorer, in a real browser."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.web.chromium import assert_accessible, browsing, needs_chromium, running

pytestmark = [needs_chromium, pytest.mark.filterwarnings("ignore::ResourceWarning")]

ORDERS = "Which orders matter?"
EXPLORE = "Explore late.rebeca"
LATE = """\
reactiveclass Worker(3) {
    statevars { int done; }
    Worker() { self.work() deadline(3); self.rest(); }
    msgsrv work() { done = 1; }
    msgsrv rest() { delay(?(1, 5)); }
}
main { Worker worker():(); }
"""


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server with one model of the user's own."""
    place = tmp_path_factory.mktemp("mine")
    (place / "late.rebeca").write_text(LATE)
    with running(place) as found:
        yield found


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """One browser for all tests here."""
    with browsing() as found:
        yield found


@pytest.fixture
def page(browser: Any, address: str) -> Iterator[Any]:
    """The start page; what the browser complains of is a failure."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    opened = context.new_page()
    complaints: list[str] = []
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    opened.on(
        "console", lambda said: complaints.append(said.text) if said.type == "error" else None
    )
    opened.on("requestfailed", lambda asked: complaints.append(f"{asked.failure} {asked.url}"))
    asked: list[str] = []
    opened.on("request", lambda each: asked.append(each.url))
    opened.goto(address)
    yield opened
    # What a page still asks for is dropped when another one is opened.
    assert not [each for each in complaints if "400" not in each and "ERR_ABORTED" not in each]
    assert all(each.startswith(address) for each in asked)  # nothing comes from elsewhere
    context.close()


def at(page: Any, text: str) -> None:
    """Wait until the page says that it is there."""
    page.wait_for_function(
        "text => document.getElementById('where')?.innerText.startsWith(text)", arg=text
    )


def test_a_newcomer_finds_what_goes_wrong(page: Any) -> None:
    page.get_by_role("link", name=EXPLORE).click()
    at(page, "Step 0")
    page.keyboard.press("1")  # by a key
    at(page, "Step 1")
    page.get_by_role("link", name="Back").click()
    at(page, "Step 0 of 1")
    page.locator("a.way").nth(1).click()  # another way, by the mouse
    at(page, "Step 1")
    page.get_by_role("heading", name="Ways you have been").wait_for()
    assert page.locator("#branches li", has_text="1 step").count() == 2
    page.get_by_role("link", name="beside this one").click()
    page.get_by_role("heading", name="What differs in the end").wait_for()
    page.get_by_role("link", name="Back to the run").click()
    at(page, "Step 1")
    show = page.get_by_role("link", name="Show me")
    show.wait_for(timeout=30_000)
    assert "deadline missed" in page.locator("#verdict").inner_text()
    show.click()
    page.locator(".banner").wait_for()
    assert "deadline missed" in page.locator(".banner").inner_text()
    assert page.locator(".diagram svg text.wrong").count()
    here = page.url
    page.locator(".diagram a").first.click()  # back, by the picture
    at(page, "Step 1 of")
    page.go_back()
    page.locator(".banner").wait_for()
    assert page.url == here
    page.reload()  # the address says it all
    page.locator(".banner").wait_for()


def test_hints_are_shown_once_a_visit(page: Any) -> None:
    begin, drawn = page.locator("[data-hint=start]"), page.locator("[data-hint=diagram]")
    page.get_by_role("link", name=EXPLORE).click()
    at(page, "Step 0")
    assert begin.is_visible()
    page.keyboard.press("1")
    at(page, "Step 1")
    assert drawn.is_visible()
    page.keyboard.press("k")
    at(page, "Step 0")
    begin.wait_for(state="detached")
    assert page.get_by_text("Nothing has happened yet").is_visible()
    page.keyboard.press("j")
    at(page, "Step 1")
    drawn.wait_for(state="detached")


@pytest.mark.slow
def test_a_form_that_is_refused_keeps_ones_place(page: Any) -> None:
    page.get_by_role("link", name=EXPLORE).click()
    at(page, "Step 0")
    page.keyboard.press("1")
    at(page, "Step 1")
    page.get_by_text("Go on…").click()
    page.get_by_label("Until").fill("worker.dne == 1")
    page.get_by_role("button", name="Go on").click()
    page.get_by_role("alert").wait_for()
    assert "did you mean" in page.get_by_role("alert").inner_text()
    at(page, "Step 1")


@pytest.mark.slow
def test_typing_is_no_key_and_keys_are_listed(page: Any) -> None:
    page.get_by_role("link", name=EXPLORE).click()
    at(page, "Step 0")
    page.get_by_label("Find a run that reaches").fill("1")
    page.get_by_label("Find a run that reaches").press("1")
    assert page.get_by_label("Find a run that reaches").input_value() == "11"
    at(page, "Step 0")
    page.get_by_role("heading", name="Rebecs").click()
    page.keyboard.press("?")
    page.get_by_role("dialog").wait_for()
    page.keyboard.press("Escape")
    page.keyboard.press("r")
    at(page, "Step 1")


@pytest.mark.slow
@pytest.mark.parametrize("colours", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_pages_are_accessible_and_fit(browser: Any, address: str, colours: str, width: int) -> None:
    """By the rules of axe; and nothing is wider than a telephone."""
    context = browser.new_context(
        viewport={"width": width, "height": 844}, color_scheme=colours, bypass_csp=True
    )
    page = context.new_page()
    page.goto(address)
    for step in (
        "",
        "Explore late.rebeca",
        "Graph from here",
        "Back to the run",
        "Show me",
        ORDERS,
    ):
        if step:
            page.get_by_role("link", name=step).click(timeout=30_000)
            page.locator(
                {"Graph from here": ".graph svg", ORDERS: ".race"}.get(step, "#where")
            ).wait_for()
        assert_accessible(page, width)
    context.close()


@pytest.mark.slow
def test_every_page_works_without_scripts(browser: Any, address: str) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(address)
    page.get_by_role("link", name=EXPLORE).click()
    page.locator("a.way").first.click()
    assert "Step 1" in page.locator("#where").inner_text()
    page.get_by_role("link", name="Back").click()
    page.get_by_role("button", name="Random").click()
    assert "Step 1" in page.locator("#where").inner_text()
    context.close()
