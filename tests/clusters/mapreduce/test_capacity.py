"""The Capacity Scheduler: limits, acceptance, the poller, the order, the heartbeat, locality."""

from __future__ import annotations

import dataclasses
from math import ceil
from random import Random

import pytest

from rebecsim.clusters.mapreduce.job import JobInProgress, JobPriority, Locality
from rebecsim.clusters.mapreduce.schedulers.capacity_settings import (
    CapacityQueueSettings,
    CapacitySettings,
    CapacitySettingsError,
    CappedSlots,
    OffSwitchRule,
    QueueOrder,
    job_limits,
    slot_limits,
)
from tests.clusters.mapreduce.slots import (
    MAP,
    REDUCE,
    SlotCluster,
    capacity,
    filled,
    submitted,
    trackers,
)

Queue = CapacityQueueSettings
TWO = {"a": Queue(capacity=50), "b": Queue(capacity=50)}


def two(**parameters: float) -> dict[str, CapacityQueueSettings]:
    return {name: dataclasses.replace(each, **parameters) for name, each in TWO.items()}


# what a user may have


@pytest.mark.parametrize("users", [1, 2, 5])
@pytest.mark.parametrize("occupied", [0, 3, 10, 17])
def test_one_user_never_exceeds_the_capacity_by_default(users: int, occupied: int) -> None:
    limits = slot_limits(Queue(capacity=50), 20)
    assert limits.user_limit(occupied, users) == 10


def test_a_factor_of_two_gives_a_user_twice_the_capacity() -> None:
    limits = slot_limits(Queue(capacity=50, user_limit_factor=2), 20)
    assert [limits.user_limit(occupied, 1) for occupied in (0, 9, 10, 19)] == [10, 10, 11, 20]


@pytest.mark.parametrize("users", range(1, 9))
@pytest.mark.parametrize("occupied", [0, 59, 60, 90])
def test_a_quarter_for_each_of_four_users_or_more(users: int, occupied: int) -> None:
    limits = slot_limits(Queue(capacity=50, minimum_user_limit_percent=25), 120)
    shared = 60 if occupied < 60 else occupied + 1
    expected = ceil(0.25 * shared) if users >= 4 else min(60, ceil(shared / users))
    assert limits.user_limit(occupied, users) == expected


@pytest.mark.parametrize(("factor", "slots"), [(1, 1), (2, 2)])
def test_a_tenth_of_ten_slots_is_one_slot_for_a_user(factor: float, slots: int) -> None:
    queues = {"large": Queue(capacity=90), "small": Queue(capacity=10, user_limit_factor=factor)}
    nodes = trackers(5, 2, 2)
    cluster = SlotCluster(capacity(nodes, queues=queues), nodes)
    cluster.submit(submitted(0, queue="small", user="u", maps=8, reduces=3))
    cluster.scheduler.poll(0)
    assert filled(cluster) == {"u": slots}


def test_others_of_the_queue_use_what_one_user_may_not() -> None:
    nodes = trackers(4, 5)
    jobs = [submitted(0, user="u", queue="a", maps=50), submitted(1, user="v", queue="a", maps=50)]
    assert filled(SlotCluster(capacity(nodes, jobs, TWO), nodes)) == {"u": 10, "v": 10}
    jobs = [submitted(0, user="u", queue="a", maps=50), submitted(1, user="v", queue="a", maps=50)]
    capped = two(maximum_capacity=50)
    assert filled(SlotCluster(capacity(nodes, jobs, capped), trackers(4, 5))) == {"u": 10}


def test_a_lone_user_takes_what_the_factor_allows() -> None:
    for factor, maximum, slots in ((1, -1, 10), (1.5, -1, 15), (2, -1, 20), (2, 60, 12)):
        nodes = trackers(4, 5)
        queues = two(user_limit_factor=factor, maximum_capacity=maximum)
        scheduler = capacity(nodes, [submitted(0, queue="a", maps=50)], queues)
        assert filled(SlotCluster(scheduler, nodes)) == {"user_0": slots}


def test_a_maximum_is_reached_and_not_exceeded() -> None:
    """A queue of one slot with a maximum of one slot runs; strictly less would mean never."""
    nodes = trackers(10)
    queues = {"large": Queue(capacity=90), "small": Queue(capacity=10, maximum_capacity=10)}
    scheduler = capacity(nodes, [submitted(0, queue="small", maps=3)], queues)
    assert filled(SlotCluster(scheduler, nodes)) == {"user_0": 1}


