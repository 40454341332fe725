from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from rebecsim.cli import app
from rebecsim.errors import UserError
from rebecsim.explore import Breach, Checks, Limits, TransitionSystem, explore, find_races
from rebecsim.explore.exploring import pose
from rebecsim.explore.futures import components, futures
from rebecsim.explore.races import Races
from rebecsim.explore.state_graph import build_graph
from rebecsim.generate import build_model
from rebecsim.lang import check_file, check_source, parse_property_file
from rebecsim.report.race_text import race_lines
from tests.explore.conformance import entries, load

pytestmark = pytest.mark.large

RACES = Path(__file__).resolve().parents[2] / "models" / "races"
MIRROR = RACES / "mirror.property"
NATJAM = ("natjam_race.rebeca", "natjam_no_lock.rebeca", "natjam_last_unit.rebeca")

FIRST_COME = """
reactiveclass Judge(5) {
  statevars { int winner; int met; }
  Judge() { winner = 0; }
  msgsrv arrived(int who) { BODY }
}
reactiveclass Runner(3) {
  knownrebecs { Judge judge; }
  Runner(int who) { self.run(who); }
  msgsrv run(int who) { judge.arrived(who) after(2); AGAIN }
}
main { Judge j():(); Runner a(j):(1); Runner b(j):(2); }
"""


def _races(body: str, again: str = "self.run(who) after(5);", **options: Any) -> Races:
    checked = check_source(FIRST_COME.replace("BODY", body).replace("AGAIN", again))
    return find_races(build_model(checked, "judge"), checked=checked, **options)


def _kinds(races: Races) -> list[str]:
    return [group.kind for group in races.groups]


# --- what comes of a race -------------------------------------------------------------------------


def test_messages_that_commute_are_no_race() -> None:
    found = _races("met = (met + who) % 3;")
    assert found.groups == ()
    assert found.pairs == found.commuting > 0
    assert not found.is_harmful


def test_a_race_that_is_forgotten_again_joins() -> None:
    found = _races("winner = who;")
    assert _kinds(found) == ["joins"]
    assert not found.is_harmful


def test_a_race_that_decides_for_good_leads_to_different_results() -> None:
    found = _races("if (winner == 0) { winner = who; }")
    (group,) = found.groups
    assert group.kind == "results"
    assert found.is_harmful
    assert [str(each) for each in group.contenders] == ["arrived from a", "arrived from b"]
    assert [(each.name, each.first, each.second) for each in group.witness.differences] == [
        ("j.winner", 1, 2)
    ]


def test_final_states_are_results_too() -> None:
    found = _races("winner = who;", again="", checks=Checks(deadlock=False))
    assert _kinds(found) == ["results"]


def test_a_deadlock_after_both_orders_is_no_difference() -> None:
    assert _kinds(_races("winner = who;", again="")) == ["results"]
    assert _kinds(_races("met = met + 1;", again="")) == []


def test_an_order_that_violates_at_once_is_shown_with_the_violation() -> None:
    found = _races("assertion(who == 1 || winner == 1, `late`); winner = who;".replace("`", '"'))
    (group,) = found.groups
    assert group.kind == "violation"
    good, bad = group.witness.orders
    assert good.breach is None
    assert bad.breach == Breach("assertion failed", "late")


def test_an_order_that_can_violate_later_says_what() -> None:
    found = _races(
        "if (met == 0) { winner = who; } if (met < 9) { met++; } ",
        checks=Checks(invariants=["!(j.met == 9 && j.winner == 2)"]),
    )
    (group,) = found.groups
    assert group.kind == "violation"
    first, second = group.witness.orders
    assert (first.breach, first.only) == (None, ())
    assert second.only == (Breach("property violated", "!(j.met == 9 && j.winner == 2)"),)


def test_choices_are_compared_as_sets() -> None:
    assert _races("winner = ?(1, 2);").groups == ()


def test_delays_keep_the_orders_apart_until_they_join() -> None:
    for mode in ("FTTS", "TTS"):
        found = _races("delay(who); winner = who;", mode=mode)
        assert _kinds(found) == ["joins"]


def test_variables_that_are_ignored_make_no_race() -> None:
    checked = check_source(FIRST_COME.replace("BODY", "winner = who;").replace("AGAIN", ""))
    found = find_races(build_model(checked), checked=checked, abstract=["Judge.winner"])
    assert found.groups == ()
    assert found.abstraction == ("Judge.winner",)


# --- bounds ---------------------------------------------------------------------------------------


def test_what_lies_behind_the_bounds_is_not_decided() -> None:
    found = _races("winner = who; met++;", limits=Limits(states=40))
    assert found.bounds == ("states",)
    assert _kinds(found) == ["undecided"]
    assert "not everything was looked at" in list(race_lines(found))[-1]


def test_what_is_decided_within_the_bounds_stays() -> None:
    found = _races(
        "winner = who; met++;",
        limits=Limits(horizon=20),
        checks=Checks(invariants=["j.winner != 1 || j.met != 2"]),
    )
    assert found.bounds == ("horizon",)
    (group,) = found.groups
    assert group.kind == "violation"


