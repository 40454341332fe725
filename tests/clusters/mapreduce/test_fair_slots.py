"""The Fair Scheduler of Hadoop 1: minimum shares, weights, limits, waiting for data, preemption."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from random import Random

import pytest
from hypothesis import given, settings, strategies as st

from rebecsim.clusters.mapreduce.job import JobInProgress, JobPriority, Locality
from rebecsim.clusters.mapreduce.schedulers.fair import FairTaskScheduler
from rebecsim.clusters.mapreduce.schedulers.fair_settings import (
    FairSettings,
    FairSettingsError,
    changed,
)
from tests.clusters.mapreduce.slots import MAP, REDUCE, SlotCluster, submitted, trackers
from tests.examples import dear

SECOND = 1_000_000


def fair(
    values: Mapping[str, object], nodes: int = 12, maps: int = 1, reduces: int = 0, racks: int = 1
) -> SlotCluster:
    slots = trackers(nodes, maps, reduces, racks)
    return SlotCluster(FairTaskScheduler(slots, changed(FairSettings(), values)), slots)


def job(number: int, pool: str, maps: int = 20, **parameters: object) -> JobInProgress:
    """A job with splits on all nodes, so that nothing has to wait for data."""
    return submitted(number, queue=pool, maps=maps, hosts=[tuple(range(30))] * maps, **parameters)  # type: ignore[arg-type]


def shares(cluster: SlotCluster) -> dict[str, int]:
    while cluster.beats(lasts=10**9):
        pass
    return dict(Counter(each.job.job.queue for _, each, _ in cluster.running))


def test_pools_share_equally_whatever_the_number_of_their_jobs() -> None:
    cluster = fair({})
    cluster.submit(job(0, "a"), job(1, "a"), job(2, "a"), job(3, "b"))
    assert shares(cluster) == {"a": 6, "b": 6}


def test_what_a_pool_does_not_want_is_for_others() -> None:
    cluster = fair({})
    cluster.submit(job(0, "a", maps=2), job(1, "b"))
    assert shares(cluster) == {"a": 2, "b": 10}


def test_weights_count_beyond_minimum_shares() -> None:
    cluster = fair({"pool.a.weight": 3})
    cluster.submit(job(0, "a"), job(1, "b"))
    assert shares(cluster) == {"a": 9, "b": 3}
    cluster = fair({"pool.b.minMaps": 8, "pool.a.weight": 3})
    cluster.submit(job(0, "a"), job(1, "b"))
    assert shares(cluster) == {"a": 4, "b": 8}


def test_a_minimum_share_is_served_first_and_no_more_than_is_wanted() -> None:
    cluster = fair({"pool.b.minMaps": 8})
    cluster.submit(job(0, "a"), job(1, "b", maps=3))
    given = cluster.beats(lasts=9)
    assert [each.job.job.queue for each in given] == [*"bbb", *"a" * 9]


def test_jobs_of_a_pool_share_by_priority_or_wait_for_the_first() -> None:
    cluster = fair({"pool.a.schedulingMode": "fair"})
    cluster.submit(job(0, "a"), job(1, "a", priority=JobPriority.HIGH))
    cluster.beats(lasts=9)
    assert Counter(each.job.job.number for _, each, _ in cluster.running) == {0: 4, 1: 8}
    cluster = fair({"defaultPoolSchedulingMode": "fifo"})
    cluster.submit(job(0, "a", maps=9), job(1, "a"))
    assert [each.job.job.number for each in cluster.beats()] == [0] * 9 + [1] * 3


def test_large_jobs_weigh_more_if_sizes_count() -> None:
    cluster = fair({"sizebasedweight": True})
    cluster.submit(job(0, "a", maps=63), job(1, "a", maps=3))
    cluster.beats(lasts=9)
    assert Counter(each.job.job.number for _, each, _ in cluster.running) == {0: 9, 1: 3}


@pytest.mark.parametrize(
    "values",
    [{"pool.a.maxRunningJobs": 2}, {"poolMaxJobsDefault": 2}, {"user.u.maxRunningJobs": 2}],
)
def test_only_so_many_jobs_run(values: Mapping[str, object]) -> None:
    cluster = fair(values)
    cluster.submit(*(job(number, "a", maps=2, user="u") for number in range(3)))
    assert {each.job.job.number for each in cluster.beats()} == {0, 1}
    cluster.pass_time()
    assert {each.job.job.number for each in cluster.beats()} == {2}


def test_a_pool_never_exceeds_its_maximum() -> None:
    cluster = fair({"pool.a.maxMaps": 3})
    cluster.submit(job(0, "a"))
    assert shares(cluster) == {"a": 3}


def test_nodes_are_filled_equally() -> None:
    cluster = fair({}, nodes=4, maps=4)
    cluster.submit(job(0, "a", maps=6))
    assert [len(cluster.beat(node, 9)) for node in range(4)] == [2, 2, 2, 0]


@pytest.mark.parametrize(
    ("values", "kinds"),
    [
        ({}, [MAP, REDUCE, MAP, REDUCE]),
        ({"assignmultiple": False}, [MAP]),
        ({"assignmultiple.maps": 1}, [MAP, REDUCE, REDUCE]),
    ],
)
def test_a_heartbeat_gives_maps_and_reduces_in_turn(
    values: Mapping[str, object], kinds: list[object]
) -> None:
    cluster = fair(values, nodes=1, maps=2, reduces=2)
    cluster.submit(job(0, "a", maps=4, reduces=4, slow_start=0))
    assert [each.kind for each in cluster.beat(0)] == kinds


def test_a_job_waits_for_its_node_then_for_its_rack() -> None:
    cluster = fair({}, nodes=4, racks=2)
    waiting = submitted(0, maps=9, hosts=[(0,)] * 9, racks=(0, 1, 0, 1))
    cluster.submit(waiting)
    seen = []
    for node in (2,) * 7 + (1,) * 7:  # node 2 is in the rack of the splits, node 1 in the other
        cluster.pass_time(100_000)
        seen.append("".join(each.locality.name[0] for each in cluster.beat(node)))
    assert seen == [*[""] * 5, "R", "R", *[""] * 5, "O", "O"]


def test_a_map_at_its_node_starts_the_wait_anew() -> None:
    cluster = fair({}, nodes=4)
    cluster.submit(submitted(0, maps=9, hosts=[(0,)] * 9))
    localities = []
    for node in (1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 1):
        cluster.pass_time(100_000)
        localities += [each.locality for each in cluster.beat(node)]
    assert localities == [Locality.NODE, Locality.RACK]


def starved(values: Mapping[str, object]) -> tuple[SlotCluster, list[str]]:
    """Pool a fills the cluster, then b comes; who is to be killed is killed."""
    cluster = fair({"preemption": True, **values})
    cluster.submit(job(0, "a"), job(1, "a"))
    for node in range(12):
        cluster.now += 1
        cluster.beat(node, lasts=10**12)
    cluster.submit(job(2, "b", maps=8))
    killed = []
    for _ in range(40):
        cluster.now += 2_500_000
        for each in cluster.scheduler.poll(cluster.now):
            entry = max(entry for entry in cluster.running if entry[1][:3] == (each.job, *each[1:]))
            killed.append(f"{each.job.job.queue}{entry[2]}")
            cluster.end(entry, fails=True)
        for node in range(12):
            cluster.beat(node, lasts=10**12)
    return cluster, killed


def test_tasks_are_killed_for_a_minimum_share_the_youngest_first() -> None:
    cluster, killed = starved({"pool.b.minMaps": 3, "defaultMinSharePreemptionTimeout": 20})
    assert killed == ["a11", "a10", "a9"]
    assert shares(cluster) == {"a": 9, "b": 3}


def test_tasks_are_killed_for_half_a_fair_share_until_it_is_whole() -> None:
    cluster, killed = starved({"fairSharePreemptionTimeout": 20})
    assert len(killed) == 6
    assert shares(cluster) == {"a": 6, "b": 6}


def test_nothing_is_killed_unless_it_is_said() -> None:
    _, killed = starved({})
    assert not killed
    cluster = fair({"fairSharePreemptionTimeout": 20})
    assert cluster.scheduler.poll_interval is None


@settings(max_examples=dear(200, share=25))
@given(st.integers(0, 2**32))
def test_all_jobs_end_whatever_the_settings(seed: int) -> None:
    random = Random(seed)
    nodes, racks = random.randint(1, 6), random.randint(1, 3)
    values: dict[str, object] = {
        "pool.a.minMaps": random.randrange(4),
        "pool.a.maxMaps": random.randint(4, 9),
        "pool.b.weight": random.choice([0.5, 2]),
        "poolMaxJobsDefault": random.randint(1, 4),
        "assignmultiple": random.random() < 0.5,
        "sizebasedweight": random.random() < 0.5,
        "locality.delay.node": random.choice([0, 1]),
        "locality.delay.rack": random.choice([0, 1]),
    }
    cluster = fair(values, nodes, random.randint(1, 3), random.randint(1, 2), racks)
    for number in range(random.randint(1, 8)):
        maps = random.randint(1, 6)
        hosts = [(random.randrange(nodes),) for _ in range(maps)]
        of_racks = [node % racks for node in range(nodes)]
        pool = random.choice("abc")
        reduces = random.randrange(3)
        cluster.submit(
            submitted(number, queue=pool, maps=maps, reduces=reduces, hosts=hosts, racks=of_racks)
        )
        cluster.beats()
        cluster.pass_time(1000)
    cluster.run(random, tick=500)


def test_settings_change_while_it_runs() -> None:
    cluster = fair({"pool.a.maxMaps": 3})
    cluster.submit(job(0, "a"))
    assert shares(cluster) == {"a": 3}
    cluster.scheduler.change({"pool.a.maxMaps": 5}, 0)
    assert shares(cluster) == {"a": 5}
    with pytest.raises(FairSettingsError, match="preemption: cannot change while the cluster"):
        cluster.scheduler.change({"preemption": True}, 0)


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        ({"pool.a.minMaps": 4, "pool.a.maxMaps": 3}, "pool.a.minMaps: 4 is more than maxMaps, 3"),
        ({"pool.a.weight": 0}, "pool.a.weight: should be above 0; a pool without weight would get"),
        ({"pool.a.weight": "much"}, "pool.a.weight: should be a number, not 'much'"),
        ({"pool.a.maxRunningJobs": 0}, "pool.a.maxRunningJobs: is 0: no job of the pool could"),
        ({"pool.a.schedulingMode": "drf"}, "pool.a.schedulingMode: should be fair or fifo, not"),
        ({"preemtion": True}, "preemtion: is no setting of this scheduler; did you mean preempt"),
        ({"assignmultiple": "yes"}, "assignmultiple: should be true or false, not 'yes'"),
        ({"pool.a.minMaps": 1.5}, "pool.a.minMaps: should be a whole number, not '1.5'"),
        ({"update.interval": 0}, "mapred.fairscheduler.update.interval: should be at least 1"),
    ],
)
def test_settings_that_cannot_be_meant_are_refused(
    values: Mapping[str, object], problem: str
) -> None:
    with pytest.raises(FairSettingsError) as raised:
        changed(FairSettings(), values)
    assert str(raised.value).startswith(problem)
