"""Leaving out orders that make no difference keeps whether anything goes wrong."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings, strategies as st

from models import ticket_service
from rebecsim.actors import ReplayScheduler
from rebecsim.errors import UserError
from rebecsim.exploration import Checks, Limits, Reduction, Result, explore
from rebecsim.exploration.analysis.footprints import send_graph_of
from rebecsim.generate import build_model
from rebecsim.lang import CheckedModel, check_source
from rebecsim.native.engines import Engine
from rebecsim.simulation import simulate
from tests.examples import dear
from tests.exploration.random_models import SERVERS, Drawn, models
from tests.exploration.test_reduction import RING, office

pytestmark = [pytest.mark.large, pytest.mark.plain]

CLOCKS = """
reactiveclass Clock(3) {
  statevars { int n; }
  Clock() { self.tick(); }
  msgsrv tick() { n = (n + 1) % 2; WRONG self.tick() after(1); }
}
main { Clock a():(); Clock b():(); Clock c():(); Clock d():(); }
"""

TALK = """
reactiveclass Talker(5) {
  knownrebecs { Hearer hearer; }
  statevars { int said; }
  Talker() { self.begin(); }
  msgsrv begin() { said++; hearer.hear(); self.go_on(); }
  msgsrv go_on() { said++; hearer.hear(); self.end(); }
  msgsrv end() { said++; hearer.hear(); }
}
reactiveclass Hearer(9) {
  statevars { int heard; }
  msgsrv hear() { heard++; WRONG }
}
main { Hearer a():(); Hearer b():(); Talker s(a):(); Talker t(b):(); }
"""

BUSY = """
reactiveclass Clock(3) {
  statevars { boolean n; }
  Clock() { self.tick(); }
  msgsrv tick() { n = !n; self.tick(); }
}
reactiveclass Once(3) {
  statevars { int done; }
  Once() { self.act(); }
  msgsrv act() { done++; WRONG }
}
main { Clock a():(); Clock b():(); Once c():(); }
"""

SEND = re.compile(r"\.(ping|pong|tick)\((\w+)\)(?: after\([^)]*\))?( deadline\(\d\))?")


def _explored(checked: CheckedModel, reduce: Reduction, engine: Engine, **options: Any) -> Result:
    model = build_model(checked)
    return explore(model, checked=checked, reduce=reduce, engine=engine, **options)


def _counts(found: Result) -> tuple[Any, ...]:
    return found.verdict, found.states, found.transitions, found.path, found.violations


def _both(checked: CheckedModel, **options: Any) -> tuple[Result, Result]:
    """Explore all orders, and part of them; with both engines, which must agree."""
    full = _explored(checked, False, "native", **options)
    part = _explored(checked, "order", "native", **options)
    assert _counts(part) == _counts(_explored(checked, "order", "python", **options))
    return full, part


def test_clocks_that_know_nobody_go_one_after_the_other() -> None:
    full, part = _both(check_source(CLOCKS.replace("WRONG", "")))
    assert (full.verdict, part.verdict) == ("satisfied", "satisfied")
    assert (full.states, full.transitions) == (30, 65)
    assert (part.states, part.transitions) == (8, 9)


def test_what_goes_wrong_in_any_of_them_is_found_and_is_a_run() -> None:
    checked = check_source(CLOCKS.replace("WRONG", "assertion(n > 0);"))
    full, part = _both(checked, stop_at="all")
    assert full.verdict == part.verdict == "assertion failed"
    assert part.states < full.states
    assert part.path is not None
    assert part.path.run is not None
    steps = len(part.path)
    replayed = simulate(build_model(checked), ReplayScheduler(part.path.run), max_steps=steps)
    assert replayed.is_violation


@pytest.mark.parametrize(
    ("checked", "overflows"),
    [
        pytest.param(office(2), True, id="office"),
        pytest.param(office(3), False, id="office without bounds"),
        pytest.param(check_source(RING), True, id="ring"),
        pytest.param(check_source(RING), False, id="ring without bounds"),
    ],
)
def test_fewer_states_and_the_same_verdict(checked: CheckedModel, overflows: bool) -> None:
    full, part = _both(checked, checks=Checks(overflows=overflows))
    assert full.verdict == part.verdict == "satisfied"
    assert part.states < full.states


@pytest.mark.parametrize("come", ["desk.ask(); }", "ring(); } void ring() { desk.ask(); }"])
def test_a_rebec_that_may_be_sent_something_at_once_does_not_go_first(come: str) -> None:
    checked = check_source(
        """
        reactiveclass Desk(3) {
          statevars { boolean asked; }
          Desk() { self.close(); }
          msgsrv close() { assertion(!asked); }
          msgsrv ask() { asked = true; }
        }
        reactiveclass Guest(2) {
          knownrebecs { Desk desk; }
          Guest() { self.come(); }
          msgsrv come() { COME
        }
        main { Desk desk():(); Guest guest(desk):(); }
        """.replace("COME", come)
    )
    full, part = _both(checked)
    assert full.verdict == part.verdict == "assertion failed"


def test_a_watched_rebec_does_not_go_first() -> None:
    checked = check_source(CLOCKS.replace("WRONG", ""))
    full, part = _both(checked, checks=Checks(invariants=["!(a.n == 1 && b.n == 0)"]))
    assert full.verdict == part.verdict == "property violated"
    _, unwatched = _both(checked)
    _, watched = _both(checked, checks=Checks(invariants=["a.n < 2 && b.n < 2"]))
    assert unwatched.states < watched.states


def test_what_is_sent_at_once_is_read_in_the_text() -> None:
    sendings = send_graph_of(office(2))
    refill, buy = 1, 0
    assert sendings.immediate[0, refill] == frozenset()
    assert sendings.targets[0, refill] == {0}
    assert sendings.immediate[0, buy] == {(1, 1), (2, 1)}
    assert sendings.targets[1, 0] == {0}
    assert sendings.cycle == ()


@pytest.mark.parametrize(
    ("source", "options", "message"),
    [
        (CLOCKS.replace("after(1)", ""), {}, "Clock.tick to Clock.tick may repeat at one time"),
        (CLOCKS, {"mode": "TTS"}, "does not work in the timed transition system"),
        (CLOCKS, {"abstract": ["Clock.n"]}, "variables left out"),
        (CLOCKS.replace("Clock a", "@priority(1) Clock a"), {}, "rebecs have different priorities"),
    ],
)
def test_where_it_is_not_known_to_be_sound(
    source: str, options: dict[str, Any], message: str
) -> None:
    checked = check_source(source.replace("WRONG", ""))
    with pytest.raises(UserError, match=message):
        _explored(checked, "order", "auto", **options)


def test_models_in_python_cannot_be_read() -> None:
    with pytest.raises(UserError, match="needs a model in Rebeca"):
        explore(ticket_service.model, reduce="order")


def _calm(drawn: Drawn) -> str:
    """Let time pass in each cycle of messages, and no rebec go before others."""
    lines = []
    for line in drawn.source.splitlines():
        server = re.search(r"msgsrv (\w+)\(int x\)", line)
        if server is None:
            lines.append(re.sub(r"@priority\(\d\) (First|Second) r", r"\1 r", line))
            continue
        before = SERVERS.index(server[1])

        def calmer(sent: re.Match[str], before: int = before) -> str:
            later = SERVERS.index(sent[1]) > before
            after = "" if later else f" after({1 + before})"
            return f".{sent[1]}({sent[2]}){after}{sent[3] or ''}"

        head, _, body = line.partition("{")
        lines.append(f"{head}{{{SEND.sub(calmer, body)}")
    return "\n".join(lines)


@settings(
    max_examples=dear(1_000, share=40),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
@given(models(core=False))
def test_random_models(drawn: Drawn) -> None:
    checked = check_source(_calm(drawn))
    full = _explored(checked, False, "native", stop_at="all", limits=Limits(states=3_000))
    assume(full.verdict != "undecided" and not full.bounds)
    part = _explored(checked, "order", "native", stop_at="all")
    assert _counts(part) == _counts(_explored(checked, "order", "python", stop_at="all"))
    _require_the_same(part, full)


def _require_the_same(part: Result, full: Result) -> None:
    """Hold the same against a part of the states as against all of them."""
    assert part.states <= full.states
    assert (part.verdict == "satisfied") == (full.verdict == "satisfied")
    kinds = {each.verdict for each in full.violations}
    if "queue overflow" not in kinds:
        assert {each.verdict for each in part.violations} == kinds


@pytest.mark.parametrize("reduce", ["order", "both"])
@settings(
    max_examples=dear(1_000, share=40),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
@given(st.one_of(models(core=True), models(core=True, ring=True)), st.booleans())
def test_random_core_models(reduce: Reduction, drawn: Drawn, overflows: bool) -> None:
    checked = check_source(drawn.source, dialect="core")
    wanted = Checks(overflows=overflows)
    full = _explored(
        checked, False, "native", stop_at="all", checks=wanted, limits=Limits(states=3_000)
    )
    assume(not full.bounds)
    for engine in ("native", "python"):
        part = _explored(checked, reduce, engine, stop_at="all", checks=wanted)
        _require_the_same(part, full)
        _require_a_run(checked, part)


@settings(
    max_examples=dear(1_000, share=40),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
@given(models(core=False, ring=True))
def test_random_rings_with_symmetries(drawn: Drawn) -> None:
    checked = check_source(_calm(drawn))
    full = _explored(checked, False, "native", stop_at="all", limits=Limits(states=3_000))
    assume(full.verdict != "undecided" and not full.bounds)
    for engine in ("native", "python"):
        part = _explored(checked, "both", engine, stop_at="all")
        _require_the_same(part, full)
        _require_a_run(checked, part)


def _require_a_run(checked: CheckedModel, found: Result) -> None:
    """Do the way to what goes wrong again in the model itself."""
    if found.path is None or found.path.run is None or found.verdict == "deadlock":
        return
    steps = max(1, len(found.path))
    again = simulate(build_model(checked), ReplayScheduler(found.path.run), max_steps=steps)
    assert again.outcome == found.verdict


def test_what_nobody_else_sends_to_is_independent_in_core_models() -> None:
    checked = check_source(TALK.replace("WRONG", ""), dialect="core")
    for overflows in (True, False):
        full, part = _both(checked, checks=Checks(overflows=overflows, deadlock=False))
        assert full.verdict == part.verdict == "satisfied"
        assert part.states < full.states / 3
    one_hears = TALK.replace("t(b)", "t(a)").replace("WRONG", "assertion(heard < 6);")
    full, part = _both(check_source(one_hears, dialect="core"))
    assert full.verdict == part.verdict == "assertion failed"


def test_symmetries_and_orders_leave_out_more_than_either() -> None:
    checked = check_source(RING)
    found = [_explored(checked, each, "native").states for each in (False, True, "order", "both")]
    assert found[3] < min(found[1], found[2])
    assert max(found) == found[0]


def test_who_sends_to_itself_for_ever_puts_nobody_off() -> None:
    """In a core model a rebec that always may go first would hide what others do."""
    for wrong, verdict in (("", "satisfied"), ("assertion(done < 1);", "assertion failed")):
        full, part = _both(check_source(BUSY.replace("WRONG", wrong), dialect="core"))
        assert full.verdict == part.verdict == verdict
        assert part.states < full.states
