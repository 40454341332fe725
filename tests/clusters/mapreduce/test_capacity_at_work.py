"""The Capacity Scheduler in whole clusters, with devices and mishaps: no rule is ever broken."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from rebecsim.clusters.mapreduce.cluster import run_mapreduce
from rebecsim.clusters.mapreduce.configuration import (
    ChangeTable,
    ClusterTable,
    MapReduceConfiguration,
    Speculation,
    VariationTable,
)
from rebecsim.clusters.mapreduce.job import MapReduceJob, TrackerSlots
from rebecsim.clusters.mapreduce.schedulers.capacity import CapacityTaskScheduler
from rebecsim.clusters.mapreduce.schedulers.scheduler import TaskScheduler
from tests.clusters.mapreduce.capacity_rules import broken_rules
from tests.clusters.mapreduce.recorded_capacity import (
    AttemptEnded,
    Configured,
    Heartbeat,
    RecordedScheduler,
    WaitsAgain,
)
from tests.clusters.mapreduce.simple import failing

SECOND = 1_000_000
SETTINGS = {
    "queue.long.capacity": 60,
    "queue.long.maximum-capacity": 80,
    "queue.long.minimum-user-limit-percent": 25,
    "queue.short.capacity": 40,
    "queue.short.user-limit-factor": 2,
    "maximum-system-jobs": 8,
}


def jobs() -> list[MapReduceJob]:
    return [
        MapReduceJob(
            number,
            "x",
            f"user_{number % 3}",
            "short" if number % 3 else "long",
            number * 2 * SECOND,
            (2**24,) * (2 if number % 3 else 20),
            number % 2 + 1,
        )
        for number in range(10)
    ]


def decided(configuration: MapReduceConfiguration, **settings: object) -> RecordedScheduler:
    made: list[RecordedScheduler] = []

    def build(trackers: Sequence[TrackerSlots]) -> TaskScheduler:
        setup = CapacityTaskScheduler.with_parameters({**SETTINGS, **settings})
        scheduler = setup.build(trackers)
        assert isinstance(scheduler, CapacityTaskScheduler)
        made.append(RecordedScheduler(scheduler))
        return made[0]

    run_mapreduce(jobs(), configuration, build, seed=3)
    return made[0]


def cluster(**others: object) -> MapReduceConfiguration:
    return MapReduceConfiguration(
        ClusterTable(nodes=6, racks=2, map_slots=2, reduce_slots=1, expiry=20, replication=2),
        **others,  # type: ignore[arg-type]
    )


@pytest.mark.parametrize(
    ("configuration", "seen"),
    [
        (cluster(), Heartbeat),
        (cluster(failures=failing((1, 20, 90))), WaitsAgain),
        (
            cluster(
                variation=VariationTable(slow_nodes=0.2, node_slowdown=4.0),
                speculation=Speculation(patience=1.0),
            ),
            AttemptEnded,
        ),
        (
            cluster(
                changes=(ChangeTable(at=30, settings={"queue.long.maximum-capacity": 60}),),
            ),
            Configured,
        ),
    ],
    ids=["quiet", "failure", "backups", "change"],
)
def test_no_rule_is_broken(configuration: MapReduceConfiguration, seen: type) -> None:
    scheduler = decided(configuration)
    assert not list(broken_rules(scheduler.decisions))
    least = 2 if seen is Configured else 1
    assert sum(isinstance(each, seen) for each in scheduler.decisions) >= least


def test_backups_are_given_and_counted() -> None:
    scheduler = decided(
        cluster(
            variation=VariationTable(slow_nodes=0.2, node_slowdown=8.0),
            speculation=Speculation(patience=1.0),
        )
    )
    beats = [each for each in scheduler.decisions if isinstance(each, Heartbeat)]
    assert any(given.speculative for beat in beats for given in beat.given)
