"""The explorer: what its pages show, and where they lead."""

from __future__ import annotations

import json
import re
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from rebecsim.actors import ReplayError
from rebecsim.exploration import Checks, Question, Recorded, explore, replay as do_again
from rebecsim.generate.module import load_checked
from rebecsim.live import Stepper
from rebecsim.web import Inquiry, Library
from rebecsim.web.addresses import LONGEST_RUN, Place, read_place
from rebecsim.web.rendering import rendered
from rebecsim.web.verdict_worker import answered, verdict
from tests.conftest import Run
from tests.on_asgi import ask, send_form

MODELS = Path(__file__).resolve().parents[2] / "models"
TICKETS = MODELS / "ticket_service.rebeca"


@pytest.fixture
def start(app: Any) -> tuple[Any, str]:
    """An application, and the address of the beginning of the ticket office."""
    named = Library(TICKETS).named
    assert named is not None
    return app(TICKETS), f"/x/{named.id}/-"


def ways(page: str) -> list[str]:
    """Where the offers of a page lead."""
    return re.findall(r'<a class="way[^>]*href="([^"]+)"', page)


def test_models_are_listed_with_ones_own_first(app: Any, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "lamp.rebeca").write_text(TICKETS.read_text("utf-8"))
    page = ask(app(), "/").text
    names = re.findall(r'href="/x/\w{16}/-" aria-label="Explore ([^"]+)"', page)
    assert names[0] == "mine/lamp.rebeca"
    assert "teaching/philosophers.rebeca" in names
    assert not [name for name in names if "solutions" in name]


def test_every_listed_model_opens(app: Any) -> None:
    application = app(None)
    for model in Library().models():
        page = ask(application, f"/x/{model.id}")
        assert page.headers["location"] == f"/x/{model.id}/-"
    assert ask(application, page.headers["location"]).status == 200


def test_a_page_shows_rebecs_and_what_may_happen(start: tuple[Any, str]) -> None:
    application, address = start
    page = ask(application, address).text
    assert re.findall(r'aria-label="(office|ann|bob)"', page) == ["office", "ann", "bob"]
    assert "<dt>left</dt><dd>2</dd>" in page
    assert "<code>refill()</code>" in page
    assert "arrives 7" in page
    (way,) = ways(page)
    assert "asking = true, office.buy(customer=ann) at 1" in page
    assert "Nothing has happened yet" in page
    after = ask(application, way).text
    assert 'class="changed"><dt>asking</dt><dd>true' in after
    assert re.search(r'class="new">.*?<code>buy\(customer=ann\)</code>', after)
    assert "<svg" in after


def test_back_keeps_the_way_and_another_way_leaves_it(start: tuple[Any, str]) -> None:
    application, address = start
    place = read_place(address.split("/")[2], "-", None)
    for _ in range(3):
        here = ask(application, place.address()).text
        place = place.taking(int(ways(here)[0].rpartition("/")[2].split(".")[-1]))
    back = place.moved(1)
    page = ask(application, back.address()).text
    assert "Step 1 of 3" in page
    assert back.moved(2).address() in page  # forward
    assert back.taking(place.run[1]) == place.moved(2)
    other = back.taking(place.run[1] + 1)
    assert (other.run, other.at) == ((place.run[0], place.run[1] + 1), 2)


def test_each_message_of_the_picture_leads_behind_its_step(start: tuple[Any, str]) -> None:
    application, address = start
    page = ask(application, address.replace("/-", "/0.0.0")).text
    links = re.findall(r'<a href="([^"]+)"><title>Step (\d+):', page)
    model = address.split("/")[2]
    assert [(address, int(step)) for address, step in links] == [
        (Place(model, (0, 0, 0), at).address(), at) for at in (1, 2, 3)
    ]


def test_going_on_leads_to_a_time_a_condition_a_message_or_the_end(start: tuple[Any, str]) -> None:
    application, address = start
    there = send_form(application, f"{address}/on", steps="1").headers["location"]
    assert re.fullmatch(r"/x/\w+/\d+\?why=steps", there)
    there = send_form(application, f"{address}/on", steps="100", until="20").headers["location"]
    assert there.endswith("why=time")
    page = ask(application, there).text
    assert int(re.findall(r", time (\d+)", page)[0]) >= 20
    stopped = send_form(application, f"{address}/on", steps="100", stop="office.left == 0")
    page = ask(application, stopped.headers["location"]).text
    assert "<dt>left</dt><dd>0" in page
    assert "the condition came true" in page
    stopped = send_form(application, f"{address}/on", steps="100", stop="office.refill")
    assert "office: refill()" in ask(application, stopped.headers["location"]).text


