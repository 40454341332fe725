from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from rebecsim.cli.app import app
from rebecsim.errors import UserError
from rebecsim.exploration import Breach, Checks, Limits, Races, explore, find_races
from rebecsim.exploration.cycles import components
from rebecsim.generate import build_model
from rebecsim.lang import check_source
from rebecsim.report import race_lines, races_conclusion
from tests.examples import dear
from tests.exploration.conformance import entries, load
from tests.exploration.races.first_come import FIRST_COME, kinds_of, races_of

pytestmark = pytest.mark.large

RACES = Path(__file__).resolve().parents[3] / "models" / "races"
MIRROR = RACES / "mirror.property"
NATJAM = ("natjam_race.rebeca", "natjam_no_lock.rebeca", "natjam_last_unit.rebeca")


def _quiet(body: str, again: str = "self.run(who) after(5);", **options: Any) -> Races:
    return races_of(body, again, checks=Checks(deadlock=False), **options)


# --- what comes of a race -------------------------------------------------------------------------


def test_messages_that_commute_are_no_race() -> None:
    found = races_of("met = (met + who) % 3;")
    assert found.groups == ()
    assert found.pairs == found.commuting > 0
    assert not found.is_harmful


def test_a_race_that_is_forgotten_again_joins() -> None:
    found = races_of("winner = who;")
    assert kinds_of(found) == ["joins"]
    assert not found.is_harmful


def test_a_race_that_decides_for_good_leads_to_different_results() -> None:
    found = races_of("if (winner == 0) { winner = who; }")
    (group,) = found.groups
    assert group.kind == "results"
    assert (group.matters, group.is_harmful, found.is_harmful) == (True, False, False)
    assert races_conclusion(found) == "no race is harmful; in 1 of 1 kind the order matters"
    assert [str(each) for each in group.contenders] == ["j.arrived from a", "j.arrived from b"]
    assert [(each.name, each.first, each.second) for each in group.witness.differences] == [
        ("j.winner", 1, 2)
    ]


def test_later_races_cannot_make_up_for_one() -> None:
    """In every round the order may turn it over, so both values can always be reached again."""
    found = races_of("if (who == 2 && met == 1) { winner = 1 - winner; } met = (met + 1) % 2;")
    assert kinds_of(found) == ["results"]


def test_final_states_are_results_too() -> None:
    assert kinds_of(_quiet("winner = who;", again="")) == ["results"]


def test_who_is_busy_at_the_end_is_no_result() -> None:
    assert kinds_of(_quiet("met = 1; delay(who);", again="")) == ["while"]


def test_a_deadlock_that_comes_anyway_is_named() -> None:
    found = races_of("winner = who;", again="", checks=Checks(deadlock=True))
    assert kinds_of(found) == ["results"]
    (wrong,) = found.unexplained
    assert wrong.decision is None
    assert "  it comes whatever is done" in race_lines(found)


def test_an_order_that_violates_at_once_is_shown_with_the_violation() -> None:
    found = _quiet("assertion(who == 1 || winner == 1, `late`); winner = who;".replace("`", '"'))
    (group,) = found.groups
    assert group.kind == "inevitable"
    good, bad = group.witness.orders
    assert good.breach is None
    assert bad.breach == Breach("assertion failed", "late")
    assert group.distance == (1, 0)


def test_an_order_that_can_violate_later_says_what() -> None:
    found = races_of(
        "if (met == 0) { winner = who; } if (met < 9) { met++; } ",
        checks=Checks(invariants=["!(j.met == 9 && j.winner == 2)"]),
    )
    (group,) = found.groups
    assert group.kind == "inevitable"
    first, second = group.witness.orders
    assert (first.breach, first.only) == (None, ())
    broken = Breach("property violated", "!(j.met == 9 && j.winner == 2)")
    assert second.breach == broken
    assert [str(key) for key in second.only] == [
        "property violated: !(j.met == 9 && j.winner == 2)"
    ]


def test_a_violation_that_chance_can_avoid_is_avoidable() -> None:
    found = _quiet(
        'if (winner == 0) { winner = who; } assertion(winner == 1 || ?(true, false), "unlucky");',
        again="",
    )
    (group,) = found.groups
    assert group.kind == "avoidable"


def test_choices_are_compared_as_sets() -> None:
    assert races_of("winner = ?(1, 2);").groups == ()


