"""Settings change when something becomes true of a queue."""

from __future__ import annotations

from pathlib import Path

import pytest

from rebecsim.clusters.mapreduce.cluster_state import QueueTriggers
from rebecsim.clusters.mapreduce.configuration import ChangeTable, QueueCondition
from rebecsim.clusters.mapreduce.inputs import RunSetup
from rebecsim.clusters.mapreduce.scenario import MapReduceScenario
from rebecsim.clusters.mapreduce.tables import RecordedRun
from rebecsim.errors import UserError

CAPS = {
    "queue.long.capacity": 50,
    "queue.long.maximum-capacity": 50,
    "queue.long.user-limit-factor": 2,
    "queue.small.capacity": 50,
    "queue.small.maximum-capacity": 50,
}
BORROW = {
    "when": {"queue": "small", "below": 1},
    "settings": {"queue.long.maximum-capacity": 100},
}
RETURN = {
    "when": {"queue": "small", "above": 0},
    "settings": {"queue.long.maximum-capacity": 50},
}


def scenario(*changes: dict[str, object]) -> MapReduceScenario:
    return MapReduceScenario.model_validate(
        {
            "name": "borrowing",
            "replications": 1,
            "cluster": {"nodes": 4, "map_slots": 2, "reduce_slots": 2},
            "workload": {
                "jobs": [
                    {"family": "long", "maps": 240, "queue": "long"},
                    {"family": "small", "maps": 4, "queue": "small"},
                    {
                        "family": "late",
                        "maps": 4,
                        "queue": "small",
                        "arrivals": {"first": 120.0},
                    },
                ]
            },
            "variants": [
                {
                    "name": "one",
                    "scheduler": "CAPACITY",
                    "settings": CAPS,
                    "changes": list(changes),
                }
            ],
        }
    )


def recorded(*changes: dict[str, object]) -> RecordedRun:
    setup = RunSetup(scenario(*changes), Path(), "one")
    assert not list(setup.require_sense())
    return setup.recorded(0)


def maps_of_long(run: RecordedRun, time: float) -> int:
    """Give how many maps of the long job run at a time (s)."""
    attempts, names = run.measured.attempts, run.measured.jobs.family.tolist()
    (number,) = run.names["job"][[name == "long" for name in names]]
    at = round(time * 1e6)
    mine = (attempts.job == number) & (attempts.kind == 0)
    return int((mine & (attempts.start <= at) & (at < attempts.end)).sum())


def test_long_jobs_have_the_slots_of_the_small_queue_once_it_is_empty() -> None:
    capped, borrowing, giving_back = recorded(), recorded(BORROW), recorded(BORROW, RETURN)
    # Before the small job has ended, after that, and when the late one is there.
    assert [maps_of_long(capped, time) for time in (10, 100)] == [4, 4]
    assert [maps_of_long(borrowing, time) for time in (10, 100)] == [4, 8]
    assert [maps_of_long(giving_back, time) for time in (10, 100)] == [4, 8]
    assert maps_of_long(giving_back, 150) == 4
    ends = [run.measured.jobs.of("long").end[0] for run in (capped, giving_back, borrowing)]
    assert ends == sorted(ends, reverse=True)
    assert len(set(ends)) == 3


def test_a_condition_must_become_true_and_may_again() -> None:
    change = ChangeTable(
        settings={"a": 1}, when=QueueCondition(queue="a", figure="waiting_maps", below=2)
    )
    triggers = QueueTriggers([change, ChangeTable(settings={"a": 1}, at=5)])
    assert list(triggers.due()) == []  # nothing waits from the beginning on
    triggers.add("b", (0, 9, 0))
    triggers.add("a", (1, 3, 0))
    assert list(triggers.due()) == []
    triggers.add("a", (0, -2, 7))
    assert list(triggers.due()) == [change]
    assert list(triggers.due()) == []
    triggers.add("a", (0, 2, 0))
    assert list(triggers.due()) == []
    triggers.add("a", (0, -3, 0))
    assert list(triggers.due()) == [change]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"at": 1.0, "when": BORROW["when"]}, "give either at = SECONDS or when"),
        ({}, "give either at = SECONDS or when"),
        ({"when": {"queue": "small"}}, "give below or above"),
    ],
)
def test_a_change_has_one_time(change: dict[str, object], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        scenario({**change, "settings": BORROW["settings"]})


def test_conditions_are_of_queues_with_jobs() -> None:
    change = {**BORROW, "when": {"queue": "smal", "below": 1}}
    setup = RunSetup(scenario(change), Path(), "one")
    with pytest.raises(UserError, match=r"changes: when.queue: no job goes to queue smal"):
        list(setup.require_sense())
