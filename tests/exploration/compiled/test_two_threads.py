"""Two threads find the same states in the same order as one."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from models import ticket_service
from rebecsim.exploration import BreadthFirst, Checks, Limits, Progress, Result, Search, explore
from rebecsim.exploration.compiled import compiled_search, two_threads
from rebecsim.generate import build_model
from rebecsim.lang import CheckedModel, check_source
from rebecsim.native import engines, search_layout as at
from rebecsim.native.codes import Reason
from tests.examples import dear
from tests.exploration.compiled.test_engines import everything
from tests.exploration.conformance import entries, load
from tests.exploration.random_models import Drawn, models
from tests.exploration.test_reduction import RING, office

pytestmark = pytest.mark.large

STATES = dear(2_000)


@pytest.fixture(autouse=True)
def used(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Use two threads for small searches, too; gives the sizes of searches where they began."""
    began: list[int] = []
    run = two_threads.TwoThreads.run

    def run_noted(search: two_threads.TwoThreads) -> int:
        began.append(two_threads._BATCH)
        return run(search)

    monkeypatch.setattr(compiled_search, "BUDGET", 5)
    monkeypatch.setattr(two_threads, "BUDGET", 5)
    monkeypatch.setattr(engines, "STATES_FOR_THREADS", 3)
    monkeypatch.setattr(two_threads, "_BATCH", 7)
    monkeypatch.setattr(two_threads.TwoThreads, "run", run_noted)
    return began


def assert_same(model: Any, **options: Any) -> Result:
    by_one = explore(model, engine="python", **options)
    by_two = explore(model, engine="native", strategy=BreadthFirst(workers=2), **options)
    assert everything(by_two) == everything(by_one)
    return by_two


@pytest.mark.parametrize("stop_at", ["first", "all"])
@pytest.mark.parametrize("file", [each["file"] for each in entries()][::3])
def test_conformance(file: str, stop_at: Any) -> None:
    entry = next(each for each in entries() if each["file"] == file)
    if all(each["verdict"] == "compile error" for each in entry["results"]):
        pytest.skip("the checker refuses the model")
    checked, model = load(file, entry["language"])
    for mode in ("core",) if model.core else ("FTTS", "TTS"):
        limits = Limits(states=STATES)
        assert_same(model, mode=mode, checked=checked, limits=limits, stop_at=stop_at)


@settings(max_examples=dear(100), suppress_health_check=list(HealthCheck))
@given(drawn=models(), stop_at=st.sampled_from(["first", "all"]))
def test_random_models(drawn: Drawn, stop_at: Any) -> None:
    checked = check_source(drawn.source, "drawn.rebeca", "core" if drawn.core else "timed")
    model = build_model(checked, "drawn.rebeca")
    checks = Checks(invariants=["r0.a < 3", "r0.b != 2 || r1.a != 2"])
    assert_same(model, stop_at=stop_at, limits=Limits(states=STATES), checks=checks)


@pytest.mark.parametrize("mode", ["FTTS", "TTS"])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"limits": Limits(horizon=9)},
        {"limits": Limits(states=700)},
        {"limits": Limits(states=701)},
        {"abstract": ["Customer.tickets"]},
        {"checks": Checks(invariants=["ann.tickets < 2"]), "stop_at": "all"},
        {"checks": Checks(invariants=["ann.tickets + bob.tickets < 3"])},
    ],
    ids=lambda options: "-".join(options),
)
def test_options(used: list[int], mode: Any, options: dict[str, Any]) -> None:
    found = assert_same(ticket_service.model, mode=mode, **options)
    assert bool(used) == (found.absolute_time is None)


def test_hash_compaction(used: list[int]) -> None:
    model = load("ticket1.rebeca")[1]
    found = explore(model, strategy=BreadthFirst(compact=True, workers=2), stop_at="all")
    assert everything(found) | {"omission": 0} == everything(explore(model, engine="python"))
    assert used


@pytest.mark.parametrize(
    "checked", [office(3), check_source(RING)], ids=["three customers", "ring"]
)
def test_questions_are_asked_in_the_order_of_one_thread(
    checked: CheckedModel, used: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which of several images stands for a state depends on that order."""
    asked: list[list[tuple[int, ...]]] = []
    enter = compiled_search.CompiledSearch.enter

    def enter_noted(search: Any, reason: int, control: Any) -> bool:
        told = 3 if reason == Reason.ANSWER else 2
        asked[-1].append((reason, *control[at.ASKED : at.ASKED + told].tolist()))
        return enter(search, reason, control)

    monkeypatch.setattr(compiled_search.CompiledSearch, "enter", enter_noted)
    found = []
    for workers in (1, 2):
        asked.append([])
        strategy = BreadthFirst(workers=workers)
        model = build_model(checked)
        result = explore(model, checked=checked, reduce=True, engine="native", strategy=strategy)
        found.append(everything(result))
    assert used
    assert found[0] == found[1]
    assert asked[0] == asked[1]


def test_a_table_that_grows(used: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(two_threads, "_BATCH", 3_000)
    model = load("ticket3.rebeca")[1]
    found = explore(model, engine="native", strategy=BreadthFirst(workers=2))
    assert (found.states, found.transitions) == (206_928, 461_782)
    assert used


def test_progress_and_interrupts(used: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    """What progress says never goes back, and an interrupt ends both threads."""
    seen: list[Progress] = []
    original = Search.check_limits

    def note(search: Search) -> None:
        seen.append(search.progress())
        begun = int(max(search.parents[: len(search.states)]))  # a state that has a successor
        assert begun + 1 - search.expanded in (0, 1) or search.expanded > begun
        original(search)
        if len(seen) == 40:
            raise KeyboardInterrupt

    monkeypatch.setattr(Search, "check_limits", note)
    with pytest.raises(KeyboardInterrupt):
        explore(ticket_service.model, engine="native", strategy=BreadthFirst(workers=2))
    assert used
    assert [each.states for each in seen] == sorted(each.states for each in seen)
    assert [each.transitions for each in seen] == sorted(each.transitions for each in seen)
    assert all(0 <= each.frontier <= each.states for each in seen)