def test_delays_keep_the_orders_apart_until_they_join() -> None:
    for mode in ("FTTS", "TTS"):
        found = races_of("delay(who); winner = who;", mode=mode)
        (group,) = found.groups
        assert group.kind == "while"
        assert group.distance is not None
        assert 2 < group.distance.time <= 10
        assert not found.is_harmful


def test_choices_of_the_same_messages_are_matched() -> None:
    """Who takes how long is not decided by the order."""
    for mode in ("FTTS", "TTS"):
        assert kinds_of(races_of("delay(?(1, 2));", mode=mode)) == ["while"]


def test_what_is_observed_decides_what_matters() -> None:
    body = "if (winner == 0) { winner = who; } met = who;"
    assert kinds_of(races_of(body, observe=["j.winner"])) == ["observed"]
    assert kinds_of(races_of(body, observe=["j"])) == ["observed"]
    unseen = races_of(body, observe=["a"])
    assert kinds_of(unseen) == ["results"]
    assert not any(group.matters for group in unseen.groups)
    with pytest.raises(UserError, match="j has winner, met, no 'loser'"):
        races_of(body, observe=["j.loser"])
    with pytest.raises(UserError, match="there is no rebec 'k'"):
        races_of(body, observe=["k"])


def test_when_something_is_observed_does_not_matter() -> None:
    assert kinds_of(races_of("delay(1); if (met < 2) { met++; }", observe=["j.met"])) == ["while"]


def test_variables_that_are_ignored_make_no_race() -> None:
    checked = check_source(FIRST_COME.replace("BODY", "winner = who;").replace("AGAIN", ""))
    found = find_races(build_model(checked), checked=checked, abstract=["Judge.winner"])
    assert found.groups == ()
    assert found.abstraction == ("Judge.winner",)


def test_groups_of_interchangeable_rebecs_are_folded() -> None:
    text = """
    reactiveclass Box(9) { statevars { Pen last; }
      msgsrv put() { if (last == null) { last = (Pen) sender; } } }
    reactiveclass Pen(3) { knownrebecs { Box box; } Pen() { self.write(); }
      msgsrv write() { box.put(); } }
    main { Box box():(); Pen a(box):(); Pen b(box):(); Pen c(box):(); }
    """
    checked = check_source(text)
    found = find_races(build_model(checked), checked=checked, checks=Checks(deadlock=False))
    assert [group.id for group in found.groups] == [
        "box.put<a~box.put<b",
        "box.put<a~box.put<c",
        "box.put<b~box.put<c",
    ]
    assert found.alike == ((0, 1, 2),)
    assert "   the same with rebecs exchanged: box.put from a / box.put from c" in race_lines(found)


# --- cases in which the order decides a violation -------------------------------------------------

CYCLIC = """
reactiveclass A(3) { knownrebecs { T t; } A() { self.go(); }
  msgsrv go() { t.close(); self.go() after(2); } }
reactiveclass B(3) { knownrebecs { T t; } B() { self.go(); }
  msgsrv go() { t.use(); self.go() after(2); } }
reactiveclass T(6) { statevars { boolean closed; }
  msgsrv close() { closed = true; self.open() after(1); }
  msgsrv use() { if (closed) { self.fail() after(1); } }
  msgsrv open() { closed = false; }
  msgsrv fail() { assertion(false, "used when closed"); } }
TICKER
main { A a(t):(); B b(t):(); T t():(); MORE }
"""
DOOR = """
reactiveclass Client(3) { knownrebecs { Door d; } Client() { self.go() after(1); }
  msgsrv go() { d.lock(); } }
reactiveclass Door(3) { statevars { boolean locked; } Door() { self.enter() after(1); }
  @priority(2) msgsrv enter() { assertion(!locked, "locked"); }
  @priority(1) msgsrv lock() { locked = true; } }
main { Client c(d):(); Door d():(); }
"""
SEND = """
reactiveclass A(3) { knownrebecs { T t; } A() { self.go(); } msgsrv go() { t.job(); } }
reactiveclass T(1) { T() { self.init(); } msgsrv init() { } msgsrv job() { } }
main { A a(t):(); T t():(); }
"""
MASKED = """
reactiveclass Noise(1) { Noise() { self.hum() after(9); } msgsrv hum() { self.hum(); } }
reactiveclass A(3) { knownrebecs { T t; } A() { self.go(); } msgsrv go() { t.job(); } }
reactiveclass T(1) { T() { self.init(); } msgsrv init() { } msgsrv job() { } }
main { Noise n():(); A a(t):(); T t():(); }
"""