def test_back_to_a_time_keeps_the_rest_of_the_way(start: tuple[Any, str]) -> None:
    application, address = start
    there = send_form(application, f"{address}/on", steps="100", until="20").headers["location"]
    path = there.partition("?")[0]
    back = send_form(application, f"{path}/on", until="0").headers["location"]
    assert back.startswith(path)
    assert "at=0" in back


def test_a_wrong_condition_is_said_with_its_place(start: tuple[Any, str]) -> None:
    application, address = start
    answered = send_form(application, f"{address}/on", stop="office.lft == 0")
    assert answered.status == 400
    assert "did you mean" in answered.text
    assert "What may happen next" in answered.text  # one is still where one was
    empty = send_form(application, f"{address}/reach", condition=" ")
    assert "Write a condition" in empty.text


def test_looking_for_a_condition_leads_back_with_it(start: tuple[Any, str]) -> None:
    application, address = start
    answered = send_form(application, f"{address}/reach", condition="office.left == 0")
    assert answered.headers["location"] == f"{address}?never=office.left+%3D%3D+0"
    assert "Can <code>office.left == 0</code> come true?" in (
        ask(application, answered.headers["location"]).text
    )


def test_a_violation_ends_the_run(app: Any, tmp_path: Path) -> None:
    (tmp_path / "a.rebeca").write_text(
        "reactiveclass R(2) { R() { self.m() after(5) deadline(2); } msgsrv m() { } }\n"
        "main { R r():(); }"
    )
    (model,) = [each for each in Library(tmp_path).models() if each.origin == "yours"]
    before = ask(app(), f"/x/{model.id}/-").text
    assert 'class="way wrong"' in before
    page = ask(app(), f"/x/{model.id}/0").text
    assert re.search(r'role="alert">✗ deadline missed', page)
    assert not ways(page)


def test_a_model_with_mistakes_shows_them(app: Any, tmp_path: Path) -> None:
    (tmp_path / "a.rebeca").write_text(TICKETS.read_text("utf-8").replace("left--", "lft--"))
    model = Library(tmp_path).models()[0]
    page = ask(app(), f"/x/{model.id}/-")
    assert page.status == 400
    assert "did you mean `left`?" in page.text


def test_a_text_that_has_changed_is_another_model(app: Any, tmp_path: Path) -> None:
    """An address leads to the text that it was made for, as long as the server knows it."""
    file = tmp_path / "a.rebeca"
    text = "// mine\n" + TICKETS.read_text("utf-8")
    file.write_text(text)
    model = Library(tmp_path).models()[0]
    application, another = app(), app()
    assert ask(application, f"/x/{model.id}/0").status == 200
    file.write_text(text.replace("left = 2", "left = 1"))
    assert "<dd>2</dd>" in ask(application, f"/x/{model.id}/-").text
    gone = ask(another, f"/x/{model.id}/0")
    assert gone.status == 404
    assert "has been changed" in gone.text


def test_runs_can_be_kept(start: tuple[Any, str], run: Run, tmp_path: Path) -> None:
    application, address = start
    here = address.replace("/-", "/0.0.0")
    assert ask(application, f"{here}/run.svg").text.startswith("<svg")
    assert ask(application, f"{here}/model.rebeca").text == TICKETS.read_text("utf-8")
    kept = tmp_path / "run.json"
    kept.write_text(ask(application, f"{here}/run.json").text)
    done = run("simulate", TICKETS, "--replay", kept, "--steps", 4)
    assert "3 messages served" in done.stdout


def test_a_run_that_goes_wrong_is_kept_as_a_test(app: Any, run: Run, tmp_path: Path) -> None:
    """The test, the model beside it and the file all show the same."""
    model = tmp_path / "it's late.rebeca"
    model.write_text(
        "reactiveclass R(2) { R() { self.m() after(5) deadline(2); } msgsrv m() { } }\n"
        "main { R r():(); }"
    )
    listed = Library(model).named
    assert listed is not None
    application = app(model)
    page = ask(application, f"/x/{listed.id}/0").text
    assert f'href="/x/{listed.id}/0/test.py"' in page
    names = []
    for kind in ("test.py", "model.rebeca", "run.json"):
        answered = ask(application, f"/x/{listed.id}/0/{kind}")
        (name,) = re.findall(r'filename="([\w.-]+)"', answered.headers["content-disposition"])
        (tmp_path / name).write_text(answered.text)
        names.append(name)
    assert names == ["test_it_s_late.py", "it_s_late.rebeca", "it_s_late.json"]
    space = {"__file__": str(tmp_path / names[0])}
    exec(compile((tmp_path / names[0]).read_text(), names[0], "exec"), space)
    (test,) = [value for name, value in space.items() if name.startswith("test_")]
    test()
    assert run("replay", tmp_path / names[2], tmp_path / names[1]).returncode == 1
    (tmp_path / names[1]).write_text(model.read_text().replace("deadline(2)", "deadline(9)"))
    with pytest.raises(ReplayError):
        test()


