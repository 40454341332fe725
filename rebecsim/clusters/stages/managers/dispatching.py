"""Managers that plan nothing ahead: a free slot is given to the first job that can use it."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from heapq import heapify, heappop, heappush
from typing import ClassVar

from rebecsim.clusters.stages.job import StageJob, TaskKey, TaskKind
from rebecsim.clusters.stages.managers.manager import StageManager
from rebecsim.clusters.stages.resources import StageResource, pool_of
from rebecsim.clusters.stages.schedule import Assignment


class ActiveJob:
    """A job of which tasks are to start.

    Attributes:
        job: what it is.
        ready: for each sort of slots the tasks that could start: the longest first (a heap).
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
        _, number = heappop(self.ready[kind])
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
            heappush(self.ready[self._pools[task.kind]], (-task.expected, number))

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
            kind: [each.number for each in resources for _ in range(each.slots_for(kind))]
            for kind in dict.fromkeys(self._pools.values())
        }
        for slots in self._free.values():
            heapify(slots)
        self._active: dict[int, ActiveJob] = {}
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
            heappush(self._waiting, (job.start, job.number, job))
        while self._waiting and self._waiting[0][0] <= now:
            job = heappop(self._waiting)[2]
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
        heappush(self._free[self._pools[job.tasks[task].kind]], assignment.resource)
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
        resource = heappop(self._free[kind])
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
