"""Hadoop 1's scheduler without queues: the order of jobs, how nodes are filled, locality."""

from __future__ import annotations

from random import Random

from rebecsim.clusters.mapreduce.job import JobInProgress, JobPriority, Locality
from rebecsim.clusters.mapreduce.schedulers.fifo import JobQueueTaskScheduler
from tests.clusters.mapreduce.slots import MAP, REDUCE, SlotCluster, submitted, trackers


def fifo(*jobs: JobInProgress, nodes: int = 4, maps: int = 1, racks: int = 1) -> SlotCluster:
    slots = trackers(nodes, maps, maps, racks)
    cluster = SlotCluster(JobQueueTaskScheduler(slots), slots)
    cluster.submit(*jobs)
    return cluster


def test_the_next_job_uses_what_the_first_leaves() -> None:
    cluster = fifo(submitted(0, maps=3), submitted(1, maps=3))
    assert [each.job.job.number for each in cluster.beats()] == [0, 0, 0, 1]


def test_priority_comes_before_submission() -> None:
    cluster = fifo(submitted(0, maps=3), submitted(1, maps=3, priority=JobPriority.HIGH))
    assert [each.job.job.number for each in cluster.beats()] == [1, 1, 1, 0]


def test_nodes_are_filled_equally() -> None:
    cluster = fifo(submitted(0, maps=6), maps=4)
    assert [len(cluster.beat(node, 9)) for node in range(4)] == [2, 2, 2, 0]


def test_a_map_from_another_rack_is_given_at_once_and_ends_the_heartbeat() -> None:
    far = submitted(0, maps=9, hosts=[(0,)] * 9, racks=(0, 1, 0, 1))
    cluster = fifo(far, maps=4, racks=2)
    assert [each.locality for each in cluster.beat(1)] == [Locality.OFF_SWITCH]
    assert [each.locality for each in cluster.beat(0)] == [Locality.NODE] * 3
    assert not far.opportunities


def test_one_reduce_for_each_heartbeat() -> None:
    cluster = fifo(submitted(0, maps=8, reduces=8, slow_start=0), maps=4)
    assert [each.kind for each in cluster.beat(0)] == [MAP, MAP, REDUCE]


def test_a_nearly_full_cluster_gives_one_map_at_a_time() -> None:
    """Of 400 maps one in a hundred is kept, so four of the twenty slots."""
    cluster = fifo(submitted(0, maps=400, reduces=1), nodes=5, maps=4)
    assert [len(cluster.beat(node, 9)) for node in range(5)] == [4, 4, 4, 4, 1]


def test_all_jobs_end() -> None:
    jobs = [submitted(number, maps=1 + number % 5, reduces=number % 3) for number in range(20)]
    cluster = fifo(*jobs, maps=2)
    cluster.run(Random(3))
    assert all(job.is_done for job in jobs)
