"""A class and its teacher: what is hidden until a lesson is open, the plan, the quiz."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from rebecsim.web import Admission, Classroom, Inquiry, Library, Verdicts, make_app, qr_lines
from rebecsim.web.lessons.content import Lesson, lessons, packaged, plan_steps, questions, stops
from tests.docs.markdown import ROOT
from tests.on_asgi import ask, send_form
from tests.web.test_class import DOORS, TEACHER, Browser, class_over, pupil

PHILOSOPHERS = "philosophers_deadlock"
SOLVED = "teaching/philosophers.rebeca"
GUIDE = (ROOT / "docs/guides/teach.md").read_text("utf-8")


@pytest.fixture
def in_class(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A class, where each question is answered at once, with a run of two steps."""

    def at_once(self: Any, listed: Any, never: str = "", **asked: bool) -> Inquiry:
        return Inquiry(never, state="done", verdict="satisfied", ends="a run may end", run=(0, 0))

    monkeypatch.setattr(Verdicts, "ask", at_once)
    return class_over(tmp_path)


def teacher_of(application: Any) -> Browser:
    """Give the teacher, who has opened their own address."""
    found = Browser(application, "127.0.0.1")
    entered = found.get(f"/lessons/teacher?token={TEACHER}")
    assert (entered.status, entered.headers["location"]) == (303, "/lessons/teacher")
    assert found.get("/lessons/teacher").status == 200
    return found


def opened(teacher: Browser, lesson: str, act: str = "open") -> int:
    return teacher.send(f"/lessons/teacher/{act}", f"lesson={lesson}".encode()).status


def explored(browser: Browser, lesson: str) -> str:
    """Give the address at which a browser explores the model of a lesson."""
    page = browser.get(f"/lessons/{lesson}").text
    found = re.search(r'href="(/x/\w+)/-">Explore', page)
    assert found is not None
    return found[1]


# --- what is hidden, and opened ------------------------------------------------------------------


def test_a_teacher_opens_answers_and_solutions_lesson_by_lesson(in_class: Any) -> None:
    teacher, ann = teacher_of(in_class), pupil(in_class)

    def seen(lesson: str) -> tuple[bool, int]:
        page = ann.get(f"/lessons/{lesson}").text
        return "<summary>Answer</summary>" in page, ann.get(f"/lessons/{lesson}/0/0").status

    assert seen(PHILOSOPHERS) == seen("ping_pong") == (False, 404)
    assert opened(teacher, PHILOSOPHERS) == 303
    assert (seen(PHILOSOPHERS), seen("ping_pong")) == ((True, 303), (False, 404))
    assert opened(teacher, PHILOSOPHERS, "close") == 303
    assert seen(PHILOSOPHERS) == (False, 404)
    assert "<summary>Answer</summary>" in teacher.get(f"/lessons/{PHILOSOPHERS}").text


def test_a_model_that_solves_an_exercise_is_hidden_until_then(in_class: Any) -> None:
    teacher, ann = teacher_of(in_class), pupil(in_class)
    found = re.search(rf'href="(/x/\w+/-)" aria-label="Explore {SOLVED}', teacher.get("/").text)
    assert found is not None
    places = (found[1], f"/edit?new=x&start={SOLVED}", f"/edit?new=x&copy={found[1].split('/')[2]}")
    assert [ann.get(each).status for each in places] == [404] * 3
    assert SOLVED not in ann.get("/").text
    opened(teacher, PHILOSOPHERS)
    assert [ann.get(each).status for each in places] == [200] * 3
    assert SOLVED in ann.get("/").text


@pytest.mark.parametrize("lesson", [each for each in lessons() if each.spoilers], ids=str)
def test_comments_that_give_an_answer_are_hidden_until_then(in_class: Any, lesson: Lesson) -> None:
    teacher, ann = teacher_of(in_class), pupil(in_class)
    text = packaged(lesson.model).read_text("utf-8")
    assert all(text.count(each) == 1 for each in lesson.spoilers)
    model = explored(ann, lesson.name)
    places = (
        f"{model}/-/model.rebeca",
        f"/edit?new=x&start={lesson.model}",
        f"/edit?new=x&copy={model.split('/')[2]}",
    )

    def holds(browser: Browser) -> list[bool]:
        texts = [unescape(browser.get(each).text) for each in places]
        assert all("reactiveclass" in each for each in texts)
        return [any(spoiler in each for spoiler in lesson.spoilers) for each in texts]

    assert (holds(ann), holds(teacher)) == ([False] * 3, [True] * 3)
    opened(teacher, lesson.name)
    assert holds(ann) == [True] * 3


