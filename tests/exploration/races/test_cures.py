"""Cures of races: what each changes in a model, and what exploring says of it."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import pytest

from rebecsim.exploration import Checks, Limits, Races
from rebecsim.exploration.races.cures import Cures, RaceCures, RaceQuery, Tried, try_cures
from rebecsim.lang import check_source

pytestmark = pytest.mark.large

QUIET = Checks(deadlock=False)


def _asked(source: str, asked: RaceQuery, dialect: Any = "timed") -> tuple[Races, Cures]:
    checked = check_source(source, "model.rebeca", dialect)
    found = asked.races(checked, "model")
    return found, try_cures(checked, found, asked)


@cache
def _cures(source: str, dialect: Any) -> Cures:
    return _asked(source, RaceQuery(checks=QUIET), dialect)[1]


def _of(source: str, *, dialect: Any = "timed", checks: Checks | None = None) -> RaceCures:
    """Try the cures of a model with one kind of harmful race."""
    if checks is None:
        cures = _cures(source, dialect)
    else:
        _, cures = _asked(source, RaceQuery(checks=checks), dialect)
    (only,) = cures.of_races
    return only


def _outcomes(cures: RaceCures) -> dict[str, str]:
    return {each.id: each.outcome for each in cures.tried}


def _one(cures: RaceCures, name: str) -> Tried:
    (found,) = (each for each in cures.tried if each.id == name)
    return found


def _anywhere(source: str, name: str, *, dialect: Any = "timed") -> Tried:
    """Give what came of a cure for the first race that it was tried for."""
    races = _cures(source, dialect).of_races
    return next(each for race in races for each in race.tried if each.id == name)


def _plain(source: str) -> str:
    return " ".join(source.split())


# --- priorities -----------------------------------------------------------------------------------

DOOR = """
reactiveclass Client(3) {
  knownrebecs { Door door; }
  Client() { self.go() after(1); }
  msgsrv go() { door.lock(); }
}
reactiveclass Door(3) {
  statevars { boolean locked; }
  Door() { self.enter() after(1); }
  @priority(2) msgsrv enter() { assertion(!locked, "locked"); }
  @priority(1) msgsrv lock() { locked = true; }
}
main { Client client(door):(); Door door():(); }
"""


def test_a_priority_for_what_changes_places_at_the_receiver() -> None:
    tried = _of(DOOR)
    outcomes = _outcomes(tried)
    assert outcomes["priority-door.enter-before-door.lock"] == "removes"
    assert outcomes["priority-door.lock-before-door.enter"] == "n/a"
    cured = _one(tried, "priority-door.enter-before-door.lock")
    assert "@priority(0) msgsrv enter()" in _plain(cured.source)
    assert "@priority(1) msgsrv lock()" in _plain(cured.source)
    assert cured.found == ("satisfied",)


def test_a_priority_of_rebecs_only_hides_what_it_decides_the_wrong_way() -> None:
    tried = _of(DOOR)
    outcomes = _outcomes(tried)
    assert outcomes["priority-door-before-client"] == "removes"
    wrong = _one(tried, "priority-client-before-door")
    assert wrong.outcome == "hides"
    assert wrong.found == ("still reachable: assertion failed: door.enter: locked",)
    assert "@priority(1) Client client(door)" in wrong.source
    assert outcomes["global-door.enter-before-client.go"] == "removes"
    assert outcomes["global-client.go-before-door.enter"] == "hides"


FAMILY = """
env int HIGH = 1;
reactiveclass Base(9) {
  statevars { int last; }
  @priority(HIGH) msgsrv one() { assertion(last == 0); last = 1; }
  @priority(3) msgsrv two() { last = 2; }
}
reactiveclass Derived extends Base(9) {
  Derived() { self.three(); self.four(); }
  @priority(2) msgsrv three() { last = 3; }
  @priority(2) msgsrv four() { assertion(last == 3, "four first"); }
}
main { Derived d():(); }
"""


def test_other_orders_stay_as_they_are() -> None:
    tried = _of(FAMILY)
    cured = _one(tried, "priority-d.three-before-d.four")
    assert cured.outcome == "removes"
    # 1 is taken by another message server, so those from 2 on make room
    found = re.findall(r"@priority\((\w+)\) msgsrv (\w+)", _plain(cured.source))
    assert sorted(found) == [("2", "three"), ("3", "four"), ("4", "two"), ("HIGH", "one")]


def test_one_message_server_has_one_priority() -> None:
    tried = _of(
        """
        reactiveclass Judge(5) {
          statevars { int winner; }
          msgsrv arrived(int who) { if (winner == 0) { winner = who; } }
        }
        reactiveclass Runner(3) {
          knownrebecs { Judge judge; }
          Runner(int who) { self.run(who); }
          msgsrv run(int who) { judge.arrived(who) after(2); self.run(who) after(5); }
        }
        main { Judge j():(); Runner a(j):(1); Runner b(j):(2); }
        """
    )
    assert tried.race.kind == "results"
    assert set(_outcomes(tried).values()) == {"n/a"}
    assert tried.best is None
    assert "one message server" in tried.tried[0].found[0]


TWO_SENDERS = """
reactiveclass A(3) { knownrebecs { T t; } A() { self.go(); } msgsrv go() { t.set(); } }
reactiveclass B(3) { knownrebecs { T t; } B() { self.go(); } msgsrv go() { t.use(); } }
reactiveclass T(2) {
  statevars { boolean ready; }
  msgsrv set() { ready = true; }
  msgsrv use() { assertion(ready, "not ready"); }
}
main { A a(t):(); B b(t):(); T t():(); }
"""


def test_core_has_no_priorities_but_guards() -> None:
    source = TWO_SENDERS.replace("T(2)", "T(3)")
    found = _anywhere(source, "priority-a-before-b", dialect="core")
    assert (found.outcome, found.found) == ("n/a", ("Core Rebeca has no priorities",))
    cured = _anywhere(source, "guard-t.use-first-set", dialect="core")
    assert cured.outcome == "removes"
    assert cured.source.startswith("// rebeca: core\n")
    assert check_source(cured.source).dialect == "core"


# --- atomic message servers -----------------------------------------------------------------------

ACCOUNT = """
reactiveclass Account(5) {
  statevars { int money; int read; }
  Account() { money = 10; }
  msgsrv withdraw(int sum) { read = money; if (read >= sum) { self.pay(sum); } }
  msgsrv pay(int sum) {
    int rest = read - sum;
    money = money - sum;
    assertion(money >= 0, "overdrawn");
    money = rest;
  }
}
reactiveclass User(3) {
  knownrebecs { Account account; }
  User() { self.go(); }
  msgsrv go() { account.withdraw(6); }
}
main { Account account():(); User ann(account):(); User bob(account):(); }
"""


def test_a_message_to_oneself_is_done_at_once() -> None:
    tried = _of(ACCOUNT)
    cured = _one(tried, "atomic-account.pay")
    assert cured.outcome == "removes"
    assert (
        "if (read >= sum) { int sum2 = sum; int rest = read - sum2; money = money - sum2; "
        'assertion(money >= 0, "overdrawn"); money = rest; }'
    ) in _plain(cured.source)


HOST = """
reactiveclass A(9) {{
  statevars {{ int x; int n; }}
  A() {{ self.go(); self.other(); }}
  msgsrv go() {{ {go} }}
  msgsrv then(int k) {{ {then} }}
  msgsrv other() {{ x = x + 5; }}
}}
main {{ A a():(); }}
"""


@pytest.mark.parametrize(
    ("go", "then", "expected"),
    [
        # the argument is worked out where the message was sent, and the rest comes before
        ("n = 1; self.then(n); n = 2;", "assertion(x == 0 && k == 1);", "int k = n; n = 2;"),
        ("int k = 1; self.then(k);", "assertion(x < k);", "int k2 = k; assertion(x < k2);"),
        ("self.then(0); self.then(1);", "assertion(x < 5);", "int k = 0; int k2 = 1;"),
        ("self.then(0) after(0);", "int n = k; assertion(x + n < 5);", "int n = k;"),
        # what is no local variable keeps its name
        ("int y = 3; self.then(y);", "n = k; assertion(x < 5);", "int k = y; n = k;"),
        ("if (x < 9) self.then(1); else x = 0;", "assertion(x < 5);", "{ int k = 1;"),
    ],
)
def test_where_it_is_put(go: str, then: str, expected: str) -> None:
    cured = _anywhere(HOST.format(go=go, then=then), "atomic-a.then")
    assert cured.outcome != "n/a", cured.found
    assert expected in _plain(cured.source)


@pytest.mark.parametrize(
    ("go", "then", "why"),
    [
        ("self.then(1) deadline(3);", "assertion(x > 4);", "or `deadline`"),
        ("self.then(1);", "assertion(x > 4); return;", "has a `return`"),
        ("self.then(1);", "assertion(x + currentMessageWaitingTime > 4);", "reads `currentM"),
        ("for (int i = 0; i < 2; i++) { self.then(i); }", "assertion(x > 4);", "branch or loop"),
        ("if (x < 9) { self.then(1); } n++;", "assertion(x > 4);", "branch or loop"),
        ("self.then(1);", "assertion(x > 4); if (k > 0) { self.then(0); }", "never end"),
    ],
)
def test_where_it_cannot_be_put(go: str, then: str, why: str) -> None:
    found = _anywhere(HOST.format(go=go, then=then), "atomic-a.then")
    assert found.outcome == "n/a"
    assert why in found.found[0]


def test_what_comes_later_is_not_done_at_once() -> None:
    source = HOST.format(go="self.then(1) after(1);", then="assertion(x < 5);")
    found = _anywhere(source.replace("self.other();", "self.other() after(1);"), "atomic-a.then")
    assert (found.outcome, found.found) == ("n/a", ("A sends it with `after` or `deadline` only",))


def test_what_a_constructor_may_not_do_is_not_put_there() -> None:
    found = _one(
        _of(
            """
            reactiveclass Boss(3) {
              knownrebecs { Worker worker; }
              Boss() { self.go(); }
              msgsrv go() { worker.job(); }
            }
            reactiveclass Worker(1) {
              Worker() { self.init(); }
              msgsrv init() { }
              msgsrv job() { }
            }
            main { Boss boss(worker):(); Worker worker():(); }
            """
        ),
        "atomic-boss.go",
    )
    assert (found.outcome, found.found) == ("n/a", ("a constructor may send to self only",))


def test_what_a_class_of_rebecs_does_otherwise_is_not_moved() -> None:
    source = ACCOUNT.replace(
        "reactiveclass User(3)",
        """reactiveclass Slow extends Account(5) {
          Slow() { super(); }
          msgsrv pay(int sum) { }
        }
        reactiveclass User(3)""",
    )
    found = _anywhere(source, "atomic-account.pay")
    assert (found.outcome, found.found) == ("n/a", ("Slow has a pay of its own",))
    # a priority stands where the text of the message server does
    assert _anywhere(source, "priority-account.pay-before-account.withdraw").outcome == "removes"


BOTH = """
reactiveclass Client(3) {
  knownrebecs { Door door; }
  statevars { int n; }
  Client() { self.go(); }
  msgsrv go() { n = (n + 1) % 2; door.lock(n); door.enter(n, 7); self.go() after(1); }
}
reactiveclass Door(6) {
  statevars { int locked; int m; }
  msgsrv lock(int n) { int a = n; locked = a; }
  msgsrv enter(int n, int m) { int a = n; assertion(locked == a && m == 7, "wrong"); }
}
main { Client c(door):(); Door door():(); }
"""


def test_two_messages_become_one() -> None:
    tried = _of(BOTH)
    cured = _one(tried, "atomic-door.enter-and-lock")
    assert cured.outcome == "removes"
    plain = _plain(cured.source)
    assert "door.lockAndEnter(n, n, 7);" in plain
    assert (
        "msgsrv lockAndEnter(int n2, int n, int m) { int a2 = n2; locked = a2; int a = n; "
        'assertion(locked == a && m == 7, "wrong"); }'
    ) in plain


def test_a_receiver_that_may_be_of_another_class_gets_two_messages() -> None:
    source = BOTH.replace("{ Door door; }", "{ Enterable door; }").replace(
        "reactiveclass Door(6)", "reactiveclass Door implements Enterable(6)"
    )
    promised = "interface Enterable { msgsrv lock(int n); msgsrv enter(int n, int m); }"
    found = _anywhere(promised + source, "atomic-door.enter-and-lock")
    assert (found.outcome, found.found) == (
        "n/a",
        ("c does not send them one directly after the other",),
    )


def test_messages_that_nobody_has_sent() -> None:
    found = _anywhere(
        """
        reactiveclass A(5) {
          knownrebecs { T t; }
          msgsrv initial() { t.use(); }
        }
        reactiveclass T(5) {
          statevars { boolean ready; }
          msgsrv initial() { ready = true; }
          msgsrv use() { assertion(ready, "not ready"); }
        }
        main { A a(t):(); T t():(); }
        """,
        "guard-t.use-first-initial",
    )
    assert found.outcome == "removes"


# --- guards ---------------------------------------------------------------------------------------

ROUNDS = """
reactiveclass A(3) {
  knownrebecs { T t; }
  A() { self.go(); }
  msgsrv go() { t.close(); self.go() after(2); }
}
reactiveclass B(3) {
  knownrebecs { T t; }
  B() { self.go(); }
  msgsrv go() { t.use(WHO); self.go() after(2); }
}
reactiveclass T(6) {
  statevars { boolean closed; boolean useServed; }
  msgsrv close() { closed = true; self.open() after(1); }
  msgsrv use(int who) { if (closed) { self.fail() after(1); } }
  msgsrv open() { closed = false; }
  msgsrv fail() { assertion(false, "used when closed"); }
}
main { A a(t):(); B b(t):(); T t():(); }
""".replace("WHO", "1")


def test_a_guard_that_holds_in_every_round() -> None:
    tried = _of(ROUNDS)
    outcomes = _outcomes(tried)
    # the second round is a race again
    assert outcomes["guard-t.close-first-use"] == "no help"
    # neither priority helps where messages also come one at a time
    assert outcomes["priority-t.use-before-t.close"] == "hides"
    cured = _one(tried, "guard-t.close-each-use")
    assert cured.outcome == "removes"
    plain = _plain(cured.source)
    assert "boolean useServed; boolean useServed2; }" in plain
    assert (
        "msgsrv close() { if (!useServed2) { self.close(); return; } useServed2 = false; "
        "closed = true;"
    ) in plain
    assert "msgsrv use(int who) { useServed2 = true; if (closed)" in plain


def test_a_guard_that_waits_for_what_never_comes_is_worse() -> None:
    tried = _of(ACCOUNT)
    cured = _one(tried, "guard-account.withdraw-first-pay")
    assert cured.outcome == "worse"
    assert cured.violations == ()
    assert cured.found == ("account.withdraw is never done any more",)
    again = _one(tried, "guard-account.pay-each-withdraw")
    assert (again.outcome, *again.found) == ("worse", "account.pay may come too early for ever")


LATE = """
reactiveclass Setter(3) {
  knownrebecs { Tool tool; }
  Setter() { self.go(); }
  msgsrv go() { tool.set() after(?(1, 2)); }
}
reactiveclass User(3) {
  knownrebecs { Tool tool; }
  User() { self.go(); }
  msgsrv go() { tool.use() after(1); }
}
reactiveclass Tool(3) {
  statevars { boolean ready; }
  msgsrv set() { ready = true; }
  msgsrv use() { assertion(ready, "not ready"); }
}
main { Setter setter(tool):(); User user(tool):(); Tool tool():(); }
"""


def test_what_comes_later_can_only_be_waited_for_later() -> None:
    outcomes = _outcomes(_of(LATE))
    assert outcomes["priority-tool.set-before-tool.use"] == "hides"
    assert outcomes["guard-tool.use-first-set"] == "worse"  # time does not pass
    cured = _one(_of(LATE), "guard-tool.use-later-set")
    assert cured.outcome == "removes"
    assert "{ if (!setServed) { self.use() after(1); return; } assertion" in _plain(cured.source)


@pytest.mark.parametrize(
    ("send", "use", "why"),
    [
        ("t.use(1) deadline(9);", "if (closed)", "has a deadline"),
        ("t.use(1);", "if (closed && sender != self)", "reads `sender`"),
    ],
)
def test_a_message_that_cannot_be_put_back(send: str, use: str, why: str) -> None:
    source = ROUNDS.replace("t.use(1);", send).replace("if (closed)", use)
    tried = _of(source)
    found = _one(tried, "guard-t.use-each-close")
    assert found.outcome == "n/a"
    assert why in found.found[0]
    assert _one(tried, "guard-t.use-drop-close").outcome != "n/a"


# --- worse, undecided, interrupted ----------------------------------------------------------------


def test_a_cure_that_lets_a_queue_overflow_is_worse() -> None:
    found = _anywhere(TWO_SENDERS, "guard-t.use-first-set")
    # the message in work keeps its place while it is put back
    assert (found.outcome, found.found) == ("worse", ("queue overflow: t.use",))
    assert _anywhere(TWO_SENDERS.replace("T(2)", "T(3)"), found.id).outcome == "removes"


def test_a_priority_that_lets_a_message_wait_for_ever_is_worse() -> None:
    found = _anywhere(
        """
        reactiveclass A(5) {
          statevars { boolean going; }
          A() { self.again(); self.finish(); }
          msgsrv again() { going = true; self.again(); }
          msgsrv finish() { assertion(!going, "still going"); }
        }
        main { A a():(); }
        """,
        "priority-a.again-before-a.finish",
    )
    assert found.violations == ()
    assert (found.outcome, found.found) == ("worse", ("a.finish may wait for ever",))


def test_limits_hold_for_each_cure() -> None:
    checked = check_source(ROUNDS, "model.rebeca")
    found = RaceQuery(checks=QUIET).races(checked, "model")
    cures = try_cures(checked, found, RaceQuery(checks=QUIET, limits=Limits(states=6)))
    outcomes = _outcomes(cures.of_races[0])
    assert outcomes["guard-t.close-each-use"] == "undecided"
    assert "removes" not in outcomes.values()


def test_an_interrupt_leaves_the_rest_undecided() -> None:
    checked = check_source(ROUNDS, "model.rebeca")
    found = RaceQuery(checks=QUIET).races(checked, "model")
    cures = try_cures(
        checked, found, RaceQuery(checks=QUIET, limits=Limits(is_interrupted=lambda: True))
    )
    assert cures.is_interrupted
    assert set(_outcomes(cures.of_races[0]).values()) <= {"undecided", "n/a"}


def test_only_one_race_is_tried_if_it_is_named() -> None:
    checked = check_source(ACCOUNT, "model.rebeca")
    asked = RaceQuery(checks=QUIET)
    found = asked.races(checked, "model")
    assert len(found.groups) == 2
    assert [each.race for each in try_cures(checked, found, asked).of_races] == [found.groups[0]]
    name = found.groups[1].id
    assert [each.race.id for each in try_cures(checked, found, asked, name).of_races] == [name]
