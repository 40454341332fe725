"""Batch policies by name, an order of the queue and a way to backfill; conservative backfilling."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import accumulate
from typing import Any

from rebecsim.actors import StatePart
from rebecsim.clusters.batch.machine import Job, Machine
from rebecsim.clusters.batch.policies.backfilling import (
    Allocations,
    Backfilling,
    EasyBackfilling,
    NoBackfilling,
)
from rebecsim.clusters.batch.policies.orders import (
    BySubmission,
    Fairshare,
    LargestArea,
    LongestJob,
    PolicySettings,
    QueueOrder,
    QueuePriority,
    ShortestJob,
    SmallestArea,
)
from rebecsim.clusters.kit.plugins import NamedPolicy, Registry


class Profile(StatePart):
    """The level of a machine as a step function of time: sorted times, and the level from each on.

    The last level is that of the empty machine: every reservation ends. How many processors are
    free at each is counted, as most levels are out of the question by that alone; where levels are
    such numbers, they stand once.
    """

    __slots__ = ("_free", "_is_counted", "_levels", "_machine", "_peaks", "_times")

    def __init__(self, machine: Machine[Any]) -> None:
        self._machine = machine
        self._is_counted = machine.is_counted
        self._times: list[int] = [0]
        self._free = [machine.processors]
        self._levels: list[Any] = self._free if self._is_counted else [machine.empty]
        self._peaks: list[int] = []  # the most that is free up to each of the first steps

    def forget(self, now: int) -> None:
        """Drop the steps before the time `now`."""
        place = bisect_right(self._times, now) - 1
        if place > 0:
            del self._times[:place], self._free[:place]
            if not self._is_counted:
                del self._levels[:place]
            self._peaks.clear()

    def take(self, start: int, end: int, amount: Any) -> None:
        """Reserve an amount from `start` until before `end`."""
        first, last = self._split(start), self._split(end)
        free, processors = self._free, self._machine.free(amount)
        for place in range(first, last):
            free[place] -= processors
        if not self._is_counted:
            levels = self._levels
            for place in range(first, last):
                levels[place] = levels[place] - amount
        del self._peaks[first:]

    def give(self, start: int, end: int, amount: Any) -> None:
        """Free an amount from `start` until before `end`."""
        first, last = self._split(start), self._split(end)
        free, processors = self._free, self._machine.free(amount)
        for place in range(first, last):
            free[place] += processors
        if self._is_counted:
            self._merge(last)
            self._merge(first)
        else:
            levels = self._levels
            for place in range(first, last):
                levels[place] = levels[place] + amount
        del self._peaks[first:]

    def earliest(self, job: Job, start: int, before: int | None = None) -> tuple[int, Any] | None:
        """Find the earliest time, from `start` on, at which the job fits for its whole estimate.

        Gives the time and the amount; None if there is no such time earlier than `before`.
        """
        times, levels, machine = self._times, self._levels, self._machine
        first = bisect_right(times, start) - 1
        while (steps := self._enough(job, first, start, before)) is not None:
            first, last = steps
            if self._is_counted:
                return max(times[first], start), job.processors
            amount = machine.place(job, machine.lower(*levels[first:last]))
            if amount is not None:
                return max(times[first], start), amount
            first = self._behind(job, first)
        return None

    def may_move(self, job: Job, start: int, before: int, planned: int) -> int | None:
        """Give a time from `start` on before which a job that is planned for later cannot begin.

        None if it cannot before `before`. It has a reservation from `planned` on, which counts as
        free; where levels are numbers of processors, it can begin at the time that is given.
        """
        first = bisect_right(self._times, start) - 1
        steps = self._enough(job, first, start, before, planned)
        return None if steps is None else max(self._times[steps[0]], start)

    def _enough(
        self, job: Job, first: int, start: int, before: int | None, until: int | None = None
    ) -> tuple[int, int] | None:
        """Find the next steps, from `first` on, with enough processors for as long as a job takes.

        Gives the first one and the one behind the last one. What is from `until` on is enough.
        """
        times, free, wanted = self._times, self._free, job.processors
        count = len(times)
        if first == 0:
            first = bisect_left(self._peaks, wanted)
        latest = count if before is None else bisect_left(times, before)
        while first < latest:
            if free[first] < wanted:
                first += 1
                continue
            end = (times[first] if times[first] > start else start) + job.estimate
            if until is not None and until < end:
                end = until
            last = first + 1
            while last < count and times[last] < end and free[last] >= wanted:
                last += 1
            if last == count or times[last] >= end:
                return first, last
            first = last + 1
        return None

    def _behind(self, job: Job, first: int) -> int:
        """Give the next step at which a job may begin that cannot begin at this one.

        Where it does not fit at all, no earlier start can do; else nodes may differ.
        """
        level, last = self._levels[first], first
        while self._machine.place(job, level) is not None:
            last += 1
            level = self._machine.lower(level, self._levels[last])
        return last + 1 if self._machine.place(job, self._levels[last]) is None else first + 1

    def peak(self, end: int) -> int:
        """Give the most processors that are free at one time before `end`."""
        peaks, last = self._peaks, bisect_left(self._times, end)
        known = len(peaks)
        if known < last:
            highest = peaks.pop() if peaks else 0
            peaks += accumulate(self._free[known:last], max, initial=highest)
            if not known:
                del peaks[0]
        return peaks[last - 1]

    def _split(self, time: int) -> int:
        """Make a step at a time, if there is none, and give its position."""
        place = bisect_left(self._times, time)
        if place == len(self._times) or self._times[place] != time:
            self._times.insert(place, time)
            self._free.insert(place, self._free[place - 1])
            del self._peaks[place:]
            if not self._is_counted:
                self._levels.insert(place, self._levels[place - 1])
        return place

    def _merge(self, place: int) -> None:
        """Take out a step at which nothing changes."""
        if place and self._free[place] == self._free[place - 1]:
            del self._times[place], self._free[place]


class ConservativeBackfilling(Backfilling):
    """A job overtakes if, by the estimates, it delays no job ahead of it.

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
        self._amounts: dict[int, Any] = {}  # and what is reserved
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
        left = self.allocations.finish(job, now)
        if left is not None:
            end, amount = left
            self._profile.give(now, end, amount)
            self._compress(now, end)
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
        self.start(job, self._amounts.pop(job.index), now)

    def _reserve(self, job: Job, now: int) -> None:
        slot = self._profile.earliest(job, now)
        assert slot is not None, f"{job!r} does not fit on the empty machine"
        self._plan(job, *slot)

    def _plan(self, job: Job, start: int, amount: Any) -> None:
        self._profile.take(start, start + job.estimate, amount)
        self._amounts[job.index] = amount
        self._planned[job.index] = start
        heappush(self._due, (start, job.index, job))

    def _withdraw(self, job: Job) -> None:
        start = self._planned[job.index]
        self._profile.give(start, start + job.estimate, self._amounts[job.index])

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
                (first, self._amounts[job.index])
                if self.machine.is_counted
                else self._profile.earliest(job, first, before)
            )
            if slot is None:
                self._profile.take(start, start + job.estimate, self._amounts[job.index])
            else:
                self._plan(job, *slot)
                self._news = max(self._news, start + job.estimate)
                until = max(until, self._news)


