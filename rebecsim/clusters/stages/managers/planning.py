"""The problem that a decision solves, and schedules made by placing one task after the other.

The problem has tasks that have not started, beside running ones. A search starts from a schedule
made by placing.

Slots are counted over all resources together; who runs a task is said later, as slots of one sort
are alike. All times are ms."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from rebecsim.clusters.stages.job import StageJob, TaskKey, TaskKind
from rebecsim.clusters.stages.laxity import Timelines, list_run
from rebecsim.clusters.stages.resources import (
    Assignment,
    StageResource,
    pool_of,
    slot_count,
    smallest_job,
)


@dataclass(frozen=True, slots=True)
class OpenJob:
    """A job of which tasks are to be placed.

    Attributes:
        job: what it is.
        left: the numbers of these tasks, parents before children.
        ends: when each task has ended at the earliest, if none waits for slots; for one that runs
            that is when it ends.
        tails: how long it takes at least from the start of a task to the end of the job.
    """

    job: StageJob
    left: tuple[int, ...]
    ends: tuple[int, ...]
    tails: tuple[int, ...]

    @property
    def number(self) -> int:
        """Of the job."""
        return self.job.number

    @property
    def is_lost(self) -> bool:
        """Whether it is late whatever is decided."""
        return max(self.ends) > self.job.deadline

    def head(self, task: int) -> int:
        """Give when a task can start at the earliest."""
        return self.ends[task] - self.job.expected[task]

    def last_start(self, task: int) -> int:
        """Give when a task must start at the latest if the job is to be in time."""
        return self.job.deadline - self.tails[task]


@dataclass(frozen=True, slots=True)
class PlanningProblem:
    """Jobs that are to be placed, on resources.

    Attributes:
        now: from when on tasks can start.
        jobs: in the order of their deadlines.
        running: tasks that take slots, until they end.
        resources: that are there.
    """

    now: int
    jobs: tuple[OpenJob, ...]
    running: tuple[tuple[TaskKind, Assignment], ...]
    resources: Sequence[StageResource]

    @property
    def lost(self) -> int:
        """How many jobs are late whatever is decided."""
        return sum(each.is_lost for each in self.jobs)

    @property
    def tasks(self) -> int:
        """How many tasks are to be placed."""
        return sum(len(each.left) for each in self.jobs)

    @property
    def pools(self) -> list[tuple[TaskKind, ...]]:
        """The kinds of tasks that take the same slots, for each sort of slots there is."""
        found: dict[TaskKind, list[TaskKind]] = {}
        for kind in TaskKind:
            if slot_count(self.resources, kind):
                found.setdefault(pool_of(self.resources[0], kind), []).append(kind)
        return [tuple(kinds) for kinds in found.values()]


def planning_problem(
    now: int,
    jobs: Mapping[int, StageJob],
    left: Mapping[int, Iterable[int]],
    running: Iterable[Assignment],
    resources: Sequence[StageResource],
) -> PlanningProblem:
    """Make the problem of a decision.

    Args:
        now: from when on tasks can start.
        jobs: all that have not ended and of which tasks have started or are to be placed.
        left: of each job the tasks that are to be placed.
        running: what runs; a task that should have ended by now ends next.
        resources: that are there.
    """
    until: dict[int, dict[int, int]] = {}
    taken = []
    for each in running:
        number, task = each.key
        end = max(each.end, now + 1)
        until.setdefault(number, {})[task] = end
        kind = jobs[number].tasks[task].kind
        taken.append((kind, each if each.end == end else each._replace(end=end)))
    opened = [
        _opened(jobs[number], frozenset(tasks), until.get(number, {}), now)
        for number, tasks in left.items()
    ]
    opened.sort(key=lambda each: (each.job.deadline, each.number))
    return PlanningProblem(now, tuple(opened), tuple(taken), resources)


def _opened(job: StageJob, left: frozenset[int], running: Mapping[int, int], now: int) -> OpenJob:
    tasks, expected = job.tasks, job.expected
    ends, tails = [now] * len(tasks), [0] * len(tasks)
    base = max(now, job.start)
    for number in job.order:
        if number in running:
            ends[number] = running[number]
        elif number in left or tasks[number].is_dummy:
            ready = max((ends[parent] for parent in tasks[number].parents), default=base)
            ends[number] = max(ready, base) + expected[number]
    for number in reversed(job.order):
        own = expected[number] if number in left else 0
        tails[number] = own + max((tails[child] for child in job.children[number]), default=0)
    ordered = tuple(number for number in job.order if number in left)
    return OpenJob(job, ordered, tuple(ends), tuple(tails))


def keys(opened: OpenJob) -> Iterable[TaskKey]:
    """Give the tasks of a job that are to be placed."""
    return (TaskKey(opened.number, task) for task in opened.left)


_ALL = 0
"""The number of the resource that all are together."""


@dataclass(frozen=True, slots=True)
class PlacedTasks:
    """When tasks start, and whose jobs are late for it."""

    starts: Mapping[TaskKey, int]
    late: frozenset[int]

    @property
    def in_time(self) -> dict[TaskKey, int]:
        """When the tasks of jobs that are not late start."""
        return {key: start for key, start in self.starts.items() if key.job not in self.late}


def warm_up(resources: Sequence[StageResource]) -> None:
    """Place a task on resources without a trace, so that all that is compiled is loaded."""
    job = smallest_job(resources)
    by_deadlines(planning_problem(0, {job.number: job}, {job.number: [0]}, (), resources))


def by_deadlines(problem: PlanningProblem) -> PlacedTasks:
    """Place the jobs in the order of their deadlines; those that would be late wait behind all
    others.
    """
    return _Placing(problem).finished(problem.jobs)


def in_order_of(problem: PlanningProblem, before: Mapping[TaskKey, int]) -> PlacedTasks:
    """Place tasks as early as they can start, in the order in which they started in a schedule.

    No task starts later than it did there, if that schedule was one of the same problem. Jobs of
    which it had not all tasks come behind, in the order of their deadlines.
    """
    known: list[OpenJob] = []
    others: list[OpenJob] = []
    for each in problem.jobs:
        (known if all(key in before for key in keys(each)) else others).append(each)
    placing = _Placing(problem)
    placing.shift(known, before)
    return placing.finished(others)


class _Placing:
    """A schedule that is being made."""

    def __init__(self, problem: PlanningProblem) -> None:
        self._now = problem.now
        self._starts: dict[TaskKey, int] = {}
        self._late: set[int] = set()
        self._gates: set[TaskKey] = set()  # dummies of which is known when they end
        self._timelines = Timelines([_together(problem.resources)])
        for kind, each in problem.running:
            self._timelines.add(kind, _ALL, problem.now, each.end)

    def finished(self, jobs: Iterable[OpenJob]) -> PlacedTasks:
        """Place jobs that have no place, those in time first; give the schedule."""
        behind = [each for each in jobs if each.is_lost or not self._in_time(each)]
        for each in behind:
            self._place(each)
            self._late.add(each.number)
        return PlacedTasks(self._starts, frozenset(self._late))

    def shift(self, jobs: Iterable[OpenJob], before: Mapping[TaskKey, int]) -> None:
        """Place tasks in the order of their starts before."""
        opened = {each.number: each for each in jobs}
        ends = {number: list(each.ends) for number, each in opened.items()}
        for key in sorted(
            (key for each in opened.values() for key in keys(each)), key=lambda key: before[key]
        ):
            each, mine = opened[key.job], ends[key.job]
            task = each.job.tasks[key.task]
            ready = max(self._now, each.job.start)
            for parent in task.parents:
                ready = max(ready, self._ended(each, mine, parent))
            start = self._begin(each, key.task, ready)
            mine[key.task] = start + task.expected
        self._late.update(
            number for number, each in opened.items() if max(ends[number]) > each.job.deadline
        )

    def _ended(self, opened: OpenJob, ends: list[int], number: int) -> int:
        """Give when a task has ended; a dummy has when all it waits for has."""
        task = opened.job.tasks[number]
        key = TaskKey(opened.number, number)
        if task.is_dummy and key not in self._gates:
            # what it waits for has a place by now
            latest = max((self._ended(opened, ends, each) for each in task.parents), default=0)
            ends[number] = max(ends[number], latest)
            self._gates.add(key)
        return ends[number]

    def _in_time(self, opened: OpenJob) -> bool:
        """Place a job if it is in time then; give whether it is."""
        if self._place(opened) <= opened.job.deadline:
            return True
        for key in keys(opened):
            start = self._starts.pop(key)
            task = opened.job.tasks[key.task]
            self._timelines.remove(task.kind, _ALL, start, start + task.expected)
        return False

    def _place(self, opened: OpenJob) -> int:
        """Place a job; give when it ends. Of the tasks that are ready the longest comes first."""
        left, expected = frozenset(opened.left), opened.job.expected

        def begin(task: int, ready: int) -> int:
            if task in left:
                return self._begin(opened, task, max(ready, self._now))
            return opened.ends[task] - expected[task]

        return max(list_run(opened.job, begin).completions)

    def _begin(self, opened: OpenJob, task: int, ready: int) -> int:
        kind, duration = opened.job.tasks[task].kind, opened.job.expected[task]
        _, start = self._timelines.earliest(kind, ready, duration)
        self._timelines.add(kind, _ALL, start, start + duration)
        self._starts[TaskKey(opened.number, task)] = start
        return start


def _together(resources: Iterable[StageResource]) -> StageResource:
    every = tuple(resources)
    if not every[0].is_typed:
        return StageResource(_ALL, slot_count(every, TaskKind.GENERIC))
    counts = slot_count(every, TaskKind.MAP), slot_count(every, TaskKind.REDUCE)
    return StageResource(_ALL, 0, *counts)


def matched(problem: PlanningProblem, starts: Mapping[TaskKey, int]) -> Iterator[Assignment]:
    """Give tasks, in the order of their starts, the slot that is free then and was taken last.

    It is always there if no more slots are taken at a time than there are.
    """
    jobs = {each.number: each.job for each in problem.jobs}
    free = _slots(problem)
    is_typed = problem.resources[0].is_typed
    for key, start in sorted(starts.items(), key=lambda each: (each[1], each[0])):
        task = jobs[key.job].tasks[key.task]
        slots = free[task.kind if is_typed else TaskKind.GENERIC]
        end = start + task.expected
        _, resource = slots.pop(bisect_right(slots, (start, len(problem.resources))) - 1)
        insort(slots, (end, resource))
        yield Assignment(key, resource, start, end)


def _slots(problem: PlanningProblem) -> dict[TaskKind, list[tuple[int, int]]]:
    """Give for each sort when each slot is free, and of which resource it is, in this order."""
    free: dict[TaskKind, list[tuple[int, int]]] = {}
    for each in problem.resources:
        for kind in {pool_of(each, kind) for kind in TaskKind}:
            slots = free.setdefault(kind, [])
            slots.extend([(problem.now, each.number)] * each.slots_for(kind))
    for kind, running in problem.running:
        slots = free[pool_of(problem.resources[running.resource], kind)]
        slots.remove((problem.now, running.resource))
        slots.append((running.end, running.resource))
    for slots in free.values():
        slots.sort()
    return free
