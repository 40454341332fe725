"""What is said of races, against a check by brute force from the definition."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings, strategies as st

from rebecsim.exploration import Checks, Limits, Mode, Races, find_races, pose, state_space
from rebecsim.generate import build_model
from rebecsim.lang import CheckedModel, check_source
from rebecsim.native.engines import Engine
from tests.examples import dear
from tests.exploration.races.brute_races import Brute, TooManyError
from tests.exploration.races.race_models import race_models
from tests.exploration.random_models import Drawn

pytestmark = pytest.mark.large

STATES = 250
ENGINES: tuple[Engine, ...] = ("python", "native")
INVARIANTS = st.sampled_from([[], [], ["r0.a < 2"], ["r0.a < 2 || r1.flag", "!r0.flag"]])


def _kinds(found: Races) -> dict[tuple[Any, ...], tuple[str, int]]:
    return {tuple(map(tuple, each.contenders)): (each.kind, each.races) for each in found.groups}


def _compare(checked: CheckedModel, mode: Mode | None, checks: Checks) -> bool:
    """Compare a model with the check by brute force; False if it is too large for that."""
    model = build_model(checked, "drawn.rebeca")
    space = state_space(
        pose(model, mode=mode, checks=checks, checked=checked),
        Limits(states=STATES),
    )
    if not space.complete:
        return False
    found, natively = (
        find_races(
            model, mode=mode, checks=checks, checked=checked, most_followed=20_000, engine=engine
        )
        for engine in ENGINES
    )
    assert replace(natively, memory=found.memory) == found
    if found.bounds:
        return False
    brute = Brute(space)
    try:
        pairs, commuting, groups = brute.verdicts()
    except TooManyError:
        return False
    assert (found.pairs, found.commuting) == (pairs, commuting)
    assert _kinds(found) == {key: (each.kind, each.races) for key, each in groups.items()}
    explained = set()
    for group in found.groups:
        shown = {(side, str(key)) for side in (0, 1) for key in group.breaches[side]}
        of_brute = groups[tuple(map(tuple, group.contenders))].breaches
        assert shown <= of_brute
        assert bool(shown) == bool(of_brute)
        explained |= {key for _, key in of_brute}
    reachable = {str(key) for keys in space.wrong.values() for key in keys}
    named = {str(each.key) for each in found.unexplained}
    sure = {key for key in reachable if 0 in brute.must(key)}
    assert named - sure == reachable - explained - sure
    met = {str(key) for group in found.groups for keys in group.breaches for key in keys}
    assert named & sure == sure - met
    assert all(str(each.key) in sure for each in found.unexplained if each.decision is None)
    assert found.is_harmful == bool(reachable)
    assert {group.matters for group in found.groups if group.kind == "results"} <= {True}
    return True


def _check(drawn: Drawn, tts: bool, deadlock: bool, invariants: list[str]) -> None:
    dialect: Any = "core" if drawn.core else "timed"
    checked = check_source(drawn.source, "drawn.rebeca", dialect)
    mode: Mode | None = None if drawn.core else "TTS" if tts else "FTTS"
    checks = Checks(deadlock=deadlock, invariants=invariants)
    assume(_compare(checked, mode, checks))


@settings(max_examples=dear(75), suppress_health_check=list(HealthCheck))
@given(drawn=race_models(), tts=st.booleans(), deadlock=st.booleans(), invariants=INVARIANTS)
def test_some_random_models(drawn: Drawn, tts: bool, deadlock: bool, invariants: list[str]) -> None:
    _check(drawn, tts, deadlock, invariants)


@pytest.mark.slow
@settings(max_examples=500, suppress_health_check=list(HealthCheck))
@given(drawn=race_models(), tts=st.booleans(), deadlock=st.booleans(), invariants=INVARIANTS)
def test_many_random_models(drawn: Drawn, tts: bool, deadlock: bool, invariants: list[str]) -> None:
    _check(drawn, tts, deadlock, invariants)


TICKER = {
    True: "reactiveclass Ticker(2) { Ticker() { self.beat(); } msgsrv beat() { self.beat(); } }",
    False: "reactiveclass Ticker(2) { statevars { boolean on; } Ticker() { self.beat(); } "
    "msgsrv beat() { on = !on; self.beat() after(2); } }",
}


def _with_ticker(drawn: Drawn) -> str:
    """Add a rebec that shares nothing with the others."""
    return f"{TICKER[drawn.core]}\n{drawn.source[:-1]}  Ticker ticker():();\n}}"


@settings(max_examples=dear(120), suppress_health_check=list(HealthCheck))
@given(drawn=race_models(), tts=st.booleans())
def test_a_rebec_that_shares_nothing_changes_no_class(drawn: Drawn, tts: bool) -> None:
    # See below: one that goes first may keep the ticker from acting for ever.
    assume("@priority" not in drawn.source.partition("main")[2])
    mode: Mode | None = None if drawn.core else "TTS" if tts else "FTTS"
    found = []
    for source in (drawn.source, _with_ticker(drawn)):
        dialect: Any = "core" if drawn.core else "timed"
        checked = check_source(source, "drawn.rebeca", dialect)
        model = build_model(checked, "drawn.rebeca")
        # A deadlock of the others is none any more.
        checks = Checks(deadlock=False)
        found.append(
            find_races(
                model, mode=mode, checks=checks, checked=checked, limits=Limits(states=4_000)
            )
        )
        assume(not found[-1].bounds)
    alone, beside = found
    kinds = {key: kind for key, (kind, _) in _kinds(alone).items()}
    for key, (kind, _) in _kinds(beside).items():
        if any("ticker" in rebec for rebec, *_ in key):
            assert kind == "joins"
        else:
            assert kind == kinds.pop(key)
    assert not kinds
    assert [str(each.key) for each in alone.unexplained] == [
        str(each.key) for each in beside.unexplained
    ]


ALWAYS_FIRST = """\
reactiveclass First(2) {
  First() { self.go() after(1); }
  msgsrv go() { if (?(true, false)) { self.again(); } }
  msgsrv again() { self.again(); }
}
reactiveclass Sender(2) {
  knownrebecs { First first; }
  Sender() { self.send() after(1); }
  msgsrv send() { first.go(); }
}
reactiveclass Ticker(2) {
  statevars { byte beats; }
  Ticker() { self.beat() after(1); }
  msgsrv beat() { beats = 1; }
}
main { @priority(1) First first():(); Sender s(first):(); Ticker ticker():(); }
"""


def test_one_that_goes_first_for_ever_keeps_another_from_acting() -> None:
    """Nothing is shared but the turn; so there is a way to go on in which the two never join."""
    checked = check_source(ALWAYS_FIRST, "first.rebeca", "timed")
    checks = Checks(deadlock=False)
    assert _compare(checked, "FTTS", checks)
    found = find_races(build_model(checked, "first.rebeca"), checks=checks, checked=checked)
    ((contenders, (kind, _)),) = _kinds(found).items()
    assert {server for _, server, _ in contenders} == {"send", "beat"}
    assert kind == "results"
