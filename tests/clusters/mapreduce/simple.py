"""A scheduler that gives each free slot to the first job that has something for it, and jobs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from rebecsim.clusters.mapreduce.configuration import (
    ClusterTable,
    FailuresTable,
    MapReduceConfiguration,
    OutageTable,
    VariationTable,
)
from rebecsim.clusters.mapreduce.job import (
    JobCosts,
    JobInProgress,
    Locality,
    MapReduceJob,
    SlotKind,
    TrackerSlots,
)
from rebecsim.clusters.mapreduce.schedulers.scheduler import Assignment, TaskScheduler

MAP, REDUCE = SlotKind.MAP, SlotKind.REDUCE
MIB = 2**20
NOTHING = JobCosts(0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0)
"""Tasks that take no time but to read, to write and to send."""

EXACT = VariationTable(jitter=0.0, reduce_jitter=0.0)
ROUND = ClusterTable(
    nodes=1,
    replication=1,
    clock=0.001,
    disk_read=1e6 / MIB,
    disk_write=1e6 / MIB,
    link=0.008,
    latency=0,
    heartbeat=1,
    first_heartbeats=0,
)
"""A node where a cycle, or a byte, takes a microsecond."""


class FirstComeFirstServed(TaskScheduler):
    """Gives one map and one reduce at a heartbeat, and backups when nothing else waits."""

    withheld = False

    def __init__(self, trackers: Sequence[TrackerSlots]) -> None:
        super().__init__(trackers)
        self.jobs: list[JobInProgress] = []

    def submit(self, job: JobInProgress, now: int) -> str | None:
        self.jobs.append(job)
        return None

    def assign(self, tracker: TrackerSlots, now: int) -> list[Assignment]:
        given = []
        for kind in SlotKind:
            assignment = self._assign(kind, tracker, now) if tracker.free(kind) else None
            if assignment is not None:
                given.append(assignment)
        return given

    def ended(self, job: JobInProgress, kind: SlotKind, number: int) -> None:
        pass

    def completed(self, job: JobInProgress) -> None:
        self.jobs.remove(job)

    def _assign(self, kind: SlotKind, tracker: TrackerSlots, now: int) -> Assignment | None:
        for job in self.jobs:
            if kind is MAP:
                found = job.map_for(tracker, Locality.OFF_SWITCH)
                if found is not None:
                    job.start_map(found[0])
                    return Assignment(job, kind, *found)
            elif job.offers_reduce():
                return Assignment(job, kind, job.start_reduce(), None)
            backup = job.backup_for(kind, tracker, now)
            if backup is not None:
                job.start_backup(kind)
                return Assignment(job, kind, backup, None, speculative=True)
        return None


def job(
    number: int, maps: int, reduces: int = 1, *, size: int = 64 * MIB, **changes: object
) -> MapReduceJob:
    """Make a job of user 1; `changes` are those of its costs, or when it is submitted."""
    submit = changes.pop("submit", 0)
    assert isinstance(submit, int)
    costs = replace(JobCosts(), **changes)  # type: ignore[arg-type]
    return MapReduceJob(number, "simple", "user", "queue", submit, (size,) * maps, reduces, costs)


def cluster(
    nodes: int = 4, racks: int = 1, variation: VariationTable = EXACT, **keys: Any
) -> MapReduceConfiguration:
    """Make a cluster whose nodes are like those of the published one."""
    table = ClusterTable(nodes=nodes, racks=racks, replication=min(3, nodes), **keys)
    return MapReduceConfiguration(table, variation)


def with_keys(configuration: MapReduceConfiguration, **keys: object) -> MapReduceConfiguration:
    """Change keys of the cluster, perhaps to values that no file can give."""
    return replace(configuration, cluster=configuration.cluster.model_copy(update=keys))


def failing(*outages: tuple[int, float, float | None]) -> FailuresTable:
    """Make nodes fail: which, when, and when they work again (s)."""
    return FailuresTable(
        outages=tuple(OutageTable(node=node, start=start, end=end) for node, start, end in outages)
    )
