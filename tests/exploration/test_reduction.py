from __future__ import annotations

from math import factorial
from typing import Any

import pytest

from models import ticket_service
from rebecsim.actors import ReplayScheduler
from rebecsim.errors import UserError
from rebecsim.exploration import (
    BreadthFirst,
    Checks,
    Limits,
    Problem,
    Search,
    TransitionSystem,
    explore,
)
from rebecsim.exploration.reduction import SymmetricSystem
from rebecsim.exploration.symmetry import symmetries
from rebecsim.generate import build_model
from rebecsim.lang import CheckedModel, RebecaError, check_source, parse_property_file
from rebecsim.simulation import simulate
from tests.exploration.conformance import SUITE, entries, load

pytestmark = pytest.mark.large

OFFICE = """
reactiveclass Office(8) {
  statevars { int left; Customer last; }
  Office() { left = 2; self.refill() after(7); }
  msgsrv buy() {
    last = (Customer) sender;
    if (left > 0) { left--; last.ticket(true); } else { last.ticket(false); }
  }
  msgsrv refill() { left = 2; self.refill() after(7); }
}
reactiveclass Customer(5) {
  knownrebecs { Office office; }
  statevars { boolean happy; int wins; }
  Customer() { self.think() after(1); }
  msgsrv think() { office.buy() after(?(1, 2)); }
  msgsrv ticket(boolean ok) { happy = ok; WINS self.think() after(3); }
}
main { Office o():(); CUSTOMERS }
"""

RING = """
reactiveclass Station(4) {
  knownrebecs { Station next; }
  statevars { boolean marked; }
  Station() { self.wake(); }
  msgsrv wake() {
    marked = ?(true, false); if (marked) { next.poke() after(1); } self.wake() after(2);
  }
  msgsrv poke() { marked = !marked; }
}
main { Station a(b):(); Station b(c):(); Station c(d):(); Station d(a):(); }
"""

CORE = """
reactiveclass Lock(4) {
  statevars { boolean taken; }
  Lock() { taken = false; }
  msgsrv ask() {
    if (taken) { ((User) sender).refused(); } else { taken = true; ((User) sender).go(); }
  }
  msgsrv free() { taken = false; }
}
reactiveclass User(3) {
  knownrebecs { Lock lock; }
  statevars { int done; }
  User() { self.start(); }
  msgsrv start() { lock.ask(); }
  msgsrv refused() { self.start(); }
  msgsrv go() { done = (done + 1) % 2; lock.free(); self.start(); }
}
main { Lock l():(); User u(l):(); User v(l):(); User w(l):(); }
"""


def office(customers: int, wins: str = "") -> CheckedModel:
    """Make an office with so many customers; `wins` is done by each that gets a ticket."""
    made = " ".join(f"Customer c{number}(o):();" for number in range(customers))
    return check_source(OFFICE.replace("CUSTOMERS", made).replace("WINS", wins))


def _both(checked: CheckedModel, **options: Any) -> tuple[Any, Any]:
    model = build_model(checked)
    full, less = (
        explore(model, checked=checked, reduce=reduce, **options) for reduce in (False, True)
    )
    return full, less


# --- verdicts -------------------------------------------------------------------------------------


def _cases() -> list[Any]:
    return [
        pytest.param(entry, result, id=f"{entry['file']}-{number}")
        for entry in entries()
        for number, result in enumerate(entry["results"])
        if result["mode"] != "TTS" and result["verdict"] != "compile error"
    ]


@pytest.mark.parametrize(("entry", "result"), _cases())
def test_the_verdicts_of_the_suite_are_preserved(
    entry: dict[str, Any], result: dict[str, Any]
) -> None:
    checked, model = load(entry["file"], entry["language"])
    properties = None
    if "property" in result:
        properties = parse_property_file(SUITE / result["property"])
        if properties.ltl or properties.tctl:
            pytest.skip("temporal formulas are not checked")
    full, less = (
        explore(
            model,
            checked=checked,
            checks=Checks(properties=properties),
            limits=Limits(states=5_000),
            reduce=reduce,
        )
        for reduce in (False, True)
    )
    assert less.verdict == full.verdict
    assert less.states <= full.states
    assert (less.path is None) == (full.path is None)
    if full.path is not None:
        assert len(less.path) == len(full.path)


