"""The races of a scheduler with preemption, as the tutorial finds them."""

from __future__ import annotations

from pathlib import Path

import pytest

from rebecsim.exploration import Checks, TransitionSystem, find_races, pose
from rebecsim.exploration.state_graph import build_graph
from rebecsim.generate import build_model
from rebecsim.lang import check_file, check_source, parse_property_file

pytestmark = pytest.mark.large

RACES = Path(__file__).resolve().parents[3] / "models" / "races"
MIRROR = RACES / "mirror.property"
NATJAM = ("natjam_race.rebeca", "natjam_no_lock.rebeca", "natjam_last_unit.rebeca")


def _natjam(file: str, change: tuple[str, str] = ("", "")) -> dict[tuple[str, ...], str]:
    text = (RACES / file).read_text("utf-8")
    assert change[0] in text
    checked = check_source(text.replace(*change) if change[0] else text)
    properties = parse_property_file(MIRROR)
    found = find_races(build_model(checked), checked=checked, checks=Checks(properties=properties))
    assert not found.bounds
    return {
        tuple(f"{each.rebec}.{each.server}" for each in group.contenders): group.kind
        for group in found.groups
    }


OVERTAKEN = ("am.process", "am.runJob")
NOT_YET = ("rm.tick", "rm.update")
CHECKPOINTS = ("rm.checkPoint", "rm.checkPoint")


def test_with_both_guards_no_race_breaks_the_mirror() -> None:
    assert _natjam("natjam_race.rebeca") == {OVERTAKEN: "results", NOT_YET: "results"}


def test_without_the_lock_two_checkpoints_race() -> None:
    assert _natjam("natjam_no_lock.rebeca") == {
        OVERTAKEN: "inevitable",
        ("am.process", "rm.tick"): "inevitable",
        ("am.runJob", "am.runJob"): "avoidable",
        CHECKPOINTS: "inevitable",
        NOT_YET: "inevitable",
    }


def test_with_the_last_unit_a_job_that_has_ended_is_evicted() -> None:
    assert _natjam("natjam_last_unit.rebeca") == {
        OVERTAKEN: "inevitable",
        ("am.process", "rm.tick"): "inevitable",
        NOT_YET: "inevitable",
    }


def test_a_job_of_one_unit_breaks_the_mirror_whatever_the_guards() -> None:
    kinds = _natjam("natjam_race.rebeca", ("work[2] = 2", "work[2] = 1"))
    assert kinds == {
        OVERTAKEN: "avoidable",
        ("rm.checkPoint", "rm.update"): "inevitable",
        NOT_YET: "avoidable",
    }


@pytest.mark.parametrize("file", NATJAM)
def test_the_counters_of_messages_cannot_be_mistaken(file: str) -> None:
    system = TransitionSystem(build_model(check_file(RACES / file, "timed")))
    graph = build_graph(pose(system.model))
    for state in graph.search.states:
        for position, local in enumerate(state):
            others = [message for message in local.bag if message.sender != position]
            assert len(others) < 4
