"""Symmetries that exchange names within classes: rings that are turned over, above all."""

from __future__ import annotations

from collections import Counter, deque
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings

from rebecsim.actors import ReplayScheduler
from rebecsim.exploration import (
    Breach,
    Checks,
    Limits,
    Result,
    State,
    TransitionSystem,
    explore,
    pose,
)
from rebecsim.exploration.reduction import SymmetricSystem
from rebecsim.exploration.symmetry import Symmetry, symmetries
from rebecsim.generate import build_model
from rebecsim.lang import CheckedModel, check_source
from rebecsim.simulation import simulate
from tests.examples import dear
from tests.exploration.mirrored_models import mirrored_models

pytestmark = pytest.mark.large


def _system(checked: CheckedModel, **options: Any) -> SymmetricSystem:
    system = pose(build_model(checked), checked=checked, reduce=True, **options).system
    assert isinstance(system, SymmetricSystem)
    return system


def _reachable(system: TransitionSystem) -> list[State]:
    """Give all states, by a search that knows nothing of symmetries."""
    seen = {system.initial: None}
    pending = deque(seen)
    while pending:
        for _, target, _ in system.expand(pending.popleft()):
            if not isinstance(target, Breach) and target not in seen:
                seen[target] = None
                pending.append(target)
    return list(seen)


def _follows(system: TransitionSystem, state: State, renaming: Symmetry | None) -> Counter[Any]:
    """Count what follows a state, or the image of each."""
    found: Counter[Any] = Counter()
    for _, target, units in system.expand(state):
        if isinstance(target, Breach):
            found[target.verdict] += 1
        else:
            found[units, renaming.state(target) if renaming else target] += 1
    return found


def _assert_orbits(system: SymmetricSystem, states: list[State]) -> int:
    """Every symmetry takes each transition to one; give how many orbits of states there are."""
    following = {state: _follows(system.full, state, None) for state in states}
    left = set(states)
    orbits = 0
    for state in states:
        images = {each.state(state) for each in system.group}
        orbits += state in left
        left -= images
        for each in system.group:
            assert following[each.state(state)] == _follows(system.full, state, each)
    return orbits


def _explored(checked: CheckedModel, **options: Any) -> Result:
    return explore(build_model(checked), checked=checked, **options)


def _assert_reduced(checked: CheckedModel, full: Result, less: Result) -> None:
    """The reduced search finds what the full one finds, as soon, and by runs of the model."""
    assert less.verdict == full.verdict
    kinds, found = ({each.verdict for each in one.violations} for one in (full, less))
    assert found == kinds
    assert (less.standstill is None) == (full.standstill is None)
    if full.path is not None:
        assert less.path is not None
        assert less.path.run is not None
        steps = len(full.path)
        assert len(less.path) == steps
        replay = ReplayScheduler(less.path.run)
        assert simulate(build_model(checked), replay, max_steps=steps).steps == steps


def test_random_rows_and_rings() -> None:
    seen: Counter[str] = Counter()

    @settings(
        max_examples=dear(1_000, share=25),
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
    )
    @given(mirrored_models())
    def compare(drawn: Any) -> None:
        checked = check_source(drawn.source, dialect="core" if drawn.core else "timed")
        full = _explored(checked, limits=Limits(states=600), stop_at="all", engine="python")
        assume(not full.bounds)
        system = _system(checked)
        exchanges = symmetries(system.full)
        states = _reachable(system.full)
        orbits = _assert_orbits(system, states)
        for engine in ("python", "native"):
            less = _explored(checked, reduce=True, stop_at="all", engine=engine)
            assert (less.states, less.symmetries) == (orbits, len(system.group))
            _assert_reduced(checked, full, less)
        seen["models"] += 1
        seen["turned"] += len(system.group) > len(exchanges)
        by_exchanges = SymmetricSystem(system.full, exchanges)
        seen["fewer"] += orbits < len({by_exchanges.representative(each)[0] for each in states})

    compare()
    assert seen["turned"] >= 0.2 * seen["models"]
    assert seen["fewer"] >= 0.2 * seen["models"]


# --- what is turned over, and what is not ---------------------------------------------------------

STATION = """
reactiveclass Station(5) {
  knownrebecs { Station left; Station right; }
  statevars { int a; int b; int n; boolean[2] cells; }
  Station() { self.go(); }
  msgsrv go() { BODY }
  msgsrv fromLeft(int x) { a = x; goRight(); }
  msgsrv fromRight(int x) { b = x; goLeft(); }
  void goLeft() { n = (n + a) % 2; }
  void goRight() { n = (n + b) % 2; }
}
main { MAIN }
"""

