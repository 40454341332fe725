"""Races as far as limits allow, and what the command says then."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from rebecsim.cli.app import app
from rebecsim.errors import UserError
from rebecsim.exploration import Checks, Limits, find_races
from rebecsim.exploration.checks import Meter
from rebecsim.exploration.races import finding
from rebecsim.exploration.races.following import Follower
from rebecsim.exploration.races.futures import futures_of
from rebecsim.exploration.races.step_graph import arrays_of
from rebecsim.generate import build_model
from rebecsim.lang import check_file
from rebecsim.report import race_lines, races_conclusion
from tests.exploration.races.first_come import FIRST_COME, kinds_of, races_of

pytestmark = pytest.mark.large

RACES = Path(__file__).resolve().parents[3] / "models" / "races"
MIRROR = RACES / "mirror.property"
NATJAM = ("natjam_race.rebeca", "natjam_no_lock.rebeca", "natjam_last_unit.rebeca")

# --- bounds ---------------------------------------------------------------------------------------


def test_what_lies_behind_the_bounds_is_not_decided() -> None:
    found = races_of("winner = who; met++;", limits=Limits(states=40))
    assert found.bounds == ("states",)
    assert set(kinds_of(found)) == {"undecided"}
    assert "not everything was looked at" in next(race_lines(found))


def test_what_is_decided_within_the_bounds_stays() -> None:
    found = races_of(
        "winner = who; met++;",
        limits=Limits(horizon=20),
        checks=Checks(invariants=["j.winner != 1 || j.met != 2"]),
    )
    assert found.bounds == ("horizon",)
    (group,) = found.groups
    assert group.is_harmful


def test_no_races_is_never_said_of_a_part() -> None:
    found = races_of("met++;", limits=Limits(states=2))
    first = races_conclusion(found)
    assert "no race was found so far" in first
    assert "there may be others" in first


SLEEPERS = RACES.parent / "teaching" / "solutions" / "leader_election_sleepers.rebeca"


def test_every_kind_of_race_gets_its_share_of_what_is_followed() -> None:
    checked = check_file(SLEEPERS)
    checks = Checks(deadlock=True)
    found = find_races(build_model(checked), checked=checked, checks=checks, most_followed=2_000)
    assert found.bounds == ("pairs",)
    assert found.is_complete
    assert found.unfinished == len(found.groups) == 8
    assert races_conclusion(found).startswith(
        "all races are listed, but 8 of 8 kinds were not followed to the end, so worse may come of "
        "them: the limit of pairs of states to follow was reached (`--max-pairs`); so far "
    )


def test_following_can_be_interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    began: list[bool] = []
    follow = Follower.follow

    def following(*arguments: Any, **options: Any) -> bool:
        began.append(True)
        return follow(*arguments, **options)

    monkeypatch.setattr(Follower, "follow", following)
    checked = check_file(SLEEPERS)
    found = find_races(
        build_model(checked), checked=checked, limits=Limits(is_interrupted=lambda: bool(began))
    )
    assert found.bounds == ("interrupt",)
    assert found.followed < 1_000
    assert found.unfinished == len(found.groups)


@pytest.mark.parametrize("bound", ["interrupt", "seconds"])
def test_races_are_not_begun_any_more_when_the_time_is_used_up(
    monkeypatch: pytest.MonkeyPatch, bound: str
) -> None:
    """Of each kind one is begun, as there is one to be shown."""
    begun: list[Any] = []
    starts = Follower.starts

    def starting(*arguments: Any) -> Any:
        begun.append(arguments)
        return starts(*arguments)

    monkeypatch.setattr(Follower, "starts", starting)
    over: list[bool] = []
    monkeypatch.setattr(Meter, "exceeded", lambda meter, *_: bound if over else None)
    monkeypatch.setattr(
        finding, "futures_of", lambda arrays: over.append(True) or futures_of(arrays)
    )
    checked = check_file(SLEEPERS)
    found = find_races(build_model(checked), checked=checked)
    assert found.bounds == (bound,)
    assert len(begun) == found.unfinished == len(found.groups) == 8
    assert set(kinds_of(found)) == {"undecided"}
    assert sum(group.races for group in found.groups) == 73


def test_a_limit_of_time_is_for_races_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not for finding states only, of whose races nobody hears then."""
    monkeypatch.setattr("rebecsim.exploration.checks.time.perf_counter", time.process_time)
    explored: list[float] = []
    monkeypatch.setattr(
        finding,
        "arrays_of",
        lambda graph: explored.append(graph.search.meter.seconds) or arrays_of(graph),
    )
    followed: list[float] = []
    monkeypatch.setattr(
        finding, "Follower", lambda *given: followed.append(time.process_time()) or Follower(*given)
    )
    checked = check_file(RACES.parent / "benchmarks" / "yarn_fifo4.rebeca")
    begun = time.process_time()
    found = find_races(build_model(checked), limits=Limits(seconds=2), engine="python")
    assert set(found.bounds) == {"seconds"}
    assert 1 <= explored[0] < 1.5
    assert followed[0] - begun < 2


# --- the command ----------------------------------------------------------------------------------


def test_the_command_gives_text_and_json() -> None:
    arguments = ["races", str(RACES / NATJAM[1]), "--property", str(MIRROR)]
    shown = CliRunner().invoke(app, arguments)
    assert shown.exit_code == 1
    assert "! assertion failed: mirror" in shown.output
    data = json.loads(CliRunner().invoke(app, [*arguments, "--json"]).output)
    assert data["harmful"]
    assert {group["kind"] for group in data["groups"]} <= {"inevitable", "avoidable"}
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
