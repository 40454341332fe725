"""A server that many share: what a pupil may not see, do or take, and tokens that are guessed."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from rebecsim.web import TEXTS, Admission, Classroom, Library, Share, make_app, verdicts
from tests.on_asgi import OWN, SENDING, Answered, ask
from tests.web.runs import make_run

TICKETS = (Path(__file__).resolve().parents[2] / "models/ticket_service.rebeca").read_text("utf-8")
TOKEN = "a-token-that-nobody-guesses"
TEACHER = "the-token-of-the-teacher-alone"
DOORS = ("http://192.168.1.20:8765/?token=bcdfghjk",)


class Browser:
    """A browser that keeps cookies."""

    def __init__(self, application: Any, address: str = "10.0.0.5") -> None:
        self._application = application
        self._address = address
        self.cookies: dict[str, str] = {}

    def get(self, address: str) -> Answered:
        return self._asked(address, OWN, "GET", b"")

    def send(self, address: str, body: bytes) -> Answered:
        return self._asked(address, SENDING, "POST", body)

    def send_form(self, address: str, **fields: str) -> Answered:
        return self.send(address, urlencode(fields).encode("ascii"))

    def explore(self, text: str, name: str = "mine") -> str:
        """Explore a text, and give the address at which it is."""
        form = {"text": text, "name": name, "editor": "/edit?new=mine"}
        return str(self.send_form("/edit/explore", **form).headers["location"])

    def _asked(self, address: str, headers: Any, method: str, body: bytes) -> Answered:
        cookie = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        given = [*headers, ("cookie", cookie)] if cookie else list(headers)
        said: Answered = ask(
            self._application,
            address,
            method=method,
            headers=given,
            body=body,
            client=self._address,
        )
        name, _, value = said.headers.get("set-cookie", "").partition(";")[0].partition("=")
        if name:
            self.cookies[name] = value
        return said


@pytest.fixture
def in_class(no_searches: None, tmp_path: Path) -> Any:
    return class_over(tmp_path)


def class_over(directory: Path) -> Any:
    admission = Admission(8765, teacher=TEACHER)
    return make_app(Library(directory, writes=False), admission, classroom=Classroom(DOORS))


def pupil(application: Any) -> Browser:
    """Give a pupil who has opened the first page."""
    found = Browser(application)
    assert found.get("/").status == 200
    return found


# --- what others do ------------------------------------------------------------------------------


def test_a_pupil_sees_their_own_text_only(in_class: Any) -> None:
    ann, bob = pupil(in_class), pupil(in_class)
    there = ann.explore(TICKETS + "// of Ann")
    model = there.split("/")[2]
    assert ann.get(there).status == 200
    for address in (
        there,
        f"{there}/model.rebeca",
        f"{there}/graph",
        f"{there}/verdict",
        f"{there}/races",
        f"{there}/run.json",
        f"/edit?new=x&copy={model}",
    ):
        assert ann.get(address).status == 200, address
        refused = bob.get(address)
        assert (refused.status, "of Ann" in refused.text) == (404, False), address
    assert bob.send(f"{there}/on", b"steps=1").status == 404
    assert model not in bob.get("/").text
    nobody = Browser(in_class)
    assert nobody.get(there).status == 404


def test_a_pupil_changes_nothing_of_another_who_types_the_same(in_class: Any) -> None:
    ann, bob = pupil(in_class), pupil(in_class)
    of_ann = ann.explore(TICKETS, "of_ann")
    of_bob = bob.explore(TICKETS, "of_bob")
    assert of_ann != of_bob
    assert "of_ann" in ann.get(of_ann).text
    assert "of_bob" not in ann.get(of_ann).text


def test_a_pupil_drives_out_no_text_of_another(in_class: Any) -> None:
    ann, bob = pupil(in_class), pupil(in_class)
    of_ann = ann.explore(TICKETS)
    first = bob.explore(TICKETS)
    last = [bob.explore(f"{TICKETS}// {number}") for number in range(TEXTS.each)][-1]
    assert ann.get(of_ann).status == 200
    assert bob.get(last).status == 200
    assert bob.get(first).status == 404  # the oldest of one's own is forgotten


def test_a_cookie_that_was_made_up_is_nobody(in_class: Any) -> None:
    ann, bob = pupil(in_class), pupil(in_class)
    there = ann.explore(TICKETS)
    (name, value) = next(iter(ann.cookies.items()))
    for wrong in (
        value.partition(".")[0],
        f"{value[:-1]}x",
        f"{value.partition('.')[0]}.",
        "é",
        "",
    ):
        bob.cookies = {name: wrong}
        assert bob.get(there).status == 404


def test_browsers_without_cookies_are_told_apart_by_address(in_class: Any) -> None:
    def explored(address: str) -> str:
        return Browser(in_class, address).explore(TICKETS)

    there = explored("10.0.0.7")
    assert Browser(in_class, "10.0.0.7").get(there).status == 200
    assert Browser(in_class, "10.0.0.8").get(there).status == 404


# --- what takes the machine, and the teacher's page ----------------------------------------------


def test_a_class_has_no_studies_runs_or_questions_in_sql(in_class: Any, tmp_path: Path) -> None:
    make_run(tmp_path / "run")
    before = sorted(tmp_path.rglob("*"))
    someone = pupil(in_class)
    for address in ("/studies", "/studies/new?kind=model", "/runs", "/runs/sql", "/runs/diff"):
        assert someone.get(address).status == 404
    for address in ("/studies/start", "/studies/check", "/studies/form", "/runs/sql"):
        assert someone.send(address, b"toml=x&name=x&sql=SELECT 1").status == 404
    page = someone.get("/").text
    assert not re.search('href="/(studies|runs)', page)
    assert sorted(tmp_path.rglob("*")) == before


def test_the_teachers_page_is_not_there(in_class: Any) -> None:
    for address in (
        "/lessons/teacher",
        "/lessons/teacher/",
        "/lessons/Teacher",
        "//lessons/teacher",
    ):
        assert pupil(in_class).get(address).status in (404, 307)
        assert "goes wrong" not in pupil(in_class).get(address).text


def test_a_client_has_its_share_of_searches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verdicts, "SEARCHES", Share(3, 5))
    monkeypatch.setattr(verdicts.Verdicts, "_find", lambda self, *given: None)  # and never ends
    application = class_over(tmp_path)
    people = [pupil(application) for _ in range(3)]
    said = [
        [
            "you have too many searches open"
            in each.get(each.explore(f"{TICKETS}// {number}")).text
            for number in range(4)
        ]
        for each in people
    ]
    assert said == [[False] * 3 + [True], [False] * 2 + [True] * 2, [True] * 4]


# --- tokens --------------------------------------------------------------------------------------


def test_tokens_are_not_guessed(app: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    application = app(token=TOKEN)
    inside = Browser(application)
    inside.get(f"/?token={TOKEN}")
    assert inside.get("/").status == 200
    guesser = Browser(application)
    assert [guesser.get(f"/?token=wrong{number}").status for number in range(12)] == (
        [403] * 10 + [429] * 2
    )
    assert guesser.get(f"/?token={TOKEN}").status == 429  # the right one is not looked at
    guesser.cookies = {"rebecsim-8765": TOKEN}
    assert guesser.get("/").status == 429
    assert inside.get("/").status == 200  # whoever is in stays in
    assert Browser(application, "10.0.0.9").get(f"/?token={TOKEN}").status == 303
    monkeypatch.setattr("rebecsim.web.visitors.FORGETTING", 0.0)
    assert Browser(application).get(f"/?token={TOKEN}").status == 303


def test_an_old_token_that_is_sent_again_and_again_is_one_guess(app: Any) -> None:
    application = app(token=TOKEN)
    old = Browser(application)
    old.cookies = {"rebecsim-8765": "of-the-last-time"}
    assert [old.get("/").status for _ in range(50)] == [403] * 50
    assert old.get(f"/?token={TOKEN}").status == 303
    assert old.get("/").status == 200


def test_many_new_browsers_of_one_address_are_one(in_class: Any) -> None:
    names = {str(Browser(in_class).get("/").headers.get("set-cookie")) for _ in range(130)}
    assert len(names) == 121
    assert "None" in names


def test_a_cookie_that_cannot_be_read_hides_no_other(app: Any) -> None:
    application = app(token=TOKEN)
    for other in ('a="\\;;=', "bad name=1", "a[b]=1", "é=1"):
        headers = [*OWN, ("cookie", f"{other}; rebecsim-8765={TOKEN}")]
        assert ask(application, "/", headers=headers).status == 200, other