@pytest.mark.parametrize(("capped", "reduces"), [(CappedSlots.BOTH, 2), (CappedSlots.MAPS, 4)])
def test_reduces_need_not_count_for_the_maximum(capped: CappedSlots, reduces: int) -> None:
    nodes = trackers(4)
    cluster = SlotCluster(
        capacity(nodes, queues=two(maximum_capacity=50, user_limit_factor=2), capped_slots=capped),
        nodes,
    )
    cluster.submit(submitted(0, queue="a", maps=4, reduces=4, slow_start=0))
    cluster.scheduler.poll(0)
    assert filled(cluster) == {"user_0": 2}
    assert sum(each.kind is REDUCE for _, each, _ in cluster.running) == reduces


def test_users_without_waiting_tasks_leave_their_part_to_others() -> None:
    nodes = trackers(8)
    jobs = [submitted(0, user="u", maps=1), submitted(1, user="v", maps=20)]
    queues = {"default": Queue(capacity=100, minimum_user_limit_percent=25)}
    assert filled(SlotCluster(capacity(nodes, jobs, queues), nodes)) == {"u": 1, "v": 7}


# which jobs are accepted, and when they are initialised


@pytest.mark.parametrize(
    ("jobs", "percent", "least", "expected"),
    [
        (2, 50, 100, (1, 1, 10, 10)),  # ceil(2 x .5) = 1
        (4, 50, 100, (2, 2, 20, 20)),
        (3000, 33.34, 25, (1001, 251, 10010, 2510)),
        (3000, 70, 10, (2100, 210, 21000, 2100)),  # floats would give 211
        (1, 10, 100, (1, 1, 10, 10)),
    ],
)
def test_how_many_jobs_a_queue_takes(
    jobs: int, percent: float, least: int, expected: tuple[int, ...]
) -> None:
    queues = {
        "q": Queue(capacity=percent, minimum_user_limit_percent=least),
        "rest": Queue(capacity=100 - percent),
    }
    settings = CapacitySettings(queues=queues, maximum_system_jobs=jobs)
    assert job_limits(settings, "q")[:4] == expected


def test_a_queue_accepts_so_many_jobs_for_each_that_it_initialises() -> None:
    queues = {"default": Queue(capacity=100, init_accept_jobs_factor=2)}
    scheduler = capacity(trackers(2), queues=queues, maximum_system_jobs=2)
    answers = [scheduler.submit(submitted(number), 0) for number in range(5)]
    assert answers == [None] * 4 + ["queue default has 4 jobs, all that it accepts"]


def test_a_user_is_accepted_a_part_of_the_jobs() -> None:
    queues = {
        "default": Queue(capacity=100, init_accept_jobs_factor=1, minimum_user_limit_percent=50)
    }
    scheduler = capacity(trackers(2), queues=queues, maximum_system_jobs=4)
    answers = [scheduler.submit(submitted(number, user="u"), 0) for number in range(3)]
    assert answers[:2] == [None, None]
    assert answers[2] == "user u has 2 jobs in queue default, all that it accepts of one user"
    assert scheduler.submit(submitted(3, user="v"), 0) is None


def test_a_job_of_too_many_tasks_is_rejected() -> None:
    queues = {"default": Queue(capacity=100, maximum_initialized_active_tasks_per_user=80)}
    scheduler = capacity(trackers(2), queues=queues)
    assert scheduler.submit(submitted(0, maps=79, reduces=1), 0) is None
    reason = scheduler.submit(submitted(1, maps=80, reduces=1), 0)
    assert reason == (
        "it has 81 tasks, and a user of queue default at most 80 "
        "(maximum-initialized-active-tasks-per-user)"
    )


def test_a_job_that_has_ended_makes_room_for_another() -> None:
    nodes = trackers(1)
    queues = {"default": Queue(capacity=100, init_accept_jobs_factor=1)}
    cluster = SlotCluster(capacity(nodes, queues=queues, maximum_system_jobs=1), nodes)
    cluster.submit(submitted(0), submitted(1))
    assert len(cluster.jobs) == 1
    cluster.run(Random(1))
    assert cluster.scheduler.submit(submitted(2), 9) is None


