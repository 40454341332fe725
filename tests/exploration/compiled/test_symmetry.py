"""The compiled search reduces by symmetries as the one in Python does."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings

from rebecsim.actors import ReplayScheduler
from rebecsim.exploration import BreadthFirst, Checks, Limits, Result, explore, symmetry
from rebecsim.exploration.compiled.serving import references_in
from rebecsim.exploration.states.rebec_states import Reference
from rebecsim.exploration.strategies import NativeEngineError
from rebecsim.generate import build_model
from rebecsim.lang import CheckedModel, check_source
from rebecsim.native import engines
from rebecsim.native.engines import Engine
from rebecsim.simulation import simulate
from tests.examples import dear
from tests.exploration.random_models import Drawn, models
from tests.exploration.test_reduction import CORE, RING, office

pytestmark = [pytest.mark.large, pytest.mark.plain]

ZENO = """
reactiveclass A(3) {
  knownrebecs { A next; }
  statevars { int n; }
  A() { self.go(); }
  msgsrv go() { n = (n + 1) % 2; next.take(); }
  msgsrv take() { next.go(); }
}
main { A a(b):(); A b(a):(); }
"""


def _reduced(checked: CheckedModel, engine: Engine, **options: Any) -> Result:
    model = build_model(checked)
    return explore(model, checked=checked, reduce=True, engine=engine, **options)


def _counts(found: Result, whole: bool) -> tuple[Any, ...]:
    """Give what must not depend on the engine.

    Of the states of the last depth each engine meets others first, as it has other representatives.
    """
    length = None if found.path is None else len(found.path)
    covered = (found.states, found.transitions) if whole else ()
    return found.verdict, found.symmetries, length, *covered


def _assert_same(checked: CheckedModel, **options: Any) -> Result:
    by_python, natively = (_reduced(checked, each, **options) for each in ("python", "native"))
    assert natively.engine == "native"
    whole = natively.verdict == "satisfied" or options.get("stop_at") == "all"
    assert _counts(natively, whole) == _counts(by_python, whole)
    return natively


@pytest.mark.parametrize(
    ("checked", "symmetries"),
    [
        pytest.param(office(2), 2, id="two customers"),
        pytest.param(office(3), 6, id="three customers"),
        pytest.param(check_source(RING), 4, id="ring"),
        pytest.param(check_source(CORE, dialect="core"), 6, id="core"),
    ],
)
def test_the_same_states_as_in_python(checked: CheckedModel, symmetries: int) -> None:
    found = _assert_same(checked, checks=Checks(overflows=False))
    assert (found.verdict, found.symmetries) == ("satisfied", symmetries)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"stop_at": "all"},
        {"checks": Checks(invariants=["o.last != c2"])},
        {"limits": Limits(states=400)},
        {"limits": Limits(horizon=4)},
    ],
)
def test_the_run_to_what_goes_wrong_is_one_of_the_model(options: dict[str, Any]) -> None:
    checked = office(3, wins="wins = wins + 1; assertion(wins < 3);")
    found = _assert_same(checked, **options)
    if found.path is None:
        assert found.verdict == "undecided"
        return
    assert found.path.run is not None
    steps = len(found.path)
    replayed = simulate(build_model(checked), ReplayScheduler(found.path.run), max_steps=steps)
    assert replayed.steps == steps
    assert replayed.is_violation == (found.verdict == "assertion failed")


def test_a_cycle_without_time_is_shown_as_a_run_of_the_model() -> None:
    found = _assert_same(check_source(ZENO))
    assert (found.symmetries, found.standstill_decided) == (2, True)
    assert found.standstill is not None


def test_a_search_is_handed_over_from_its_beginning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines, "SEARCH_LOADS", 600)
    monkeypatch.setattr(engines, "SEARCH_COMPILES", 700)
    handed_over = _reduced(office(3), "auto")
    assert handed_over.engine == "native"
    assert _counts(handed_over, True) == _counts(_reduced(office(3), "python"), True)


def test_of_too_many_symmetries_a_part_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    checked = office(4)
    monkeypatch.setattr(symmetry, "MOST_SYMMETRIES", 10)
    found = _reduced(checked, "native")
    assert found.symmetries == 6
    monkeypatch.undo()
    all_of_them = _reduced(checked, "native")
    assert (all_of_them.symmetries, all_of_them.verdict) == (24, found.verdict)
    assert all_of_them.states < found.states


def test_fingerprints_do_not_go_with_it() -> None:
    with pytest.raises(NativeEngineError, match="hash compaction"):
        _reduced(office(2), "native", strategy=BreadthFirst(compact=True))


def test_references_are_found_in_arrays() -> None:
    one, two = Reference(1, "one"), Reference(2, "two")
    assert references_in((3, one, ((two,), None), True)) == {1, 2}


@settings(
    max_examples=dear(1_000, share=40),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
@given(models(ring=True))
def test_random_rings(drawn: Drawn) -> None:
    checked = check_source(drawn.source, dialect="core" if drawn.core else "timed")
    full = explore(build_model(checked), checked=checked, limits=Limits(states=3_000))
    assume(full.verdict != "undecided")  # which of the states are seen differs then
    found = _assert_same(checked)
    assert found.verdict == full.verdict
    assert found.symmetries % 3 == 0  # more where who is known makes no difference
    if full.path is None:
        assert full.states / found.symmetries <= found.states <= full.states
    else:
        assert found.path is not None
        assert len(found.path) == len(full.path)
