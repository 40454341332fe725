"""What tasks ask for and how long it takes, where blocks are, and what cannot run."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

import pytest
from hypothesis import given, strategies as st

from rebecsim.actors import FifoScheduler
from rebecsim.clusters.mapreduce.attempts import (
    DeviceKind,
    Rates,
    TaskDraws,
    map_steps,
    reduce_steps,
)
from rebecsim.clusters.mapreduce.cluster import cluster_model, run_mapreduce
from rebecsim.clusters.mapreduce.cluster_state import (
    ClusterPlan,
    locality_of,
    place_blocks,
    racks_of,
    replica_for,
)
from rebecsim.clusters.mapreduce.configuration import (
    ClusterTable,
    MapReduceConfiguration,
    VariationTable,
)
from rebecsim.clusters.mapreduce.job import JobCosts, MapReduceJob
from rebecsim.clusters.mapreduce.records import AttemptRecord, record_of_attempt
from rebecsim.errors import UserError
from rebecsim.simulation import simulate
from tests.clusters.mapreduce.simple import (
    EXACT,
    MAP,
    MIB,
    NOTHING,
    REDUCE,
    ROUND,
    FirstComeFirstServed,
    cluster,
    failing,
    job,
    with_keys,
)

AT_ONCE = MapReduceConfiguration(ROUND, EXACT, sampling=0)
COSTS = replace(NOTHING, start=10.0, map=2.0, map_ratio=0.5, sort=4.0)
RATES = Rates(cycles=1.0, read=1.0, link=1.0, written=2.0)


def only_attempt(
    job: MapReduceJob, configuration: MapReduceConfiguration = AT_ONCE
) -> AttemptRecord:
    """Run a job on one node where a cycle and a byte take a microsecond; give its first map."""
    return run_mapreduce([job], configuration, FirstComeFirstServed, 1).attempts[0]


@pytest.mark.parametrize(
    ("reduces", "buffer", "costs", "times"),
    [
        # 100 bytes read; 2 cycles each, 4 for each of the 50 that come out, which are written
        (1, 50, COSTS, (10, 100, 400, 50, 0, 0)),
        (1, 20, COSTS, (10, 100, 400, 50, 100, 0)),  # three pieces, merged
        (1, 50, replace(COSTS, combine_ratio=0.1), (10, 100, 400, 5, 0, 0)),
        (0, 20, COSTS, (10, 100, 200, 50, 0, 0)),  # nothing is sorted or merged
        (1, 50, replace(COSTS, map_ratio=0.0), (10, 100, 200, 0, 0, 0)),
    ],
)
def test_a_map_takes_what_its_steps_take(
    reduces: int, buffer: int, costs: JobCosts, times: tuple[int, ...]
) -> None:
    one = MapReduceJob(1, "one", "user", "queue", 0, (100,), reduces, costs)
    found = only_attempt(one, with_keys(AT_ONCE, sort_buffer=buffer / MIB))
    assert found.times == times
    assert found.end - found.start == sum(times)


def test_a_reduce_takes_what_its_steps_take() -> None:
    costs = replace(NOTHING, start=10.0, merge=7.0, reduce_sort=30.0, reduce=2.0, reduce_ratio=0.5)
    one = MapReduceJob(1, "one", "user", "queue", 0, (100, 100), 1, costs)
    configuration = with_keys(AT_ONCE, slow_start=1.0, merge_buffer=150 / MIB)
    run = run_mapreduce([one], configuration, FirstComeFirstServed, 1)
    (found,) = [each for each in run.attempts if each.kind is REDUCE]
    # both are fetched at once from the one disk; 200 bytes are merged, sorted, read and reduced
    assert found.times == (10, 200, 400, 100, 7 + 200 + 30, 200)


def test_what_is_far_is_read_and_sent_and_drawn_alike() -> None:
    def drawn(is_local: bool) -> list[Any]:
        draws = TaskDraws(1, 2, MAP, 3, 0, VariationTable())
        return map_steps(300, COSTS, 50, is_local, RATES, draws.jitter)

    near, far = drawn(True), drawn(False)
    network = [each for each in far if each.device is DeviceKind.NETWORK]
    assert sum(each.size for each in network) == 300
    rest = [each for each in far if each.device is not DeviceKind.NETWORK]
    assert [each.size for each in rest] == [each.size for each in near]
    assert [each.device for each in near if each.phase == 1] == [DeviceKind.DISK] * 3
    assert [each.device for each in rest if each.phase == 1] == [DeviceKind.SOURCE_DISK] * 3
    assert drawn(True) == near


def test_draws_belong_to_an_attempt() -> None:
    def factors(seed: int, attempt: int) -> Any:
        return TaskDraws(seed, 2, REDUCE, 3, attempt, VariationTable()).reduce_factors()

    assert factors(1, 0) == factors(1, 0)
    assert len({factors(1, 0), factors(1, 1), factors(2, 0)}) == 3
    steps = reduce_steps(100.0, COSTS, RATES, factors(1, 0))
    assert [RATES.alone(each) for each in steps] == [each.size for each in steps]


def test_devices_are_used_for_what_is_asked_of_them() -> None:
    jobs = [job(1, 12, 3), job(2, 4, 0)]
    run = run_mapreduce(jobs, cluster(nodes=5, racks=2), FirstComeFirstServed, 1)
    costs, size, maps = jobs[0].costs, 64 * 2**20, 12
    cycles = maps * (costs.start + size * (costs.map + costs.sort))
    cycles += 3 * (costs.start + costs.reduce_sort) + maps * size * costs.reduce
    cycles += 4 * (costs.start + size * costs.map)
    last = run.uses[-1]
    merges = round((sum(last.processors) * 2500 - cycles) / costs.merge)
    assert 3 <= merges <= 12
    assert sum(last.processors) * 2500 == pytest.approx(cycles + merges * costs.merge, rel=1e-6)
    ups, downs = last.links[:5], last.links[5:10]
    assert sum(ups) == pytest.approx(sum(downs))
    assert sum(last.links[10:12]) == pytest.approx(sum(last.links[12:]))
    assert 0 < sum(last.links[10:12]) <= sum(ups)
    times = [each.time for each in run.uses]
    assert times[:-1] == list(range(0, times[-1], 10_000_000))
    for one, other in zip(run.uses, run.uses[1:], strict=False):
        elapsed = other.time - one.time
        for before, after in zip(one.disks, other.disks, strict=True):
            assert 0.0 <= after - before <= elapsed
        for before, after, most in zip(one.links, other.links, run.capacities, strict=True):
            assert after - before <= elapsed * most * (1 + 1e-9)


def test_localities_are_those_of_blocks() -> None:
    run = run_mapreduce([job(1, 40, 1)], cluster(nodes=6, racks=3), FirstComeFirstServed, 1)
    hosts = run.jobs[0].hosts
    for each in run.attempts:
        if each.kind is MAP:
            near = min(locality_of(host, each.node, run.racks) for host in hosts[each.number])
            assert each.locality == near


def test_runs_are_those_of_the_semantics() -> None:
    jobs = [job(1, 6, 2), job(2, 2, 0, submit=3_000_000)]
    configuration = cluster(nodes=3, racks=2, variation=VariationTable())
    expected = run_mapreduce(jobs, configuration, FirstComeFirstServed, 1)
    model = cluster_model(ClusterPlan(configuration, 1), jobs, FirstComeFirstServed)
    until = expected.attempts[-1].end + 400_000
    system = simulate(model, FifoScheduler(), until=until).system
    found = [
        record_of_attempt(each, system.rebec(f"node_{each.node.number}"), 0)
        for each in system.rebec("jobtracker").state.attempts.values()
    ]
    assert found == list(expected.attempts)


@given(
    nodes=st.integers(1, 12),
    racks=st.integers(1, 4),
    replication=st.integers(1, 5),
    placement=st.sampled_from(["random", "hadoop"]),
)
def test_replicas_are_on_different_nodes(
    nodes: int, racks: int, replication: int, placement: Any
) -> None:
    where = racks_of(nodes, min(racks, nodes))
    table = ClusterTable(nodes=nodes, replication=min(replication, nodes), placement=placement)
    for hosts in place_blocks(5, where, table, Random(1)):
        assert len(set(hosts)) == len(hosts) == table.replication
        if placement == "hadoop" and table.replication > 1 and len(set(where)) > 1:
            assert where[hosts[0]] != where[hosts[1]]
            if table.replication > 2 and where.count(where[hosts[1]]) > 1:
                assert where[hosts[1]] == where[hosts[2]]


def test_racks_are_filled_evenly() -> None:
    assert racks_of(7, 3) == [0, 0, 0, 1, 1, 2, 2]


@pytest.mark.parametrize(
    ("hosts", "drawn", "chosen"),
    [
        ((5, 2, 0), 0.9, 0),  # here
        ((5, 1, 2), 0.0, 1),  # the one in the rack
        ((2, 3), 0.0, 2),
        ((2, 3), 0.9, 3),
        ((), 0.5, None),
    ],
)
def test_the_nearest_replica_is_read(
    hosts: tuple[int, ...], drawn: float, chosen: int | None
) -> None:
    assert replica_for(hosts, 0, [0, 0, 1, 1, 2, 2], drawn) == chosen


def test_a_period_of_samples_is_not_negative() -> None:
    with pytest.raises(UserError, match="sampling: should be at least 0"):
        run_mapreduce([job(1, 1)], replace(cluster(), sampling=-1), FirstComeFirstServed, 1)


def test_a_node_that_fails_is_one_of_the_cluster() -> None:
    few = replace(cluster(nodes=4), failures=failing((4, 1.0, None)))
    with pytest.raises(UserError, match=r"failures\.outages\[0\]: there is no node 4; nodes are"):
        run_mapreduce([job(1, 1)], few, FirstComeFirstServed, 1)


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"map_slots": 0}, r"cluster\.map_slots: job_1 has maps, and there is no slot"),
        ({"reduce_slots": 0}, r"cluster\.reduce_slots: job_1 has reduces"),
    ],
)
def test_jobs_need_slots(keys: dict[str, int], message: str) -> None:
    with pytest.raises(UserError, match=message):
        run_mapreduce([job(1, 1)], with_keys(cluster(), **keys), FirstComeFirstServed, 1)


@pytest.mark.parametrize(
    ("jobs", "message"),
    [
        ([], "jobs: there are none; give at least one"),
        ([job(1, 1), job(1, 2)], "jobs: two of them have the number 1; give each its own"),
        ([job(1, 0)], "job_1: has no maps, and so nothing to do; splits is empty"),
        ([job(1, 1, -1)], "job_1: reduces should be at least 0, not -1"),
        ([job(1, 1, size=-1)], "job_1: splits should have 0 bytes at least, not -1"),
        ([job(1, 1, submit=-5)], "job_1: submit should be at least 0, not -5"),
        ([job(1, 1, map_ratio=-0.5)], r"job_1: costs\.map_ratio should be at least 0, not -0\.5"),
    ],
)
def test_jobs_that_make_no_sense_are_errors(jobs: list[MapReduceJob], message: str) -> None:
    with pytest.raises(UserError, match=message):
        run_mapreduce(jobs, cluster(), FirstComeFirstServed, 1)
