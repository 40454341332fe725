"""No rule of the Capacity Scheduler is ever broken, in clusters and workloads of any kind."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable
from random import Random

import pytest
from hypothesis import given, settings, strategies as st

from rebecsim.clusters.mapreduce.job import JobInProgress, JobPriority
from rebecsim.clusters.mapreduce.schedulers.capacity import PLACES, CapacityTaskScheduler
from rebecsim.clusters.mapreduce.schedulers.capacity_queues import CapacityQueue, SlotUsage
from rebecsim.clusters.mapreduce.schedulers.capacity_settings import (
    CapacityQueueSettings,
    CapacitySettings,
    CappedSlots,
    OffSwitchRule,
    QueueOrder,
    SlotLimits,
)
from rebecsim.clusters.mapreduce.schedulers.scheduler import by_submission
from tests.clusters.mapreduce.capacity_rules import broken_rules
from tests.clusters.mapreduce.recorded_capacity import Heartbeat, RecordedScheduler
from tests.clusters.mapreduce.slots import MAP, REDUCE, SlotCluster, submitted, trackers
from tests.examples import dear

CAPACITIES = ((100,), (50, 50), (80, 20), (40, 35, 25))


def parameters(random: Random) -> CapacitySettings:
    of_queues = {}
    for name, percent in zip("abc", random.choice(CAPACITIES), strict=False):
        tasks = random.choice([12, 20, 200_000])
        of_queues[name] = CapacityQueueSettings(
            capacity=percent,
            maximum_capacity=random.choice([-1, percent, min(100, percent + 20)]),
            minimum_user_limit_percent=random.choice([100, 50, 25, 10]),
            user_limit_factor=random.choice([1, 1.5, 2, 10]),
            supports_priority=random.random() < 0.5,
            maximum_initialized_active_tasks=tasks,
            maximum_initialized_active_tasks_per_user=random.choice([11, tasks]),
            init_accept_jobs_factor=random.choice([1, 10]),
        )
    return CapacitySettings(
        queues=of_queues,
        maximum_system_jobs=random.choice([2, 4, 3000]),
        maximum_tasks_per_heartbeat=random.choice([1, 2, 32767]),
        maximum_tasks_after_offswitch=random.choice([0, 1]),
        off_switch_rule=random.choice(list(OffSwitchRule)),
        node_locality_delay=random.choice([0, 2]),
        queue_order=random.choice(list(QueueOrder)),
        capped_slots=random.choice(list(CappedSlots)),
    )


def workload(random: Random, queues: list[str], nodes: int, racks: int) -> list[JobInProgress]:
    return [
        submitted(
            number,
            user=f"user_{random.randrange(4)}",
            queue=random.choice(queues),
            maps=(maps := random.choice([1, 2, 5, 9])),
            reduces=random.choice([0, 0, 1, 3]),
            priority=random.choice(list(JobPriority)),
            hosts=[tuple(random.sample(range(nodes), min(2, nodes))) for _ in range(maps)],
            racks=[node % racks for node in range(nodes)],
        )
        for number in range(random.randint(1, 12))
    ]


def fail_some(cluster: SlotCluster, random: Random) -> None:
    """Let an attempt fail now and then."""
    if cluster.running and random.random() < 0.1:
        cluster.end(random.choice(cluster.running), fails=True)


def node_dies(cluster: SlotCluster, number: int) -> None:
    """Let a node die with all that runs there."""
    cluster.nodes[number].alive = False
    for entry in [each for each in cluster.running if each[2] == number]:
        cluster.end(entry, fails=True)
    cluster.scheduler.trackers_changed()


def played(
    of: CapacitySettings, nodes: int, racks: int, jobs: list[JobInProgress], random: Random
) -> RecordedScheduler:
    """Run jobs that come one after the other; a node may die, and limits may change."""
    slots = trackers(nodes, random.randint(1, 3), random.randint(1, 2), racks)
    total = sum(each.slots[MAP] for each in slots), sum(each.slots[REDUCE] for each in slots)
    wide = {  # for each queue a slot at least
        name: dataclasses.replace(
            each,
            maximum_capacity=-1
            if each.maximum_capacity * min(total) < 100
            else each.maximum_capacity,
        )
        for name, each in of.queues.items()
    }
    scheduler = RecordedScheduler(
        CapacityTaskScheduler(slots, dataclasses.replace(of, queues=wide))
    )
    cluster = SlotCluster(scheduler, slots)
    order = list(range(nodes))
    for job in jobs:
        cluster.submit(job)
        for _ in range(random.randrange(3)):
            scheduler.poll(cluster.now)
        random.shuffle(order)
        for node in order:
            if slots[node].alive:
                cluster.beat(node, random.randint(1, 4))
        fail_some(cluster, random)
        cluster.pass_time(random.randrange(3))
    if nodes > 1 and random.random() < 0.3:
        node_dies(cluster, random.randrange(nodes))
    if random.random() < 0.3:
        queue = random.choice(list(of.queues))
        scheduler.change({f"queue.{queue}.minimum-user-limit-percent": 50}, cluster.now)
    cluster.run(random)
    return scheduler


@settings(max_examples=dear(1000, share=25))
@given(st.integers(0, 2**32), st.integers(1, 6), st.integers(1, 3))
def test_no_rule_is_ever_broken(seed: int, nodes: int, racks: int) -> None:
    random, racks = Random(seed), min(racks, nodes)
    of = parameters(random)
    jobs = workload(random, list(of.queues), nodes, racks)
    scheduler = played(of, nodes, racks, jobs, random)
    assert not list(broken_rules(scheduler.decisions))


# the checker finds what is wrong: each rule broken in the scheduler

Wrong = Callable[[pytest.MonkeyPatch], None]


def no_maximum(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(SlotUsage, "is_full", lambda _: False)


def no_user_limit(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(SlotLimits, "user_limit", lambda *_: 10**9)


def no_hard_limit(patch: pytest.MonkeyPatch) -> None:
    right = SlotLimits.user_limit
    patch.setattr(
        SlotLimits,
        "user_limit",
        lambda limits, *now: right(limits._replace(of_user=10**9), *now),
    )


def strict_maximum(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(SlotUsage, "is_full", lambda usage: usage.occupied + 1 >= usage.limits.maximum)


def fullest_queue_first(patch: pytest.MonkeyPatch) -> None:
    right = SlotUsage.ratio
    patch.setattr(SlotUsage, "ratio", lambda usage: -right(usage))


def smallest_backlog_first(patch: pytest.MonkeyPatch) -> None:
    patch.setitem(PLACES, QueueOrder.BACKLOG, lambda usage: usage.backlog)


def last_job_first(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(
        "rebecsim.clusters.mapreduce.schedulers.scheduler.by_submission",
        lambda job: (0, 0, -by_submission(job)[2]),
    )


def all_accepted(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(CapacityQueue, "_refusal", lambda *_: None)


def nobody_initialised_late(patch: pytest.MonkeyPatch) -> None:
    right = CapacityQueue.initialise
    patch.setattr(CapacityQueue, "initialise", lambda queue: queue.initialised or right(queue))


WRONG: dict[Wrong, str] = {
    no_maximum: r"queue \w got a \w+ slot above its maximum",
    no_user_limit: r"user \w+ of queue \w got a slot above the limit",
    no_hard_limit: r"user \w+ of queue \w got a slot above the limit",
    strict_maximum: r"job_\d+ was not given a free \w+ slot of node \d",
    fullest_queue_first: r"job_\d+ was given a \w+ slot before job_\d+",
    smallest_backlog_first: r"job_\d+ was given a \w+ slot before job_\d+",
    last_job_first: r"job_\d+ was given a \w+ slot before job_\d+",
    all_accepted: r"job_\d+ was accepted, against the limits of queue \w",
    nobody_initialised_late: r"queue \w initialised none, not job_.*",
}


@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: wrong.__name__)
def test_the_checker_finds_a_rule_that_is_broken(
    wrong: Wrong, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong(monkeypatch)
    factor = 1 if wrong is all_accepted else 10
    queues = {
        name: CapacityQueueSettings(
            capacity=50,
            maximum_capacity=75,
            minimum_user_limit_percent=50,
            user_limit_factor=0.5,
            init_accept_jobs_factor=factor,
        )
        for name in "ab"
    }
    order = QueueOrder.BACKLOG if wrong is smallest_backlog_first else QueueOrder.CAPACITY
    of = CapacitySettings(
        queues=queues, maximum_system_jobs=8 if factor == 1 else 3000, queue_order=order
    )
    slots = trackers(4, 2, 2)
    scheduler = RecordedScheduler(CapacityTaskScheduler(slots, of))
    cluster = SlotCluster(scheduler, slots)
    for number in range(12):
        queue, user = "ab"[number > 8], f"user_{number % 4}"
        cluster.submit(submitted(number, user=user, queue=queue, maps=9, reduces=2))
        if number % 2:
            scheduler.poll(0)
            cluster.beats(lasts=4)
    for _ in range(12):
        cluster.pass_time()
        cluster.beats(lasts=4)
    found = list(broken_rules(scheduler.decisions))
    assert found

    assert any(re.fullmatch(WRONG[wrong], each) for each in found), found[:5]


def test_the_checker_finds_what_a_heartbeat_gives_too_much() -> None:
    slots = trackers(1, 4, 4)
    scheduler = RecordedScheduler(CapacityTaskScheduler(slots))
    cluster = SlotCluster(scheduler, slots)
    cluster.submit(submitted(0, maps=9, reduces=3))
    scheduler.poll(0)
    cluster.beat(0)
    (last,) = [each for each in scheduler.decisions if isinstance(each, Heartbeat)]
    again = last.given[0]._replace(number=5)
    scheduler.decisions[-1] = dataclasses.replace(last, given=(*last.given, again))
    assert list(broken_rules(scheduler.decisions)) == ["node 0 got 2 maps at once"]
    scheduler.decisions[-1] = dataclasses.replace(last, given=(*last.given, *last.given))
    assert "job_0 got a slot for map 0 again" in list(broken_rules(scheduler.decisions))
