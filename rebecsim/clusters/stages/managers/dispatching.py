"""Dispatching managers, which never plan ahead: EDF, FIFO, minimum laxity first, and MinEDF-WC.

A free slot goes to the first job in the queue that can use it. Minimum laxity first orders jobs by
the time that they can still wait. MinEDF-WC gives each job the fewest slots that meet its deadline,
then the remaining slots.

MinEDF-WC follows Verma, Cherkasova, Kumar and Campbell (2012), for jobs of any number of phases. A
phase of n tasks on s slots takes between n * mean / s and (n - 1) * mean / s + longest; its
estimate is the mean of both bounds. For MapReduce on typed slots, the smallest sum of map and
reduce slots has slots in proportion to the square roots of the phases' work.

There is no preemption: slots beyond a job's minimum come back as its tasks end.
"""

from __future__ import annotations

from abc import abstractmethod
from bisect import insort
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, inf, sqrt
from typing import ClassVar

from rebecsim.actors import StatePart, Unordered
from rebecsim.clusters.stages.job import StageJob, TaskKey, TaskKind
from rebecsim.clusters.stages.managers.manager import StageManager
from rebecsim.clusters.stages.resources import Assignment, StageResource, pool_of, slot_count


class ActiveJob(StatePart):
    """A job with unfinished tasks. Counts are by kind of slot.

    Attributes:
        job: the job.
        ready: tasks that could start, the longest first.
        running: number of running tasks.
        unfinished: number of tasks that have not ended.
        left: number of tasks that have not started.
    """

    def __init__(self, job: StageJob, pools: Mapping[TaskKind, TaskKind]) -> None:
        self.job = job
        self._pools = pools
        self._waits = [len(task.parents) for task in job.tasks]
        self.ready: dict[TaskKind, list[tuple[int, int]]] = {kind: [] for kind in pools.values()}
        self.running: dict[TaskKind, int] = dict.fromkeys(self.ready, 0)
        self.unfinished: dict[TaskKind, int] = dict.fromkeys(self.ready, 0)
        self.left = len(job.real_tasks)
        for task in job.real_tasks:
            self.unfinished[pools[task.kind]] += 1
        for number, count in enumerate(list(self._waits)):
            if count == 0:
                self._release(number)

    def start(self, kind: TaskKind) -> int:
        """Start the longest ready task on a kind of slot; return its number."""
        _, number = self.ready[kind].pop(0)
        self.running[kind] += 1
        self.left -= 1
        return number

    def ended(self, number: int) -> None:
        """Record the end of a task, and release its children."""
        kind = self._pools[self.job.tasks[number].kind]
        self.running[kind] -= 1
        self.unfinished[kind] -= 1
        self._release_children(number)

    def _release(self, number: int) -> None:
        task = self.job.tasks[number]
        if task.is_dummy:
            self._release_children(number)
        else:
            insort(self.ready[self._pools[task.kind]], (-task.expected, number))

    def _release_children(self, number: int) -> None:
        for child in self.job.children[number]:
            self._waits[child] -= 1
            if self._waits[child] == 0:
                self._release(child)


class DispatchingManager(StageManager):
    """Gives free slots to jobs in some order, on each arrival and each end of a task.

    The longest ready task of a job comes first, on the first resource with a free slot. It is work
    conserving: no ready task waits while a slot is free for it.
    """

    decides_at_ends: ClassVar[bool] = True

    def __init__(self, resources: Sequence[StageResource]) -> None:
        super().__init__(resources)
        self._pools = {kind: pool_of(resources[0], kind) for kind in TaskKind}
        self._free = {
            kind: sorted(each.number for each in resources for _ in range(each.slots_for(kind)))
            for kind in dict.fromkeys(self._pools.values())
        }
        self._active: Unordered[int, ActiveJob] = Unordered()
        self._waiting: list[tuple[int, int, StageJob]] = []  # jobs before their earliest start

    def plan(
        self,
        now: int,
        arrived: Sequence[StageJob],
        running: Mapping[TaskKey, Assignment],
        scheduled: Mapping[TaskKey, Assignment],
    ) -> Sequence[Assignment]:
        """Give free slots to the jobs in their order."""
        for job in arrived:
            insort(self._waiting, (job.start, job.number, job))
        while self._waiting and self._waiting[0][0] <= now:
            job = self._waiting.pop(0)[2]
            self._active[job.number] = ActiveJob(job, self._pools)
        if not any(self._free.values()):
            return []
        return list(self.dispatched(now, sorted(self._unstarted(), key=self.place)))

    def wakes_at(self, now: int) -> int | None:
        """Return the earliest start of the next job."""
        return max(self._waiting[0][0], now + 1) if self._waiting else None

    def ended(self, job: StageJob, assignment: Assignment) -> None:
        """Free the slot."""
        active, task = self._active[job.number], assignment.key.task
        active.ended(task)
        insort(self._free[self._pools[job.tasks[task].kind]], assignment.resource)
        if not any(active.unfinished.values()):
            del self._active[job.number]

    @abstractmethod
    def place(self, active: ActiveJob) -> tuple[int, ...]:
        """Return the sort key of a job in the queue."""

    def dispatched(self, now: int, queue: Sequence[ActiveJob]) -> Iterator[Assignment]:
        """Yield the tasks that start now, given jobs in their order."""
        for active in queue:
            for kind, ready in active.ready.items():
                while ready and self._free[kind]:
                    yield self.start(now, active, kind)

    def start(self, now: int, active: ActiveJob, kind: TaskKind) -> Assignment:
        """Start the next task of a job on a free slot of this kind."""
        resource = self._free[kind].pop(0)
        number = active.start(kind)
        duration = active.job.expected[number]
        return Assignment(TaskKey(active.job.number, number), resource, now, now + duration)

    def _unstarted(self) -> Iterator[ActiveJob]:
        return (each for each in self._active.values() if each.left)


