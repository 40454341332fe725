"""The compiled search gives what the one in Python gives."""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from models import ticket_service
from rebecsim.actors import Model
from rebecsim.errors import UserError
from rebecsim.exploration import (
    BreadthFirst,
    Checks,
    DepthFirst,
    Limits,
    Result,
    explore,
    strategies,
)
from rebecsim.exploration.checks import Meter
from rebecsim.exploration.strategies import NativeEngineError
from rebecsim.generate import build_model
from rebecsim.lang import check_source
from rebecsim.native import engines
from tests.examples import dear
from tests.exploration.conformance import entries, load
from tests.exploration.random_models import Drawn, models

pytestmark = pytest.mark.large

STATES = dear(2_000)


WITH_STATES = ("standstill", "standstill_decided")
"""What is not known where only fingerprints of states are kept."""


def everything(found: Result) -> dict[str, Any]:
    """What must not depend on the engine: all but time, memory and the engine's name."""
    shown = found.to_json() | {
        "path": found.path,
        "violations": found.violations,
        "standstill": found.standstill,
    }
    return {
        name: value
        for name, value in shown.items()
        if name not in ("seconds", "peak_memory", "memory_per_state", "engine")
    }


def assert_same(model: Model, **options: Any) -> Result:
    by_python = explore(model, engine="python", **options)
    natively = explore(model, engine="native", **options)
    assert natively.engine == "native"
    assert everything(natively) == everything(by_python)
    return natively


@pytest.mark.parametrize("stop_at", ["first", "all"])
@pytest.mark.parametrize(
    "file",
    [
        pytest.param(each["file"], marks=[pytest.mark.plain] * (each["file"] == "ticket1.rebeca"))
        for each in entries()
    ],
)
def test_conformance(file: str, stop_at: Any) -> None:
    entry = next(each for each in entries() if each["file"] == file)
    if all(each["verdict"] == "compile error" for each in entry["results"]):
        pytest.skip("the checker refuses the model")
    checked, model = load(file, entry["language"])
    for mode in ("core",) if model.core else ("FTTS", "TTS"):
        options = {"mode": mode, "checked": checked, "limits": Limits(states=STATES)}
        assert_same(model, stop_at=stop_at, **options)


@settings(max_examples=dear(200), suppress_health_check=list(HealthCheck))
@given(drawn=models(), stop_at=st.sampled_from(["first", "all"]), deadlines=st.booleans())
def test_random_models(drawn: Drawn, stop_at: Any, deadlines: bool) -> None:
    model = _built(drawn)
    for mode in ("core",) if drawn.core else ("FTTS", "TTS"):
        assert_same(
            model,
            mode=mode,
            stop_at=stop_at,
            limits=Limits(states=STATES),
            checks=Checks(deadlines=deadlines, invariants=["r0.a < 3", "r0.b != 2 || r1.a != 2"]),
        )


def _built(drawn: Drawn) -> Model:
    dialect: Any = "core" if drawn.core else "timed"
    return build_model(check_source(drawn.source, "drawn.rebeca", dialect), "drawn.rebeca")


def test_random_models_are_of_all_kinds() -> None:
    """Guards against a generator that draws only what ends at once."""
    verdicts: Counter[str] = Counter()
    sizes: list[int] = []

    @settings(max_examples=100, database=None, derandomize=True)
    @given(drawn=models())
    def look(drawn: Drawn) -> None:
        if len(verdicts) >= 4 and sum(size > 20 for size in sizes) > 20:
            return  # has been shown
        found = explore(_built(drawn), engine="python", limits=Limits(states=STATES))
        verdicts[found.verdict] += 1
        sizes.append(found.states)

    look()
    assert len(verdicts) >= 4, verdicts
    assert sum(size > 20 for size in sizes) > 20, sorted(sizes)


@pytest.mark.plain
@pytest.mark.parametrize("mode", ["FTTS", "TTS"])
@pytest.mark.parametrize(
    "options",
    [
        {"limits": Limits(horizon=9)},
        {"limits": Limits(states=700)},
        {"abstract": ["Customer.tickets"]},
        {"checks": Checks(overflows=False, deadlock=False)},
        {"checks": Checks(invariants=["ann.tickets < 2"]), "stop_at": "all"},
        {"checks": Checks(invariants=["ann.tickets + bob.tickets < 3"])},
    ],
    ids=lambda options: "-".join(options),
)
def test_options(mode: Any, options: dict[str, Any]) -> None:
    assert assert_same(ticket_service.model, mode=mode, **options).states > 10


@cache
def whole(mode: Any) -> dict[str, Any]:
    return everything(explore(ticket_service.model, mode=mode, engine="python"))


@pytest.mark.parametrize("mode", ["FTTS", "TTS"])
@pytest.mark.parametrize("at", [1, 2, 50, 1000])
def test_a_search_that_is_handed_over_goes_on_where_it_was(
    monkeypatch: pytest.MonkeyPatch, mode: Any, at: int
) -> None:
    monkeypatch.setattr(engines, "SEARCH_LOADS", at)
    found = explore(ticket_service.model, mode=mode)
    assert found.engine == "native"
    assert everything(found) == whole(mode)


def test_a_small_search_stays_in_python() -> None:
    assert explore(ticket_service.model).engine == "python"


