"""The graph of all states and transitions: what it says, whichever engine has written it down."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from models import ticket_service
from rebecsim.actors import Model
from rebecsim.exploration import NO_MESSAGE_LEFT, Breach, Checks, Limits, Mode, Problem, pose
from rebecsim.exploration.search import NO_SERVICE, Service
from rebecsim.exploration.state_graph import StateGraph, build_graph
from rebecsim.exploration.states.effects import Outcome
from rebecsim.generate import build_model
from rebecsim.lang import CheckedModel, check_source
from rebecsim.native import engines
from rebecsim.native.engines import Engine
from tests.examples import dear
from tests.exploration.conformance import entries, load
from tests.exploration.races.race_models import race_models
from tests.exploration.random_models import Drawn, models

pytestmark = pytest.mark.large

STATES = dear(2_000)


def everything(graph: StateGraph) -> dict[str, Any]:
    """What must not depend on the engine."""
    services = [*graph.services, None]  # NO_SERVICE is the last one
    return {
        "states": list(graph.search.states),
        "parents": list(graph.search.parents[: len(graph)]),
        "ordinals": list(graph.search.ordinals[: len(graph)]),
        "first": graph.first.tolist(),
        "target": graph.target.tolist(),
        "service": [services[each] for each in graph.service.tolist()],
        "choice": graph.choice.tolist(),
        "duration": graph.duration.tolist(),
        "keys": graph.keys,
        "wrong": graph.wrong,
        "cut": graph.cut.tolist(),
        "bounds": graph.search.bounds,
    }


def assert_same(
    model: Model, checked: CheckedModel | None = None, mode: Mode | None = None, **options: Any
) -> tuple[Problem, StateGraph]:
    """Build the graph with both engines and compare; gives what was compiled."""
    checks = options.pop("checks", Checks())
    limits = options.pop("limits", Limits(states=STATES))
    absolute = limits.horizon is not None
    problem = pose(model, mode=mode, checks=checks, checked=checked, absolute=absolute, **options)

    def graph(engine: Engine) -> StateGraph:
        found = build_graph(problem, checked=checked, limits=limits, engine=engine)
        assert found.search.engine == engine
        return found

    natively = graph("native")
    assert everything(natively) == everything(graph("python"))
    return problem, natively


def assert_true(problem: Problem, graph: StateGraph, deadlock: bool = True) -> None:
    """Compare a graph with the transition system, state by state."""
    system, states = problem.system, list(graph.search.states)
    numbers = {state: number for number, state in enumerate(states)}
    assert len(numbers) == len(graph)
    for number, state in enumerate(states):
        edges = range(graph.first[number], graph.first[number + 1])
        if graph.cut[number]:
            assert not edges
            continue
        found = system.expand(state)
        assert len(found) == len(edges)
        seen: list[Any] = []
        for edge, (cause, target, units) in zip(edges, found, strict=True):
            if isinstance(target, Breach):
                assert graph.keys[graph.target[edge] - len(graph)] == target.key
                assert graph.duration[edge] == 0
            else:
                assert graph.target[edge] == numbers[target]
                assert graph.duration[edge] == units
            if not isinstance(cause, Outcome):
                assert graph.service[edge] == NO_SERVICE
                continue
            service = graph.services[graph.service[edge]]
            effect = cause.effect
            assert service == Service(effect.owner, effect.message, effect.resumed)
            if not any(index for index, _ in effect.drawn):
                seen = []
            assert graph.choice[edge] == len(seen)
            seen.append(effect.drawn)
        wrong = [each.breach for each in problem.properties if number and not each.holds(state)]
        if deadlock and not found and not any(allowed(state) for allowed in problem.terminal):
            wrong.append(NO_MESSAGE_LEFT)
        named = [graph.keys[key] for key in graph.wrong.get(number, ())]
        assert named == [each.key for each in wrong]


@pytest.mark.parametrize("file", [each["file"] for each in entries()])
def test_conformance(file: str) -> None:
    entry = next(each for each in entries() if each["file"] == file)
    if all(each["verdict"] == "compile error" for each in entry["results"]):
        pytest.skip("the checker refuses the model")
    checked, model = load(file, entry["language"])
    for mode in ("core",) if model.core else ("FTTS", "TTS"):
        assert_same(model, checked, mode, limits=Limits(states=400))


INVARIANTS = ["r0.a < 3", "r0.b != 2 || r1.a != 2"]


@settings(max_examples=dear(100), suppress_health_check=list(HealthCheck))
@given(drawn=models(), deadlines=st.booleans(), deadlock=st.booleans())
def test_random_models(drawn: Drawn, deadlines: bool, deadlock: bool) -> None:
    _check(drawn, Checks(deadlines=deadlines, deadlock=deadlock, invariants=INVARIANTS))


@settings(max_examples=dear(60), suppress_health_check=list(HealthCheck))
@given(drawn=race_models())
def test_random_models_for_races(drawn: Drawn) -> None:
    _check(drawn, Checks(invariants=["r0.a < 2"], terminal=["r0.flag"]))


def _check(drawn: Drawn, checks: Checks) -> None:
    checked = check_source(drawn.source, "drawn.rebeca", "core" if drawn.core else "timed")
    model = build_model(checked, "drawn.rebeca")
    for mode in ("core",) if drawn.core else ("FTTS", "TTS"):
        limits = Limits(states=400)
        problem, graph = assert_same(model, checked, mode, checks=checks, limits=limits)
        assert_true(problem, graph, checks.deadlock)


@pytest.mark.parametrize("mode", ["FTTS", "TTS"])
@pytest.mark.parametrize(
    "options",
    [
        {"limits": Limits(horizon=9)},
        {"limits": Limits(states=700)},
        {"abstract": ["Customer.tickets"]},
        {"checks": Checks(overflows=False, deadlock=False)},
        {"checks": Checks(invariants=["ann.tickets < 2", "ann.tickets + bob.tickets < 3"])},
    ],
    ids=lambda options: "-".join(options),
)
def test_options(mode: Any, options: dict[str, Any]) -> None:
    problem, graph = assert_same(ticket_service.model, mode=mode, **options)
    assert len(graph) > 10
    if "horizon" in graph.search.bounds:
        assert 0 < graph.cut.sum() < len(graph)
    assert_true(problem, graph)


@pytest.mark.parametrize("mode", ["FTTS", "TTS"])
@pytest.mark.parametrize("at", [1, 50, 1000])
def test_a_graph_that_is_handed_over_goes_on_where_it_was(
    monkeypatch: pytest.MonkeyPatch, mode: Any, at: int
) -> None:
    monkeypatch.setattr(engines, "SEARCH_LOADS", at)
    checks = Checks(invariants=["ann.tickets < 2"])
    problem = pose(ticket_service.model, mode=mode, checks=checks)
    whole = build_graph(problem, engine="python")
    found = build_graph(problem)
    assert found.search.engine == "native"
    assert everything(found) == everything(whole)


WIDE = """
reactiveclass Source(2) {
  knownrebecs { Sink sink; }
  Source() { self.go(); }
  msgsrv go() { sink.take(?(1, 2, 3)); self.go() after(?(1, 2)); }
}
reactiveclass Sink(3) {
  statevars { int held; }
  msgsrv take(int n) { held = n; assertion(held < 3); delay(held); }
}
main { Source s(k):(); Sink k():(); }
"""


@pytest.mark.parametrize("mode", ["FTTS", "TTS"])
def test_what_goes_wrong_in_steps_is_written_down_by_both_engines(mode: Any) -> None:
    checked = check_source(WIDE, "wide.rebeca", "timed")
    model = build_model(checked, "wide.rebeca")
    problem, graph = assert_same(model, checked, mode, limits=Limits())
    assert_true(problem, graph)
    assert {str(key) for key in graph.keys} == {
        "assertion failed: k.take",
        "queue overflow: k.take",
    }


def test_times_that_are_too_large_for_compiled_code_are_left_to_python(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(engines, "SEARCH_LOADS", 1)
    late = """
    reactiveclass A(2) {
      statevars { boolean on; }
      A() { self.go(); }
      msgsrv go() { on = !on; delay(2000000000); delay(2000000000); delay(1000000000); self.go(); }
    }
    main { A a():(); }
    """
    checked = check_source(late, "late.rebeca", "timed")
    graph = build_graph(pose(build_model(checked, "late.rebeca")), checked=checked)
    assert graph.search.engine == "python"
    assert graph.duration.max() == 5_000_000_000
