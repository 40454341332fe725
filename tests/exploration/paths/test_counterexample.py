"""Counterexamples: recorded, done again, drawn, kept as tests."""

from __future__ import annotations

import json
import runpy
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from rebecsim.actors import Model, ReplayError, ReplayScheduler
from rebecsim.exploration import (
    Checks,
    DepthFirst,
    Mode,
    Question,
    Recorded,
    explore,
    load_recorded,
    replay,
    save_recorded,
)
from rebecsim.files import LimitError
from rebecsim.generate import build_model
from rebecsim.lang import check_source
from rebecsim.live.log import load_log
from rebecsim.report.messages import pytest_source
from rebecsim.report.sequence_diagram import MOST_STEPS, sequence_diagram
from rebecsim.simulation import simulate
from rebecsim.simulation.simulator import load_run

SVG = "{http://www.w3.org/2000/svg}"
COUNTER = """
reactiveclass Counter(3) {
    statevars { int n; }
    Counter() { self.count(); }
    msgsrv count() {
        n = n + 1;
        assertion(n < LIMIT, "too <many> & \\"more\\"");
        self.count() after(1);
    }
}
main { Counter counter():(); }
"""


def counter(limit: int) -> Model:
    text = COUNTER.replace("LIMIT", str(limit)).replace('\\"', "'")
    return build_model(check_source(text, "counter.rebeca", "timed"), "counter.rebeca")


def record(model: Model, question: Question, **options: object) -> Recorded:
    result = explore(
        model, mode=question.mode, checks=question.checks(), abstract=question.abstract, **options
    )
    assert result.path is not None
    return Recorded.of(result.path, question)


@pytest.fixture
def tickets(shipped: Callable[[str], Model]) -> Model:
    return shipped("ticket_service.rebeca")


SOLD = Question("FTTS", invariants=("ann.tickets != 2 || bob.tickets != 2",))


@pytest.mark.parametrize("mode", ["FTTS", "TTS"])
def test_a_recorded_run_survives_a_file_and_is_done_again(
    tickets: Model, mode: Mode, tmp_path: Path
) -> None:
    recorded = record(tickets, replace(SOLD, mode=mode))
    file = tmp_path / "run.json"
    save_recorded(file, recorded)
    assert load_recorded(file) == recorded
    path = replay(recorded, tickets)
    assert path.breach == recorded.breach
    assert len(path) == len(recorded.ordinals)


def test_the_simulator_does_a_recorded_run(tmp_path: Path) -> None:
    file = tmp_path / "run.json"
    save_recorded(file, record(counter(4), Question("FTTS")))
    result = simulate(counter(4), ReplayScheduler(load_run(file)))
    assert (result.outcome, result.steps) == ("assertion failed", 4)


def test_deadlocks_are_done_again() -> None:
    text = "reactiveclass A(2) { A() { self.once(); } msgsrv once() { } } main { A a():(); }"
    model = build_model(check_source(text, "a.rebeca", "timed"), "a.rebeca")
    recorded = record(model, Question("FTTS", deadlock=True))
    assert replay(recorded, model).breach == ("deadlock", "no message is left")
    allowed = replace(recorded, question=replace(recorded.question, deadlock=False))
    with pytest.raises(ReplayError, match="the model with nothing"):
        replay(allowed, model)


def test_a_model_that_has_changed_is_noticed(tickets: Model) -> None:
    recorded = record(counter(4), Question("FTTS"))
    with pytest.raises(ReplayError, match="step 1 of 4: the record has"):
        replay(recorded, tickets)
    with pytest.raises(ReplayError, match="step 3 of 4: the model ends here with assertion failed"):
        replay(recorded, _broken_earlier())
    with pytest.raises(ReplayError, match=r"after step 4, the last one: .* the model with nothing"):
        replay(_without_last_mark(recorded), counter(9))
    longer = replace(recorded, ordinals=(0, 7, 0, 0))
    with pytest.raises(ReplayError, match=r"step 2 of 4: .* transition 8, the model has 1"):
        replay(longer, counter(4))