class EarliestDeadlineFirst(DispatchingManager):
    """The job with the earliest deadline comes first."""

    def place(self, active: ActiveJob) -> tuple[int, ...]:
        """Order by deadlines."""
        return active.job.deadline, active.job.number


class FirstInFirstOut(DispatchingManager):
    """The job that arrived first comes first."""

    def place(self, active: ActiveJob) -> tuple[int, ...]:
        """Order by arrivals."""
        return active.job.arrival, active.job.number


class MinimumLaxityFirst(DispatchingManager):
    """The job with the least laxity comes first: time to the deadline less its critical path.

    The path covers tasks that have not started. The current time is the same for all jobs, so jobs
    are ordered by the latest times at which their paths could start.
    """

    def __init__(self, resources: Sequence[StageResource]) -> None:
        super().__init__(resources)
        self._tails: Unordered[int, tuple[int, ...]] = Unordered()

    def plan(
        self,
        now: int,
        arrived: Sequence[StageJob],
        running: Mapping[TaskKey, Assignment],
        scheduled: Mapping[TaskKey, Assignment],
    ) -> Sequence[Assignment]:
        """Compute the longest chains of the jobs that have arrived."""
        for job in arrived:
            self._tails[job.number] = longest_chains(job)
        return super().plan(now, arrived, running, scheduled)

    def ended(self, job: StageJob, assignment: Assignment) -> None:
        """Forget a job that has ended."""
        super().ended(job, assignment)
        if job.number not in self._active:
            del self._tails[job.number]

    def place(self, active: ActiveJob) -> tuple[int, ...]:
        """Order by the latest start of the ready tasks."""
        tails = self._tails[active.job.number]
        ready = [tails[number] for tasks in active.ready.values() for _, number in tasks]
        return active.job.deadline - max(ready, default=0), active.job.number


def longest_chains(job: StageJob) -> tuple[int, ...]:
    """Return for each task the longest chain that starts with it (ms)."""
    tails = [0] * len(job.tasks)
    for number in reversed(job.order):
        after = max((tails[child] for child in job.children[number]), default=0)
        tails[number] = job.expected[number] + after
    return tuple(tails)


@dataclass(frozen=True, slots=True)
class PhaseWork:
    """A phase: its kind of slot, number of tasks, their total time, and the longest (ms)."""

    kind: TaskKind
    count: int
    work: int
    longest: int

    @property
    def parallel(self) -> float:
        """The part that scales with slots, on one slot: the mean of both bounds (ms)."""
        return (2 * self.count - 1) * self.work / self.count / 2

    @property
    def fixed(self) -> float:
        """The part that takes the same time on any number of slots (ms)."""
        return self.longest / 2


def least_slots(phases: Sequence[PhaseWork], time: float) -> dict[TaskKind, float]:
    """Return the fewest slots of each kind that finish consecutive phases within a time (ms).

    Infinite if no number suffices. All phases of one kind use the same slots.
    """
    left = time - sum(each.fixed for each in phases)
    work: dict[TaskKind, float] = {}
    for each in phases:
        work[each.kind] = work.get(each.kind, 0.0) + each.parallel
    if left <= 0:
        return dict.fromkeys(work, inf)
    roots = sum(sqrt(each) for each in work.values())
    return {kind: ceil(sqrt(each) * roots / left) for kind, each in work.items()}


class MinimumSlots(DispatchingManager):
    """MinEDF-WC: jobs get their minimum slots in the order of deadlines, then remaining slots."""

    def __init__(self, resources: Sequence[StageResource]) -> None:
        super().__init__(resources)
        self._least: Unordered[int, dict[TaskKind, float]] = Unordered()
        self._slots = {kind: slot_count(resources, kind) for kind in self._free}

    def plan(
        self,
        now: int,
        arrived: Sequence[StageJob],
        running: Mapping[TaskKey, Assignment],
        scheduled: Mapping[TaskKey, Assignment],
    ) -> Sequence[Assignment]:
        """Compute the minimum slots of the jobs that have arrived."""
        for job in arrived:
            needed = least_slots(self._phases(job), job.deadline - max(now, job.start))
            self._least[job.number] = {
                kind: min(count, self._slots[kind]) for kind, count in needed.items()
            }
        return super().plan(now, arrived, running, scheduled)

    def ended(self, job: StageJob, assignment: Assignment) -> None:
        """Forget a job that has ended."""
        super().ended(job, assignment)
        if job.number not in self._active:
            del self._least[job.number]

    def place(self, active: ActiveJob) -> tuple[int, ...]:
        """Order by deadlines."""
        return active.job.deadline, active.job.number

    def dispatched(self, now: int, queue: Sequence[ActiveJob]) -> Iterator[Assignment]:
        """Give jobs their minimum slots, then remaining slots."""
        for active in queue:
            least = self._least[active.job.number]
            for kind, ready in active.ready.items():
                while ready and self._free[kind] and active.running[kind] < least.get(kind, 0):
                    yield self.start(now, active, kind)
        yield from super().dispatched(now, queue)

    def _phases(self, job: StageJob) -> list[PhaseWork]:
        found: dict[tuple[int, TaskKind], list[int]] = {}
        for task in job.real_tasks:
            found.setdefault((task.phase, self._pools[task.kind]), []).append(task.expected)
        return [
            PhaseWork(kind, len(times), sum(times), max(times))
            for (_, kind), times in sorted(found.items())
        ]
