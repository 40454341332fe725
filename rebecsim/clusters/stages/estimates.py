"""Errors of users' run time estimates, and the repair of plans when tasks deviate from them.

Each error model draws factors: a task's estimate is its duration times its factor. The error f is
the factor less one, so it is above 0 for an overestimate, and always above -1.

A plan is repaired when a task ends earlier or later than expected. Lim, PhD thesis, Carleton
University, section 6.4.1, names both as future work. After an early end, later tasks are pulled
forward (left shift). A task that overruns gets more time in growing steps, and the tasks behind it
are delayed (right shift). Tasks stay on their resources; the manager may move them at its next
decision. All times are ms.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import heappop, heappush

import numpy as np
from numpy.typing import NDArray

from rebecsim.actors import StatePart
from rebecsim.clusters.stages.job import SECOND, StageJob, StageTask, TaskKey, TaskKind
from rebecsim.clusters.stages.resources import Assignment, Schedule, StageResource, pool_of


class EstimateErrors(ABC):
    """A model of estimate errors."""

    @abstractmethod
    def factors(
        self, durations: NDArray[np.float64], draws: np.random.Generator
    ) -> NDArray[np.float64]:
        """Draw a factor for each task of one job; durations are in seconds."""


@dataclass(frozen=True, slots=True)
class ConstantErrors(EstimateErrors):
    """The same error for all tasks: estimates are (1 + f) times the durations.

    Lim, PhD thesis, Carleton University, section 5.7.1, equation 5.1.

    Attributes:
        error: f.
    """

    error: float

    def factors(
        self, durations: NDArray[np.float64], draws: np.random.Generator
    ) -> NDArray[np.float64]:
        """Return 1 + f for each task."""
        return np.full(len(durations), 1 + self.error)


@dataclass(frozen=True, slots=True)
class FeitelsonErrors(EstimateErrors):
    """Feitelson's model: a tenth of the tasks is slightly underestimated, the rest overestimated.

    Lim, PhD thesis, algorithm 5.4. With probability 0.1 the factor is 0.99. Otherwise it is 10 for
    tasks shorter than a threshold, and 1 / u for others, where u is uniform in (0, 1].

    Attributes:
        threshold: duration below which the factor is 10 (s).
        most: upper bound of the factor, without which 1 / u has no mean.
    """

    threshold: float = 20.0
    most: float = 100.0

    def factors(
        self, durations: NDArray[np.float64], draws: np.random.Generator
    ) -> NDArray[np.float64]:
        """Draw a factor for each task."""
        below = draws.random(len(durations)) < _FEITELSON_BELOW
        quotients = 1 / (1 - draws.random(len(durations)))  # of a divisor that is never 0
        longer = np.where(durations < self.threshold, _FEITELSON_SHORT, quotients)
        return np.where(below, _FEITELSON_FACTOR, np.minimum(longer, self.most))


_FEITELSON_BELOW, _FEITELSON_FACTOR, _FEITELSON_SHORT = 0.1, 0.99, 10.0


@dataclass(frozen=True, slots=True)
class VariableErrors(EstimateErrors):
    """One error for each job; most jobs are overestimated. Lim, PhD thesis, algorithm 6.1.

    Attributes:
        over_probability: probability that a job is overestimated.
        over: range of the error of an overestimated job.
        under: range of the error of an underestimated job.
    """

    over_probability: float = 0.98
    over: tuple[float, float] = (0.0, 2.0)
    under: tuple[float, float] = (-0.9, -0.1)

    def factors(
        self, durations: NDArray[np.float64], draws: np.random.Generator
    ) -> NDArray[np.float64]:
        """Draw one factor for all tasks of the job."""
        bounds = self.over if draws.random() < self.over_probability else self.under
        return np.full(len(durations), 1 + draws.uniform(*bounds))


def with_estimates(
    tasks: tuple[StageTask, ...], errors: EstimateErrors | None, draws: np.random.Generator
) -> tuple[StageTask, ...]:
    """Return tasks with estimates: whole ms, at least 1. Dummies get none.

    Without an error model the tasks stay unchanged.
    """
    if errors is None:
        return tasks
    real = [task for task in tasks if not task.is_dummy]
    durations = np.array([task.duration for task in real], np.float64)
    said = np.maximum(np.rint(durations * errors.factors(durations / SECOND, draws)), 1)
    found = {
        task.number: replace(task, estimated=each)
        for task, each in zip(real, said.astype(np.int64).tolist(), strict=True)
    }
    return tuple(found.get(task.number, task) for task in tasks)


Pool = tuple[int, TaskKind]
"""The slots of one kind on one resource."""

_PendingRepairs = dict[Pool, set[TaskKey]]
"""Pools whose tasks must be rescheduled, with the tasks that cannot start as planned."""

_EXTENSION_DIVISOR = 4
"""A task that overruns gets a fourth of its planned time so far in addition."""


def time_extension(assignment: Assignment) -> int:
    """Return by how much to extend a task that overruns (ms): at least a second."""
    return max((assignment.end - assignment.start) // _EXTENSION_DIVISOR, SECOND)


class PlanRepair(StatePart):
    """Keeps a plan feasible when tasks end earlier or later than expected.

    It proposes changes, and never changes the jobs or the schedule itself.
    """

    def __init__(
        self,
        jobs: Mapping[int, StageJob],
        schedule: Schedule,
        resources: Sequence[StageResource],
    ) -> None:
        self._jobs, self._schedule, self._resources = jobs, schedule, resources
        self._planned: dict[Pool, list[tuple[int, TaskKey]]] = {}  # ordered by start
        self._running: dict[Pool, dict[TaskKey, Assignment]] = {}
        self._freed_pools: dict[Pool, None] = {}  # tasks may start earlier here

    def planned(self, each: Assignment, before: Assignment | None) -> None:
        """Record the new place of a task, and drop its place before."""
        if before is not None:
            self._remove_planned(before)
        insort(self._planned.setdefault(self._pool(each), []), (each.start, each.key))

    def runs(self, each: Assignment) -> None:
        """Record that a planned task has started, or was extended."""
        running = self._running.setdefault(self._pool(each), {})
        if each.key not in running:
            self._remove_planned(each)
        running[each.key] = each

    def ended(self, each: Assignment) -> None:
        """Record the end of a task; its job must still be known."""
        del self._running[self._pool(each)][each.key]
        self._freed_pools[self._pool(each)] = None
        for key in self._children(each.key):
            if key in self._schedule.scheduled:
                self._freed_pools[self._pool(self._schedule.scheduled[key])] = None

    def right_shifted(self, longer: Assignment, now: int) -> list[Assignment]:
        """Return new places for the tasks that an extended task delays, on their resources."""
        moved: dict[TaskKey, Assignment] = {}
        work: _PendingRepairs = {self._pool(longer): set()}
        self._mark_children(longer, moved, work)
        while work:
            pool = min(work)
            right_shifted = [self._at(key, moved).start for key in work.pop(pool)]
            until = max(right_shifted, default=0)
            for each in list(self._rescheduled(pool, until, now, moved)):
                self.planned(each, self._at(each.key, moved))
                moved[each.key] = each
                self._mark_children(each, moved, work)
        for each in moved.values():  # the caller reports them when it installs them
            self.planned(self._schedule.scheduled[each.key], each)
        return list(moved.values())

    def left_shifted(self, now: int) -> list[Assignment]:
        """Return the tasks that can start now on freed slots without delaying any other.

        Looks at the pools of ended tasks and of their children.
        """
        found = [each for pool in self._freed_pools for each in self._startable(pool, now)]
        self._freed_pools.clear()
        return found

    def _startable(self, pool: Pool, now: int) -> Iterator[Assignment]:
        slots = self._slots(pool)
        taken = [(each.start, each.end) for each in self._running.get(pool, {}).values()]
        if len(taken) >= slots:
            return
        planned = [self._schedule.scheduled[key] for _, key in self._planned.get(pool, ())]
        spans = [(each.start, each.end) for each in planned]
        for place, each in enumerate(planned):
            if each.start <= now or self._ready(each.key, now, {}) > now:
                continue
            until = now + each.end - each.start
            others = [*taken, *spans[:place], *spans[place + 1 :]]
            if _peak_overlap(others, now, until) < slots:
                spans[place] = (now, until)
                yield each._replace(start=now, end=until)
                if sum(start <= now < end for start, end in [*taken, *spans]) >= slots:
                    return

    def _rescheduled(
        self, pool: Pool, until: int, now: int, moved: Mapping[TaskKey, Assignment]
    ) -> Iterator[Assignment]:
        """Yield the delayed tasks of a pool, until the old plan holds again."""
        running = [max(each.end, now) for each in self._running.get(pool, {}).values()]
        free = sorted([*running, *([now] * (self._slots(pool) - len(running)))])
        until = max([until, *running])
        order = list(self._planned.get(pool, ()))
        waiting: list[tuple[int, TaskKey]] = []
        place = 0
        while place < len(order) or waiting:
            if waiting and (place == len(order) or waiting[0] < order[place]):
                start, key = heappop(waiting)
            elif waiting or order[place][0] <= until:
                start, key = order[place]
                place += 1
            else:
                return
            planned = self._at(key, moved)
            ready = max(start, self._ready(key, now, moved))
            slot = max(bisect_right(free, ready) - 1, 0)
            begin = max(ready, free[slot])
            if begin > start:
                heappush(waiting, (begin, key))
                continue
            del free[slot]
            found = planned._replace(start=begin, end=begin + planned.end - planned.start)
            insort(free, found.end)
            if begin > planned.start:
                until = max(until, found.end)
                yield found

    def _mark_children(
        self, each: Assignment, moved: Mapping[TaskKey, Assignment], work: _PendingRepairs
    ) -> None:
        """Mark the children that were planned to start before a task ends."""
        for key in self._children(each.key):
            child = moved.get(key) or self._schedule.scheduled.get(key)
            if child is not None and child.start < each.end:
                work.setdefault(self._pool(child), set()).add(key)

    def _at(self, key: TaskKey, moved: Mapping[TaskKey, Assignment]) -> Assignment:
        """Return the place of a task that has not started."""
        return moved.get(key) or self._schedule.scheduled[key]

    def _ready(self, key: TaskKey, now: int, moved: Mapping[TaskKey, Assignment]) -> int:
        """Return when the parents of a task have ended and its job may start."""
        job = self._jobs[key.job]
        found = max(now, job.start)
        schedule = self._schedule
        for number in _real(job, key.task, children=False):
            parent = TaskKey(key.job, number)
            each = moved.get(parent) or schedule.scheduled.get(parent)
            each = each or schedule.running.get(parent)
            if each is not None:
                found = max(found, each.end)
                if parent in schedule.running and each.end <= now:
                    found = max(found, now + 1)  # it overruns
        return found

    def _children(self, key: TaskKey) -> Iterable[TaskKey]:
        numbers = _real(self._jobs[key.job], key.task, children=True)
        return [TaskKey(key.job, number) for number in numbers]

    def _remove_planned(self, each: Assignment) -> None:
        planned = self._planned[self._pool(each)]
        del planned[bisect_left(planned, (each.start, each.key))]

    def _slots(self, pool: Pool) -> int:
        return self._resources[pool[0]].slots_for(pool[1])

    def _pool(self, each: Assignment) -> Pool:
        kind = self._jobs[each.key.job].tasks[each.key.task].kind
        return each.resource, pool_of(self._resources[each.resource], kind)


def _real(job: StageJob, number: int, *, children: bool) -> list[int]:
    """Return the real parents or children of a task, looking through dummies."""
    found: dict[int, None] = {}
    seen: set[int] = set()
    stack = [number]
    while stack:
        here = stack.pop()
        for each in job.children[here] if children else job.tasks[here].parents:
            if not job.tasks[each].is_dummy:
                found[each] = None
            elif each not in seen:
                seen.add(each)
                stack.append(each)
    return list(found)


def _peak_overlap(spans: Iterable[tuple[int, int]], first: int, last: int) -> int:
    """Return the largest number of spans that overlap in [first, last)."""
    changes = sorted(
        change
        for start, end in spans
        if start < last and end > first
        for change in ((max(start, first), 1), (end, -1))
    )
    most = used = 0
    for _, change in changes:
        used += change
        most = max(most, used)
    return most