@dataclass(frozen=True, slots=True)
class BatchPolicy(NamedPolicy):
    """One way to run the jobs of a batch queue."""

    order: type[QueueOrder] = BySubmission
    """The order of the waiting jobs."""

    backfilling: type[Backfilling] = NoBackfilling
    """Which of them start."""


BUILTIN_BATCH_POLICIES = (
    BatchPolicy(
        "FCFS",
        "First come, first served",
        "jobs start in the order of submission; nothing overtakes",
    ),
    BatchPolicy(
        "SJF",
        "Shortest job first",
        "the shortest estimate is the head of the queue; nothing overtakes it",
        ShortestJob,
    ),
    BatchPolicy(
        "LJF",
        "Longest job first",
        "the longest estimate is the head of the queue; nothing overtakes it",
        LongestJob,
    ),
    BatchPolicy(
        "SMALLEST_AREA",
        "Smallest area first",
        "the fewest processor seconds, by the estimate, are the head; nothing overtakes it",
        SmallestArea,
    ),
    BatchPolicy(
        "LARGEST_AREA",
        "Largest area first",
        "the most processor seconds, by the estimate, are the head; nothing overtakes it",
        LargestArea,
    ),
    BatchPolicy(
        "PRIORITY",
        "Queue priority",
        "jobs of the queue of the lowest rank go first, in the order of submission",
        QueuePriority,
    ),
    BatchPolicy(
        "EASY",
        "EASY backfilling",
        "a job overtakes if that does not delay the head of the queue",
        BySubmission,
        EasyBackfilling,
    ),
    BatchPolicy(
        "CONSERVATIVE",
        "Conservative backfilling",
        "a job overtakes if that delays no job ahead of it",
        BySubmission,
        ConservativeBackfilling,
    ),
    BatchPolicy(
        "FAIR_FCFS",
        "Fairshare without backfilling",
        "the job of the user with the least usage is the head; nothing overtakes it",
        Fairshare,
    ),
    BatchPolicy(
        "FAIR_EASY",
        "EASY backfilling with fairshare",
        "the job of the user with the least usage is the head; a job overtakes if that does not "
        "delay it",
        Fairshare,
        EasyBackfilling,
    ),
    BatchPolicy(
        "FAIR_CONSERVATIVE",
        "Conservative backfilling with fairshare",
        "reservations are made in the order of the users' usage, anew at every refresh",
        Fairshare,
        ConservativeBackfilling,
    ),
)
batch_policies: Registry[BatchPolicy] = Registry("batch policy", BUILTIN_BATCH_POLICIES)
BATCH_POLICIES = batch_policies.entries
batch_policy = batch_policies.find
"""Return the batch policy of a name. Raises UnknownNameError when there is none."""