def started(nodes: int, jobs: list[JobInProgress], **parameters: float) -> list[str]:
    """The users of jobs that get slots for maps in a large cluster, in order of submission."""
    of_scheduler = {"maximum_system_jobs": int(parameters.pop("maximum_system_jobs", 3000))}
    queues = {"default": dataclasses.replace(Queue(capacity=100), **parameters)}
    slots = trackers(nodes)
    return sorted(filled(SlotCluster(capacity(slots, jobs, queues, **of_scheduler), slots)))


def test_jobs_get_no_slots_before_the_poller_went_round() -> None:
    nodes = trackers(2)
    scheduler = capacity(nodes)
    cluster = SlotCluster(scheduler, nodes)
    cluster.submit(submitted(0))
    assert scheduler.poll_interval == 5_000_000
    assert not cluster.beats()
    scheduler.poll(0)
    assert cluster.beats()


def test_with_two_jobs_in_the_system_each_half_runs_one() -> None:
    nodes = trackers(8)
    jobs = [submitted(number, queue="ab"[number % 2]) for number in range(6)]
    cluster = SlotCluster(capacity(nodes, jobs, TWO, maximum_system_jobs=2), nodes)
    cluster.jobs.extend(jobs)
    names = []
    while cluster.jobs:
        names.append({each.job.job.number for each in cluster.beats()})
        cluster.pass_time()
        cluster.scheduler.poll(0)
    assert names == [{0, 1}, {2, 3}, {4, 5}]


@pytest.mark.parametrize(("tasks", "concurrent"), [(100, 1), (160, 2)])
def test_active_tasks_limit_how_many_jobs_run(tasks: int, concurrent: int) -> None:
    """As in the published experiment: jobs of nearly 80 tasks, 80 for a user."""
    jobs = [submitted(number, maps=78, reduces=1) for number in range(4)]
    users = started(
        400,
        jobs,
        maximum_initialized_active_tasks=tasks,
        maximum_initialized_active_tasks_per_user=80,
    )
    assert users == [f"user_{number}" for number in range(concurrent)]


def test_a_user_at_the_limit_of_tasks_lets_others_pass_and_keeps_the_order() -> None:
    jobs = [
        submitted(0, user="u", maps=8),
        submitted(1, user="u", maps=4),
        submitted(2, user="u", maps=1),  # would fit, but comes after the one that does not
        submitted(3, user="v", maps=4),
    ]
    nodes = trackers(40)
    queues = {"default": Queue(capacity=100, maximum_initialized_active_tasks_per_user=10)}
    scheduler = capacity(nodes, jobs, queues)
    assert scheduler.queues["default"].initialised == [jobs[0], jobs[3]]
    assert scheduler.queues["default"].active_tasks == 12


def test_a_user_at_the_limit_of_jobs_lets_others_pass() -> None:
    jobs = [submitted(number, user="u") for number in range(3)] + [submitted(3, user="v")]
    nodes = trackers(9)
    queues = {"default": Queue(capacity=100, minimum_user_limit_percent=50)}
    scheduler = capacity(nodes, jobs, queues, maximum_system_jobs=4)
    assert scheduler.queues["default"].initialised == [jobs[0], jobs[1], jobs[3]]


# who goes first


def test_the_queue_with_less_of_its_capacity_goes_first() -> None:
    nodes = trackers(10)
    queues = {"large": Queue(capacity=80), "small": Queue(capacity=20)}
    jobs = [submitted(0, queue="small", maps=20), submitted(1, queue="large", maps=20)]
    given = SlotCluster(capacity(nodes, jobs, queues), nodes).beats(lasts=99)
    order = "".join(each.job.job.queue[0] for each in given)
    assert order == "lsllllslll"  # equal parts: as they stood before; then 8 and 2


def test_the_queue_with_most_that_waits_goes_first_whatever_its_capacity() -> None:
    nodes = trackers(6)
    queues = {"large": Queue(capacity=90), "small": Queue(capacity=10, user_limit_factor=10)}
    jobs = [submitted(0, queue="large", maps=2), submitted(1, queue="small", maps=5)]
    scheduler = capacity(nodes, jobs, queues, queue_order=QueueOrder.BACKLOG)
    cluster = SlotCluster(scheduler, nodes)
    given = [cluster.beat(node, lasts=10**9)[0].job.job.queue for node in range(6)]
    # With two each, and then one each, the queue goes first that went first the time before.
    assert given == ["small"] * 4 + ["large"] * 2