def _broken_earlier() -> Model:
    """The same steps, but the third one is forbidden; it shows up to there what was recorded."""
    text = COUNTER.replace("LIMIT", "4").replace('\\"', "'")
    text = text.replace("self.count() after(1);", "self.count() after(1); assertion(n < 3);")
    return build_model(check_source(text, "counter.rebeca", "timed"), "counter.rebeca")


def _without_last_mark(recorded: Recorded) -> Recorded:
    """Let the last step end as it does without a violation."""
    last = {**recorded.steps[-1], "finished": recorded.steps[-1]["time"]}
    return replace(recorded, steps=(*recorded.steps[:-1], last))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda data: data.pop("steps"), "is an object with"),
        (lambda data: data.update(format="x"), "`format` is 'x'"),
        (lambda data: data.update(verdict="perfect"), "no verdict 'perfect'"),
        (lambda data: data["ordinals"].__setitem__(2, -1), "step 3: must be the number"),
        (lambda data: data["question"].update(mode="fast"), "the mode must be one of"),
        (lambda data: data["question"].update(depth=3), "no key 'depth'"),
        (lambda data: data["question"].update(deadlines="yes"), "'deadlines' cannot be 'yes'"),
        (lambda data: data["choices"].append(["x"]), "choice 8"),
    ],
)
def test_a_wrong_record_is_refused(
    change: Callable[[dict], object], message: str, tmp_path: Path
) -> None:
    model = counter(9)
    data = json.loads(json.dumps(record(model, Question("FTTS")).to_json()))
    data["choices"] = data["choices"][:8]
    change(data)
    file = tmp_path / "run.json"
    file.write_text(json.dumps(data))
    with pytest.raises(ReplayError, match=rf"run\.json: .*{message}"):
        load_recorded(file)


def test_a_run_of_the_simulator_is_recognised(tmp_path: Path) -> None:
    file = tmp_path / "run.json"
    file.write_text('{"priorities": true, "choices": []}')
    with pytest.raises(ReplayError, match="simulate --replay"):
        load_recorded(file)
    file.write_text("{")
    with pytest.raises(ReplayError, match="is not JSON"):
        load_recorded(file)
    for depth in (201, 900, 20_000):
        file.write_text('{"priorities": true, "choices": ' + "[" * depth + "]" * depth + "}")
        for load in (load_recorded, load_run, load_log):
            with pytest.raises(LimitError, match=r"run\.json: .* levels; the limit is 200"):
                load(file)


def test_the_test_that_is_written_passes_and_fails_when_it_should(tmp_path: Path) -> None:
    text = COUNTER.replace("LIMIT", "3").replace('\\"', "'")
    (tmp_path / "models").mkdir()
    model, test = tmp_path / "models" / "counter.rebeca", tmp_path / "test_counter.py"
    model.write_text(text)
    test.write_text(pytest_source(record(counter(3), Question("FTTS")), model, test))

    names = runpy.run_path(str(test))
    names["test_counter_assertion_failed"]()
    model.write_text(text.replace("n < 3", "n < 4"))
    with pytest.raises(ReplayError, match="step 3 of 3: the record has finished None"):
        names["test_counter_assertion_failed"]()


def test_messages_know_where_they_were_sent(tickets: Model) -> None:
    path = replay(record(tickets, SOLD), tickets)
    for step in path.steps:
        if step.sent_in is not None:
            sending = path.steps[step.sent_in]
            assert sending.rebec == step.sender
            assert sending.time <= step.arrival <= step.time
    assert path.steps[0].sent_in is None
    assert sum(step.sent_in is not None for step in path.steps) >= len(path) - 4


# --- pictures ------------------------------------------------------------------------------------


def texts(svg: str) -> list[str]:
    return ["".join(node.itertext()) for node in ElementTree.fromstring(svg).iter(f"{SVG}text")]