RING_OF_TWO = "Station p(q, q):(); Station q(p, p):();"
RING_OF_THREE = "Station p(r, q):(); Station q(p, r):(); Station r(q, p):();"
ROW = "Station p(p, q):(); Station q(p, r):(); Station r(q, r):();"
BOTH = "left.fromRight(0); right.fromLeft(0);"


def _station(body: str, rebecs: str = RING_OF_THREE, core: bool = False) -> CheckedModel:
    text = STATION.replace("BODY", body).replace("MAIN", rebecs)
    return check_source(text, dialect="core" if core else "timed")


@pytest.mark.parametrize(
    ("body", "symmetries"),
    [
        pytest.param(BOTH, 6, id="messages to both"),
        pytest.param("left.fromRight(0); left.fromRight(1);", 3, id="to one side only"),
        pytest.param("left.fromRight(0); right.fromLeft(1);", 3, id="other arguments"),
        pytest.param("left.fromLeft(0); right.fromRight(0);", 6, id="servers the other way"),
        pytest.param("left.fromRight(0); delay(1); right.fromLeft(0);", 3, id="a delay between"),
        pytest.param("a = 1; b = 1; " + BOTH, 6, id="assignments"),
        pytest.param("a = b; b = a; " + BOTH, 3, id="one assignment needs the other"),
        pytest.param("a = ?(0, 1); b = ?(0, 1); " + BOTH, 6, id="two choices"),
        pytest.param(
            "a = ?(0, 1); self.fromLeft(0); b = ?(0, 1); self.fromRight(0); " + BOTH,
            3,
            id="the own queue may be full",
        ),
        pytest.param("a = 1;", 6, id="who is known makes no difference"),
        pytest.param("assertion(a < 5); assertion(b < 5); " + BOTH, 3, id="what may go wrong"),
        pytest.param("if (a == 1 || b == 1) { n = 1; } " + BOTH, 6, id="either condition"),
        pytest.param("if (a < b) { n = 1; } " + BOTH, 3, id="one is less"),
        pytest.param(
            "if (n == 1) { a = 1; } else if (n == 1) { b = 1; } n = 1 - n; " + BOTH,
            3,
            id="the first of two that hold",
        ),
        pytest.param("n = (a + b) % 2; " + BOTH, 6, id="a sum"),
        pytest.param("n = (a - b) % 2; " + BOTH, 3, id="a difference"),
        pytest.param("cells[0] = true; " + BOTH, 6, id="an array"),
        pytest.param("cells[a] = true; cells[b] = false; " + BOTH, 3, id="elements of one array"),
        pytest.param("int x = a; int y = b; n = x * y; " + BOTH, 6, id="local variables"),
        pytest.param(
            "if (?(true, false)) { left.fromRight(0); } else { right.fromLeft(0); }", 6, id="a coin"
        ),
        pytest.param(
            "if (?(true, false, false)) { left.fromRight(0); } else { right.fromLeft(0); }",
            3,
            id="a coin that is not fair",
        ),
        pytest.param(
            "if (?(0.5: true, 0.5: false)) { left.fromRight(0); } else { right.fromLeft(0); }",
            6,
            id="a weighted coin that is fair",
        ),
        pytest.param(
            "if (?(0.25: true, 0.75: false)) { left.fromRight(0); } else { right.fromLeft(0); }",
            3,
            id="a weighted coin that is not",
        ),
        pytest.param(
            "pAlt { prob(0.25): { left.fromRight(0); } prob(0.75): { right.fromLeft(0); } }",
            3,
            id="cases with other weights",
        ),
        pytest.param("n = ?(0.25: 0, 0.75: 1); " + BOTH, 6, id="weights"),
        pytest.param(
            "if (sender == left) { a = 1; } else if (sender == right) { b = 1; } " + BOTH,
            6,
            id="who has sent it",
        ),
        pytest.param(
            "if (sender == left) { a = 1; } else { b = 1; } " + BOTH, 3, id="or anybody else"
        ),
    ],
)
def test_a_ring_is_turned_over_if_both_sides_are_treated_alike(body: str, symmetries: int) -> None:
    system = _system(_station(body))
    assert len(system.group) == symmetries
    _assert_orbits(system, _reachable(system.full))


@pytest.mark.parametrize(
    ("rebecs", "core", "symmetries"),
    [
        pytest.param(ROW, False, 2, id="row"),
        pytest.param(ROW, True, 2, id="row, core"),
        pytest.param(RING_OF_THREE, True, 6, id="ring, core"),
        pytest.param(RING_OF_TWO, False, 4, id="two"),
        pytest.param(RING_OF_TWO, True, 2, id="two, core: both messages wait in one queue"),
    ],
)
def test_rows_too_and_queues(rebecs: str, core: bool, symmetries: int) -> None:
    system = _system(_station(BOTH, rebecs, core))
    assert len(system.group) == symmetries
    _assert_orbits(system, _reachable(system.full))