def test_queues_of_equal_jobs_advance_alike_by_backlog() -> None:
    """However unequal their capacities are: neither is ever ahead by more than one map."""
    nodes = trackers(10)
    queues = {"large": Queue(capacity=90), "small": Queue(capacity=10, user_limit_factor=10)}
    jobs = [
        submitted(number, queue=queue, maps=40) for number, queue in enumerate(("large", "small"))
    ]
    cluster = SlotCluster(
        capacity(nodes, jobs, queues, queue_order=QueueOrder.BACKLOG), nodes, jobs
    )
    while any(job.waiting(MAP) for job in jobs):
        cluster.beats(lasts=3)
        cluster.pass_time()
        assert abs(jobs[0].waiting(MAP) - jobs[1].waiting(MAP)) <= 1


def test_priorities_count_where_the_queue_heeds_them() -> None:
    for heeds, first in ((False, 0), (True, 2)):
        nodes = trackers(1)
        jobs = [
            submitted(0, priority=JobPriority.LOW),
            submitted(1, priority=JobPriority.NORMAL),
            submitted(2, priority=JobPriority.VERY_HIGH),
        ]
        queues = {"default": Queue(capacity=100, supports_priority=heeds)}
        given = SlotCluster(capacity(nodes, jobs, queues), nodes).beats()
        assert [each.job.job.number for each in given] == [first]


def test_the_next_job_uses_what_the_first_cannot() -> None:
    nodes = trackers(4)
    jobs = [submitted(0, maps=3), submitted(1, maps=3)]
    assert filled(SlotCluster(capacity(nodes, jobs), nodes)) == {"user_0": 3, "user_1": 1}


# what one heartbeat gives


@pytest.mark.parametrize(("most", "maps"), [(1, 1), (2, 2), (32767, 4)])
def test_maps_of_a_heartbeat_are_limited_and_a_reduce_comes_on_top(most: int, maps: int) -> None:
    nodes = trackers(1, 4, 4)
    jobs = [submitted(0, maps=9, reduces=9, slow_start=0)]
    scheduler = capacity(nodes, jobs, maximum_tasks_per_heartbeat=most)
    given = SlotCluster(scheduler, nodes).beat(0)
    assert [each.kind for each in given] == [MAP] * maps + [REDUCE]


@pytest.mark.parametrize("after", [0, 1, 2])
def test_after_a_map_from_another_rack_few_are_given(after: int) -> None:
    """Splits lie in rack 0; node 1 is in rack 1, and may help only after three chances in vain."""
    nodes = trackers(2, 8, 0, racks=2)
    far = submitted(0, maps=9, hosts=[(0,)] * 9, racks=(0, 1))
    near = submitted(1, maps=9, hosts=[(1,)] * 9, racks=(0, 1))
    parameters = {"maximum_tasks_per_heartbeat": 99, "maximum_tasks_after_offswitch": after}
    cluster = SlotCluster(capacity(nodes, [far], **parameters), nodes)
    far.opportunities = 2
    assert [each.locality for each in cluster.beat(1)] == [Locality.OFF_SWITCH]
    cluster.submit(near)
    cluster.scheduler.poll(0)
    given = cluster.beat(1)
    assert [each.locality for each in given] == [Locality.OFF_SWITCH, *[Locality.NODE] * after]


def test_reduces_wait_for_a_part_of_the_maps() -> None:
    nodes = trackers(1, 1, 1)
    job = submitted(0, maps=21, reduces=1)
    cluster = SlotCluster(capacity(nodes, [job]), nodes, [job])
    kinds = []
    for _ in range(4):
        kinds.append([each.kind for each in cluster.beat(0)])
        cluster.pass_time()
    assert kinds == [[MAP], [MAP], [MAP, REDUCE], [MAP]]  # ceil(5 % of 21) = 2 maps


# near the data


@pytest.mark.parametrize(
    ("rule", "factor", "ended", "chances"),
    [
        (OffSwitchRule.CLUSTER, 1.0, 0, 5),  # more than the 4 nodes
        (OffSwitchRule.REMAINING, 1.0, 0, 4),  # more than the 3 maps that are left
        (OffSwitchRule.REMAINING, 0.5, 0, 2),  # more than half of these
        (OffSwitchRule.REMAINING, 0.0, 0, 1),
    ],
)
def test_a_job_waits_for_its_rack(
    rule: OffSwitchRule, factor: float, ended: int, chances: int
) -> None:
    nodes = trackers(4, 1, 0, racks=2)
    job = submitted(0, maps=3, hosts=[(0,)] * 3, racks=(0, 1, 0, 1))
    settings = CapacitySettings(off_switch_rule=rule, locality_wait_factor=factor)
    scheduler = type(capacity(nodes))(nodes, settings)
    cluster = SlotCluster(scheduler, nodes)
    cluster.submit(job)
    scheduler.poll(0)
    for _ in range(chances - 1):
        assert not cluster.beat(1)
        assert scheduler.withheld
    assert [each.locality for each in cluster.beat(1)] == [Locality.OFF_SWITCH]
    assert job.opportunities == chances  # goes on: the next one needs not wait
    assert [each.locality for each in cluster.beat(2)] == [Locality.RACK]
    assert job.opportunities == 0


