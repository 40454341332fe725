"""The problem that a decision solves, and list schedules of it, from which a search starts.

The problem is to place all tasks that have not started beside running ones. Slots of one kind are
identical, so they are counted over all resources; tasks get their resources later. All times are
ms."""

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
    warm_up_job,
)


@dataclass(frozen=True, slots=True)
class PendingJob:
    """A job with tasks to place.

    Attributes:
        job: the job.
        left: numbers of these tasks, parents before children.
        ends: earliest end of each task on unlimited slots, or the expected end of a running one.
        tails: longest chain from the start of each task to the end of the job.
    """

    job: StageJob
    left: tuple[int, ...]
    ends: tuple[int, ...]
    tails: tuple[int, ...]

    @property
    def number(self) -> int:
        """Number of the job."""
        return self.job.number

    @property
    def is_surely_late(self) -> bool:
        """Whether no schedule can meet its deadline."""
        return max(self.ends) > self.job.deadline

    def head(self, task: int) -> int:
        """Return the earliest start of a task (its head)."""
        return self.ends[task] - self.job.expected[task]

    def last_start(self, task: int) -> int:
        """Return the latest start of a task that meets the deadline."""
        return self.job.deadline - self.tails[task]


@dataclass(frozen=True, slots=True)
class PlanningProblem:
    """Jobs to place on resources.

    Attributes:
        now: earliest start of all tasks.
        jobs: jobs with tasks to place, by deadline.
        running: running tasks and their ends.
        resources: all resources.
    """

    now: int
    jobs: tuple[PendingJob, ...]
    running: tuple[tuple[TaskKind, Assignment], ...]
    resources: Sequence[StageResource]

    @property
    def surely_late(self) -> int:
        """Number of jobs whose deadlines no schedule can meet."""
        return sum(each.is_surely_late for each in self.jobs)

    @property
    def tasks(self) -> int:
        """Number of tasks to place."""
        return sum(len(each.left) for each in self.jobs)

    @property
    def pools(self) -> list[tuple[TaskKind, ...]]:
        """The kinds of tasks that share each kind of slot."""
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
        now: earliest start of all tasks.
        jobs: unfinished jobs that have running tasks or tasks to place.
        left: the tasks to place, for each job.
        running: running tasks; one that overruns ends next.
        resources: all resources.
    """
    until: dict[int, dict[int, int]] = {}
    taken = []
    for each in running:
        number, task = each.key
        end = max(each.end, now + 1)
        until.setdefault(number, {})[task] = end
        kind = jobs[number].tasks[task].kind
        taken.append((kind, each if each.end == end else each._replace(end=end)))
    pending = [
        _pending_job(jobs[number], frozenset(tasks), until.get(number, {}), now)
        for number, tasks in left.items()
    ]
    pending.sort(key=lambda each: (each.job.deadline, each.number))
    return PlanningProblem(now, tuple(pending), tuple(taken), resources)


def _pending_job(
    job: StageJob, left: frozenset[int], running: Mapping[int, int], now: int
) -> PendingJob:
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
    return PendingJob(job, ordered, tuple(ends), tuple(tails))


def keys(pending: PendingJob) -> Iterable[TaskKey]:
    """Return the tasks of a job to place."""
    return (TaskKey(pending.number, task) for task in pending.left)


_ALL = 0
"""Number of the resource that stands for all together."""


@dataclass(frozen=True, slots=True)
class PlacedTasks:
    """The starts of tasks, and the late jobs."""

    starts: Mapping[TaskKey, int]
    late: frozenset[int]

    @property
    def in_time(self) -> dict[TaskKey, int]:
        """Starts of the tasks of jobs that are in time."""
        return {key: start for key, start in self.starts.items() if key.job not in self.late}


def warm_up(resources: Sequence[StageResource]) -> None:
    """Load the compiled loops by placing a task on a copy of the resources."""
    job = warm_up_job(resources)
    by_deadlines(planning_problem(0, {job.number: job}, {job.number: [0]}, (), resources))


def by_deadlines(problem: PlanningProblem) -> PlacedTasks:
    """Place jobs by deadline; late jobs come after all others."""
    return _ScheduleBuilder(problem).finished(problem.jobs)


def in_order_of(problem: PlanningProblem, before: Mapping[TaskKey, int]) -> PlacedTasks:
    """Left-shift a schedule: place tasks as early as possible, in the order of their starts.

    No task starts later than before, if the schedule solves the same problem. Jobs with tasks that
    the schedule lacks come last, by deadline.
    """
    known: list[PendingJob] = []
    others: list[PendingJob] = []
    for each in problem.jobs:
        (known if all(key in before for key in keys(each)) else others).append(each)
    placing = _ScheduleBuilder(problem)
    placing.shift(known, before)
    return placing.finished(others)


class _ScheduleBuilder:
    """Builder of a schedule."""

    def __init__(self, problem: PlanningProblem) -> None:
        self._now = problem.now
        self._starts: dict[TaskKey, int] = {}
        self._late: set[int] = set()
        self._gates: set[TaskKey] = set()  # dummies with known ends
        self._timelines = Timelines([_combined_resource(problem.resources)])
        for kind, each in problem.running:
            self._timelines.add(kind, _ALL, problem.now, each.end)

    def finished(self, jobs: Iterable[PendingJob]) -> PlacedTasks:
        """Place the remaining jobs, those in time first; return the schedule."""
        behind = [each for each in jobs if each.is_surely_late or not self._in_time(each)]
        for each in behind:
            self._place(each)
            self._late.add(each.number)
        return PlacedTasks(self._starts, frozenset(self._late))

    def shift(self, jobs: Iterable[PendingJob], before: Mapping[TaskKey, int]) -> None:
        """Place tasks in the order of their starts before."""
        pending = {each.number: each for each in jobs}
        ends = {number: list(each.ends) for number, each in pending.items()}
        for key in sorted(
            (key for each in pending.values() for key in keys(each)), key=lambda key: before[key]
        ):
            each, mine = pending[key.job], ends[key.job]
            task = each.job.tasks[key.task]
            ready = max(self._now, each.job.start)
            for parent in task.parents:
                ready = max(ready, self._ended(each, mine, parent))
            start = self._begin(each, key.task, ready)
            mine[key.task] = start + task.expected
        self._late.update(
            number for number, each in pending.items() if max(ends[number]) > each.job.deadline
        )

    def _ended(self, pending: PendingJob, ends: list[int], number: int) -> int:
        """Return the end of a task, or of the last parent of a dummy."""
        task = pending.job.tasks[number]
        key = TaskKey(pending.number, number)
        if task.is_dummy and key not in self._gates:
            # what it waits for has a place by now
            latest = max((self._ended(pending, ends, each) for each in task.parents), default=0)
            ends[number] = max(ends[number], latest)
            self._gates.add(key)
        return ends[number]

    def _in_time(self, pending: PendingJob) -> bool:
        """Place a job if that meets its deadline; return whether it does."""
        if self._place(pending) <= pending.job.deadline:
            return True
        for key in keys(pending):
            start = self._starts.pop(key)
            task = pending.job.tasks[key.task]
            self._timelines.remove(task.kind, _ALL, start, start + task.expected)
        return False

    def _place(self, pending: PendingJob) -> int:
        """Place a job, the longest ready task first; return its end."""
        left, expected = frozenset(pending.left), pending.job.expected

        def begin(task: int, ready: int) -> int:
            if task in left:
                return self._begin(pending, task, max(ready, self._now))
            return pending.ends[task] - expected[task]

        return max(list_run(pending.job, begin).completions)

    def _begin(self, pending: PendingJob, task: int, ready: int) -> int:
        kind, duration = pending.job.tasks[task].kind, pending.job.expected[task]
        _, start = self._timelines.earliest(kind, ready, duration)
        self._timelines.add(kind, _ALL, start, start + duration)
        self._starts[TaskKey(pending.number, task)] = start
        return start


def _combined_resource(resources: Iterable[StageResource]) -> StageResource:
    every = tuple(resources)
    if not every[0].is_typed:
        return StageResource(_ALL, slot_count(every, TaskKind.GENERIC))
    counts = slot_count(every, TaskKind.MAP), slot_count(every, TaskKind.REDUCE)
    return StageResource(_ALL, 0, *counts)


def matched(problem: PlanningProblem, starts: Mapping[TaskKey, int]) -> Iterator[Assignment]:
    """Match tasks, in order of their starts, with the free slot that was used last.

    There always is one if the starts respect the number of slots.
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
    """Return, for each kind of slot, when each slot is free and its resource, in this order."""
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