def _of(text: str, **options: Any) -> Races:
    checked = check_source(text)
    return find_races(build_model(checked, "case"), checked=checked, **options)


@pytest.mark.parametrize("mode", ["FTTS", "TTS"])
@pytest.mark.parametrize("ticks", [False, True])
def test_a_race_that_recurs_is_judged_by_what_comes_of_each(mode: Any, ticks: bool) -> None:
    ticker = "reactiveclass K(2) { K() { self.k(); } msgsrv k() { self.k() after(1); } }"
    text = CYCLIC.replace("TICKER", ticker * ticks).replace("MORE", "K k():();" * ticks)
    found = _of(text, mode=mode)
    harmful = [group for group in found.groups if group.matters]
    assert [(group.id, group.kind) for group in harmful] == [("t.close<a~t.use<b", "inevitable")]
    (group,) = harmful
    assert group.distance is not None
    assert group.distance.time == 1
    assert [str(key) for key in group.breaches[0]] == ["assertion failed: t.fail: used when closed"]
    assert group.breaches[1] == ()


@pytest.mark.parametrize("mode", ["FTTS", "TTS"])
def test_messages_that_never_wait_together_can_race(mode: Any) -> None:
    found = _of(DOOR, mode=mode, checks=Checks(deadlock=False))
    (group,) = found.groups
    assert (group.id, group.kind) == ("c.go<c~d.enter<d", "inevitable")
    (swap,) = group.witness.swaps
    assert (swap.rebec, swap.first, swap.second) == ("d", "lock() from c", "enter() from d")


@pytest.mark.parametrize("mode", ["FTTS", "TTS"])
def test_a_send_can_race_against_a_service(mode: Any) -> None:
    found = _of(SEND, mode=mode)
    (group,) = found.groups
    assert (group.id, group.kind) == ("a.go<a~t.init<t", "inevitable")
    assert "! queue overflow: no place for job() in a queue of 1" in "\n".join(
        race_lines(found, 200)
    )


def test_the_producer_races_against_the_consumer() -> None:
    text = (RACES.parent / "teaching" / "producer_consumer.rebeca").read_text("utf-8")
    found = _of(text)
    assert [(group.id, group.is_harmful) for group in found.groups] == [
        ("consumer.item<producer~producer.make<producer", True)
    ]


def test_an_overflow_elsewhere_hides_no_race() -> None:
    found = _of(MASKED)
    (group,) = found.groups
    assert (group.id, group.kind) == ("a.go<a~t.init<t", "inevitable")
    assert [str(key) for key in group.breaches[0]] == ["queue overflow: t.job"]
    assert "queue overflow: n.hum" in [
        *(str(each.key) for each in found.unexplained),
        *(str(key) for key in group.breaches[1]),
    ]


def test_a_constructor_that_violates_is_said(tmp_path: Path) -> None:
    file = tmp_path / "broken.rebeca"
    file.write_text('reactiveclass A(1) { A() { assertion(1 > 2, "no"); } } main { A a():(); }')
    run = CliRunner().invoke
    shown = run(app, ["races", str(file)])
    assert shown.exit_code == 1
    assert "assertion failed: no, in a constructor" in shown.output
    data = json.loads(run(app, ["races", str(file), "--json"]).stdout)
    assert data["in_constructor"] == {
        "verdict": "assertion failed",
        "message": "no, in a constructor",
    }
    for command in (["explore", "--export"], ["draw", "--states", "--out"]):
        there = [command[0], str(file), *command[1:], str(tmp_path / "space.dot")]
        shown = run(app, there)
        assert shown.exit_code == 1, shown.output
        assert "in a constructor" in shown.output
        assert shown.exception is None or isinstance(shown.exception, SystemExit)


def test_texts_have_the_times_of_the_run() -> None:
    text = """
    reactiveclass A(3) { knownrebecs { T t; } A() { self.go() after(1); }
      msgsrv go() { t.slow(); t.quick() deadline(1); self.go() after(9); } }
    reactiveclass T(3) { msgsrv slow() { delay(2); } msgsrv quick() { } }
    main { A a(t):(); T t():(); }
    """
    lines = "\n".join(race_lines(_of(text), 200))
    assert "! deadline missed: quick() with deadline 2 is served at time 3" in lines


