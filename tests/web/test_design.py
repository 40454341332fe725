"""What pages look like: cards, questions, folds; nothing overflows, and the keyboard gets there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rebecsim.studies.scenario_files import builtin_scenarios
from rebecsim.web import Library, tiles_of
from rebecsim.web.studies.scenarios import questions_by_kind
from rebecsim.web.views import shown_lines
from tests.conftest import Run
from tests.on_asgi import ask
from tests.web.chromium import assert_accessible, browsing, needs_chromium, open_folds, running
from tests.web.pictures import COLOURS, WIDTHS, addresses
from tests.web.runs import check, make_run

MODELS = Path(__file__).resolve().parents[2] / "models"
REACHED = (
    "a[href]:not([tabindex='-1']), button, input:not([type=hidden]), select, textarea, summary, "
    "[tabindex='0']"
)


def test_every_model_has_a_title_and_says_what_it_asks(tmp_path: Path) -> None:
    (tmp_path / "two_lamps.rebeca").write_text(
        "// rebeca: core\n// Two lamps, and\n// one switch. More.\nmain { }\n"
    )
    (tmp_path / "bare.rebeca").write_text("main { }\n")
    bare, mine, *others = tiles_of(Library(tmp_path).models())
    assert (mine.title, mine.question) == ("Two lamps, and one switch", "More.")
    assert (bare.title, bare.question, bare.lesson) == ("Bare", "", "")
    assert all(each.title and each.question for each in others)
    titles = {each.listed.file.stem: each.title for each in others}
    assert titles["yarn_fifo2"] == "YARN with one FIFO queue"
    assert not [name for name, title in titles.items() if title == name.replace("_", " ")]
    assert sum(bool(each.lesson) for each in others) == 8


def test_every_built_in_scenario_is_found_by_its_question() -> None:
    asked = [each for several in questions_by_kind().values() for each in several]
    assert sorted(each.name for each in asked) == sorted(builtin_scenarios())
    assert all(each.question.endswith("?") for each in asked)
    assert not [each for each in asked if "Table" in each.question]


@pytest.mark.parametrize(
    ("place", "name"),
    [("/", "Models"), ("/lessons", "Lessons"), ("/studies", "Studies"), ("/runs/sql", "Runs")],
)
def test_the_navigation_says_where_one_is(app: Any, place: str, name: str) -> None:
    found = re.findall(r'aria-current="page">(\w+)<', ask(app(), place).text)
    assert found == [name]


def test_the_server_that_ran_is_marked_in_the_text() -> None:
    for file in ("ticket_service.rebeca", "ticket_service.py"):
        text = (MODELS / file).read_text("utf-8")
        lines = shown_lines(text, file.endswith("py"), "Office", "buy")
        assert [re.sub("<[^>]+>", "", line.html) for line in lines] == [
            re.sub("[<>&\"']", lambda found: escaped(found[0]), line)
            for line in text.rstrip().split("\n")
        ]
        marked = [line.html for line in lines if line.runs]
        assert "buy" in marked[0]
        assert 5 < len(marked) < 12
        assert not [line for line in shown_lines(text, file.endswith("py"), "", "") if line.runs]


def escaped(letter: str) -> str:
    return {"<": "&lt;", ">": "&gt;", "&": "&amp;", '"': "&#34;", "'": "&#39;"}[letter]


def test_a_form_folds_what_has_its_default_and_shows_keys(app: Any, tmp_path: Path) -> None:
    page = ask(app(tmp_path), "/studies/new?from=fifo_or_fair").text
    shown, folded = page.split('id="m:"')
    assert '<label for="f:load_factors">load factors</label><code class="key">load_factors' in page
    assert 'id="f:load_factors"' in shown
    assert 'id="f:precision"' in folded
    assert "Advanced: " in folded
    assert re.search(r'id="m:workload"[^>]*><summary>', page)
    assert check(app(tmp_path), "kind = 'yarn'\nname = 'x'")["problems"]


def test_a_page_of_a_run_shows_what_its_kind_has_added(app: Any, tmp_path: Path) -> None:
    make_run(tmp_path / "one")
    make_run(tmp_path / "begun", cells=3)
    application = app(tmp_path)
    begun, one = re.findall(r'row"><a href="(/runs/\w+)">', ask(application, "/runs").text)
    assert "Breakdown" not in ask(application, begun).text
    page = ask(application, one).text
    assert '<details class="fold" id="section-breakdown"><summary>Breakdown</summary>' in page
    assert "<h2>What became of the jobs, jobs per run, with 95 % intervals</h2>" in page


@pytest.mark.parametrize("picture", ["", "by_group"])
def test_a_page_of_a_run_answers_by_queue(app: Any, tmp_path: Path, run: Run, picture: str) -> None:
    """The answer of its report leads, and its table says the unit; figures over all jobs fold."""
    assert run("compare", "changed_queues", "--out", tmp_path / "one").returncode == 0
    if not picture:
        (tmp_path / "one/charts/by_group.svg").unlink()
    application = app(tmp_path)
    (one,) = re.findall(r'row"><a href="(/runs/\w+)">', ask(application, "/runs").text)
    page = ask(application, one).text
    first = page.index('<p class="answer">With load factor 1.0: after instead of before')
    assert first < page.index("<li>analysts waits ") < page.index("<h2>Seconds that jobs wait")
    assert page.index("<h2>Seconds that jobs wait") < page.index("<summary>All figures</summary>")
    assert '<td>before</td><td class="number">20</td>' in page
    assert (f'src="{one}/files/charts/by_group.svg"' in page) is bool(picture)


def test_a_page_of_a_run_asks_what_its_scenario_asks(app: Any, tmp_path: Path) -> None:
    make_run(tmp_path / "one", title="Which goes first?")
    application = app(tmp_path)
    (run,) = re.findall(r'row"><a href="(/runs/\w+)">', ask(application, "/runs").text)
    assert re.findall("<h1>(.*)</h1>", ask(application, run).text) == ["Which goes first?"]


# --- in a browser --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with browsing() as found:
        yield found


@pytest.fixture
def site(tmp_path: Path, run: Run) -> Path:
    """A folder with a model, two runs with reports, and a third that is not finished."""
    (tmp_path / "office.rebeca").write_bytes((MODELS / "ticket_service.rebeca").read_bytes())
    for seed, name in enumerate(("one", "two")):
        make_run(tmp_path / name, seed=seed)
        assert run("report", tmp_path / name).returncode == 0
    make_run(tmp_path / "begun", cells=3)
    return tmp_path


@needs_chromium
@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.parametrize(
    ("colours", "width", "only"),
    [
        ("dark", 390, "explorer|graph|report-one|run-two|sql|form-yarn"),
        *(
            pytest.param(colours, width, "", marks=pytest.mark.slow)
            for colours in COLOURS
            for width in WIDTHS
        ),
    ],
)
def test_every_page_with_its_folds_open_fits_and_is_accessible(
    browser: Any, site: Path, colours: str, width: int, only: str
) -> None:
    window = {"width": width, "height": 800}
    context = browser.new_context(viewport=window, color_scheme=colours, bypass_csp=True)
    page = context.new_page()
    with running(site) as address:
        places = [each for each in addresses(page, address, site) if re.match(only, each[0])]
        assert len(places) > (6 if only else 25)
        for _, place in places:
            page.goto(place)
            page.locator("main").wait_for()
            open_folds(page)
            assert_accessible(page, width)
    context.close()


@needs_chromium
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_a_report_begins_with_a_picture_and_folds_the_rest(browser: Any, site: Path) -> None:
    page = browser.new_context(viewport={"width": 1280, "height": 800}).new_page()
    page.goto((site / "one/report.html").as_uri())
    picture = page.locator(".chart svg").first.bounding_box()
    assert picture["y"] + picture["height"] <= 800
    assert page.locator("#more").bounding_box()["y"] <= 4000
    assert page.locator(".chart svg.main-svg").count() > 0
    drawn = page.locator(".chart:visible").count()
    page.get_by_role("heading", name="Charts by cluster size").click()
    page.locator("details[open] .chart .main-svg").first.wait_for()  # drawn when it is opened
    assert page.locator(".chart:visible").count() > drawn
    page.goto((site / "one/report.html").as_uri() + "#scenario")
    page.get_by_role("cell", name="dispatch").first.wait_for()  # what a link leads to is open


@needs_chromium
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_the_keyboard_reaches_everything(browser: Any, site: Path) -> None:
    with running(site) as address:
        page = browser.new_context(viewport={"width": 1280, "height": 800}).new_page()
        for name, place in list(addresses(page, address, site)):
            if name == "editor":
                continue
            page.goto(place)
            # Tab leads to the first choice of a question; arrows lead to the others.
            wanted = page.evaluate(
                "all => [...document.querySelectorAll(all)].filter(each => each.checkVisibility() "
                "&& !each.disabled && (each.type !== 'radio' || !each.matches('p ~ p *'))).length",
                REACHED,
            )
            reached: set[int] = set()
            for _ in range(wanted + 5):
                page.keyboard.press("Tab")
                reached.add(
                    page.evaluate(
                        "all => [...document.querySelectorAll(all)]"
                        ".indexOf(document.activeElement)",
                        REACHED,
                    )
                )
            assert len(reached - {-1}) >= wanted, name
