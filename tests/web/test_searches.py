"""Searches in the browser: started from the form, shown as a run, opened as a report."""

from __future__ import annotations

from html import unescape
from pathlib import Path
from typing import Any

import pytest

from rebecsim.web.studies import study_process
from rebecsim.web.studies.run_finder import id_of
from rebecsim.web.studies.study_process import Request, StartedStudy, make_study, read_request
from tests.on_asgi import ask, send_form
from tests.web.runs import SMALL

START = {"toml": SMALL, "name": "one", "workers": "1"}


def test_a_search_is_started_from_the_form(
    app: Any, tmp_path: Path, no_processes: list[list[str]]
) -> None:
    application = app(tmp_path)
    assert "Search for the best cell" in ask(application, "/studies/new?from=for_edf").text
    sent = {**START, "what": "tune", "budget": "40", "orders": "yes"}
    assert send_form(application, "/studies/start", **sent).status == 303
    request = read_request(tmp_path / "one")
    assert (request.what, request.budget, request.orders) == ("tune", 40, False)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"what": "tune", "budget": "1"}, "need at least"),
        ({"what": "tune", "budget": "many"}, "must be a number of runs"),
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


@pytest.mark.parametrize(("what", "budget"), [("tune", 40), ("sensitivity", 0)])
def test_its_page_gives_the_answer_and_leads_to_the_report(
    app: Any, tmp_path: Path, what: str, budget: int
) -> None:
    make_study(tmp_path / "one", Request("one", SMALL, False, 1, False, what, budget))
    assert study_process.main(tmp_path, "one") == 0
    assert StartedStudy(tmp_path / "one").state == "done"
    page = unescape(ask(app(tmp_path), f"/runs/{id_of('one')}").text)
    assert ("Best of 2:" if what == "tune" else "What matters for") in page
    assert "Open the report" in page
    report = ask(app(tmp_path), f"/runs/{id_of('one')}/files/report.html").text
    assert ("Best of 2:" if what == "tune" else "What matters for") in unescape(report)
    assert study_process.main(tmp_path, "one") == 0  # nothing is missing
