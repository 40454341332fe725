"""The graph of the states ahead, in the browser."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from rebecsim.exploration import explore
from rebecsim.generate.module import load_checked
from rebecsim.live import Stepper
from rebecsim.web import Library
from rebecsim.web.steppers import ModelSteppers
from tests.on_asgi import ask

MODELS = Path(__file__).resolve().parents[2] / "models"
TICKETS = MODELS / "ticket_service.rebeca"


def address_of(file: Path, run: str = "-") -> str:
    listed = Library(file).named
    assert listed is not None
    return f"/x/{listed.id}/{run}"


def test_each_state_leads_to_itself_and_the_graph_grows(app: Any) -> None:
    here = address_of(TICKETS, "0.0")
    page = ask(app(TICKETS), f"{here}/graph").text
    runs = re.findall(rf'<a href="({here}[.0-9]*)"><rect', page)
    assert len(set(runs)) == len(runs) == 20
    assert runs[0] == here
    (listed,) = re.findall(r'<ol class="transitions".*?</ol>', page, re.DOTALL)
    numbers = re.findall(r'class="label"[^>]*>(?:<title>.*?</title>)?([\d, …]+)', page, re.DOTALL)
    assert listed.count("<li>") == max(int(each) for many in numbers for each in many.split(", "))
    assert 'class="legend"' not in page
    assert 'class="legend"' in ask(app(TICKETS), f"{here}/graph.svg").text
    (more,) = re.findall(r'href="([^"]+)">More', page)
    assert more.endswith("/graph?states=40&amp;find=")
    most = ask(app(TICKETS), f"{here}/graph?states=99999").text
    assert "300 states" in most
    assert ">More" not in most


def test_states_that_are_looked_for_are_marked(app: Any) -> None:
    application = app(TICKETS)
    here = address_of(TICKETS)
    page = ask(application, f"{here}/graph?states=60&find=office.left+%3D%3D+1").text
    found = re.findall(r' <a href="([^"]+)">\d+</a>', page)
    assert page.count('class="marked"') == len(found) > 0
    for each in found:
        assert "<dt>left</dt><dd>1" in ask(application, each).text
    kept = ask(application, f"{here}/graph.svg?states=60&find=office.left+%3D%3D+1")
    assert kept.headers["content-disposition"].endswith('"ticket_service_states.svg"')
    assert kept.text.count('class="marked"') == len(found)
    assert "<a " not in kept.text  # nothing there leads anywhere
    wrong = ask(application, f"{here}/graph?find=office.lft+%3D%3D+1")
    assert wrong.status == 400
    assert "did you mean" in wrong.text
    assert "<svg" in wrong.text


def test_what_goes_wrong_is_a_node_of_its_own(app: Any, tmp_path: Path) -> None:
    model = tmp_path / "late.rebeca"
    model.write_text(
        "reactiveclass R(2) { R() { self.m() after(1); } msgsrv m() { self.n() deadline(5); "
        "delay(?(3, 7)); } msgsrv n() { } } main { R r():(); }"
    )
    page = ask(app(model), f"{address_of(model)}/graph").text
    assert (
        page.count('class="box wrong"') == 1
    )  # a deadline missed; the end of the other runs is none
    assert "these are all" in page
    assert "deadline missed" in page
    wrong = explore(load_checked(model)[0]).path
    assert wrong is not None
    end = address_of(model, ".".join(map(str, wrong.ordinals)))
    assert f'href="{end}"' in page
    assert "/graph" not in ask(app(model), end).text
    assert "there is no next step" in ask(app(model), f"{end}/graph").text


def test_all_states_ahead_of_the_beginning_are_all_states() -> None:
    model, checked = load_checked(MODELS / "easy_scheduler.rebeca")
    (space, ways), _ = Stepper(model, checked=checked).ahead(100_000)
    assert space.complete
    assert len(space.states) == explore(model, checked=checked, stop_at="all").states
    stepper = Stepper(model, checked=checked)
    stepper.follow(ways[len(space.states) - 1])
    assert stepper.rebecs() == space.rebecs(len(space.states) - 1)


def test_who_takes_a_step_does_not_wait_for_a_search() -> None:
    listed = Library(TICKETS).named
    assert listed is not None
    steppers = ModelSteppers(listed)
    with steppers.aside((0,)) as searching, steppers.at((0,)) as stepping:
        assert searching is not stepping
        assert searching.rebecs() == stepping.rebecs()


def test_a_program_is_run_once() -> None:
    listed = Library(MODELS / "teaching/ping_pong.py").named
    assert listed is not None
    steppers = ModelSteppers(listed)
    with steppers.at(()) as one:
        pass
    with steppers.aside(()) as other:
        assert other is one
