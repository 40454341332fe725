"""Managers that plan nothing ahead: EDF, FIFO, minimum laxity first, and MinEDF-WC.

A free slot is given to the first job that can use it. Minimum laxity first takes the job that can
wait the least. MinEDF-WC gives each job the fewest slots that meet its deadline, then slots that
are left.

MinEDF-WC is after Verma, Cherkasova, Kumar and Campbell (2012), for jobs of any number of phases.
How long a phase of n tasks takes on s slots lies between n * mean / s and (n - 1) * mean / s +
longest; the mean of both bounds is taken. For MapReduce on typed slots the least sum of map and
reduce slots is found by the slots being proportional to the square roots of the phases' work.

A task that has started is never stopped here: slots that others got beyond their least ones come
back as their tasks end.
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
    """A job of which tasks are to start.

    Attributes:
        job: what it is.
        ready: for each sort of slots the tasks that could start: the longest first.
        running: for each sort of slots how many tasks run.
        unended: for each sort of slots how many tasks have not ended.
        left: how many tasks have not been started.
    """

    def __init__(self, job: StageJob, pools: Mapping[TaskKind, TaskKind]) -> None:
        self.job = job
        self._pools = pools
        self._waits = [len(task.parents) for task in job.tasks]
        self.ready: dict[TaskKind, list[tuple[int, int]]] = {kind: [] for kind in pools.values()}
        self.running: dict[TaskKind, int] = dict.fromkeys(self.ready, 0)
        self.unended: dict[TaskKind, int] = dict.fromkeys(self.ready, 0)
        self.left = len(job.real_tasks)
        for task in job.real_tasks:
            self.unended[pools[task.kind]] += 1
        for number, count in enumerate(list(self._waits)):
            if count == 0:
                self._release(number)

    def start(self, kind: TaskKind) -> int:
        """Take the longest task that could start on a sort of slots; give its number."""
        _, number = self.ready[kind].pop(0)
        self.running[kind] += 1
        self.left -= 1
        return number

    def ended(self, number: int) -> None:
        """Take note that a task has ended: others may be ready now."""
        kind = self._pools[self.job.tasks[number].kind]
        self.running[kind] -= 1
        self.unended[kind] -= 1
        self._free_children(number)

    def _release(self, number: int) -> None:
        task = self.job.tasks[number]
        if task.is_dummy:
            self._free_children(number)
        else:
            insort(self.ready[self._pools[task.kind]], (-task.expected, number))

    def _free_children(self, number: int) -> None:
        for child in self.job.children[number]:
            self._waits[child] -= 1
            if self._waits[child] == 0:
                self._release(child)


class DispatchingManager(StageManager):
    """Gives free slots to jobs in some order, whenever something has happened.

    Of a job the longest tasks that are ready come first; they run on the first resource that has a
    free slot. No task waits while a slot is free that it could take.
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
        self._waiting: list[tuple[int, int, StageJob]] = []  # jobs whose time has not come

    def plan(
        self,
        now: int,
        arrived: Sequence[StageJob],
        running: Mapping[TaskKey, Assignment],
        scheduled: Mapping[TaskKey, Assignment],
    ) -> Sequence[Assignment]:
        """Give what is free to the jobs in their order."""
        for job in arrived:
            insort(self._waiting, (job.start, job.number, job))
        while self._waiting and self._waiting[0][0] <= now:
            job = self._waiting.pop(0)[2]
            self._active[job.number] = ActiveJob(job, self._pools)
        if not any(self._free.values()):
            return []
        return list(self.dispatched(now, sorted(self._unstarted(), key=self.place)))

    def wakes_at(self, now: int) -> int | None:
        """Be asked when the time of the next job has come."""
        return max(self._waiting[0][0], now + 1) if self._waiting else None

    def ended(self, job: StageJob, assignment: Assignment) -> None:
        """Take back the slot."""
        active, task = self._active[job.number], assignment.key.task
        active.ended(task)
        insort(self._free[self._pools[job.tasks[task].kind]], assignment.resource)
        if not any(active.unended.values()):
            del self._active[job.number]

    @abstractmethod
    def place(self, active: ActiveJob) -> tuple[int, ...]:
        """Give the place of a job in the queue: the least comes first."""

    def dispatched(self, now: int, queue: Sequence[ActiveJob]) -> Iterator[Assignment]:
        """Give what starts now, of jobs in their order."""
        for active in queue:
            for kind, ready in active.ready.items():
                while ready and self._free[kind]:
                    yield self.start(now, active, kind)

    def start(self, now: int, active: ActiveJob, kind: TaskKind) -> Assignment:
        """Start the next task of a job on a sort of slots, one of which is free."""
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
    """The job comes first that has the least time left beside what it takes at the very least.

    That is its longest chain of tasks that have not been started. Now is the same for all jobs, so
    that the order is that of the latest times at which these chains could begin.
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
        """Take down how much follows each task of the jobs that have arrived."""
        for job in arrived:
            self._tails[job.number] = longest_chains(job)
        return super().plan(now, arrived, running, scheduled)

    def ended(self, job: StageJob, assignment: Assignment) -> None:
        """Forget a job that has ended."""
        super().ended(job, assignment)
        if job.number not in self._active:
            del self._tails[job.number]

    def place(self, active: ActiveJob) -> tuple[int, ...]:
        """Order by the latest times at which what is ready could begin."""
        tails = self._tails[active.job.number]
        ready = [tails[number] for tasks in active.ready.values() for _, number in tasks]
        return active.job.deadline - max(ready, default=0), active.job.number


def longest_chains(job: StageJob) -> tuple[int, ...]:
    """Give for each task how long it and what follows it take at the very least (ms)."""
    tails = [0] * len(job.tasks)
    for number in reversed(job.order):
        after = max((tails[child] for child in job.children[number]), default=0)
        tails[number] = job.expected[number] + after
    return tuple(tails)


@dataclass(frozen=True, slots=True)
class PhaseWork:
    """A phase: its sort of slots, how many tasks it has, their sum, and the longest (ms)."""

    kind: TaskKind
    count: int
    work: int
    longest: int

    @property
    def parallel(self) -> float:
        """What takes less with more slots, on one slot: the mean of both bounds (ms)."""
        return (2 * self.count - 1) * self.work / self.count / 2

    @property
    def fixed(self) -> float:
        """What takes as long on any number of slots (ms)."""
        return self.longest / 2


def least_slots(phases: Sequence[PhaseWork], time: float) -> dict[TaskKind, float]:
    """Give how many slots of each sort do the phases, one after the other, within a time (ms).

    The sum over the sorts is the least; infinite where no number will do. Slots of one sort are the
    same for all phases that take it.
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
    """Jobs get their least slots in the order of deadlines, and then what is left."""

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
        """Reckon how many slots the jobs that have arrived need at least."""
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
        """Give jobs what they need, and then what is left."""
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
