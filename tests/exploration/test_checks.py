from __future__ import annotations

from typing import Any

import pytest

from models import ticket_service
from rebecsim.actors import (
    Instance,
    Int,
    Model,
    ModelError,
    Rebec,
    known_rebec,
    message_server,
    state_variable,
)
from rebecsim.errors import UserError
from rebecsim.exploration import (
    AbstractedVariableError,
    Checks,
    DepthFirst,
    explore,
)
from rebecsim.generate import build_model
from rebecsim.lang import RebecaCheckError, RebecaSyntaxError, check_source, parse_property
from tests.on_demand import OnDemand

COUNTER = """
env int TOP = 3;
reactiveclass C(3) {
  knownrebecs { C other; }
  statevars { int n; boolean odd; byte[3] cells; float half; int misses; C friend; }
  C(int start) { n = start; friend = other; self.tick(); }
  msgsrv tick() {
    n = (n + 1) % 4; odd = n % 2 == 1; cells[n % 3] = (byte) n; half = n / 2.0;
    misses = (misses + 1) % 50;
    self.tick() after(2);
  }
}
main { C a(b):(0); C b(a):(2); }
"""
CHECKED = check_source(COUNTER)
MODEL = build_model(CHECKED)


def _verdict(*invariants: str, **options: Any) -> Any:
    return explore(MODEL, checked=CHECKED, checks=Checks(invariants=invariants), **options)


@pytest.mark.parametrize(
    "invariant",
    [
        "a.n >= 0 && a.n <= TOP",
        "a.odd == (a.n % 2 == 1)",
        "a.half * 2 == a.n",
        "a.friend == b && a.other == b && a.friend != null",
        "a.cells[a.n % 3] == a.n || a.n != b.n",
        "-a.n <= 0 ? true : false",
        "(int) (a.half + 0.5) >= 0",
        "a.n / 2 + a.n % 2 <= 2",
        "(a.n << 1) == a.n * 2 && (a.n & 1) < 2 && !(a.n > TOP)",
    ],
)
def test_invariants_that_hold(invariant: str) -> None:
    assert _verdict(invariant).verdict == "satisfied"


def test_an_invariant_that_does_not_hold() -> None:
    found = _verdict("a.n < TOP", "b.n < 9")
    assert (found.verdict, found.message) == ("property violated", "a.n < TOP")
    assert found.is_violation
    assert found.path is not None
    assert found.path.steps[-1].rebec == "a"


@pytest.mark.parametrize(
    ("invariant", "error", "place"),
    [
        ("a.m > 1", RebecaCheckError, "<invariant>:1:1"),
        ("true && c.n > 1", RebecaCheckError, "<invariant>:1:9"),
        ("a.n + 1", RebecaCheckError, "<invariant>:1:1"),
        ("a.n > ", RebecaSyntaxError, "<invariant>:1:"),
        ("a.n = 1", RebecaCheckError, "<invariant>:1:1"),
        ("__import__", RebecaCheckError, "<invariant>:1:1"),
    ],
)
def test_invariants_that_do_not_fit(invariant: str, error: type[Exception], place: str) -> None:
    with pytest.raises(error) as caught:
        _verdict(invariant)
    assert str(caught.value).startswith(place)


def test_an_invariant_without_a_value_names_the_place() -> None:
    with pytest.raises(UserError, match=r"<invariant>:1:1: the index 3 is outside the array"):
        _verdict("a.cells[a.n] >= 0")
    with pytest.raises(UserError, match=r"<invariant>:1:1: .* in a reachable state"):
        _verdict("10 / a.n >= 0")


def test_python_models_have_names_too() -> None:
    good = Checks(invariants=["ann.tickets <= 2 && office.left >= 0", "ann.office == office"])
    assert explore(ticket_service.model, checks=good).verdict == "satisfied"
    with pytest.raises(RebecaCheckError, match="<invariant>:1:1"):
        explore(ticket_service.model, checks=Checks(invariants=["ann.money > 1"]))


def test_names_in_temporal_formulas_are_checked() -> None:
    formula = "property { define { top = nobody.n == 3; } TCTL { Top: AF(top); } }"
    bad = Checks(properties=parse_property(formula, "f.property"))
    with pytest.raises(RebecaCheckError, match=r"f\.property:1:\d+: "):
        explore(MODEL, checked=CHECKED, checks=bad)


@pytest.mark.parametrize("kind", ["LTL { Top: G(F(top)); }", "TCTL { Top: AF(top); }"])
@pytest.mark.parametrize(("bound", "verdict"), [(3, "satisfied"), (2, "assertion failed")])
def test_a_search_that_is_reduced_does_not_claim_what_was_not_evaluated(
    kind: str, bound: int, verdict: str
) -> None:
    text = (
        f"property {{ define {{ top = a.n == 3; }}\n{kind} Assertion {{ Low: a.n <= {bound}; }} }}"
    )
    checks = Checks(properties=parse_property(text, "f.property"))
    found = explore(MODEL, checked=CHECKED, checks=checks, strategy=DepthFirst())
    assert found.verdict == verdict
    assert found.not_evaluated == (f"f.property:2: {kind.split()[0]} Top",)
    assert found.to_json()["not_evaluated"] == list(found.not_evaluated)
    assert found.has_reservation is (verdict == "satisfied")


# --- abstraction ----------------------------------------------------------------------------------


def test_abstraction_leaves_variables_out() -> None:
    everything = explore(MODEL)
    without = explore(MODEL, abstract=["C.misses"])
    assert without.states < everything.states / 5
    assert without.abstraction == ("C.misses",)
    one = explore(MODEL, abstract=["a.misses"])
    assert one.verdict == without.verdict == "satisfied"


