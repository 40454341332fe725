"""Which waiting jobs start: the second half of a policy.

All of these work alike: something has happened (a job was submitted or has ended, or the order of
the queue was refreshed), and they say which jobs start now. Nothing can start in between.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from rebecsim.clusters.batch.job import Job
from rebecsim.clusters.batch.policies.allocations import Allocations
from rebecsim.clusters.batch.policies.orders import QueueOrder
from rebecsim.clusters.batch.policies.settings import PolicySettings
from rebecsim.clusters.batch.policies.waiting import WaitingQueue


class Backfilling(ABC):
    """Decides which jobs start; made anew for every run.

    Subclasses define `schedule`, which starts jobs with `start`. A submission leads to it only if
    the submitted job itself fits: nothing else has changed for the others.
    """

    def __init__(
        self, order: QueueOrder, allocations: Allocations, settings: PolicySettings
    ) -> None:
        self.order = order
        self.allocations = allocations
        self.settings = settings
        self.machine = allocations.machine
        self.waiting = WaitingQueue()
        self.by_estimate: WaitingQueue | None = None
        """The same jobs, the one with the shortest estimate first, where that is wanted."""

    @property
    def wake(self) -> int | None:
        """The time, in seconds, at which something may have to start without any other event."""
        return None

    def submitted(self, job: Job, now: int) -> list[Job]:
        """Take a new job; give the jobs that start."""
        allocations = self.allocations
        allocations.expire(now)
        self.waiting.add(job, self.order.key(job, now))
        if self.by_estimate is not None:
            self.by_estimate.add(job, job.estimate)
        if job.processors > allocations.processors:
            return []
        machine = self.machine
        if not machine.are_alike and machine.place(job, allocations.free) is None:
            return []
        return self.schedule_new(job, now)

    def finished(self, job: Job, now: int) -> list[Job]:
        """Take back what an ended job had; give the jobs that start."""
        allocations = self.allocations
        allocations.expire(now)
        allocations.finish(job)
        self.order.finished(job, now)
        return self.schedule(now) if self.waiting.blocks else []

    def refreshed(self, now: int) -> list[Job]:
        """Sort the queue anew; give the jobs that start.

        None starts here: a job that is the head only now waits for the next submission or end.
        """
        self.waiting.reorder(lambda job: self.order.key(job, now))
        return []

    def woken(self, now: int) -> list[Job]:
        """Give the jobs that start at the time that `wake` gave."""
        self.allocations.expire(now)
        return self.schedule(now)

    @abstractmethod
    def schedule(self, now: int) -> list[Job]:
        """Start what should start now, and give it, in the order of starting."""

    def schedule_new(self, job: Job, now: int) -> list[Job]:
        """Start what should start now that a job was submitted which fits."""
        return self.schedule(now)

    def start(self, job: Job, amount: Any, now: int) -> None:
        """Let a waiting job have an amount of the machine."""
        self.waiting.remove(job)
        if self.by_estimate is not None:
            self.by_estimate.remove(job)
        self.allocations.start(job, amount, now)

    def start_heads(self, now: int) -> list[Job]:
        """Start jobs from the head of the queue on, up to the first that does not fit."""
        started: list[Job] = []
        blocks, allocations, place = self.waiting.blocks, self.allocations, self.machine.place
        while blocks:
            head = blocks[0].entries[0][2]
            if head.processors > allocations.processors:
                break
            amount = place(head, allocations.free)
            if amount is None:
                break
            self.start(head, amount, now)
            started.append(head)
        return started


class NoBackfilling(Backfilling):
    """The head of the queue starts when it fits; nothing overtakes it."""

    def schedule(self, now: int) -> list[Job]:
        """Start heads."""
        return self.start_heads(now)


class EasyBackfilling(Backfilling):
    """A job overtakes if that does not delay the head of the queue, by the estimates.

    The head has a reservation at the shadow time, the earliest time at which it fits when running
    jobs end as estimated. Another job starts now if it fits and is over by then, or leaves enough
    for the head on the machine (Mu'alem and Feitelson, "Utilization, predictability, workloads,
    and user runtime estimates in scheduling the IBM SP2 with backfilling", IEEE TPDS 12(6), 2001,
    section 2.2).
    """

    def __init__(
        self, order: QueueOrder, allocations: Allocations, settings: PolicySettings
    ) -> None:
        super().__init__(order, allocations, settings)
        if settings.backfill_order == "shortest":
            self.by_estimate = WaitingQueue()
        own = type(self).schedule is EasyBackfilling.schedule
        self._tries_new_ones_alone = own and self.machine.are_alike
        self._tried = -1, -1  # what was given back and who was the head when all were tried last
        self._reserved: tuple[int, Any] | None = None  # for that head, if it was asked for

    def schedule(self, now: int) -> list[Job]:
        """Start heads, then what overtakes the head that is left."""
        started = self.start_heads(now)
        blocks = self.waiting.blocks
        if blocks:
            entries = blocks[0].entries
            self._tried = self.allocations.given_back, entries[0][1]
            self._reserved = None
            if len(entries) > 1 or len(blocks) > 1:
                started += self._overtake(now)
        return started

    def schedule_new(self, job: Job, now: int) -> list[Job]:
        """Start what should start now that a job was submitted which fits.

        While nothing is given back and the head is the same, what could not start cannot later:
        what is free, what the head leaves, and the time up to its start only become less.
        """
        tried = self.allocations.given_back, self.waiting.blocks[0].entries[0][1]
        if tried != self._tried or not self._tries_new_ones_alone:
            return self.schedule(now)
        return self._pass([job], now)

    def reservation(self) -> tuple[int, Any]:
        """Give the shadow time in seconds, and the level of the machine at it beside the head."""
        head = self.waiting.head
        running = self.allocations.running
        level, free = self.allocations.free, self.allocations.processors
        wanted, added, count = head.processors, 0, len(running)
        for ended, (end, _, processors, _) in enumerate(running, 1):
            free += processors
            if free < wanted or (ended < count and running[ended][0] == end):
                continue
            for _, _, _, job in running[added:ended]:
                level = level + job.amount
            added = ended
            amount = self.machine.place(head, level)
            if amount is not None:
                return end, level - amount
        raise AssertionError(f"{head!r} does not fit on the empty machine")

    def _overtake(self, now: int) -> list[Job]:
        free = self.allocations.processors
        queue = self.waiting if self.by_estimate is None else self.by_estimate
        small = [
            job
            for block in queue.blocks
            if block.fewest <= free
            for _, _, job in block.entries
            if job.processors <= free
        ]
        return self._pass(small, now) if small else []

    def _pass(self, jobs: list[Job], now: int) -> list[Job]:
        """Start those of some jobs, in their order, that overtake the head."""
        machine, allocations = self.machine, self.allocations
        shadow, beside = self._reserved or self.reservation()
        room = shadow - now
        level = allocations.free
        free, extra = allocations.processors, machine.free(beside)
        chosen: list[tuple[Job, Any]] = []
        for job in jobs:
            wanted = job.processors
            if wanted > free:
                continue
            if job.estimate <= room:
                amount = machine.place(job, level)
            elif wanted <= extra:
                amount = machine.place(job, machine.lower(level, beside))
            else:
                continue
            if amount is None:
                continue
            if job.estimate > room:
                beside = beside - amount
                extra -= wanted
            level = level - amount
            free -= wanted
            chosen.append((job, amount))
        self._reserved = shadow, beside
        for job, amount in chosen:
            self.start(job, amount, now)
        return [job for job, _ in chosen]
