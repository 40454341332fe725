"""What lessons and the tour say is so, and who is shown the solutions."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from rebecsim.web import Admission, Classroom, Library, make_app
from rebecsim.web.lessons.content import Case, lessons, plan_steps, stops
from rebecsim.web.verdict_worker import answered
from tests.on_asgi import ask, send_form

CASES = [
    *((f"{each.name}: {case.what}", case) for each in lessons() for case in each.cases),
    *(
        (f"{each.name}: {case.what}", case)
        for each in lessons()
        for exercise in each.exercises
        for case in exercise.cases
    ),
]
STOPS = [(each.title, each.case) for each in stops()]


def found(case: Case, monkeypatch: pytest.MonkeyPatch) -> dict[str, object]:
    monkeypatch.setattr("rebecsim.web.verdict_worker.say", lambda said: None)
    asked = {
        "model": "",
        "races": False,
        "text": case.text,
        "name": "model",
        "python": None,
        "questions": None if case.property_file is None else str(case.property_file),
        "invariants": [f"!({case.never})"] if case.never else [],
        "limits": {"seconds": 60},
    }
    return answered(asked)


@pytest.mark.parametrize(("name", "case"), [*CASES, *STOPS], ids=[n for n, _ in CASES + STOPS])
def test_the_verdict_is_what_is_said(
    name: str, case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = found(case, monkeypatch)
    assert said["verdict"] == case.verdict, said["text"]
    assert case.states in (None, said["states"])
    if case.ends:
        ends = str(said["ends"])
        assert ends == "" if case.ends == "never" else ends.startswith(case.ends)
    if case.run != "-":
        assert said["run"] == [int(each) for each in case.run.split(".")]


# --- the pages -----------------------------------------------------------------------------------


@pytest.fixture
def served(app: Any) -> Any:
    return app(None)


@pytest.fixture
def in_class(no_searches: None, tmp_path: Path) -> Any:
    return make_app(Library(tmp_path, writes=False), Admission(8765), classroom=Classroom())


def test_every_lesson_has_a_page_with_its_exercises_folded(served: Any) -> None:
    assert all(each.title in ask(served, "/lessons").text for each in lessons())
    for lesson in lessons():
        page = ask(served, f"/lessons/{lesson.name}").text
        assert page.count("<summary>Solution</summary>") == len(lesson.exercises)
        assert page.count("<details>") == 2 + 2 * len(lesson.exercises)  # none is open
        assert "`" not in page


def test_solutions_can_be_explored(served: Any) -> None:
    addresses = re.findall(r'href="(/lessons/train_crossing/\d/\d)"', lesson_page(served))
    assert len(addresses) == 5
    for each in addresses:
        there = ask(served, each)
        assert there.status == 303
        page = ask(served, there.headers["location"])
        assert page.status == 200
    found = re.search(r'id="edit"[^>]*href="([^"]+)"', page.text)
    assert found is not None
    assert "Train(" in ask(served, unescape(found[1])).text  # its text is in the editor


def lesson_page(application: Any) -> str:
    return ask(application, "/lessons/train_crossing").text


def test_a_class_is_shown_no_solutions(in_class: Any, served: Any) -> None:
    page = lesson_page(in_class)
    solutions = [each.solution.strip() for each in lessons() for each in each.exercises]
    assert "Exercise 2" in page
    assert "Hint" in page
    assert "Solution" not in page
    assert "Answer" not in page
    assert not [each for each in solutions if each[:40] in page]
    for address in ("/lessons/train_crossing/0/0", "/lessons/train_crossing/2/0"):
        assert ask(in_class, address).status == 404
    assert ask(in_class, "/lessons/teacher").status == 404
    assert "/lessons/teacher" not in ask(in_class, "/lessons").text
    assert "solutions/" not in ask(in_class, "/").text
    teacher = ask(served, "/lessons/teacher").text
    assert teacher.count("<tr>") == 1 + len(plan_steps())
    assert teacher.count("<details") == len(lessons()) + 1
    assert teacher.count("<b>What goes wrong</b>") == len(solutions) + 1


def test_a_class_writes_nothing(in_class: Any, tmp_path: Path) -> None:
    answered = send_form(in_class, "/edit/save", name="a.rebeca", text="mine")
    assert (answered.status, list(tmp_path.iterdir())) == (400, [])
    assert "Save" not in ask(in_class, "/edit?new=a").text


@pytest.mark.parametrize("number", range(1, len(stops()) + 1))
def test_the_tour_stays_with_whoever_steps_about(served: Any, number: int) -> None:
    there = ask(served, f"/tour/{number}").headers["location"]
    page = ask(served, there).text
    assert f"{number} of {len(stops())}" in page
    steps = [each for each in stops()[number - 1].case.run.split(".") if each != "-"]
    assert stops()[number - 1].case.races or f"Step {len(steps)}, time" in page
    links = re.findall(r'href="(/x/[^"]+)"', page)
    stay = [each for each in links if f"tour={number}" in each]
    assert len(stay) >= 1
    if not stops()[number - 1].case.races:
        assert len(stay) > 4


@pytest.mark.parametrize(
    "address",
    [
        *("/tour/0", "/tour/99", "/tour/-1", "/lessons/nothing", "/lessons/ping_pong/9/0"),
        *("/lessons/ping_pong/0/9", "/lessons/ping_pong/-1/0", "/lessons/..%2fteacher"),
    ],
)
def test_what_there_is_not_is_said(served: Any, address: str) -> None:
    assert ask(served, address).status == 404


def test_a_stop_that_there_is_not_is_no_stop(served: Any) -> None:
    there = ask(served, "/tour/1").headers["location"].partition("?")[0]
    for tour in ("0", "99", "x", "<b>", "٣", "1" * 9):
        page = ask(served, f"{there}?{urlencode({'tour': tour})}")
        assert page.status == 200
        assert 'class="tour"' not in page.text