def test_arguments_go_where_their_parameters_go() -> None:
    text = """
reactiveclass Station(4) {
  knownrebecs { Station left; Station right; }
  statevars { int a; int b; }
  Station() { self.go(); }
  msgsrv go() { left.tell(LEFT); right.tell(RIGHT); self.go() after(2); }
  msgsrv tell(int x, int y) { a = x; b = y; }
}
main { Station p(r, q):(); Station q(p, r):(); Station r(q, p):(); }
"""
    for left, right, expected in (
        ("a, ?(0, 1)", "a, ?(0, 1)", 6),
        ("a, ?(0, 1)", "?(0, 1), a", 3),
        ("1 - a, 1", "1, 1 - b", 6),
    ):
        system = _system(check_source(text.replace("LEFT", left).replace("RIGHT", right)))
        assert len(system.group) == expected
        _assert_orbits(system, _reachable(system.full))


def test_servers_stay_where_the_first_message_of_a_bag_says_how_urgent_it_is() -> None:
    """Of messages that arrive together that is the one of the server that is declared first."""
    text = """
reactiveclass Station(8) {
  knownrebecs { Station left; Station right; }
  statevars { int a; int b; }
  Station() { self.go(); }
  @PRIORITY(3) msgsrv go() {
    left.fast() after(1); left.slow() after(1);
    right.quick() after(1); right.tardy() after(1);
    self.go() after(2);
  }
  @PRIORITY(1) msgsrv quick() { a = 1; }
  @PRIORITY(2) msgsrv tardy() { a = 2; }
  @PRIORITY(2) msgsrv slow() { b = 2; }
  @PRIORITY(1) msgsrv fast() { b = 1; }
}
main { Station p(q, q):(); Station q(p, p):(); }
"""
    for priority, expected in (("priority", 4), ("globalPriority", 2)):
        system = _system(check_source(text.replace("PRIORITY", priority)))
        assert len(system.group) == expected
        _assert_orbits(system, _reachable(system.full))


@pytest.mark.parametrize(
    ("kind", "one", "other", "symmetries"),
    [
        ("int", "16777216", "16777217", 6),
        ("double", "16777216", "16777217", 6),
        ("float", "16777216", "16777217", 3),
        ("int", "16777216f", "16777217", 3),
    ],
)
def test_different_numbers_may_be_the_same_float(
    kind: str, one: str, other: str, symmetries: int
) -> None:
    text = f"""
reactiveclass Station(5) {{
  knownrebecs {{ Station left; Station right; }}
  statevars {{ int a; int b; }}
  Station() {{ self.go(); }}
  msgsrv go() {{ left.fromRight(16777216); right.fromLeft(16777216); self.go() after(2); }}
  msgsrv fromLeft({kind} x) {{ if (x == {one}) {{ a = 1; }} else if (x == {other}) {{ a = 2; }} }}
  msgsrv fromRight({kind} x) {{ if (x == {other}) {{ b = 2; }} else if (x == {one}) {{ b = 1; }} }}
}}
main {{ {RING_OF_THREE} }}
"""
    system = _system(check_source(text))
    assert len(system.group) == symmetries
    _assert_orbits(system, _reachable(system.full))


def test_a_class_may_know_more_than_the_one_it_extends() -> None:
    checked = check_source("""
reactiveclass Station(4) {
  knownrebecs { Station left; Station right; }
  statevars { int n; }
  Station() { self.go(); }
  msgsrv go() { left.poke(); right.poke(); self.go() after(2); }
  msgsrv poke() { n = 1 - n; }
}
reactiveclass Last extends Station(4) {
  knownrebecs { Station third; }
  Last() { self.go(); }
  msgsrv poke() { n = 0; third.poke() after(1); }
}
main { Station p(q, r):(); Station q(p, r):(); Last r(p, q, p):(); }
""")
    system = _system(checked)
    assert len(system.group) == 1
    _assert_orbits(system, _reachable(system.full))


def test_names_that_other_classes_know_too_stay() -> None:
    text = STATION.replace("BODY", BOTH).replace("MAIN", RING_OF_THREE)
    assert len(_system(check_source(text)).group) == 6
    extended = text + "reactiveclass Other extends Station(5) { Other() { self.go(); } }"
    main = extended[extended.index("main") : extended.index("reactiveclass Other")]
    checked = check_source(extended.replace(main, "") + main)
    assert len(_system(checked).group) == 3


