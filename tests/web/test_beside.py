"""Two ways through a model beside one another."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from rebecsim.generate.module import load_checked
from rebecsim.live import Stepper
from rebecsim.web import Library
from tests.on_asgi import ask

TICKETS = Path(__file__).resolve().parents[2] / "models/ticket_service.rebeca"


def page_of(app: Any, one: str, other: str) -> Any:
    listed = Library(TICKETS).named
    assert listed is not None
    return ask(app(TICKETS), f"/x/{listed.id}/{one}/beside?with={other}")


def test_what_differs_in_the_end_is_what_the_states_say(app: Any) -> None:
    page = unescape(page_of(app, "0.0", "0.1").text)
    model, checked = load_checked(TICKETS)
    ends = []
    for ordinals in ((0, 0), (0, 1)):
        stepper = Stepper(model, checked=checked)
        stepper.follow(ordinals)
        ends.append({each.rebec: each for each in stepper.rebecs()})
    rows = re.findall(r'<th scope="row">(.*?)</th>', page)
    wanted = [
        f"{name}.{variable}"
        for name, rebec in ends[0].items()
        for variable, value in rebec.variables.items()
        if ends[1][name].variables[variable] != value
    ]
    assert [each for each in rows if "." in each] == wanted  # variables
    assert "The first step is the same" in page
    assert page.count("<svg ") == 2


def test_a_way_that_goes_on_where_the_other_ends(app: Any) -> None:
    page = page_of(app, "0", "0.1").text
    assert page.count("<svg ") == 1
    assert "It ends where the other one goes on" in page
    same = page_of(app, "0.1", "0.1").text
    assert "They end in the same state" in same


@pytest.mark.parametrize("other", ["", "x", "0..1", "../0", "99", "<b>", "0" * 40])
def test_what_is_no_way_is_refused(app: Any, other: str) -> None:
    answer = page_of(app, "0", other)
    assert answer.status == 400
    assert "<b>" not in answer.text.replace("<b>⋯", "")