def test_compiling_must_be_worth_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines, "SEARCH_LOADS", 50)
    monkeypatch.setattr(strategies, "_is_compiled", lambda: False)
    assert explore(ticket_service.model).engine == "python"
    monkeypatch.setattr(engines, "SEARCH_COMPILES", 500)
    found = explore(ticket_service.model)
    assert found.engine == "native"
    assert everything(found) == everything(explore(ticket_service.model, engine="python"))


def test_a_search_short_of_memory_compiles_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """There was enough at first, and is not when compiling would be worth it."""
    monkeypatch.setattr(engines, "SEARCH_LOADS", 50)
    monkeypatch.setattr(engines, "SEARCH_COMPILES", 500)
    monkeypatch.setattr(strategies, "_is_compiled", lambda: False)
    answers = iter([False, True])
    monkeypatch.setattr(Meter, "would_exceed", lambda meter, more: next(answers))
    found = explore(ticket_service.model)
    assert (found.engine, found.verdict) == ("python", "satisfied")


def test_a_search_short_of_memory_stays_in_python(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines, "SEARCH_LOADS", 50)
    monkeypatch.setattr(engines, "BYTES_TO_COMPILE", 10**15)
    found = explore(ticket_service.model, limits=Limits(memory=10**6))
    assert (found.engine, found.verdict) == ("python", "satisfied")
    assert everything(found) == everything(explore(ticket_service.model, engine="python"))


def test_what_there_is_no_compiled_code_for() -> None:
    _, model = load("ticket3.rebeca")
    with pytest.raises(NativeEngineError, match="searches breadth first only"):
        explore(model, engine="native", strategy=DepthFirst())
    found = explore(model, strategy=DepthFirst(), limits=Limits(states=500))
    assert found.engine == "python"


FAR = """
reactiveclass Sleeper(2) {
  statevars { int rounds; }
  Sleeper() { self.wake(); }
  msgsrv wake() { delay(2000000000); delay(2000000000); delay(2000000000);
                  rounds = (rounds + 1) % 3; self.wake(); }
}
main { Sleeper one():(); Sleeper two():(); }
"""


@pytest.mark.parametrize("handed_over_at", [1, 4])
def test_times_too_large_for_compiled_code(
    monkeypatch: pytest.MonkeyPatch, handed_over_at: int
) -> None:
    model = build_model(check_source(FAR, "far.rebeca", "timed"), "far.rebeca")
    with pytest.raises(NativeEngineError, match="a time this large"):
        explore(model, engine="native")
    monkeypatch.setattr(engines, "SEARCH_LOADS", handed_over_at)
    found = explore(model)
    assert (found.engine, found.verdict) == ("python", "satisfied")
    assert everything(found) == everything(explore(model, engine="python"))


def test_a_limit_of_memory_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Meter, "would_exceed", lambda meter, more: more > 10**6)
    found = explore(load("ticket3.rebeca")[1], engine="native")
    assert (found.verdict, found.bounds) == ("undecided", ("memory",))
    assert 1000 < found.states < 206_928
    assert found.depth is not None
    assert found.depth > 5


@pytest.mark.parametrize("file", ["ticket1", "philosophers2", "nondet_in_loop", "now_in_statevar"])
def test_hash_compaction_finds_the_same_states(file: str) -> None:
    entry = next((each for each in entries() if each["file"] == f"{file}.rebeca"), None)
    model = load(f"{file}.rebeca", entry["language"] if entry else "timed")[1]
    bounds = Limits(states=STATES)
    whole = explore(model, engine="native", stop_at="all", limits=bounds)
    found = explore(model, strategy=BreadthFirst(compact=True), stop_at="all", limits=bounds)
    assert found.engine == "native"
    assert whole.omission == 0
    expected = found.states * (found.states - 1) / 2 / 2**62
    assert found.omission == pytest.approx(expected)
    shown = everything(found)
    assert shown.pop("omission") == found.omission
    for name in ("growing", *WITH_STATES):  # no states are kept that could tell
        shown.pop(name, None)
    assert shown == {name: value for name, value in everything(whole).items() if name in shown}


@settings(max_examples=dear(100), suppress_health_check=list(HealthCheck))
@given(drawn=models())
def test_hash_compaction_of_random_models(drawn: Drawn) -> None:
    model = _built(drawn)
    checks = Checks(deadlock=True, invariants=["r0.a < 3", "r0.b != 2 || r1.a != 2"])
    options: dict[str, Any] = {"stop_at": "all", "limits": Limits(states=STATES), "checks": checks}
    found = everything(explore(model, strategy=BreadthFirst(compact=True), **options))
    whole = everything(explore(model, engine="python", **options))
    for each in (found, whole):
        for name in ("omission", *WITH_STATES):
            each.pop(name)
    assert found == whole


def test_hash_compaction_with_many_states_waiting() -> None:
    model = load("ticket3.rebeca")[1]
    found = explore(model, strategy=BreadthFirst(compact=True))
    assert (found.states, found.transitions) == (206_928, 461_782)


def test_hash_compaction_is_not_for_python() -> None:
    with pytest.raises(UserError, match="hash compaction needs the native engine"):
        explore(ticket_service.model, engine="python", strategy=BreadthFirst(compact=True))