def test_in_one_rack_nothing_is_delayed() -> None:
    nodes = trackers(30)
    job = submitted(0, maps=5)
    cluster = SlotCluster(capacity(nodes, [job]), nodes)
    assert [each.locality for each in cluster.beats([7, 0, 3])] == [
        Locality.RACK,
        Locality.NODE,
        Locality.RACK,
    ]


def test_a_delay_within_the_rack_is_an_option() -> None:
    nodes = trackers(3)
    job = submitted(0, maps=5)
    cluster = SlotCluster(capacity(nodes, [job], node_locality_delay=2), nodes)
    localities = [[each.locality for each in cluster.beat(node)] for node in (1, 2, 1, 2, 0)]
    assert localities == [[], [], [Locality.RACK], [], [Locality.NODE]]


def away(maps: int, jobs: int, random: Random) -> float:
    """Part of the maps that did not run where their split is; slots come free one at a time."""
    nodes, replicas = 30, 3
    slots = trackers(nodes)
    remote = 0
    for number in range(jobs):
        hosts = [tuple(random.sample(range(nodes), replicas)) for _ in range(maps)]
        scheduler = capacity(slots, [submitted(number, maps=maps, hosts=hosts)])
        for _ in range(maps):
            (given,) = scheduler.assign(slots[random.randrange(nodes)], 0)
            remote += given.locality is Locality.RACK
    return remote / (maps * jobs)


@pytest.mark.parametrize(("maps", "jobs"), [(1, 300), (2, 200), (10, 60)])
def test_how_many_maps_are_away_from_their_split(maps: int, jobs: int) -> None:
    """(1/M) sum (1 - r/N)^k, k to M: each split is on a random node; within 4 standard errors."""
    closed = sum((1 - 3 / 30) ** k for k in range(1, maps + 1)) / maps
    error = (closed * (1 - closed) / (maps * jobs)) ** 0.5
    assert away(maps, jobs, Random(5)) == pytest.approx(closed, abs=4 * error)


# one thing that emerges


def test_a_later_job_gets_an_idle_slot_and_then_waits() -> None:
    """Delayed map execution: what the first user may not have goes to the second, for a while."""
    nodes = trackers(4)
    first, second = (submitted(number, queue="a", maps=12) for number in (0, 1))
    other = submitted(2, queue="b", maps=12)
    cluster = SlotCluster(capacity(nodes, [first, second], TWO), nodes, [first, second, other])
    users = [each.job.job.number for each in cluster.beats([0, 1, 2])]
    assert users == [0, 0, 1]  # user 0 has all that the queue is sure of; a slot more is idle
    assert cluster.scheduler.submit(other, 0) is None
    cluster.scheduler.poll(0)
    assert [each.job.job.number for each in cluster.beat(3)] == [2]
    cluster.pass_time()
    later = []
    while first.waiting(MAP):
        later += [each.job.job.number for each in cluster.beats()]
        cluster.pass_time()
    assert later.count(1) == 0


@pytest.mark.parametrize(
    ("queues", "problem"),
    [
        (
            {"a": Queue(capacity=99), "b": Queue(capacity=1, maximum_capacity=5)},
            "queue.b.maximum-capacity: is less than one of the 10 map slots of the cluster",
        ),
        (
            {"a": Queue(capacity=95), "b": Queue(capacity=5, user_limit_factor=0.5)},
            "queue.b.user-limit-factor: leaves a user none of the 10 map slots of the cluster",
        ),
    ],
)
def test_limits_that_leave_no_slot_are_refused(
    queues: dict[str, CapacityQueueSettings], problem: str
) -> None:
    with pytest.raises(CapacitySettingsError, match=problem):
        capacity(trackers(10), queues=queues)
