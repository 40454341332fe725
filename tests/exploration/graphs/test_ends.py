"""States in which a run has ended: what is said of them, and when they are a violation."""

from __future__ import annotations

import time
from graphlib import CycleError, TopologicalSorter
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings

import rebecsim as rs
from rebecsim.actors import Violation
from rebecsim.exploration import (
    BreadthFirst,
    Checks,
    DepthFirst,
    Ends,
    Limits,
    Result,
    Search,
    explore,
    pose,
)
from rebecsim.exploration.cycles import ends_of
from rebecsim.exploration.state_graph import build_graph
from rebecsim.generate.module import build_model
from rebecsim.lang import check_source
from rebecsim.native import engines
from tests.examples import dear
from tests.exploration.random_models import Drawn, models

FORM = (
    "reactiveclass A(2) { statevars { int n; } A() { self.go(); } msgsrv go() { %s } } "
    "main { A a():(); }"
)
ENDS = FORM % "delay(1); n = ?(1, 2);"
MAY_END = FORM % "if (?(true, false)) { self.go() after(1); }"
NEVER = FORM % "self.go() after(1);"
COUNTING = """
reactiveclass A(3) { statevars { int n; } A(int k) { n = k; self.go(); }
  msgsrv go() { n = n + 1; if (n < 7) { self.go() after(?(1, 2)); } } }
main { A a():(1); A b():(2); A c():(3); }
"""
COUNTING_ROUND = COUNTING.replace("n < 7)", "n < 7 || ?(true, false))").replace(
    "n = n + 1", "n = n % 7 + 1"
)
STATES = 3_000


def found(text: str, **options: Any) -> Result:
    checked = check_source(text, "a.rebeca", "timed")
    return explore(build_model(checked, "a"), checked=checked, **options)


@pytest.mark.parametrize("mode", ["FTTS", "TTS"])
@pytest.mark.parametrize(
    ("text", "every", "said"),
    [
        (ENDS, True, "every run ends: 2 states have no message left"),
        (MAY_END, False, "a run may end: 1 state has no message left"),
        (NEVER, None, ""),
    ],
)
def test_the_verdict_says_that_runs_end(
    mode: Any, text: str, every: bool | None, said: str
) -> None:
    result = found(text, mode=mode)
    assert (result.verdict, result.is_violation) == ("satisfied", False)
    assert result.message == said
    assert (None if result.ends is None else result.ends.every_run) == every
    if result.ends is not None:
        assert result.ends.path.breach is None
        assert result.to_json()["ends"] == {"states": result.ends.states, "every_run": every}


def test_an_exploration_in_python_has_the_ends() -> None:
    explored = rs.explore(rs.loads(MAY_END))
    assert explored.ends is not None
    assert (explored.ends.states, explored.ends.every_run) == (1, False)
    assert "A run may end: 1 state has no message left" in str(explored)


def test_an_end_is_a_deadlock_if_asked_for() -> None:
    deadlock = found(ENDS, checks=Checks(deadlock=True))
    assert (deadlock.verdict, deadlock.message) == ("deadlock", "no message is left")
    assert (deadlock.is_violation, deadlock.ends) == (True, None)
    assert found(NEVER, checks=Checks(deadlock=True)).verdict == "satisfied"


def test_an_end_that_is_not_terminal_is_a_deadlock() -> None:
    right = found(ENDS, checks=Checks(terminal=["a.n > 0"]))
    assert (right.verdict, right.message) == ("satisfied", "")
    assert found(ENDS, checks=Checks(terminal=["a.n == 1"])).verdict == "deadlock"


@pytest.mark.parametrize("strategy", [BreadthFirst(compact=True), DepthFirst()])
def test_other_strategies_say_it_too(strategy: Any) -> None:
    ends = found(MAY_END, strategy=strategy).ends
    assert ends is not None
    assert ends.states == 1
    assert ends.every_run in (False, None)


@pytest.mark.large
@pytest.mark.parametrize("mode", ["FTTS", "TTS"])
@pytest.mark.parametrize(("text", "every"), [(COUNTING, True), (COUNTING_ROUND, False)])
def test_engines_say_the_same_of_what_one_began_and_the_other_went_on_with(
    text: str, every: bool, mode: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = found(text, mode=mode, engine="python")
    for begun in (20, 300):
        monkeypatch.setattr(engines, "SEARCH_LOADS", begun)
        for options in ({"engine": "native"}, {}, {"strategy": BreadthFirst(workers=2)}):
            result = found(text, mode=mode, **options)
            assert (result.engine, result.states) == ("native", expected.states)
            assert result.ends is not None
            assert result.to_json()["ends"] == expected.to_json()["ends"]
            assert result.ends.every_run is every
            assert result.message == expected.message


def test_the_time_includes_that_for_ends_and_formulas(monkeypatch: pytest.MonkeyPatch) -> None:
    def slowly(search: Search) -> Ends | None:
        time.sleep(0.3)
        return ends_of(search)

    monkeypatch.setattr("rebecsim.exploration.exploring.ends_of", slowly)
    assert found(MAY_END).seconds > 0.3


@settings(max_examples=dear(150), suppress_health_check=list(HealthCheck), deadline=None)
@given(drawn=models())
def test_some_random_models(drawn: Drawn) -> None:
    """Judge by the graph: every run ends if the states can be put in order."""
    checked = check_source(drawn.source, "a.rebeca", "core" if drawn.core else "timed")
    model = build_model(checked, "a")
    options: dict[str, Any] = {"checked": checked, "limits": Limits(states=STATES)}
    result = explore(model, **options)
    assume(result.verdict == "satisfied")
    try:
        graph = build_graph(pose(model, checked=checked), checked=checked)
    except Violation:
        assume(False)
    order: TopologicalSorter[int] = TopologicalSorter()
    sources = {number: [] for number in range(len(graph.search.states))}
    for source in sources:
        for target in graph.target[graph.first[source] : graph.first[source + 1]].tolist():
            sources[source].append(target)
            order.add(target, source)
    try:
        order.prepare()
        goes_round = False
    except CycleError:
        goes_round = True
    ended = sum(not targets for targets in sources.values())
    assert (0 if result.ends is None else result.ends.states) == ended
    if result.ends is not None:
        assert result.ends.every_run is not goes_round
        native = explore(model, engine="native", **options)
        assert native.to_json()["ends"] == result.to_json()["ends"]
