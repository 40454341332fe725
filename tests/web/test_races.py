"""Races in the browser: both orders beside one another, and where they lead."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from rebecsim.generate.module import load_checked
from rebecsim.live import Stepper
from rebecsim.web import Inquiry, Library
from rebecsim.web.addresses import read_place
from rebecsim.web.verdict_worker import verdict
from tests.on_asgi import ask

TICKETS = Path(__file__).resolve().parents[2] / "models/ticket_service.rebeca"
WORDS = "<img src=x onerror=alert(1)>"


def searched(file: Path) -> tuple[str, dict[str, Any]]:
    """Give the id of a model, and what the search for its races says in the end."""
    listed = Library(file).named
    assert listed is not None
    asked = {
        "text": listed.text,
        "name": file.stem,
        "python": None,
        "questions": None,
        "model": listed.id,
        "races": True,
        "invariants": [],
        "limits": {"seconds": 60},
    }
    return listed.id, verdict(asked)


def failing(place: Path) -> Path:
    """A model with an assertion that fails after one order, whose text is markup."""
    file = place / "a.rebeca"
    file.write_text(
        "reactiveclass R(4) { statevars { int x; } R() { self.one(); self.two(); }\n"
        f'msgsrv one() {{ x = 1; }} msgsrv two() {{ assertion(x == 1, "{WORDS}"); }} }}\n'
        "main { R r():(); }"
    )
    return file


def page_of(
    app: Any, file: Path, said: dict[str, Any], monkeypatch: pytest.MonkeyPatch, suffix: str = ""
) -> str:
    """Give the page of races when a search has said this."""
    asked = []

    def known(self: Any, listed: Any, never: str = "", *, races: bool = False) -> Inquiry:
        asked.append(races)
        states, found = said["states"], said["found"]
        return Inquiry(state="done", races=races, states=states, verdict="looked at", found=found)

    monkeypatch.setattr("rebecsim.web.verdicts.Verdicts.ask", known)
    listed = Library(file).named
    assert listed is not None
    answered = ask(app(file), f"/x/{listed.id}/0/races{suffix}")
    assert (answered.status, asked) == (200, [True])
    return answered.text


@pytest.fixture(scope="module")
def tickets() -> tuple[str, dict[str, Any]]:
    """The races of the ticket office."""
    return searched(TICKETS)


def test_each_race_is_shown_with_both_orders_and_what_differs(
    app: Any, tickets: tuple[str, dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    model, said = tickets
    page = page_of(app, TICKETS, said, monkeypatch)
    groups = said["found"]["groups"]
    assert page.count("<svg ") == 2 * page.count('class="race"') == 2 * len(groups) > 0
    assert said["found"]["conclusion"].capitalize() in page
    assert [each["title"] for each in groups[0]["orders"]] == ["one order", "the other order"]
    first, second = (set(each["notes"]) for each in groups[0]["orders"])
    assert first - second  # how they end
    assert second - first
    assert f'href="/x/{model}/0"' in page  # back to where one was
    fragment = page_of(app, TICKETS, said, monkeypatch, "/found")
    assert fragment.startswith('<div id="races"')
    assert fragment.strip() in page


def test_the_two_messages_are_marked_in_both_orders_and_change_places(
    tickets: tuple[str, dict[str, Any]],
) -> None:
    for group in tickets[1]["found"]["groups"]:
        marks = []
        for order in group["orders"]:
            found = re.findall(r'class="number" x="20" y="([\d.]+)">(.)<', order["drawing"])
            marks.append([mark for _, mark in sorted(found, key=lambda each: float(each[0]))])
        assert marks == [["①", "②"], ["②", "①"]]


def test_orders_lead_to_the_runs_that_they_show(tickets: tuple[str, dict[str, Any]]) -> None:
    """Both part from one state, and end as the page says."""
    _, said = tickets
    model, checked = load_checked(TICKETS)
    for group in said["found"]["groups"]:
        begins, ends = [], []
        for order in group["orders"]:
            for address, reached in ((order["begin"], begins), (order["end"], ends)):
                path, _, at = address.partition("?at=")
                place = read_place(path.split("/")[2], path.split("/")[3], at or None)
                stepper = Stepper(model, checked=checked)
                stepper.follow(place.behind)
                reached.append((stepper.rebecs(), stepper.time))
            shown = {
                f"{rebec.rebec}.{name} = {value}".lower()
                for rebec in ends[-1][0]
                for name, value in rebec.variables.items()
            }
            variables = [each for each in order["notes"] if re.match(r"\w+\.\w+ = ", each)]
            assert {each.lower() for each in variables} <= shown
        assert begins[0] == begins[1]
        assert ends[0] != ends[1]


def test_a_search_goes_on_in_the_background(app: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    inquiry = Inquiry(races=True, state="searching", states=1234)
    monkeypatch.setattr("rebecsim.web.verdicts.Verdicts.ask", lambda *args, **asked: inquiry)
    listed = Library(TICKETS).named
    assert listed is not None
    page = ask(app(TICKETS), f"/x/{listed.id}/0/races?at=0").text
    assert f'hx-get="/x/{listed.id}/0/races/found?at=0"' in page
    assert "1,234 states" in page
    inquiry.state, inquiry.verdict, inquiry.text = "done", "undecided", "the search was stopped"
    page = ask(app(TICKETS), f"/x/{listed.id}/0/races?at=0").text
    assert "undecided: the search was stopped" in page
    assert "hx-get" not in page


def test_texts_of_races_have_no_effect(
    app: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = failing(tmp_path)
    _, said = searched(file)
    assert WORDS in said["found"]["groups"][0]["orders"][1]["notes"][0]
    page = page_of(app, file, said, monkeypatch)
    assert "<img" not in page
    assert "assertion failed" in page


def test_what_is_too_much_to_draw_is_named(
    app: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rebecsim.web.race_pages._MOST_DRAWN", 100)
    file = failing(tmp_path)
    page = page_of(app, file, searched(file)[1], monkeypatch)
    assert "<svg" not in page
    assert page.count("Not drawn") == 1


def test_both_orders_have_the_same_lifelines_in_the_same_order(
    tickets: tuple[str, dict[str, Any]],
) -> None:
    for group in tickets[1]["found"]["groups"]:
        one, other = (
            re.findall(r'<text class="name"[^>]*>(\w+)<', each["drawing"])
            for each in group["orders"]
        )
        assert one == other
        assert len(one) == 3
