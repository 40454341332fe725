"""Promises of slot schedulers: which queue, pool or job is served first."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from rebecsim.clusters.mapreduce.job import JobInProgress, Locality, SlotKind, TrackerSlots
from rebecsim.clusters.mapreduce.schedulers.capacity import CapacityTaskScheduler
from rebecsim.clusters.mapreduce.schedulers.capacity_settings import QueueOrder
from rebecsim.clusters.mapreduce.schedulers.fair import FairTaskScheduler
from rebecsim.clusters.mapreduce.schedulers.fifo import JobQueueTaskScheduler
from rebecsim.clusters.mapreduce.schedulers.scheduler import TaskScheduler, by_priority

Given = tuple[JobInProgress, SlotKind]
"""A job that has been given a slot of a kind at this heartbeat."""

Breaches = Callable[[TaskScheduler, Sequence[Given], TrackerSlots], Iterator[str]]
"""Says which promises a scheduler has broken at the heartbeat of a node, in words."""


def promise_of(scheduler: TaskScheduler) -> tuple[str, Breaches] | None:
    """Return the promise of a scheduler, and the function that finds violations.

    Jobs that still wait after a heartbeat waited before it, since nothing happens in between.
    """
    match scheduler:
        case CapacityTaskScheduler():
            if scheduler.settings.queue_order is not QueueOrder.CAPACITY:
                return None
            return (
                "Capacity: no queue gets a slot above its capacity while one below its own asks",
                _passed_queues,
            )
        case FairTaskScheduler():
            return (
                "Fair: no pool gets a slot above its minimum share while one below its own asks",
                _passed_pools,
            )
        case JobQueueTaskScheduler():
            return "FIFO: no job gets a slot while an earlier one asks", _passed_jobs
    return None


def _asks(job: JobInProgress, kind: SlotKind, tracker: TrackerSlots, furthest: Locality) -> bool:
    """Whether a job has a task for a node: a reduce, or a map within a locality level."""
    if kind is SlotKind.REDUCE:
        return job.offers_reduce()
    return job.map_for(tracker, furthest) is not None


def _passed_queues(
    scheduler: TaskScheduler, given: Sequence[Given], tracker: TrackerSlots
) -> Iterator[str]:
    """Find queues below capacity that were passed over although the node has their data."""
    assert isinstance(scheduler, CapacityTaskScheduler)
    for job, kind in given:
        name = job.job.queue
        usage = scheduler.queues[name].usage[kind]
        if usage.occupied <= usage.limits.capacity:
            continue
        for other, queue in scheduler.queues.items():
            below = queue.usage[kind]
            if below.occupied >= below.limits.capacity or below.is_full():
                continue
            limit = below.user_limit()
            if any(
                below.by_user[each.job.user] < limit and _asks(each, kind, tracker, Locality.NODE)
                for each in below.offering.jobs
            ):
                yield (
                    f"queue {name} got a {kind.name.lower()} slot and has {usage.occupied} of "
                    f"{usage.limits.capacity}, while queue {other} asked and has "
                    f"{below.occupied} of {below.limits.capacity}"
                )


def _passed_pools(
    scheduler: TaskScheduler, given: Sequence[Given], tracker: TrackerSlots
) -> Iterator[str]:
    """Find pools below minimum share that were passed over although the node has their data."""
    assert isinstance(scheduler, FairTaskScheduler)
    for job, kind in given:
        name, pools = job.job.queue, scheduler.pools[kind]
        pool = pools[name]
        if pool.running <= pool.wanted_least:
            continue
        for below in pools.values():
            if below.running < below.wanted_least and any(
                _asks(each, kind, tracker, Locality.NODE) for each in below.offering.jobs
            ):
                yield (
                    f"pool {name} got a {kind.name.lower()} slot and has {pool.running}, while "
                    f"pool {below.name} asked and has {below.running} of {below.wanted_least}"
                )


def _passed_jobs(
    scheduler: TaskScheduler, given: Sequence[Given], tracker: TrackerSlots
) -> Iterator[str]:
    """Find jobs that were passed over by later ones."""
    assert isinstance(scheduler, JobQueueTaskScheduler)
    for job, kind in given:
        for other in scheduler.asking(kind):
            if by_priority(other) < by_priority(job) and _asks(
                other, kind, tracker, Locality.OFF_SWITCH
            ):
                yield f"{job.job} got a {kind.name.lower()} slot while {other.job} asked"