PHILOSOPHERS = """
reactiveclass Philosopher(4) {
  knownrebecs { Fork left; Fork right; }
  statevars { boolean hasLeft; boolean hasRight; }
  Philosopher() { self.think(); }
  msgsrv think() { THINK }
  msgsrv granted() {
    if (sender == left) { hasLeft = true; NEXT } else if (sender == right) { hasRight = true; }
    if (hasLeft && hasRight) { self.eat(); }
  }
  msgsrv eat() {
    hasLeft = false; hasRight = false;
    left.release(); right.release(); self.think();
  }
}
reactiveclass Fork(4) {
  statevars { Philosopher holder; Philosopher waiting; }
  msgsrv ask() {
    if (holder == null) { holder = (Philosopher) sender; holder.granted(); }
    else { waiting = (Philosopher) sender; }
  }
  msgsrv release() {
    holder = waiting; waiting = null;
    if (holder != null) { holder.granted(); }
  }
}
main {
  Philosopher ada(f, g):(); Philosopher bob(g, h):(); Philosopher cem(h, f):();
  Fork f():(); Fork g():(); Fork h():();
}
"""


def _philosophers(think: str, after: str = "") -> CheckedModel:
    text = PHILOSOPHERS.replace("THINK", think).replace("NEXT", after)
    return check_source(text, dialect="core")


@pytest.mark.parametrize("engine", ["python", "native"])
def test_philosophers_who_ask_for_both_forks_sit_as_in_a_mirror(engine: Any) -> None:
    both = _philosophers("left.ask(); right.ask();")
    full, less = (_explored(both, reduce=each, engine=engine) for each in (False, True))
    assert (full.verdict, less.verdict) == ("satisfied", "satisfied")
    assert (less.symmetries, less.states) == (6, 1_161)
    assert full.states / 6 <= less.states < full.states / 5
    left_first = _philosophers("left.ask();", after="right.ask();")
    checks = Checks(deadlock=True)
    full, less = (
        _explored(left_first, reduce=each, engine=engine, checks=checks) for each in (False, True)
    )
    assert full.verdict == less.verdict == "deadlock"
    assert (less.symmetries, len(full.path or ())) == (3, len(less.path or ()))


@pytest.mark.parametrize(
    ("invariant", "symmetries"),
    [("!ada.hasLeft || !ada.hasRight", 1), ("f.holder != ada || f.waiting != ada", 1)],
)
def test_what_properties_name_stays(invariant: str, symmetries: int) -> None:
    both = _philosophers("left.ask(); right.ask();")
    checks = Checks(invariants=[invariant])
    full, less = (_explored(both, reduce=each, checks=checks) for each in (False, True))
    assert full.verdict == less.verdict
    assert less.symmetries == symmetries


def test_a_property_of_what_is_in_the_middle_lets_sides_be_exchanged() -> None:
    checked = _station("n = 1; " + BOTH)
    for invariant, verdict, expected in (
        ("p.n == 0", "property violated", 2),
        ("p.a == 0 || p.n < 2", "satisfied", 1),
    ):
        checks = Checks(invariants=[invariant], deadlock=False)
        full, less = (_explored(checked, reduce=each, checks=checks) for each in (False, True))
        assert full.verdict == less.verdict == verdict
        assert less.symmetries == expected


def test_whom_a_rebec_knows_stays_if_a_property_reads_that() -> None:
    ring = "Station p(s, q):(); Station q(p, r):(); Station r(q, s):(); Station s(r, p):();"
    checked = _station(BOTH, ring)
    for invariant, expected in (("p.n < 2", 2), ("p.left != p.right", 1)):
        assert len(_system(checked, checks=Checks(invariants=[invariant])).group) == expected


def test_with_an_order_of_rebecs_too() -> None:
    checked = _station("self.go() after(2); n = ?(0, 1); " + BOTH)
    found = {each: _explored(checked, reduce=each) for each in (False, True, "order", "both")}
    assert {each.verdict for each in found.values()} == {"satisfied"}
    assert found["both"].symmetries == found[True].symmetries == 6
    assert found["both"].states < min(found[True].states, found["order"].states)


@pytest.mark.parametrize("engine", ["python", "native"])
@pytest.mark.parametrize(("late", "stands_still"), [("", True), (" after(1)", False)])
def test_a_cycle_without_time_is_not_missed(engine: Any, late: str, stands_still: bool) -> None:
    """What a rebec sends in one state, its image may send in the next one that is followed."""
    checked = check_source(f"""
reactiveclass Lock(6) {{
  statevars {{ boolean taken; }}
  Lock() {{ }}
  msgsrv ask() {{ if (!taken) {{ taken = true; ((Station) sender).pass(); }} }}
}}
reactiveclass Station(6) {{
  knownrebecs {{ Station next; Lock lock; }}
  Station() {{ self.start(); }}
  msgsrv start() {{ lock.ask() after(2); }}
  msgsrv pass() {{ next.pass(){late}; }}
}}
main {{ Station p(q, l):(); Station q(r, l):(); Station r(p, l):(); Lock l():(); }}
""")
    for reduce in (False, True):
        found = _explored(checked, reduce=reduce, engine=engine)
        assert (found.standstill is not None) == stands_still
