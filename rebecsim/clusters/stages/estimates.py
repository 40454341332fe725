"""Users' estimates of how long tasks run, their errors, and how plans handle these.

Each model draws factors: the estimate of a task is its duration times its factor. An error f is
that factor less one: more than 0 where users say too much, never less than or equal to -1.

Plans change when tasks end earlier or later than expected. Lim, PhD thesis, Carleton University,
section 6.4.1, names both as future work: later tasks are pulled forward where one ends early, and
one that takes longer is given time, a little at first and more if it needs more. Tasks stay on
their resources; who is to move elsewhere is up to the manager at its next decision. All times are
ms.
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
    """A model of errors."""

    @abstractmethod
    def factors(
        self, durations: NDArray[np.float64], draws: np.random.Generator
    ) -> NDArray[np.float64]:
        """Draw the factors of the tasks of one job, of which the durations are known (s)."""


@dataclass(frozen=True, slots=True)
class ConstantErrors(EstimateErrors):
    """All users are wrong by the same: estimates are (1 + f) times the durations.

    Lim, PhD thesis, Carleton University, section 5.7.1, equation 5.1.

    Attributes:
        error: f.
    """

    error: float

    def factors(
        self, durations: NDArray[np.float64], draws: np.random.Generator
    ) -> NDArray[np.float64]:
        """Give the same for all tasks."""
        return np.full(len(durations), 1 + self.error)


@dataclass(frozen=True, slots=True)
class FeitelsonErrors(EstimateErrors):
    """A tenth of the tasks runs a little longer than estimated, all others shorter.

    Feitelson's model as in Lim, PhD thesis, algorithm 5.4: with probability 0.1 the estimate is
    0.99 times the duration; otherwise it is 10 times the duration of a task that is shorter than a
    threshold, and the duration divided by a number that is as likely from 0 to 1 for the others.

    Attributes:
        threshold: of durations (s).
        most: the greatest factor; the quotient has none otherwise, and no mean.
    """

    threshold: float = 20.0
    most: float = 100.0

    def factors(
        self, durations: NDArray[np.float64], draws: np.random.Generator
    ) -> NDArray[np.float64]:
        """Draw for each task by itself."""
        below = draws.random(len(durations)) < _FEITELSON_BELOW
        quotients = 1 / (1 - draws.random(len(durations)))  # of a divisor that is never 0
        longer = np.where(durations < self.threshold, _FEITELSON_SHORT, quotients)
        return np.where(below, _FEITELSON_FACTOR, np.minimum(longer, self.most))


_FEITELSON_BELOW, _FEITELSON_FACTOR, _FEITELSON_SHORT = 0.1, 0.99, 10.0


@dataclass(frozen=True, slots=True)
class VariableErrors(EstimateErrors):
    """Each job has an error of its own: most are estimated to run longer than they do.

    Lim, PhD thesis, algorithm 6.1.

    Attributes:
        over_probability: of a job that is estimated to run longer.
        over: between what its error is drawn then.
        under: between what it is drawn otherwise.
    """

    over_probability: float = 0.98
    over: tuple[float, float] = (0.0, 2.0)
    under: tuple[float, float] = (-0.9, -0.1)

    def factors(
        self, durations: NDArray[np.float64], draws: np.random.Generator
    ) -> NDArray[np.float64]:
        """Draw one factor for all tasks."""
        bounds = self.over if draws.random() < self.over_probability else self.under
        return np.full(len(durations), 1 + draws.uniform(*bounds))


def with_estimates(
    tasks: tuple[StageTask, ...], errors: EstimateErrors | None, draws: np.random.Generator
) -> tuple[StageTask, ...]:
    """Give tasks with what users say of them: whole ms, at least 1.

    Dummies take no time, and everybody knows. Without errors the tasks are as before.
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
"""The slots of one sort of one resource."""

_Work = dict[Pool, set[TaskKey]]
"""Where tasks are to be placed anew, and which of them cannot start as they are."""

_GRANTED = 4
"""A task that takes longer is given a fourth of the time that it has been given so far."""


