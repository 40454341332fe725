"""Managers that search the fewest late jobs, anew at every decision."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import ClassVar

from rebecsim.clusters.stages.job import StageJob, TaskKey
from rebecsim.clusters.stages.managers.constraints.matching import matched
from rebecsim.clusters.stages.managers.constraints.placing import (
    PlacedTasks,
    by_deadlines,
    in_order_of,
    warm_up,
)
from rebecsim.clusters.stages.managers.constraints.problem import (
    PlanningProblem,
    planning_problem,
)
from rebecsim.clusters.stages.managers.constraints.solver import Found, SolverSettings
from rebecsim.clusters.stages.managers.manager import StageManager
from rebecsim.clusters.stages.resources import StageResource
from rebecsim.clusters.stages.schedule import Assignment


class SearchingManager(StageManager):
    """Places all tasks that have not started anew, with all jobs that wait, so that the fewest
    jobs are late.

    Attributes:
        defers: jobs are planned when they may start (POpt2); otherwise when they arrive.
        settings: how long it searches.
    """

    defers: ClassVar[bool] = True

    def __init__(
        self, resources: Sequence[StageResource], settings: SolverSettings | None = None
    ) -> None:
        super().__init__(resources)
        warm_up(resources)  # what it takes to load what places tasks is no time of a decision
        self.settings = settings or SolverSettings()
        self._jobs: dict[int, StageJob] = {}
        self._deferred: dict[int, StageJob] = {}

    @property
    def replans(self) -> bool:
        """Whether a deviation is a reason to plan."""
        return self.settings.replans

    def plan(
        self,
        now: int,
        arrived: Sequence[StageJob],
        running: Mapping[TaskKey, Assignment],
        scheduled: Mapping[TaskKey, Assignment],
    ) -> Sequence[Assignment]:
        """Plan all jobs whose time has come."""
        left: dict[int, list[int]] = {}
        for number, task in scheduled:
            left.setdefault(number, []).append(task)
        alive = left.keys() | {key.job for key in running}
        self._jobs = {number: job for number, job in self._jobs.items() if number in alive}
        for job in self._admitted(now, arrived):
            self._jobs[job.number] = job
            left[job.number] = [task.number for task in job.real_tasks]
        jobs = {number: self.adjusted(job) for number, job in self._jobs.items()}
        problem = planning_problem(now, jobs, left, running.values(), self.resources)
        return list(_changes(self.placed(problem, scheduled), scheduled))

    def wakes_at(self, now: int) -> int | None:
        """Be asked when the next job may start."""
        times = [job.start for job in self._deferred.values()]
        return max(min(times), now + 1) if times else None

    def _admitted(self, now: int, arrived: Sequence[StageJob]) -> list[StageJob]:
        """Give the jobs that are to be planned now for the first time."""
        waiting = [*self._deferred.values(), *arrived]
        self._deferred = {job.number: job for job in waiting if self.defers and job.start > now}
        return [job for job in waiting if job.number not in self._deferred]

    @abstractmethod
    def search(self, problem: PlanningProblem, known: PlacedTasks | None) -> Found:
        """Search a schedule with fewer late jobs than one that is known."""

    def placed(
        self, problem: PlanningProblem, scheduled: Mapping[TaskKey, Assignment]
    ) -> Iterator[Assignment]:
        """Give all tasks their places."""
        known = self._by_rules(problem, scheduled) if self.settings.rules_first else None
        if known is None or len(known.late) > problem.lost:
            found = self.search(problem, known)
            self.limits_reached += found.limited
            self.searched += found.work
            known = in_order_of(problem, found.starts)
        return matched(problem, known.starts)

    @staticmethod
    def _by_rules(problem: PlanningProblem, scheduled: Mapping[TaskKey, Assignment]) -> PlacedTasks:
        best = by_deadlines(problem)
        if len(best.late) > problem.lost:
            before = {key: each.start for key, each in scheduled.items()}
            best = min(best, in_order_of(problem, before), key=lambda each: len(each.late))
        return best


def _changes(
    placed: Iterable[Assignment], scheduled: Mapping[TaskKey, Assignment]
) -> Iterator[Assignment]:
    """Give where tasks are that have no place yet, or another one."""
    return (each for each in placed if scheduled.get(each.key) != each)
