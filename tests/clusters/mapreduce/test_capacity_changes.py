"""The Capacity Scheduler when parameters or nodes change while it runs."""

from __future__ import annotations

import dataclasses

import pytest

from rebecsim.clusters.mapreduce.job import JobPriority
from rebecsim.clusters.mapreduce.schedulers.capacity_settings import (
    CapacityQueueSettings,
    CapacitySettingsError,
)
from tests.clusters.mapreduce.slots import SlotCluster, capacity, filled, submitted, trackers

TWO = {"a": CapacityQueueSettings(capacity=50), "b": CapacityQueueSettings(capacity=50)}
CAPPED = {name: dataclasses.replace(each, maximum_capacity=50) for name, each in TWO.items()}


def test_parameters_change_while_the_cluster_runs() -> None:
    nodes = trackers(10)
    scheduler = capacity(nodes, [submitted(0, queue="a", maps=50)], CAPPED)
    cluster = SlotCluster(scheduler, nodes)
    assert filled(cluster) == {"user_0": 5}
    scheduler.change({"queue.a.maximum-capacity": 80}, 0)
    assert filled(cluster) == {"user_0": 5}  # still as much as one user may have
    scheduler.change({"mapred.capacity-scheduler.queue.a.user-limit-factor": 2}, 0)
    assert filled(cluster) == {"user_0": 8}
    scheduler.change({"init-poll-interval": 100}, 0)
    assert scheduler.poll_interval == 100_000


def test_priorities_can_be_heeded_from_now_on() -> None:
    nodes = trackers(1)
    jobs = [submitted(0), submitted(1, priority=JobPriority.HIGH)]
    scheduler = capacity(nodes, jobs)
    scheduler.change({"queue.default.supports-priority": True}, 0)
    assert [each.job.job.number for each in SlotCluster(scheduler, nodes).beats()] == [1]


@pytest.mark.parametrize(
    ("parameters", "problem"),
    [
        (
            {"queue.c.capacity": 10},
            "mapred.capacity-scheduler.queue.c.capacity: there is no queue 'c'; known are a, b",
        ),
        (
            {"queue.a.maximum-capacitiy": 10},
            "mapred.capacity-scheduler.queue.a.maximum-capacitiy: queues have no such parameter; "
            "did you mean maximum-capacity?",
        ),
        (
            {"queue.a.capacity": 60},
            "mapred.capacity-scheduler.queue.a.capacity: the capacities of the queues are 110 "
            "percent together, and should be 100 (at least 100, and less than 101)",
        ),
        (
            {"queue.a.maximum-capacity": 40},
            "mapred.capacity-scheduler.queue.a.maximum-capacity: 40 is below the capacity of the "
            "queue, 50; write the capacity at least, or -1 for no maximum",
        ),
    ],
)
def test_a_change_that_cannot_be_meant_changes_nothing(
    parameters: dict[str, object], problem: str
) -> None:
    scheduler = capacity(trackers(10), queues=TWO)
    before = scheduler.settings
    with pytest.raises(CapacitySettingsError) as raised:
        scheduler.change(parameters, 0)
    assert str(raised.value) == problem
    assert scheduler.settings is before


def test_a_node_that_dies_takes_its_slots_along() -> None:
    nodes = trackers(10)
    jobs = [submitted(0, queue="a", maps=50)]
    scheduler = capacity(nodes, jobs, CAPPED)
    for node in nodes[:4]:
        node.alive = False
    scheduler.trackers_changed()
    cluster = SlotCluster(scheduler, nodes)
    assert sum(len(cluster.beat(node, 9)) for node in range(4, 10)) == 3