def test_show_me_is_hidden_until_then_also_in_a_copy(in_class: Any) -> None:
    teacher, ann = teacher_of(in_class), pupil(in_class)
    model = explored(ann, PHILOSOPHERS)
    text = packaged(f"teaching/{PHILOSOPHERS}.rebeca").read_text("utf-8")
    form = {"text": text, "name": "mine", "editor": f"/edit?start=teaching/{PHILOSOPHERS}.rebeca"}
    copy = ann.send_form("/edit/explore", **form).headers["location"].removesuffix("/-")
    form = {"text": f"{text}// own", "name": "own", "editor": "/edit?new=own"}
    own = ann.send_form("/edit/explore", **form).headers["location"].removesuffix("/-")

    def shows(browser: Browser, place: str) -> list[bool]:
        pages = [browser.get(f"{place}/-{each}").text for each in ("", "/verdict")]
        assert all("A run may end" in each for each in pages)
        return [*("Show me <kbd>" in each for each in pages)]

    for place in (model, copy):
        assert shows(ann, place) == [False, False]
        assert ann.get(f"{place}/-/races").status == 404
        assert "Which orders matter" not in ann.get(f"{place}/-").text
    assert shows(ann, own) == [True, True]  # of no lesson
    assert shows(teacher, model) == [True, True]
    opened(teacher, PHILOSOPHERS)
    for place in (model, copy):
        assert shows(ann, place) == [True, True]
    assert "Which orders matter" in ann.get(f"{model}/-").text


def test_only_the_teacher_opens_lessons(in_class: Any, app: Any) -> None:
    ann = pupil(in_class)
    for act in ("open", "close"):
        assert opened(ann, PHILOSOPHERS, act) == 404
    assert ann.get("/lessons/teacher/address").status == 404
    assert ann.get("/lessons/teacher?token=made-up").status == 404
    ann.cookies = {"rebecsim-8765": TEACHER[:-1]}
    assert ann.get("/lessons/teacher").status == 404
    assert "<summary>Answer</summary>" not in ann.get(f"/lessons/{PHILOSOPHERS}").text
    teacher = teacher_of(in_class)
    assert opened(teacher, "nothing") == opened(teacher, PHILOSOPHERS, "show") == 404
    assert send_form(app(None), "/lessons/teacher/open", lesson=PHILOSOPHERS).status == 404


def test_a_pupil_who_becomes_the_teacher_needs_the_token(tmp_path: Path) -> None:
    """And the token of pupils opens nothing of the teacher's."""
    admission = Admission(8765, "for-pupils", TEACHER)
    application = make_app(Library(tmp_path, writes=False), admission, classroom=Classroom(DOORS))
    someone = Browser(application)
    assert someone.get("/").status == 403
    assert someone.get("/?token=for-pupils").status == 303
    assert (someone.get("/").status, someone.get("/lessons/teacher").status) == (200, 404)
    assert someone.get(f"/lessons/teacher?token={TEACHER}").status == 303
    assert someone.get("/lessons/teacher").status == 200


def test_the_teacher_shows_the_address_large_and_as_a_code(in_class: Any) -> None:
    page = teacher_of(in_class).get("/lessons/teacher/address").text
    for each in DOORS:
        assert f"<code>{each}</code>" in page
    assert page.count("<svg") == len(DOORS)
    assert "0.0.0.0" not in page


def test_a_code_is_drawn_of_whole_modules() -> None:
    """Its three corners are the finder patterns, within a light border of four modules."""
    lines = qr_lines(DOORS[0])
    width = len(lines[0])
    assert {len(each) for each in lines} == {width}
    assert len(lines) == (width + 1) // 2
    assert set("".join(lines)) == set("█▀▄ ")
    dark = {"█": (0, 0), "▀": (0, 1), "▄": (1, 0), " ": (1, 1)}
    rows = [[dark[each][half] for each in line] for line in lines for half in (0, 1)]
    finder = [0b1111111, 0b1000001, 0b1011101, 0b1011101, 0b1011101, 0b1000001, 0b1111111]
    for top, left in ((4, 4), (4, width - 11), (width - 11, 4)):
        found = [int("".join(map(str, rows[top + each][left : left + 7])), 2) for each in range(7)]
        assert found == finder
    assert not any(map(any, rows[:4]))


# --- questions, plan, quiz -----------------------------------------------------------------------