@pytest.mark.parametrize("steps", [0, 1, 4])
def test_a_run_in_which_nothing_goes_wrong_is_a_test_of_where_it_ends(
    start: tuple[Any, str], tmp_path: Path, steps: int
) -> None:
    application, address = start
    here = address.replace("/-", "/" + (".".join(["0"] * steps) or "-"))
    assert f'href="{here}/test.py"' in ask(application, here).text
    source = ask(application, f"{here}/test.py").text
    model = tmp_path / "ticket_service.rebeca"
    model.write_text(ask(application, f"{here}/model.rebeca").text)
    space = {"__file__": str(tmp_path / "test_it.py")}
    exec(compile(source, "test_it.py", "exec"), space)
    space["test_a_run_of_ticket_service"]()
    model.write_text(model.read_text().replace("asking = true;", "asking = true; tickets = 9;"))
    with pytest.raises(AssertionError) if steps else nullcontext():
        space["test_a_run_of_ticket_service"]()


def test_two_who_look_at_one_model_do_not_disturb_each_other(start: tuple[Any, str]) -> None:
    application, address = start
    one, other = (address.replace("/-", f"/{run}") for run in ("0.0.0.0.0", "0.1.0.0.0"))
    first = [ask(application, each).text for each in (one, other)]
    assert [ask(application, each).text for each in (one, other)] == first
    assert first[0] != first[1]


@settings(max_examples=15)
@given(data=st.data())
def test_following_a_run_is_taking_its_steps(data: st.DataObject) -> None:
    """And what a stepper tells of its way leads another one there."""
    model, checked = load_checked(TICKETS)
    one, other = (Stepper(model, checked=checked) for _ in range(2))
    for _ in range(data.draw(st.integers(0, 12))):
        turns = one.turns()
        alternatives = [each for turn in turns for each in turn.alternatives]
        one.take(data.draw(st.sampled_from(alternatives)))
    other.follow(one.ordinals)
    assert (other.rebecs(), other.time, other.ordinals) == (one.rebecs(), one.time, one.ordinals)


@given(
    run=st.lists(st.integers(0, 999_999), max_size=30).map(tuple),
    at=st.integers(0, 40),
    further=st.integers(0, 99),
)
def test_an_address_says_where_one_is(run: tuple[int, ...], at: int, further: int) -> None:
    for place in (Place("m", run, 0).moved(at), Place("m", run, 0).moved(at).taking(further)):
        _, _, model, text, *_ = place.address().partition("?")[0].split("/")
        query = dict(re.findall(r"(\w+)=(\d+)", place.address()))
        assert read_place(model, text, query.get("at")) == place
        assert len(place.run) <= LONGEST_RUN


def test_a_verdict_is_found_in_the_background(tmp_path: Path) -> None:
    """By a process of its own; what it finds leads to the run, which can be looked at."""
    from rebecsim.web import Verdicts

    listed = Library(TICKETS).named
    assert listed is not None
    verdicts = Verdicts()
    try:
        inquiry = verdicts.ask(listed, "office.left == 0")
        assert verdicts.ask(listed, "office.left == 0") is inquiry
        verdicts._workers.shutdown(wait=True)
    finally:
        verdicts.close()
    assert (inquiry.state, inquiry.verdict) == ("done", "property violated")
    assert inquiry.run is not None
    model, checked = load_checked(TICKETS)
    stepper = Stepper(model, checked=checked)
    stepper.follow(inquiry.run)
    assert {each.rebec: each.variables for each in stepper.rebecs()}["office"] == {"left": 0}
    recorded = Recorded.from_json(json.loads(json.dumps(inquiry.recorded)))
    assert recorded.question.invariants == ("!(office.left == 0)",)
    assert do_again(recorded, model, checked).ordinals == inquiry.run