def test_the_customers_of_the_suite_that_start_together_are_interchangeable() -> None:
    checked, model = load("ticket3.rebeca")
    full = explore(model, checked=checked)
    less = explore(model, checked=checked, reduce=True)
    assert (full.verdict, less.verdict) == ("satisfied", "satisfied")
    assert less.symmetries == 2
    assert full.states / 2 <= less.states < 0.6 * full.states


@pytest.mark.parametrize("customers", [1, 2, 3])
def test_interchangeable_rebecs_reduce_by_nearly_the_number_of_exchanges(customers: int) -> None:
    full, less = _both(office(customers))
    assert (full.verdict, less.verdict) == ("satisfied", "satisfied")
    assert less.symmetries == factorial(customers)
    assert full.states / less.symmetries <= less.states <= full.states


def test_a_ring_can_be_turned_but_not_turned_over() -> None:
    full, less = _both(check_source(RING))
    assert full.verdict == less.verdict == "satisfied"
    assert less.symmetries == 4
    assert full.states / 4 <= less.states < full.states / 3


def test_core_models_too() -> None:
    full, less = _both(check_source(CORE, dialect="core"), checks=Checks(overflows=False))
    assert full.verdict == less.verdict
    assert less.symmetries == 6
    assert less.states < full.states / 3


def test_the_reduced_states_are_one_of_each_orbit() -> None:
    checked = office(3)
    system = TransitionSystem(build_model(checked))
    search = Search(Problem(system))
    BreadthFirst().run(search)
    quotient = SymmetricSystem(system, symmetries(system))
    representatives = {quotient.representative(state)[0] for state in search.states}
    _, less = _both(checked)
    assert len(representatives) == less.states
    assert representatives <= set(search.states)


# --- runs -----------------------------------------------------------------------------------------


def test_the_run_to_a_violation_is_one_of_the_model() -> None:
    checked = office(3, wins="wins = wins + 1; assertion(wins < 3);")
    model = build_model(checked)
    full, less = _both(checked)
    assert full.verdict == less.verdict == "assertion failed"
    assert len(full.path) == len(less.path)
    assert less.path.run is not None
    replayed = simulate(model, ReplayScheduler(less.path.run), max_steps=len(less.path))
    assert replayed.is_violation


# --- properties -----------------------------------------------------------------------------------


def test_a_rebec_that_a_property_names_stays_apart() -> None:
    checked = office(3)
    for invariant, verdict in (
        ("!(c1.happy && o.left == 0)", "property violated"),
        ("o.last != c2", "property violated"),
        ("c1.wins == 0", "satisfied"),
    ):
        full, less = _both(checked, checks=Checks(invariants=[invariant]))
        assert full.verdict == less.verdict == verdict
        assert less.symmetries == 2
        if full.path is not None:
            assert len(full.path) == len(less.path)
            assert less.path.run is not None


def test_a_property_of_the_others_keeps_the_symmetries() -> None:
    full, less = _both(office(3), checks=Checks(invariants=["o.left > 0"]))
    assert full.verdict == less.verdict == "property violated"
    assert less.symmetries == 6


def test_an_unknown_name_is_an_error_with_and_without() -> None:
    checked = office(2)
    with pytest.raises(RebecaError, match="<invariant>:1:1"):
        explore(
            build_model(checked),
            checked=checked,
            checks=Checks(invariants=["c9.happy"]),
            reduce=True,
        )


# --- where it is refused --------------------------------------------------------------------------


def test_it_is_refused_where_it_is_not_known_to_be_sound() -> None:
    checked = office(2)
    model = build_model(checked)
    with pytest.raises(UserError, match="timed transition system"):
        explore(model, checked=checked, mode="TTS", reduce=True)
    with pytest.raises(UserError, match="left out"):
        explore(model, checked=checked, abstract=["Customer.wins"], reduce=True)
    with pytest.raises(UserError, match="Python"):
        explore(ticket_service.model, reduce=True)
