"""MRCP-RM: the fewest late jobs, planned anew at every decision by constraint programming."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar

from rebecsim.clusters.stages.job import StageJob, TaskKey
from rebecsim.clusters.stages.managers.constraints.matching import matched
from rebecsim.clusters.stages.managers.constraints.placing import (
    PlacedTasks,
    by_deadlines,
    in_order_of,
)
from rebecsim.clusters.stages.managers.constraints.problem import (
    PlanningProblem,
    planning_problem,
)
from rebecsim.clusters.stages.managers.constraints.search import fewest_late
from rebecsim.clusters.stages.managers.constraints.solver import SolverSettings, cp_model
from rebecsim.clusters.stages.managers.manager import StageManager
from rebecsim.clusters.stages.resources import StageResource
from rebecsim.clusters.stages.schedule import Assignment


class ConstraintManager(StageManager):
    """Places all tasks that have not started anew, with all jobs that wait, so that the fewest
    jobs are late.

    Attributes:
        matches_later: it is searched when tasks start on all resources together, and said
            afterwards who runs them (POpt1); otherwise both are searched at once.
        defers: jobs are planned when they may start (POpt2); otherwise when they arrive.
    """

    matches_later: ClassVar[bool] = True
    defers: ClassVar[bool] = True

    def __init__(
        self, resources: Sequence[StageResource], settings: SolverSettings | None = None
    ) -> None:
        super().__init__(resources)
        cp_model()  # here, as it is not there or takes its time
        self._settings = settings or SolverSettings()
        self._jobs: dict[int, StageJob] = {}
        self._deferred: dict[int, StageJob] = {}

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
        problem = planning_problem(now, self._jobs, left, running.values(), self.resources)
        return list(_changes(self._placed(problem, scheduled), scheduled))

    def wakes_at(self, now: int) -> int | None:
        """Be asked when the next job may start."""
        times = [job.start for job in self._deferred.values()]
        return max(min(times), now + 1) if times else None

    def _admitted(self, now: int, arrived: Sequence[StageJob]) -> list[StageJob]:
        """Give the jobs that are to be planned now for the first time."""
        waiting = [*self._deferred.values(), *arrived]
        self._deferred = {job.number: job for job in waiting if self.defers and job.start > now}
        return [job for job in waiting if job.number not in self._deferred]

    def _placed(
        self, problem: PlanningProblem, scheduled: Mapping[TaskKey, Assignment]
    ) -> Iterator[Assignment]:
        best = by_deadlines(problem)
        if len(best.late) > problem.lost:
            before = {key: each.start for key, each in scheduled.items()}
            best = min(best, in_order_of(problem, before), key=lambda each: len(each.late))
        if len(best.late) == problem.lost:  # no search finds fewer
            return matched(problem, best.starts)
        return self._searched(problem, best)

    def _searched(self, problem: PlanningProblem, known: PlacedTasks) -> Iterator[Assignment]:
        who = None
        if not self.matches_later:
            who = {each.key: each.resource for each in matched(problem, known.starts)}
        found = fewest_late(problem, known, self._settings, who)
        self.limits_reached += found.limited
        return matched(problem, in_order_of(problem, found.starts).starts)


def _changes(
    placed: Iterator[Assignment], scheduled: Mapping[TaskKey, Assignment]
) -> Iterator[Assignment]:
    """Give where tasks are that have no place yet, or another one."""
    return (each for each in placed if scheduled.get(each.key) != each)
