"""A queue overflows before whatever the message server would have done next."""

from __future__ import annotations

from typing import Any

import pytest

from rebecsim.exploration import Question, Recorded, explore, find_races, replay
from rebecsim.generate import build_model
from rebecsim.lang import check_source
from rebecsim.live import Stepper, run_live
from rebecsim.simulation import simulate
from rebecsim.simulation.simulator import make_scheduler

WANTED = ("queue overflow", "no place for m() in a queue of 2")
FAILURES = {
    "assertion": 'assertion(false, "later");',
    "index": "cells[x] = 1;",
    "division": "x = 1 / (x - 2);",
    "own queue": "self.go(); self.go();",
    "past": "b.m() after(x - 3);",
}


def _built(later: str, dialect: Any = "timed") -> Any:
    """B holds one message, of which there is place for two, when A sends two more."""
    first = "" if dialect == "core" else "@priority(1)"
    checked = check_source(
        f"""
        reactiveclass A(2) {{
          knownrebecs {{ B b; }}
          statevars {{ int x; int[2] cells; }}
          A() {{ x = 2; self.go(); }}
          msgsrv go() {{ b.m(); b.m(); {later} }}
        }}
        reactiveclass B(2) {{ B() {{ self.m(); }} msgsrv m() {{ }} }}
        main {{ {first} A a(b):(); B b():(); }}
        """,
        "m.rebeca",
        dialect,
    )
    return checked, build_model(checked, "m.rebeca")


@pytest.mark.parametrize("failure", FAILURES)
@pytest.mark.parametrize("engine", ["python", "native"])
@pytest.mark.parametrize("mode", ["FTTS", "TTS"])
def test_a_failure_behind_it_is_not_come_to(failure: str, engine: Any, mode: Any) -> None:
    checked, model = _built(FAILURES[failure])
    found = explore(model, checked=checked, mode=mode, engine=engine)
    assert (found.verdict, found.message) == WANTED
    assert found.path is not None
    assert found.path.breach == WANTED
    assert (found.path.run is None) == (mode == "TTS")
    recorded = Recorded.of(found.path, Question(mode))
    assert replay(recorded, model, checked).breach == WANTED


@pytest.mark.parametrize("engine", ["python", "native"])
def test_in_core(engine: Any) -> None:
    checked, model = _built('assertion(false, "later");', "core")
    found = explore(model, checked=checked, engine=engine)
    assert (found.verdict, found.message) == WANTED


def test_a_failure_before_it_comes_first() -> None:
    checked = check_source(
        """
        reactiveclass A(2) {
          knownrebecs { B b; }
          A() { self.go(); }
          msgsrv go() { b.m(); assertion(false, "before"); b.m(); }
        }
        reactiveclass B(2) { B() { self.m(); } msgsrv m() { } }
        main { @priority(1) A a(b):(); B b():(); }
        """
    )
    found = explore(build_model(checked), checked=checked)
    assert (found.verdict, found.message) == ("assertion failed", "before")


def test_all_ways_of_running_a_model_agree() -> None:
    checked, model = _built(FAILURES["assertion"])
    simulated = simulate(model, make_scheduler("random", 0, "fair"), max_steps=9)
    assert (simulated.outcome, simulated.detail) == WANTED

    stepper = Stepper(model, checked=checked)
    stepper.take(stepper.turns()[0].alternatives[0])
    assert stepper.breach == WANTED

    ending = run_live(model).log.ending
    assert (ending.outcome, ending.detail) == WANTED


def test_races_name_it() -> None:
    checked = check_source(
        """
        reactiveclass A(3) {
          knownrebecs { B b; }
          A() { self.fill(); self.clear(); }
          msgsrv fill() { b.m(); b.m(); assertion(false, "later"); }
          msgsrv clear() { b.m(); }
        }
        reactiveclass B(2) { msgsrv m() { } }
        main { A a(b):(); B b():(); }
        """
    )
    races = find_races(build_model(checked), checked=checked)
    orders = [order for group in races.groups for order in group.witness.orders]
    assert {order.breach for order in orders if order.breach is not None} == {
        ("assertion failed", "later"),  # filled first, when there is place for two
        WANTED,
    }
