"""Laws of cures for races: what brute force says of drawn models is what is said of the cure."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings, strategies as st

from rebecsim.exploration import (
    Checks,
    Contender,
    Limits,
    Mode,
    Races,
    find_races,
    pose,
    state_space,
)
from rebecsim.exploration.races.cures import RaceQuery, try_cures
from rebecsim.exploration.races.cures.atomic import inline_self_sends, merge_sends
from rebecsim.exploration.races.cures.trying import violations
from rebecsim.generate import build_model
from rebecsim.lang import CheckedModel, check_source, print_model
from tests.examples import dear
from tests.exploration.races.brute_races import Brute, TooManyError
from tests.exploration.races.race_models import race_models
from tests.exploration.races.test_cures import ACCOUNT, QUIET
from tests.exploration.random_models import Drawn

pytestmark = pytest.mark.large
STATES = 150
_HARMFUL = ("inevitable", "avoidable", "results")


def _drawn(drawn: Drawn, tts: bool, checks: Checks) -> tuple[CheckedModel, Races, RaceQuery]:
    dialect: Any = "core" if drawn.core else "timed"
    mode: Mode | None = None if drawn.core else "TTS" if tts else "FTTS"
    checked = check_source(drawn.source, "drawn.rebeca", dialect)
    asked = RaceQuery(mode=mode, checks=checks, limits=Limits(states=STATES), most_followed=3_000)
    found = asked.races(checked, "drawn")
    assume(
        found.is_decided
        and any(each.matters for each in found.groups)
        and found.in_constructor is None
    )
    return checked, found, asked


def _check_removed(drawn: Drawn, tts: bool, deadlock: bool) -> None:
    """What a cure is said to remove is gone by brute force."""
    checks = Checks(deadlock=deadlock)
    checked, found, asked = _drawn(drawn, tts, checks)
    reachable = set(map(str, violations(found)))
    for each in try_cures(checked, found, asked).of_races:
        mine = {str(key) for keys in each.race.breaches for key in keys}
        for one in each.tried:
            if one.outcome != "removes":
                continue
            cured = check_source(one.source, "cured.rebeca", checked.dialect)
            space = state_space(
                pose(build_model(cured, "cured"), mode=asked.mode, checks=checks, checked=cured),
            )
            wrong = {str(key) for keys in space.wrong.values() for key in keys}
            assert not wrong & mine
            if one.kind != "atomic":  # there a message server of another name may fail
                assert wrong <= reachable
            try:
                pairs, commuting, groups = Brute(space).verdicts()
            except TooManyError:
                continue
            assert pairs >= commuting
            verdict = groups.get(tuple(map(tuple, each.race.contenders)))
            assert verdict is None or verdict.kind not in _HARMFUL


@settings(max_examples=dear(24), deadline=None, suppress_health_check=list(HealthCheck))
@given(drawn=race_models(), tts=st.booleans(), deadlock=st.booleans())
def test_what_a_cure_removes_is_gone_by_brute_force(
    drawn: Drawn, tts: bool, deadlock: bool
) -> None:
    _check_removed(drawn, tts, deadlock)


@pytest.mark.slow
@settings(max_examples=dear(160), deadline=None, suppress_health_check=list(HealthCheck))
@given(drawn=race_models(), tts=st.booleans(), deadlock=st.booleans())
def test_many_times_what_a_cure_removes_is_gone_by_brute_force(
    drawn: Drawn, tts: bool, deadlock: bool
) -> None:
    _check_removed(drawn, tts, deadlock)


def _check_added(drawn: Drawn, tts: bool) -> None:
    """What only takes orders away adds no violation: priorities and atomic message servers.

    That holds where no message is late, none goes first anyway, and queues have no bounds. What
    failed in the message server that a constructor sends may fail in the constructor instead.
    """
    source = re.sub(r"@priority\(\d\) |delay\([^;]*;", "", drawn.source)
    checks = Checks(deadlock=False, overflows=False)
    checked, found, asked = _drawn(Drawn(source, drawn.core), tts, checks)
    failures = {(key.verdict, key.rebec, key.text) for key in violations(found)}
    failures |= {(verdict, "", "in a constructor") for verdict, _, _ in failures}
    for each in try_cures(checked, found, asked).of_races:
        for one in each.tried:
            if one.kind != "guard" and one.source:
                left = {(key.verdict, key.rebec, key.text) for key in one.violations}
                assert left <= failures, one.source


@settings(max_examples=dear(24), deadline=None, suppress_health_check=list(HealthCheck))
@given(drawn=race_models(), tts=st.booleans())
def test_what_only_takes_orders_away_adds_no_violation(drawn: Drawn, tts: bool) -> None:
    _check_added(drawn, tts)


@pytest.mark.slow
@settings(max_examples=dear(160), deadline=None, suppress_health_check=list(HealthCheck))
@given(drawn=race_models(), tts=st.booleans())
def test_many_times_what_only_takes_orders_away_adds_no_violation(drawn: Drawn, tts: bool) -> None:
    _check_added(drawn, tts)


_DONE = (
    "x = k;",
    "x = (x + y) % 3;",
    "y = (y + 2 * k) % 3;",
    "if (x > 0) { int w = x; y = w; }",
    "{ int y = k; x = y; }",
    "if (k > 0) { x = 2; }",
)
"""What message servers with a parameter `k` do; a local variable hides a field of that name."""


@st.composite
def split_models(draw: st.DrawFn) -> str:
    """Draw a model with a message that a rebec sends itself, and two that are sent together."""

    def some(*more: str) -> str:
        return " ".join(draw(st.lists(st.sampled_from([*_DONE, *more]), max_size=2)))

    argument = st.sampled_from(["x", "k", "1", "x + k", "z"])
    now = st.sampled_from(["", " after(0)"])
    send = f"self.then({draw(argument)}){draw(now)};"
    send = draw(st.sampled_from([send, f"if (x < 2) {{ {send} {some()} }}"]))
    rest = some() if not send.startswith("if") else ""
    first, second = draw(st.permutations(["then", "other"]))
    after = draw(st.sampled_from(["", " after(1)"]))
    return f"""
    reactiveclass A(9) {{
      statevars {{ int x; int y; }}
      A() {{ self.go(1); {draw(st.sampled_from(["", "self.other(1);"]))} }}
      msgsrv go(int k) {{ int z = k; {some("y = z;")} {send} {rest} }}
      msgsrv then(int k) {{ int z = x + k; {some("y = z % 3;")} }}
      msgsrv other(int k) {{ {some()} int z = y; {some("x = z;")} }}
    }}
    reactiveclass B(5) {{
      knownrebecs {{ A a; }}
      B(int n) {{ self.go(n); }}
      msgsrv go(int n) {{ a.{first}(n){after}; a.{second}(n + 1){after}; }}
    }}
    main {{ A a():(); B b(a):(1); B c(a):(0); }}
    """


def _values(checked: CheckedModel, tts: bool) -> set[tuple[Any, ...]]:
    """Give the values that all variables have together at some time."""
    _, graph = RaceQuery(mode="TTS" if tts else "FTTS").graph(checked, "drawn")
    return {tuple(local.variables for local in state) for state in graph.search.states}


@settings(max_examples=dear(80), deadline=None, suppress_health_check=list(HealthCheck))
@given(source=split_models(), tts=st.booleans())
def test_what_is_done_at_once_could_be_done_one_behind_the_other(source: str, tts: bool) -> None:
    checked = check_source(source, "drawn.rebeca")
    before = _values(checked, tts)
    sent = [Contender("a", each, "b") for each in ("then", "other")]
    for proposal in (
        inline_self_sends(checked, Contender("a", "then", "a")),
        merge_sends(checked, *sent),
    ):
        cured = check_source(print_model(proposal.make().tree), "cured.rebeca")
        assert cured.tree != checked.tree
        assert _values(cured, tts) <= before


def test_the_races_of_the_printed_model_are_those_of_the_model() -> None:
    checked, asked = check_source(ACCOUNT, "model.rebeca"), RaceQuery(checks=QUIET)
    found = asked.races(checked, "model")
    printed = check_source(try_cures(checked, found, asked).source, "printed.rebeca")
    again = find_races(build_model(printed, "printed"), checked=printed, checks=QUIET)
    assert [each.id for each in again.groups] == [each.id for each in found.groups]
