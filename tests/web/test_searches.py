"""Searches in the browser: started from the form, shown as a run, opened as a report."""

from __future__ import annotations

import json
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from rebecsim.web.studies import study_process
from rebecsim.web.studies.run_finder import id_of
from rebecsim.web.studies.study_process import Request, StartedStudy, make_study, read_request
from tests.on_asgi import ask, send_form
from tests.web.chromium import assert_accessible, browsing, needs_chromium, running
from tests.web.runs import SMALL, check

START = {"toml": SMALL, "name": "one", "workers": "1"}


def test_a_search_is_started_from_the_form(
    app: Any, tmp_path: Path, no_processes: list[list[str]]
) -> None:
    application = app(tmp_path)
    assert "Search for the best cell" in ask(application, "/studies/new?from=for_edf").text
    over = "app_masters=1..3, policy=EDF,MDF"
    sent = {**START, "what": "tune", "budget": "40", "orders": "yes", "over": over}
    assert send_form(application, "/studies/start", **sent).status == 303
    request = read_request(tmp_path / "one")
    assert (request.what, request.budget, request.orders) == ("tune", 40, False)
    assert request.over == over


def test_the_form_says_what_is_searched_and_what_is_wrong(app: Any, tmp_path: Path) -> None:
    def said(**asked: str) -> str:
        found = check(app(tmp_path), SMALL, **asked)
        return found["said"] or "\n".join(found["general"])

    assert said(over="app_masters=1..9") == "4 cells, 24 runs"  # is not for a comparison
    over = "app_masters=1..3,policy=EDF,MDF"
    assert said(what="tune", over=over, budget="40") == "6 cells, at most 40 runs"
    assert said(what="sensitivity", over=over) == "6 cells, 36 runs"
    wide = "app_masters=1..8,queue_size=2..8,epsilon=1.0..4.0..0.5"
    assert said(what="sensitivity", over=wide) == "784 cells, 4,704 runs"
    few = said(what="morris", over=wide)
    assert 40 < int(few.split()[0]) <= 75  # at most a tenth
    wrong = said(what="tune", over="policy=MFD", budget="40")
    assert wrong == "Values to choose from: policy: there is no 'MFD'; did you mean MDF?"
    assert "write it as NAME=VALUE" in said(what="tune", over="app_masters", budget="40")
    wrong = said(what="tune", over="app_mastrs=1,2", budget="40")
    assert wrong.startswith("Values to choose from: app_mastrs: there is no such key")
    assert said(what="tune", over=over, budget="x") == (
        "Most runs of a search: it must be a number of runs."
    )
    log = 'kind = "batch"\nname = "b"\npolicies = ["FCFS"]\n[workload]\nlog = "a.swf"\n'
    (tmp_path / "a.swf").write_text("; MaxProcs: 4\n")
    found = check(app(tmp_path), log, what="tune", over='workload.log="a.swf","/etc/passwd"')
    assert "below the directory of the server" in json.dumps(found)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"what": "tune", "budget": "1"}, "need at least"),
        ({"what": "tune", "budget": "many"}, "must be a number of runs"),
        ({"what": "tune", "over": "app_masters=0,1"}, "must be at least 1"),
        ({"what": "guess"}, "compares, searches"),
    ],
)
def test_mistakes_are_said_before_it_starts(
    app: Any, tmp_path: Path, wrong: dict[str, str], message: str
) -> None:
    answer = send_form(app(tmp_path), "/studies/start", **START, **wrong)
    assert answer.status == 400
    assert message in unescape(answer.text)
    assert not (tmp_path / "one").exists()


@pytest.mark.parametrize(
    ("what", "budget", "over"),
    [("tune", 40, ""), ("sensitivity", 0, ""), ("morris", 0, "app_masters=1..5,epsilon=1.5..4.5")],
)
def test_its_page_gives_the_answer_and_leads_to_the_report(
    app: Any, tmp_path: Path, what: str, budget: int, over: str
) -> None:
    make_study(tmp_path / "one", Request("one", SMALL, False, 1, False, what, budget, over))
    assert study_process.main(tmp_path, "one") == 0
    assert StartedStudy(tmp_path / "one").state == "done"
    page = unescape(ask(app(tmp_path), f"/runs/{id_of('one')}").text)
    assert ("Best of 2:" if what == "tune" else "What matters for") in page
    assert "Open the report" in page
    report = ask(app(tmp_path), f"/runs/{id_of('one')}/files/report.html").text
    assert ("Best of 2:" if what == "tune" else "What matters for") in unescape(report)
    assert study_process.main(tmp_path, "one") == 0  # nothing is missing
    again = unescape(ask(app(tmp_path), f"/studies/new?run={id_of('one')}").text)
    assert f'name="over" value="{over}"' in again
    assert f'<option value="{what}" selected>' in again


@needs_chromium
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_the_form_shows_what_a_search_needs(tmp_path: Path) -> None:
    with running(tmp_path) as address, browsing() as browser:
        for width, colours in ((390, "light"), (1200, "dark")):
            size = {"width": width, "height": 900}
            page = browser.new_context(viewport=size, color_scheme=colours).new_page()
            page.goto(f"{address}studies/new?from=for_edf")
            over = page.get_by_label("Values to choose from")
            assert not over.is_visible()
            page.get_by_label("What to do").select_option("sensitivity")
            assert not page.get_by_label("Most runs of a search").is_visible()
            over.fill("app_masters=1..8, policy=EDF,FIFO")
            over.press("Enter")  # starts nothing
            page.locator("#said", has_text="16 cells, 1,600 runs").wait_for()
            page.get_by_label("What to do").select_option("tune")
            page.locator("#said", has_text="16 cells, at most 1,000 runs").wait_for()
            assert_accessible(page, width)
            over.fill("policy=EFD")
            over.press("Tab")
            page.locator("#general", has_text="did you mean EDF?").wait_for()
            assert_accessible(page, width)
