"""A pool: its jobs, the slots that they hold and want, and whether it is starved."""

from __future__ import annotations

import math

from rebecsim.clusters.mapreduce.job import JobPriority, SlotKind
from rebecsim.clusters.mapreduce.progress import JobInProgress
from rebecsim.clusters.mapreduce.schedulers.fair.settings import PoolSettings
from rebecsim.clusters.mapreduce.schedulers.offering import OfferingJobs, by_priority

_WEIGHTS = {
    JobPriority.VERY_HIGH: 4.0,
    JobPriority.HIGH: 2.0,
    JobPriority.NORMAL: 1.0,
    JobPriority.LOW: 0.5,
    JobPriority.VERY_LOW: 0.25,
}

Urgency = tuple[bool, float, int, str]
"""Who has less of this is served first: below the minimum share, how much it has, since when."""


def demand_of(job: JobInProgress, kind: SlotKind) -> int:
    """Give how many slots a job has or wants; none for reduces that may not begin."""
    running, waiting = job.running[kind], job.waiting(kind)
    if kind is SlotKind.MAP or running or job.offers_reduce():
        return running + waiting
    return 0


class PoolShare:
    """What a pool has and wants of the slots of a kind.

    Attributes:
        running: slots that its tasks hold.
        demand: slots that its jobs hold or want, no more than it may have.
        least: slots that it is sure of while it wants them.
        offering: its jobs that have something to run.
        fair_share: what it should have, as it was last computed.
        at_least: when it last had its minimum share (microseconds).
        at_half: when it last had half its fair share.
    """

    def __init__(self, name: str, kind: SlotKind, settings: PoolSettings, now: int) -> None:
        self.name = name
        self.kind = kind
        self.running = 0
        self.offering = OfferingJobs(kind, by_priority)
        self.fair_share = 0.0
        self.at_least = self.at_half = now
        self._demands: dict[JobInProgress, int] = {}
        self._demand = 0
        self.change(settings)

    def change(self, settings: PoolSettings) -> None:
        """Go on with other settings."""
        is_map = self.kind is SlotKind.MAP
        self.least = settings.min_maps if is_map else settings.min_reduces
        self.most = settings.max_maps if is_map else settings.max_reduces
        self.weight = settings.weight
        self.is_fifo = settings.scheduling_mode == "fifo"
        timeout = settings.min_share_preemption_timeout
        self.timeout = math.inf if timeout is None else timeout

    @property
    def demand(self) -> int:
        """Slots that its jobs hold or want, no more than it may have."""
        return min(self._demand, self.most)

    @property
    def wanted_least(self) -> int:
        """Slots that it is sure of, no more than it wants."""
        return min(self.least, self.demand)

    def urgency(self) -> Urgency:
        """Give how soon the pool is to be served."""
        least = self.wanted_least
        if self.running < least:
            return False, self.running / max(least, 1), 0, self.name
        return True, self.running / self.weight, 0, self.name

    def is_full(self) -> bool:
        """Whether the pool may have no slot more."""
        return self.running >= self.most

    def review(self, job: JobInProgress) -> None:
        """See anew what a job that may run has and wants."""
        demand = demand_of(job, self.kind)
        self._demand += demand - self._demands.get(job, 0)
        self._demands[job] = demand
        self.offering.review(job)

    def withdraw(self, job: JobInProgress) -> None:
        """Leave out a job that has ended, or must wait for others."""
        self._demand -= self._demands.pop(job, 0)
        self.offering.remove(job)

    def in_order(self, by_size: bool) -> list[JobInProgress]:
        """Give its jobs that have something to run in the order in which they are asked."""
        jobs = self.offering.jobs
        if self.is_fifo or len(jobs) <= 1:
            return list(jobs)
        return sorted(jobs, key=lambda job: self._job_urgency(job, by_size))

    def look(self, now: int) -> None:
        """Take note whether the pool has what it should have."""
        if self.running >= self.wanted_least:
            self.at_least = now
        if self.running >= math.floor(min(self.fair_share / 2, self.demand)):
            self.at_half = now

    def _job_urgency(self, job: JobInProgress, by_size: bool) -> tuple[float, int, int]:
        weight = _WEIGHTS[job.job.priority]
        if by_size:
            weight *= math.log2(1 + max(self._demands[job], 1))
        return job.running[self.kind] / weight, job.job.submit, job.job.number
