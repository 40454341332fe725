"""Schedules made by placing one task after the other, from which a search starts.

Slots are counted over all resources together; who runs a task is said later, as slots of one sort
are alike. All times are ms.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from rebecsim.clusters.stages.job import TaskKey, TaskKind
from rebecsim.clusters.stages.laxity import list_run
from rebecsim.clusters.stages.managers.constraints.problem import (
    OpenJob,
    PlanningProblem,
    keys,
    planning_problem,
)
from rebecsim.clusters.stages.resources import StageResource, slot_count, smallest_job
from rebecsim.clusters.stages.timelines import Timelines

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