def test_a_diagram_has_lifelines_times_messages_and_the_violation(tickets: Model) -> None:
    path = replay(record(tickets, SOLD), tickets)
    svg = sequence_diagram(path)
    shown = texts(svg)
    assert {"ann", "bob", "office"} <= set(shown)
    assert {str(step.time) for step in path.steps} <= set(shown)
    assert sum(words.startswith("buy(") for words in shown) == 4
    assert shown[-1] == "✗ property violated: ann.tickets != 2 || bob.tickets != 2"
    root = ElementTree.fromstring(svg)
    busy = [each for each in root.iter(f"{SVG}rect") if "busy" in each.get("class", "")]
    assert len(busy) == len(path)
    assert [each.get("class") for each in busy].count("busy wrong") == 1


def test_time_runs_down_the_picture(tickets: Model) -> None:
    root = ElementTree.fromstring(sequence_diagram(replay(record(tickets, SOLD), tickets)))
    labels = [each for each in root.iter(f"{SVG}text") if each.get("class") == "time"]
    places = [(int(each.text or ""), float(each.get("y", ""))) for each in labels]
    assert places == sorted(places)
    assert len({y for _, y in places}) == len(places)


def test_text_is_escaped_and_long_runs_are_cut() -> None:
    result = explore(counter(MOST_STEPS + 50), strategy=DepthFirst())
    assert result.path is not None
    assert len(result.path) == MOST_STEPS + 50
    shown = texts(sequence_diagram(result.path))
    assert "✗ assertion failed: too <many> & 'more'" in shown
    assert "counter (FTTS), the last 200 of 250 steps" in shown
    assert sum(words.startswith("count()") for words in shown) == MOST_STEPS


LEFT_OUT = """
reactiveclass A(2) {
  statevars { int x; int n; int z; }
  A() { self.go(); }
  msgsrv go() {
    x = x + 1;
    n = n + 10;
    self.go() after(1);
    if (x == 3) { z = 1; self.go() after(2); z = 5; }
  }
}
main { A a():(); }
"""


def test_what_is_left_out_of_states_has_its_true_values_on_a_path() -> None:
    model = build_model(check_source(LEFT_OUT, "left.rebeca", "timed"), "left.rebeca")
    found = explore(model, checks=Checks(invariants=["a.x < 3"]), abstract=["A.n"])
    assert found.path is not None
    assert [dict(step.changed).get("n") for step in found.path.steps] == [10, 20, 30]
    assert found.path.run is not None


def test_no_values_are_shown_where_there_is_no_run() -> None:
    """The last step violates what is not looked at; a run would stop there."""
    model = build_model(check_source(LEFT_OUT, "left.rebeca", "timed"), "left.rebeca")
    checks = Checks(overflows=False, invariants=["a.z != 5"])
    whole = explore(model, checks=checks).path
    found = explore(model, checks=checks, abstract=["A.n"]).path
    assert whole is not None
    assert found is not None
    assert whole.run is found.run is None
    assert dict(found.steps[-1].changed) == {"x": 3, "z": 5}
    assert dict(whole.steps[-1].changed) == {"x": 3, "n": 30, "z": 5}


def test_a_path_that_only_abstraction_has_is_no_run() -> None:
    text = """
        reactiveclass A(4) {
          knownrebecs { B b; }
          statevars { int n; }
          A() { self.start(); }
          msgsrv start() { n = ?(1, 2); b.pass(n) after(1); }
          msgsrv back(int q) { assertion(n + q != 2); }
        }
        reactiveclass B(4) {
          knownrebecs { A a; }
          msgsrv pass(int v) { a.back(v) after(1); }
        }
        main { A a(b):(); B b(a):(); }"""
    model = build_model(check_source(text, "pass.rebeca", "timed"), "pass.rebeca")
    found = explore(model, abstract=["A.n"], checks=Checks(deadlock=False))
    assert found.verdict == "assertion failed"
    assert found.path is not None
    assert found.path.run is None
    assert not any("n" in dict(step.changed) for step in found.path.steps)
