"""Managers that replan all tasks at every decision, for the fewest late jobs, and their solver.

The settings of CP-SAT (Google's OR-Tools, an extra) make runs repeatable."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from types import ModuleType
from typing import TYPE_CHECKING, Annotated, ClassVar, cast

from pydantic import Field

from rebecsim.actors import Constant
from rebecsim.clusters.stages.job import StageJob, TaskKey
from rebecsim.clusters.stages.managers.manager import StageManager
from rebecsim.clusters.stages.managers.planning import (
    PlacedTasks,
    PlanningProblem,
    by_deadlines,
    in_order_of,
    matched,
    planning_problem,
    warm_up,
)
from rebecsim.clusters.stages.resources import Assignment, StageResource
from rebecsim.extras import require
from rebecsim.studies.scenario import Table, within

if TYPE_CHECKING:
    from ortools.sat.python.cp_model import CpModel, CpSolver

_SEED = 2015


class SearchStatus(Enum):
    """How a search ended."""

    PROVEN = "nothing is better"
    LIMITED = "the best that was found until the limit"
    NOTHING_FOUND = "nothing was found until the limit"


class SolverTable(Table, Constant):
    """Limits and settings of the managers that have a solver."""

    limit: Annotated[float, within(1e-6, 10**4, "deterministic seconds")] = Field(
        0.02,
        description="limit of a decision in CP-SAT's deterministic time, which counts search steps "
        "and is the same on every machine: 0.02 takes 0.2 s to 2 s",
    )
    rules_first: bool = Field(
        True,
        description="search from a list schedule, and use it if it is provably optimal; false: "
        "search every decision from scratch",
    )
    seconds: Annotated[float, within(0.001, 10**6, "seconds")] = Field(
        60.0,
        description="limit of a decision of MILP, by the wall clock: runs that reach it do not "
        "repeat",
    )
    step: Annotated[int, within(1, 10**6, "seconds")] = Field(
        1, description="MILP: tasks start at multiples of this"
    )
    replan: bool = Field(
        False, description="also replan when a task has ended earlier or later than expected"
    )
    most_tasks: Annotated[int, within(1, 10**9, "tasks")] = Field(
        4000,
        description="most tasks to place that are searched from a list schedule; with more, the "
        "list schedule is used, and the decision counts as cut short",
    )


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The result of a search.

    Attributes:
        starts: starts of the tasks of jobs that are in time.
        limited: whether the search reached its limit, so a better schedule may exist.
        work: work of the solver, in the unit of `StageManager.searched`.
    """

    starts: Mapping[TaskKey, int]
    limited: bool = False
    work: float = 0.0


def cp_model() -> ModuleType:
    """Import CP-SAT. Raises MissingPackagesError if OR-Tools is not installed."""
    require("this resource manager", "ortools")
    from ortools.sat.python import cp_model

    return cast("ModuleType", cp_model)


def solve(model: CpModel, settings: SolverTable) -> tuple[CpSolver, SearchStatus]:
    """Solve a model; return the solver and how the search ended.

    One thread, a fixed seed and a deterministic limit make the result repeatable. Raises
    AssertionError for an infeasible or invalid model.
    """
    cp = cp_model()
    solver: CpSolver = cp.CpSolver()
    parameters = solver.parameters
    parameters.num_workers = 1
    parameters.random_seed = _SEED
    parameters.linearization_level = 0  # twice as fast, and as good here
    parameters.max_deterministic_time = settings.limit
    endings = {
        cp.OPTIMAL: SearchStatus.PROVEN,
        cp.FEASIBLE: SearchStatus.LIMITED,
        cp.UNKNOWN: SearchStatus.NOTHING_FOUND,
    }
    status = solver.solve(model)
    assert status in endings, f"a model of CP-SAT without a solution: {status}"
    return solver, endings[status]


def work_of(solver: CpSolver) -> float:
    """Return the work of CP-SAT's last search (deterministic seconds)."""
    return float(solver.response_proto.deterministic_time)


class SearchingManager(StageManager):
    """Replans all tasks that have not started, and all waiting jobs, for the fewest late jobs.

    Attributes:
        defers: plan jobs at their earliest start (POpt2), not on arrival.
        settings: limits of the search.
    """

    defers: ClassVar[bool] = True

    def __init__(
        self, resources: Sequence[StageResource], settings: SolverTable | None = None
    ) -> None:
        super().__init__(resources)
        warm_up(resources)  # so that loading compiled loops does not count as time of a decision
        self.settings = settings or SolverTable()
        self._jobs: dict[int, StageJob] = {}
        self._deferred: dict[int, StageJob] = {}

    @property
    def replans(self) -> bool:
        """Whether deviations from estimates start a decision."""
        return self.settings.replan

    def plan(
        self,
        now: int,
        arrived: Sequence[StageJob],
        running: Mapping[TaskKey, Assignment],
        scheduled: Mapping[TaskKey, Assignment],
    ) -> Sequence[Assignment]:
        """Plan all jobs that are due for planning."""
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
        """Return the earliest start of the next deferred job."""
        times = [job.start for job in self._deferred.values()]
        return max(min(times), now + 1) if times else None

    def _admitted(self, now: int, arrived: Sequence[StageJob]) -> list[StageJob]:
        """Return the jobs to plan now for the first time."""
        waiting = [*self._deferred.values(), *arrived]
        self._deferred = {job.number: job for job in waiting if self.defers and job.start > now}
        return [job for job in waiting if job.number not in self._deferred]

    @abstractmethod
    def search(self, problem: PlanningProblem, known: PlacedTasks | None) -> SearchResult:
        """Search a schedule with fewer late jobs than the known one."""

    def placed(
        self, problem: PlanningProblem, scheduled: Mapping[TaskKey, Assignment]
    ) -> Iterator[Assignment]:
        """Place all tasks on resources."""
        known = self._by_rules(problem, scheduled) if self.settings.rules_first else None
        if known is None or len(known.late) > problem.surely_late:
            found = self.search(problem, known)
            self.limits_reached += found.limited
            self.searched += found.work
            known = in_order_of(problem, found.starts)
        return matched(problem, known.starts)

    @staticmethod
    def _by_rules(problem: PlanningProblem, scheduled: Mapping[TaskKey, Assignment]) -> PlacedTasks:
        best = by_deadlines(problem)
        if len(best.late) > problem.surely_late:
            before = {key: each.start for key, each in scheduled.items()}
            best = min(best, in_order_of(problem, before), key=lambda each: len(each.late))
        return best


def _changes(
    placed: Iterable[Assignment], scheduled: Mapping[TaskKey, Assignment]
) -> Iterator[Assignment]:
    """Return new and changed assignments."""
    return (each for each in placed if scheduled.get(each.key) != each)