def more_time(assignment: Assignment) -> int:
    """Give how much more time a task gets that should have ended: at least a second."""
    return max((assignment.end - assignment.start) // _GRANTED, SECOND)


class PlanKeeper(StatePart):
    """Keeps a plan possible while tasks end earlier or later than expected.

    It reads the jobs and the schedule of a resource manager, and changes neither.
    """

    def __init__(
        self,
        jobs: Mapping[int, StageJob],
        schedule: Schedule,
        resources: Sequence[StageResource],
    ) -> None:
        self._jobs, self._schedule, self._resources = jobs, schedule, resources
        self._planned: dict[Pool, list[tuple[int, TaskKey]]] = {}  # in the order of their starts
        self._running: dict[Pool, dict[TaskKey, Assignment]] = {}
        self._touched: dict[Pool, None] = {}  # where tasks may start earlier

    def planned(self, each: Assignment, before: Assignment | None) -> None:
        """Take note of a task that has a place now, and of that it had."""
        if before is not None:
            self._take_out(before)
        insort(self._planned.setdefault(self._pool(each), []), (each.start, each.key))

    def runs(self, each: Assignment) -> None:
        """Take note of a planned task that has started, or has been given time."""
        running = self._running.setdefault(self._pool(each), {})
        if each.key not in running:
            self._take_out(each)
        running[each.key] = each

    def ended(self, each: Assignment) -> None:
        """Take note of a task that has ended, of a job that is still known."""
        del self._running[self._pool(each)][each.key]
        self._touched[self._pool(each)] = None
        for key in self._children(each.key):
            if key in self._schedule.scheduled:
                self._touched[self._pool(self._schedule.scheduled[key])] = None

    def pushed(self, longer: Assignment, now: int) -> list[Assignment]:
        """Give the tasks that cannot start as planned as one takes longer: where they can start
        next on their resources.
        """
        moved: dict[TaskKey, Assignment] = {}
        work: _Work = {self._pool(longer): set()}
        self._push_children(longer, moved, work)
        while work:
            pool = min(work)
            pushed = [self._at(key, moved).start for key in work.pop(pool)]
            until = max(pushed, default=0)
            for each in list(self._placed_anew(pool, until, now, moved)):
                self.planned(each, self._at(each.key, moved))
                moved[each.key] = each
                self._push_children(each, moved, work)
        for each in moved.values():  # whoever installs them says so
            self.planned(self._schedule.scheduled[each.key], each)
        return list(moved.values())

    def pulled(self, now: int) -> list[Assignment]:
        """Give the tasks that can start now as others have ended, and make none wait: on the
        resources of those, and of what waited for them.
        """
        found = [each for pool in self._touched for each in self._startable(pool, now)]
        self._touched.clear()
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
            if _most_at_once(others, now, until) < slots:
                spans[place] = (now, until)
                yield each._replace(start=now, end=until)
                if sum(start <= now < end for start, end in [*taken, *spans]) >= slots:
                    return

    def _placed_anew(
        self, pool: Pool, until: int, now: int, moved: Mapping[TaskKey, Assignment]
    ) -> Iterator[Assignment]:
        """Give the tasks of a pool that start later, up to where all is as planned again."""
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

    def _push_children(
        self, each: Assignment, moved: Mapping[TaskKey, Assignment], work: _Work
    ) -> None:
        """Note the tasks that can start only when another one has ended."""
        for key in self._children(each.key):
            child = moved.get(key) or self._schedule.scheduled.get(key)
            if child is not None and child.start < each.end:
                work.setdefault(self._pool(child), set()).add(key)

    def _at(self, key: TaskKey, moved: Mapping[TaskKey, Assignment]) -> Assignment:
        """Give where a task is that has not started."""
        return moved.get(key) or self._schedule.scheduled[key]

    def _ready(self, key: TaskKey, now: int, moved: Mapping[TaskKey, Assignment]) -> int:
        """Give when a task can start at the earliest, beside slots."""
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
                    found = max(found, now + 1)  # it should have ended, and has not
        return found

    def _children(self, key: TaskKey) -> Iterable[TaskKey]:
        numbers = _real(self._jobs[key.job], key.task, children=True)
        return [TaskKey(key.job, number) for number in numbers]

    def _take_out(self, each: Assignment) -> None:
        planned = self._planned[self._pool(each)]
        del planned[bisect_left(planned, (each.start, each.key))]

    def _slots(self, pool: Pool) -> int:
        return self._resources[pool[0]].slots_for(pool[1])

    def _pool(self, each: Assignment) -> Pool:
        kind = self._jobs[each.key.job].tasks[each.key.task].kind
        return each.resource, pool_of(self._resources[each.resource], kind)


def _real(job: StageJob, number: int, *, children: bool) -> list[int]:
    """Give the parents or the children of a task; for a dummy those behind it."""
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


def _most_at_once(spans: Iterable[tuple[int, int]], first: int, last: int) -> int:
    """Give how many spans overlap at a time, at most, from first until before last."""
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
