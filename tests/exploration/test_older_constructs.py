"""What many models of papers are written with: `initial`, interfaces, sends without `self.`."""

from __future__ import annotations

from typing import Any, Literal

import pytest

from rebecsim.actors import FifoScheduler, Model
from rebecsim.exploration import Checks, explore
from rebecsim.generate import build_model
from rebecsim.lang import CheckedModel, RebecaCheckError, check_source
from rebecsim.simulation import Tracer, simulate

Dialect = Literal["core", "timed"]

INITIAL = """
reactiveclass A(3) {
    knownrebecs { B b; }
    statevars { boolean y; }
    msgsrv initial() { self.go(); }
    msgsrv go() { y = true; b.m(); }
}
reactiveclass B(3) {
    statevars { boolean ready; }
    msgsrv initial() { ready = true; }
    msgsrv m() { }
}
main { A a(b):(); B b():(); }
"""


def built(text: str, dialect: Dialect = "timed") -> tuple[Model, CheckedModel]:
    checked = check_source(text, "model.rebeca", dialect)
    return build_model(checked, "model.rebeca"), checked


def outcome(text: str, *invariants: str, dialect: Dialect = "timed", **options: Any) -> Any:
    model, checked = built(text, dialect)
    checks = Checks(invariants=invariants, deadlock=False)
    return explore(model, checked=checked, checks=checks, **options)


@pytest.mark.parametrize(("dialect", "states", "transitions"), [("core", 7, 9), ("timed", 8, 11)])
def test_initial_is_interleaved_with_the_rest(
    dialect: Dialect, states: int, transitions: int
) -> None:
    """Read as a constructor it would make B ready before everything: 3 states, satisfied."""
    whole = outcome(INITIAL, dialect=dialect)
    assert (whole.verdict, whole.states, whole.transitions) == ("satisfied", states, transitions)
    assert outcome(INITIAL, "!a.y || b.ready", dialect=dialect).verdict == "property violated"


def test_initial_is_told_as_sent_by_main() -> None:
    tracer = Tracer()
    simulate(built(INITIAL)[0], FifoScheduler(), tracer=tracer)
    told = [(event.sender, event.rebec, event.server) for event in tracer.events]
    assert told == [
        ("main", "a", "initial"),
        ("main", "b", "initial"),
        ("a", "a", "go"),
        ("a", "b", "m"),
    ]


def test_rebecs_with_the_same_initial_message_are_exchanged() -> None:
    text = """
    reactiveclass N(3) { knownrebecs { C c; } msgsrv initial() { c.in(); } }
    reactiveclass C(5) { statevars { int n; N last; } msgsrv in() { n++; last = (N) sender; } }
    main { N a(c):(); N b(c):(); N d(c):(); C c():(); }
    """
    assert (outcome(text).states, outcome(text, reduce=True).states) == (35, 10)


def test_what_a_constructor_calls_may_send_to_others() -> None:
    text = """
    reactiveclass Manager(2) {
        knownrebecs { Router router; }
        Manager() { if (sender == null && !(sender instanceof Router)) begin(3); }
        void begin(int wait) { router.go(self) after(wait); }
        msgsrv done() { }
    }
    reactiveclass Router(2) { msgsrv go(Manager who) { who.done(); } }
    main { Manager m(r):(); Router r():(); }
    """
    tracer = Tracer()
    simulate(built(text)[0], FifoScheduler(), tracer=tracer)
    assert [(event.time, event.sender, event.server) for event in tracer.events] == [
        (3, "m", "go"),
        (3, "r", "done"),
    ]


OPEN_END = """
reactiveclass A(2) {
    statevars { int n; }
    A() { go(); }
    boolean wrap() { if (n == 3) { n = 0; return true; } }
    msgsrv go() { n++; wrap(); go() after(1); }
}
main { A a():(); }
"""


def test_a_method_may_end_without_a_value_that_nobody_uses() -> None:
    found = outcome(OPEN_END)
    assert (found.verdict, found.states) == ("satisfied", 3)
    with pytest.raises(RebecaCheckError, match="`wrap` can end without returning a value"):
        built(OPEN_END.replace("wrap(); go", "if (wrap()) n = 0; go"))


DIAMOND = """
interface A { msgsrv m(int x); }
interface B extends A { msgsrv n(); }
interface C extends A { }
interface D extends C, B { }
interface E extends B, C { }
reactiveclass P implements A, B, C(2) { statevars { int x; } msgsrv n() { } msgsrv m(int x) { } }
reactiveclass Q extends P implements E, D, A(2) { msgsrv n() { } }
reactiveclass S(2) {
    knownrebecs { D d; A a; }
    msgsrv initial() { d.m(1); ((B) a).n(); if (a instanceof E) ((E) a).m(?(2, 3)); }
}
main { S s(q, q):(); S t(q, p):(); P p():(); Q q():(); }
"""


def test_interfaces_may_extend_each_other_in_any_order() -> None:
    """Python wants one order of all bases; `q` gets four messages and may hold two."""
    assert outcome(DIAMOND).verdict == "queue overflow"
    assert outcome(DIAMOND.replace("A(2) { msgsrv n", "A(4) { msgsrv n")).verdict == "satisfied"


@pytest.mark.parametrize("dialect", ["core", "timed"])
def test_properties_ask_for_classes(dialect: Dialect) -> None:
    text = """
    interface I { msgsrv m(); }
    reactiveclass A implements I(1) { msgsrv m() { } }
    reactiveclass B(2) {
        knownrebecs { I i; } statevars { I last; }
        msgsrv initial() { last = i; i.m(); }
    }
    main { A a():(); B b(a):(); }
    """
    assert (
        outcome(text, "b.i instanceof A", "a instanceof I", dialect=dialect).verdict == "satisfied"
    )
    assert outcome(text, "!(b.last instanceof I)", dialect=dialect).verdict == "property violated"
    assert outcome(text, "!(b instanceof I)", dialect=dialect).verdict == "satisfied"