def test_no_races_is_never_said_of_a_part() -> None:
    found = _races("met++;", limits=Limits(states=3))
    last = list(race_lines(found))[-1]
    assert "no race was found so far" in last
    assert "there may be others" in last


# --- the parts ------------------------------------------------------------------------------------


def test_components_come_after_those_they_lead_to() -> None:
    graph = [[1, 3], [2], [1, 4], [3], []]
    found = [sorted(each) for each in components(graph)]
    assert sorted(found) == [[0], [1, 2], [3], [4]]
    assert found.index([4]) < found.index([1, 2]) < found.index([0])
    assert found.index([3]) < found.index([0])


@pytest.mark.parametrize("entry", entries(), ids=lambda entry: entry["file"])
def test_the_graph_and_the_futures_agree_with_exploration(entry: dict[str, Any]) -> None:
    if any(result["verdict"] == "compile error" for result in entry["results"]):
        pytest.skip("no model")
    checked, model = load(entry["file"], entry["language"])
    limits = Limits(states=2_000)
    found = explore(model, checked=checked, limits=limits, stop_at="all")
    graph = build_graph(pose(model, checked=checked), limits=limits)
    coming = futures(graph)
    assert (len(graph.edges), graph.search.transitions) == (found.states, found.transitions) or (
        graph.search.bounds
    )
    reached = {breach.verdict for breach in coming.named(coming.of_state[0])}
    assert reached == {each.verdict for each in found.violations}


# --- Natjam-R -------------------------------------------------------------------------------------


def _natjam(file: str, change: tuple[str, str] = ("", "")) -> dict[tuple[str, ...], str]:
    text = (RACES / file).read_text("utf-8")
    assert change[0] in text
    checked = check_source(text.replace(*change) if change[0] else text)
    properties = parse_property_file(MIRROR)
    found = find_races(build_model(checked), checked=checked, checks=Checks(properties=properties))
    assert not found.bounds
    return {
        (group.rebec, *sorted(each.server for each in group.contenders)): group.kind
        for group in found.groups
    }


def test_with_both_guards_no_race_breaks_the_mirror() -> None:
    assert _natjam("natjam_race.rebeca") == {
        ("am", "process", "runJob"): "results",
        ("rm", "tick", "update"): "results",
    }


def test_without_the_lock_two_checkpoints_race() -> None:
    assert _natjam("natjam_no_lock.rebeca") == {
        ("am", "process", "runJob"): "violation",
        ("am", "runJob", "runJob"): "results",
        ("rm", "checkPoint", "checkPoint"): "violation",
        ("rm", "tick", "update"): "violation",
    }


def test_with_the_last_unit_a_job_that_has_ended_is_evicted() -> None:
    assert _natjam("natjam_last_unit.rebeca") == {
        ("am", "process", "runJob"): "violation",
        ("rm", "tick", "update"): "violation",
    }


def test_a_job_of_one_unit_breaks_the_mirror_whatever_the_guards() -> None:
    kinds = _natjam("natjam_race.rebeca", ("work[2] = 2", "work[2] = 1"))
    assert kinds["rm", "checkPoint", "update"] == "violation"


@pytest.mark.parametrize("file", NATJAM)
def test_the_counters_of_messages_cannot_be_mistaken(file: str) -> None:
    system = TransitionSystem(build_model(check_file(RACES / file, "timed")))
    graph = build_graph(pose(system.model))
    for state in graph.search.states:
        for position, local in enumerate(state):
            others = [message for message in local.bag if message.sender != position]
            assert len(others) < 4


# --- the command ----------------------------------------------------------------------------------


def test_the_command_gives_text_and_json() -> None:
    arguments = ["races", str(RACES / NATJAM[1]), "--property", str(MIRROR)]
    shown = CliRunner().invoke(app, arguments)
    assert shown.exit_code == 1
    assert "! assertion failed: mirror" in shown.output
    data = json.loads(CliRunner().invoke(app, [*arguments, "--json"]).output)
    assert data["harmful"]
    assert {group["kind"] for group in data["groups"]} == {"violation", "results"}
    for group in data["groups"]:
        assert all(order["steps"] for order in group["witness"]["orders"])


def test_the_exit_code_says_whether_anything_is_left_open(tmp_path: Path) -> None:
    file = tmp_path / "judge.rebeca"
    file.write_text(
        FIRST_COME.replace("BODY", "winner = who;").replace("AGAIN", "self.run(who) after(5);")
    )
    assert CliRunner().invoke(app, ["races", str(file)]).exit_code == 0
    assert CliRunner().invoke(app, ["races", str(file), "--max-states", "4"]).exit_code == 3


def test_bad_input_is_an_error() -> None:
    model = check_file(RACES / NATJAM[0], "timed")
    with pytest.raises(UserError, match="<invariant>:1:1"):
        find_races(build_model(model), checked=model, checks=Checks(invariants=["rm.job == 1"]))
    with pytest.raises(UserError, match="abstraction"):
        find_races(build_model(model), checked=model, abstract=["rm.job"])