def test_abstraction_of_unknown_or_checked_variables_is_refused() -> None:
    with pytest.raises(UserError, match=r"no 'a\.wins'.*a\.n, a\.odd"):
        explore(MODEL, abstract=["a.wins"])
    with pytest.raises(AbstractedVariableError, match=r"<invariant>:1:1: a\.misses"):
        _verdict("a.misses < 3", abstract=["C.misses"])


# --- checks that can be switched off --------------------------------------------------------------


class Sender(Rebec, queue_size=2):
    sink: Sink = known_rebec()
    sent: int = state_variable(Int)

    def __init__(self) -> None:
        self.go()

    @message_server
    def go(self) -> None:
        self.sent += 1
        self.sink.take(deadline=1)
        if self.sent < 3:
            self.go()


class Sink(Rebec, queue_size=2):
    taken: int = state_variable(Int)

    @message_server
    def take(self) -> None:
        self.taken += 1
        self.delay(1)


FLOOD = Model("flood", (Instance("sender", Sender, knows=["sink"]), Instance("sink", Sink)))


@pytest.mark.parametrize("mode", ["FTTS", "TTS"])
def test_checks_can_be_switched_off_one_by_one(mode: Any) -> None:
    def verdicts(**checks: Any) -> set[str]:
        found = explore(FLOOD, mode=mode, checks=Checks(**checks), stop_at="all")
        return {violated.verdict for violated in found.violations}

    assert "queue overflow" in verdicts()
    assert verdicts(overflows=False) == {"deadline missed"}
    assert verdicts(overflows=False, deadlines=False, deadlock=True) == {"deadlock"}
    done = "sink.taken == 3 && sender.sent == 3"
    assert verdicts(overflows=False, deadlines=False, terminal=["sink.taken == 2"]) == {"deadlock"}
    assert not verdicts(overflows=False, deadlines=False, terminal=[done])
    assert not verdicts(overflows=False, deadlines=False)


def test_all_violations_come_with_a_path_and_a_count() -> None:
    found = explore(FLOOD, stop_at="all")
    assert len(found.violations) > 1
    for violated in found.violations:
        assert violated.count >= 1
        assert violated.path is not None
        assert violated.path.breach == (violated.verdict, violated.message)


def test_times_in_messages_are_those_of_the_run() -> None:
    model = build_model(
        check_source(
            """
            reactiveclass A(3) {
              A() { self.go() after(5); }
              msgsrv go() { delay(4); self.late() after(0) deadline(0); delay(3); }
              msgsrv late() { }
            }
            main { A a():(); }
            """
        )
    )
    assert explore(model).message == "late() with deadline 9 is served at time 12"
    assert explore(model, mode="TTS").message == "late() with deadline 9 is served at time 12"


# --- models that cannot be explored ---------------------------------------------------------------


class Peeking(Rebec, queue_size=2):
    friend: Peeking = known_rebec()
    x: int = state_variable(Int)

    def __init__(self) -> None:
        self.go()

    @message_server
    def go(self) -> None:
        self.x = self.friend.x
        self.go(after=1)


class Meddling(Peeking):
    @message_server
    def go(self) -> None:
        self.friend.x = 1


class Growing(Peeking):
    @message_server
    def go(self) -> None:
        self.extra = 1


class Hoarding(Peeking):
    @message_server
    def go(self) -> None:
        self.x = {1, 2}


@pytest.mark.parametrize(
    ("reactive_class", "text"),
    [
        (Peeking, r"Peeking\.go of a uses `x` of b: rebecs share nothing"),
        (Meddling, r"Meddling\.go of a uses `x` of b"),
        (Growing, "a: a message server makes or deletes an attribute"),
        (Hoarding, "a: `x`: a set cannot be part of a state"),
    ],
)
def test_models_that_share_or_hide_state_are_refused(
    reactive_class: type[Rebec], text: str
) -> None:
    instances = (
        Instance("a", reactive_class, knows=["b"]),
        Instance("b", reactive_class, knows=["a"]),
    )
    with pytest.raises(ModelError, match=text):
        explore(Model("pair", instances))


def test_modes_fit_models() -> None:
    with pytest.raises(UserError, match="timed model"):
        explore(FLOOD, mode="core")


def test_a_constructor_that_fails_is_a_verdict() -> None:
    text = "reactiveclass A(1) { A() { self.go(); self.go(); } msgsrv go() { } } main { A a():(); }"
    found = explore(build_model(check_source(text)))
    assert (found.verdict, found.states) == ("queue overflow", 0)
    assert "in a constructor" in found.message


# --- on demand ------------------------------------------------------------------------------------


def test_exploring_by_hand() -> None:
    space = OnDemand(ticket_service.model)
    assert len(space) == 1
    (first,) = space.successors(space.roots[0])
    assert (first.step.rebec, first.step.server, first.state) == ("ann", "think", 1)
    seen = {0}
    pending = [0]
    while pending:
        for successor in space.successors(pending.pop()):
            assert successor.state is not None
            if successor.state not in seen:
                seen.add(successor.state)
                pending.append(successor.state)
    assert len(seen) == len(space) == explore(ticket_service.model).states
    assert space.variables(1)["ann"] == {"tickets": 0, "asking": True}
    assert space.path(1).steps[0] == first.step
    assert space.time(max(seen)) >= 0
    with pytest.raises(IndexError):
        space.successors(len(space))