def test_what_a_search_has_found_is_kept_with_its_question(
    app: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such as a condition that came true, or a property of a file, of which a run knows nothing."""
    listed = Library(TICKETS).named
    assert listed is not None
    model, checked = load_checked(TICKETS)
    never = "ann.asking"
    path = explore(model, checked=checked, checks=Checks(invariants=(f"!({never})",))).path
    assert path is not None
    question = Question("FTTS", invariants=(f"!({never})",))
    recorded = Recorded.of(path, question).to_json()
    known = Inquiry(never, state="done", run=path.ordinals, recorded=recorded)
    monkeypatch.setattr(
        "rebecsim.web.verdicts.Verdicts.ask",
        lambda self, listed, asked="": known if asked == never else Inquiry(state="done"),
    )
    application = app(TICKETS)
    here = Place(listed.id, path.ordinals, len(path.ordinals))
    page = ask(application, here.address(never=never)).text
    assert f'href="{here.address("/test.py", never=never)}"' in page
    assert json.loads(ask(application, here.address("/run.json", never=never)).text) == recorded
    source = ask(application, here.address("/test.py", never=never)).text
    assert "def test_ticket_service_property_violated" in source
    assert "def test_a_run_of_ticket_service" in ask(application, here.address("/test.py")).text


def asked_of(folder: Path, questions: str) -> dict[str, Any]:
    """What the search of a model is asked for that has a property file with this text."""
    file = folder / "a.property"
    file.write_text(questions)
    text = (
        "reactiveclass R(2) { statevars { int x; } R() { self.m() after(5); } "
        "msgsrv m() { x = 1; self.m() after(5); } } main { R r():(); }"
    )
    asked = {"text": text, "name": "a", "python": None, "model": "a", "races": False}
    return asked | {"questions": str(file), "invariants": [], "limits": {"seconds": 60}}


def test_a_run_of_another_transition_system_is_not_led_to(tmp_path: Path) -> None:
    """Formulas of TCTL are judged where time passes in steps: other numbers, another run."""
    formula = "property { define { done = r.x == 1; } TCTL { soon: AF(time <= 3, done); } }"
    found = verdict(asked_of(tmp_path, formula))
    assert (found["verdict"], found["run"], found["recorded"]) == ("property violated", None, None)
    assert found["text"] == "soon; `rebecsim explore` shows a run"


def test_a_mistake_in_a_property_file_does_not_say_where_that_is(tmp_path: Path) -> None:
    found = answered(asked_of(tmp_path, "property { define { done = r.y == 1; } }"))
    assert found["verdict"] == "cannot be explored"
    assert found["text"].startswith("a.property:1:")
    assert str(tmp_path) not in found["text"]


def test_searches_end_with_the_server() -> None:
    from rebecsim.web import Verdicts

    listed = Library(MODELS / "benchmarks" / "yarn_fifo4.rebeca").named
    assert listed is not None
    verdicts = Verdicts()
    inquiry = verdicts.ask(listed)
    verdicts.close()
    assert inquiry.state in ("done", "waiting")
    assert inquiry.verdict in ("", "undecided")
    assert not verdicts._processes
    assert verdicts.ask(listed, "x").verdict == "not asked"


ENDS = "reactiveclass A(2) { A() { self.go(); } msgsrv go() { } } main { A a():(); }"


def test_an_end_is_neutral(app: Any, tmp_path: Path) -> None:
    model = tmp_path / "ends.rebeca"
    model.write_text(ENDS, "utf-8")
    listed = Library(model).named
    assert listed is not None
    page = ask(app(model), Place(listed.id, (0,), 1).address()).text
    assert "Nothing: the run ends here." in page
    assert "banner" not in page
    assert "deadlock" not in page


def test_the_verdict_says_how_runs_end_and_shows_one(tmp_path: Path) -> None:
    asked = asked_of(tmp_path, "") | {"text": ENDS, "questions": None}
    said = verdict(asked)
    assert (said["verdict"], said["run"]) == ("satisfied", [0])
    inquiry = Inquiry(state="done", verdict="satisfied", ends=said["ends"], run=(0,), states=2)
    (tmp_path / "m.rebeca").write_text(ENDS, "utf-8")
    given = {"listed": Library(tmp_path / "m.rebeca").named, "place": Place("m", (), 0)}
    shown = rendered("verdict.html.j2", inquiry=inquiry, **given)
    assert "✓ No violation in any order (2 states)" in shown
    assert "Every run ends: 1 state has no message left." in shown
    assert "Show me" in shown
    assert "bad" not in shown
    inquiry.never = "a.x == 1"
    of_condition = rendered("verdict.html.j2", inquiry=inquiry, **given)
    assert "No: it never does" in of_condition
    assert "Every run ends" not in of_condition
