"""A cluster of Hadoop 1 without devices: tasks last as long as they are told, heartbeats come."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

from rebecsim.clusters.mapreduce.job import (
    JobInProgress,
    JobPriority,
    MapReduceJob,
    SlotKind,
    TrackerSlots,
)
from rebecsim.clusters.mapreduce.schedulers.capacity import CapacityTaskScheduler
from rebecsim.clusters.mapreduce.schedulers.capacity_settings import (
    CapacityQueueSettings,
    CapacitySettings,
)
from rebecsim.clusters.mapreduce.schedulers.scheduler import Assignment, TaskScheduler

MAP, REDUCE = SlotKind.MAP, SlotKind.REDUCE


def trackers(
    nodes: int, maps: int = 1, reduces: int = 1, racks: int = 1
) -> tuple[TrackerSlots, ...]:
    return tuple(TrackerSlots(number, number % racks, maps, reduces) for number in range(nodes))


def submitted(
    number: int,
    *,
    user: str = "",
    queue: str = "default",
    maps: int = 1,
    reduces: int = 0,
    priority: JobPriority = JobPriority.NORMAL,
    hosts: Sequence[tuple[int, ...]] | None = None,
    racks: Sequence[int] = (0,) * 100,
    slow_start: float = 0.05,
) -> JobInProgress:
    """A job, of a user of its own if none is named, with all splits on node 0 by default."""
    user = user or f"user_{number}"
    job = MapReduceJob(number, "x", user, queue, number, (64,) * maps, reduces, priority=priority)
    return JobInProgress(job, hosts or [(0,)] * maps, racks, slow_start)


def capacity(
    nodes: Sequence[TrackerSlots],
    jobs: Iterable[JobInProgress] = (),
    queues: dict[str, CapacityQueueSettings] | None = None,
    **parameters: Any,
) -> CapacityTaskScheduler:
    """A scheduler that has accepted and initialised jobs."""
    queues = queues or {"default": CapacityQueueSettings(capacity=100)}
    scheduler = CapacityTaskScheduler(nodes, CapacitySettings(queues=queues, **parameters))
    for job in jobs:
        assert scheduler.submit(job, 0) is None
    scheduler.poll(0)
    return scheduler


@dataclass
class SlotCluster:
    """Nodes that send heartbeats one after the other, and tasks that last."""

    scheduler: TaskScheduler
    nodes: Sequence[TrackerSlots]
    jobs: list[JobInProgress] = field(default_factory=list)
    running: list[tuple[int, Assignment, int]] = field(default_factory=list)
    now: int = 0

    def submit(self, *jobs: JobInProgress) -> None:
        for job in jobs:
            if self.scheduler.submit(job, self.now) is None:
                self.jobs.append(job)

    def beat(self, node: int, lasts: int = 1) -> Sequence[Assignment]:
        """Let a node send a heartbeat; what it is given lasts so long."""
        tracker = self.nodes[node]
        given = self.scheduler.assign(tracker, self.now)
        for each in given:
            tracker.busy[each.kind] += 1
            self.running.append((self.now + lasts, each, node))
        assert all(tracker.free(kind) >= 0 for kind in SlotKind)
        return given

    def beats(self, order: Iterable[int] | None = None, lasts: int = 1) -> list[Assignment]:
        """Let all nodes send a heartbeat."""
        order = range(len(self.nodes)) if order is None else order
        return [each for node in order for each in self.beat(node, lasts)]

    def pass_time(self, time: int = 1) -> None:
        """Let time pass, and what is over end."""
        self.now += time
        for entry in [each for each in self.running if each[0] <= self.now]:
            self.end(entry)

    def end(self, entry: tuple[int, Assignment, int], fails: bool = False) -> None:
        _, (job, kind, number, _, _), node = entry
        self.running.remove(entry)
        self.nodes[node].busy[kind] -= 1
        job.attempt_ended(kind)
        if fails:
            job.wait_again(kind, number)
        else:
            job.finish(kind)
        self.scheduler.ended(job, kind, number)
        if fails:
            self.scheduler.waits_again(job, kind, number)
        elif job.is_done:
            self.scheduler.completed(job)
            self.jobs.remove(job)

    def run(self, random: Random, tick: int = 1, steps: int = 10_000) -> None:
        """Go on until all jobs have ended; tasks last one to five ticks."""
        order = [tracker.number for tracker in self.nodes if tracker.alive]
        for step in range(steps):
            if not self.jobs:
                return
            random.shuffle(order)
            if step % 3 == 0:
                self.scheduler.poll(self.now)
            for node in order:
                self.beat(node, random.randint(1, 5) * tick)
            self.pass_time(tick)
        raise AssertionError(f"{len(self.jobs)} jobs have not ended")


def filled(cluster: SlotCluster) -> dict[str, int]:
    """Fill all slots, and count those of maps by user."""
    while cluster.beats(lasts=10**9):
        pass
    users: dict[str, int] = {}
    for _, (job, kind, *_), _ in cluster.running:
        if kind is MAP:
            users[job.job.user] = users.get(job.job.user, 0) + 1
    return users
