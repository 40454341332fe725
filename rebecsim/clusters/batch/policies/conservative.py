"""Conservative backfilling: every waiting job has a reservation."""

from __future__ import annotations

from heapq import heappop, heappush
from typing import Any

from rebecsim.clusters.batch.job import Job
from rebecsim.clusters.batch.policies.allocations import Allocations
from rebecsim.clusters.batch.policies.backfilling import Backfilling
from rebecsim.clusters.batch.policies.orders import QueueOrder
from rebecsim.clusters.batch.policies.profile import Profile
from rebecsim.clusters.batch.policies.settings import PolicySettings


class ConservativeBackfilling(Backfilling):
    """A job overtakes if that delays nobody ahead of it, by the estimates.

    A new job gets the earliest reservation that the others leave. When a job ends before its
    estimate, the waiting jobs are tried in the order of the queue and move to the earliest place
    that has become free, so that no reservation is ever moved back (Mu'alem and Feitelson, IEEE
    TPDS 12(6), 2001, section 2.1). A refresh of the order gives new reservations to all.
    """

    def __init__(
        self, order: QueueOrder, allocations: Allocations, settings: PolicySettings
    ) -> None:
        super().__init__(order, allocations, settings)
        self._profile = Profile(self.machine)
        self._planned: dict[int, int] = {}  # reserved start, by position in the workload
        self._due: list[tuple[int, int, Job]] = []  # a heap of reservations, some of them outdated
        self._news = 0  # until when moves of the last time have freed something

    @property
    def wake(self) -> int | None:
        """The earliest reservation."""
        self._drop_outdated()
        return self._due[0][0] if self._due else None

    def reservation(self, job: Job) -> int:
        """Give the start that a waiting job has reserved; seconds. Raises KeyError."""
        return self._planned[job.index]

    def submitted(self, job: Job, now: int) -> list[Job]:
        """Give a new job its reservation; if that is now it starts, behind older ones for now."""
        self._begin(now)
        self.waiting.add(job, self.order.key(job, now))
        self._reserve(job, now)
        return self.schedule(now)

    def finished(self, job: Job, now: int) -> list[Job]:
        """Fill the hole that a job leaves which ends before its estimate."""
        self._begin(now)
        self.order.finished(job, now)
        if self.allocations.finish(job, now) and job.expected_end > now:
            self._profile.give(now, job.expected_end, job.amount)
            self._compress(now, job.expected_end)
        return self.schedule(now)

    def refreshed(self, now: int) -> list[Job]:
        """Sort the queue anew and plan all of it anew."""
        self._begin(now)
        self.waiting.reorder(lambda job: self.order.key(job, now))
        jobs = list(self.waiting)
        for job in jobs:
            self._withdraw(job)
        for job in jobs:
            self._reserve(job, now)
        return self.schedule(now)

    def schedule(self, now: int) -> list[Job]:
        """Start the jobs whose reservation has come."""
        started: list[Job] = []
        while True:
            self._drop_outdated()
            if not self._due or self._due[0][0] > now:
                return started
            job = heappop(self._due)[2]
            self._start_planned(job, now)
            started.append(job)

    def _begin(self, now: int) -> None:
        self.allocations.expire(now)
        self._profile.forget(now)

    def _drop_outdated(self) -> None:
        due, planned = self._due, self._planned
        while due and planned.get(due[0][1]) != due[0][0]:
            heappop(due)

    def _start_planned(self, job: Job, now: int) -> None:
        del self._planned[job.index]
        self.start(job, job.amount, now)

    def _reserve(self, job: Job, now: int) -> None:
        slot = self._profile.earliest(job, now)
        assert slot is not None, f"{job!r} does not fit on the empty machine"
        self._plan(job, *slot)

    def _plan(self, job: Job, start: int, amount: Any) -> None:
        self._profile.take(start, start + job.estimate, amount)
        job.amount = amount
        self._planned[job.index] = start
        heappush(self._due, (start, job.index, job))

    def _withdraw(self, job: Job) -> None:
        start = self._planned[job.index]
        self._profile.give(start, start + job.estimate, job.amount)

    def _compress(self, now: int, until: int) -> None:
        """Move reservations, in the order of the queue, to the earliest time that is free now.

        Only what lies before `until` has become free. A job that starts at or after it in the new
        plan would have fitted there before, so that it is enough to look for earlier starts. What
        a job frees by moving is news to the jobs behind it, and at the next time to all. Where at
        no time before its start so many processors are free, a job need not be tried.
        """
        until = max(until, self._news)
        self._news = 0
        for job in list(self.waiting):
            start = self._planned[job.index]
            if start <= now or job.processors > self._profile.peak(min(until, start)):
                continue
            before = min(until, start)
            first = self._profile.may_move(job, now, before, start)
            if first is None:
                continue
            self._withdraw(job)
            slot = (
                (first, job.amount)
                if self.machine.is_counted
                else self._profile.earliest(job, first, before)
            )
            if slot is None:
                self._profile.take(start, start + job.estimate, job.amount)
            else:
                self._plan(job, *slot)
                self._news = max(self._news, start + job.estimate)
                until = max(until, self._news)