KEYS = {
    "ping_pong": ("Three: ", "bag of one place", "overflows"),
    "ticket_service": ("8,028", "Three: ", "eleven"),
    "philosophers_deadlock": ("Twelve", "twelve", "smaller number", "cem(left, right)", "12"),
    "leader_election": ("14", " 11 ", "other way round"),
    "producer_consumer": ("No size is enough", "two places are enough"),
    "sensor_network": ("Eight", "measure later", "taken up at 7"),
    "train_crossing": ("too late", "seven units"),
    "token_ring": (" 9 ", "nine", "13", "either of the two"),
}
"""Lesson -> words that decide its answers."""


@pytest.mark.parametrize("lesson", lessons(), ids=lambda each: each.name)
def test_a_lesson_does_not_hold_its_answers_before_it_is_open(
    in_class: Any, lesson: Lesson
) -> None:
    ann = pupil(in_class)
    texts = [lesson.answer, *(each.solution for each in lesson.exercises)]
    page = re.sub("<[^>]+>", "", unescape(ann.get(f"/lessons/{lesson.name}").text))
    model = ann.get(f"{explored(ann, lesson.name)}/-/model.rebeca").text
    for key in KEYS[lesson.name]:
        assert key not in page, key
        assert key not in model, key
    said = " ".join([*texts, *(each.wrong for each in lesson.exercises)])
    assert any(key in said for key in KEYS[lesson.name])


def test_the_plan_takes_45_minutes_and_its_addresses_are_there(in_class: Any) -> None:
    ann = pupil(in_class)
    assert sum(each.minutes for each in plan_steps()) == 45
    page = ann.get("/lessons/plan").text
    for each in plan_steps():
        assert f'href="{each.address}">{each.title}' in page
        assert ann.get(each.address).status in (200, 303)
        assert each.teacher[:30] not in page
    assert "/lessons/plan" in ann.get("/lessons").text
    page = unescape(teacher_of(in_class).get("/lessons/teacher").text)
    assert all(each.teacher.partition("*")[0] in page for each in plan_steps())


def test_the_guide_has_the_plan() -> None:
    rows = re.findall(r"^\| ([A-Z][\w ]+) \| (\d+) \|", GUIDE, re.M)
    assert rows == [(each.title, str(each.minutes)) for each in plan_steps()]


def test_the_quiz_holds_no_answer_before_it_is_open(in_class: Any) -> None:
    teacher, ann = teacher_of(in_class), pupil(in_class)
    empty = ann.get("/lessons/quiz").text
    right = "&".join(f"{number}={each.right}" for number, each in enumerate(questions())).encode()
    closed = ann.send("/lessons/quiz", right).text
    for page in (empty, closed):
        text = unescape(re.sub("</?code>", "`", page))
        assert all(choice in text for each in questions() for choice in each.choices)
        assert not any(each.why[:30] in text for each in questions())
        assert not re.search(r"✓|✗|\bright\.", text)
    assert closed.count(" checked>") == len(questions())
    opened(teacher, "quiz")
    shown = ann.send("/lessons/quiz", right).text
    assert f"{len(questions())} of {len(questions())} are right" in shown
    assert shown.count("✓ right") == len(questions())
    wrong = ann.send("/lessons/quiz", b"0=0&1=9&2=x").text
    assert f"0 of {len(questions())} are right" in wrong


def test_the_right_choice_is_not_to_be_guessed() -> None:
    places = [each.right for each in questions()]
    longest = [max(range(3), key=lambda place: len(each.choices[place])) for each in questions()]
    assert {len(each.choices) for each in questions()} == {3}
    assert max(map(places.count, range(3))) <= len(places) / 2
    assert sum(place == long for place, long in zip(places, longest, strict=True)) <= 3
    for each in questions():
        assert each.choices[each.right].rstrip(".") not in each.text


def test_answers_of_the_quiz_are_those_of_lessons_and_tour() -> None:
    """Their verdicts are explored by `test_the_verdict_is_what_is_said`."""
    exercises = next(each for each in lessons() if each.name == PHILOSOPHERS).exercises
    ends = {case.what: case.ends for each in exercises for case in each.cases}
    assert ends["Cem asks in the other order"] == ends["a waiter with two seats"] == "never"
    assert ends["all ask in the other order"] == ends["a waiter with three seats"] != "never"
    assert [each.case.verdict for each in stops()[5:7]] == ["assertion failed", "satisfied"]


def test_without_a_class_all_is_open(app: Any) -> None:
    application = app(None)
    assert "<summary>Answer</summary>" in ask(application, f"/lessons/{PHILOSOPHERS}").text
    page = ask(application, "/lessons/teacher").text
    assert "A plan for 45 minutes" in page
    assert "<form" not in page
    assert SOLVED in ask(application, "/").text