def test_a_violation_that_a_choice_decides_is_named() -> None:
    text = """
    reactiveclass A(3) { A() { self.go(); }
      msgsrv go() { if (?(true, false)) { self.bad() after(1); } self.go() after(2); }
      msgsrv bad() { assertion(false, "bad luck"); } }
    main { A a():(); }
    """
    found = _of(text)
    (wrong,) = found.unexplained
    assert str(wrong.key) == "assertion failed: a.bad: bad luck"
    assert wrong.decision is not None
    assert not wrong.decision.by_order
    taken, instead = wrong.decision.taken.steps[-1], wrong.decision.instead.steps[-1]
    assert (taken.server, taken.choices) == ("go", ((0, 2),))
    assert (instead.server, instead.choices) == ("go", ((1, 2),))
    assert found.is_harmful
    lines = list(race_lines(found))
    assert "! assertion failed: bad luck: no race decides it" in lines
    assert races_conclusion(found) == "no races; 1 violation that no race decides"


def test_core_models_have_races_too() -> None:
    text = """
    reactiveclass A(3) { knownrebecs { T t; } A() { self.go(); } msgsrv go() { t.put(); } }
    reactiveclass T(5) { statevars { A last; } msgsrv put() { last = (A) sender; } }
    main { A a(t):(); A b(t):(); T t():(); }
    """
    checked = check_source(text, "core.rebeca", "core")
    found = find_races(build_model(checked), checked=checked, checks=Checks(deadlock=False))
    assert [(group.id, group.kind) for group in found.groups] == [("a.go<a~b.go<b", "results")]


def test_a_regression_test_passes_once_the_run_no_longer_goes_wrong(tmp_path: Path) -> None:
    model = tmp_path / "door.rebeca"
    model.write_text(DOOR)
    test = tmp_path / "test_door.py"
    shown = CliRunner().invoke(app, ["races", str(model), "--as-regression", str(test)])
    assert shown.exit_code == 1
    done: dict[str, Any] = {"__file__": str(test)}
    exec(compile(test.read_text(), str(test), "exec"), done)  # as pytest would
    regression = done["test_door_assertion_failed_no_longer"]
    with pytest.raises(AssertionError):
        regression()
    model.write_text(DOOR.replace("@priority(1) msgsrv lock", "@priority(3) msgsrv lock"))
    regression()


# --- the parts ------------------------------------------------------------------------------------


def test_components_come_after_those_they_lead_to() -> None:
    graph = [[1, 3], [2], [1, 4], [3], []]
    first = [0, 2, 3, 5, 6, 6]
    target = [node for nodes in graph for node in nodes]
    found = [sorted(each) for each in components(first, target, range(5))]
    assert sorted(found) == [[0], [1, 2], [3], [4]]
    assert found.index([4]) < found.index([1, 2]) < found.index([0])
    assert found.index([3]) < found.index([0])


@pytest.mark.parametrize("entry", entries(), ids=lambda entry: entry["file"])
def test_all_that_can_go_wrong_is_explained_or_named(entry: dict[str, Any]) -> None:
    if any(result["verdict"] == "compile error" for result in entry["results"]):
        pytest.skip("no model")
    checked, model = load(entry["file"], entry["language"])
    limits = Limits(states=dear(2_000))
    found = explore(model, checked=checked, limits=limits, stop_at="all")
    races = find_races(model, checked=checked, limits=limits)
    if races.bounds:
        return
    assert races.states == found.states
    named = {key.verdict for group in races.groups for keys in group.breaches for key in keys}
    named |= {each.key.verdict for each in races.unexplained}
    if races.in_constructor is not None:
        named.add(races.in_constructor.verdict)
    assert named == {each.verdict for each in found.violations}
    assert races.is_harmful >= found.is_violation


def test_lines_for_a_terminal_are_no_wider_than_it() -> None:
    found = _of(SEND)
    whole = list(race_lines(found, 60))
    wrapped = list(race_lines(found, 60, wraps=True))
    assert max(map(len, whole)) > 60 >= max(map(len, wrapped))
    assert " ".join(" ".join(wrapped).split()) == " ".join(" ".join(whole).split())
