"""Managers that search the fewest late jobs anew at every decision, and their solvers.

CP-SAT of Google's OR-Tools (an extra) is set so that runs repeat."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from types import ModuleType
from typing import TYPE_CHECKING, ClassVar, cast

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

if TYPE_CHECKING:
    from ortools.sat.python.cp_model import CpModel, CpSolver

_SEED = 2015


class SearchEnd(Enum):
    """How far a search came."""

    PROVEN = "nothing is better"
    LIMITED = "the best that was found until the limit"
    NOTHING_FOUND = "nothing was found until the limit"


@dataclass(frozen=True, slots=True)
class SolverSettings(Constant):
    """How solvers search.

    Attributes:
        limit: of one decision, in CP-SAT's deterministic time, which counts steps of the search and
            is the same on every machine; 0.02 is 0.2 s to 2 s.
        rules_first: what rules place is used where nothing can be better, and is where a search
            starts; otherwise every decision is searched from nothing.
        seconds: until when HiGHS ends a decision, by the wall clock.
        step: of the times at which tasks can start in the integer programme (ms).
        replans: it is planned anew when a task has ended earlier or later than expected, too.
        most_tasks: to be placed at a decision that CP-SAT searches from what rules place; where
            there are more, it finds nothing within a limit, and takes its time before: what rules
            place is used then.
    """

    limit: float = 0.02
    rules_first: bool = True
    seconds: float = 60.0
    step: int = 1000
    replans: bool = False
    most_tasks: int = 4000


@dataclass(frozen=True, slots=True)
class Found:
    """What a search has found.

    Attributes:
        starts: when the tasks of jobs that are in time start.
        limited: whether it ended at its limit, and there may be something better.
        work: how much the solver has worked, in the unit of `StageManager.searched`.
    """

    starts: Mapping[TaskKey, int]
    limited: bool = False
    work: float = 0.0


def cp_model() -> ModuleType:
    """Give CP-SAT. Raises MissingPackagesError where OR-Tools are not installed."""
    require("this resource manager", "ortools")
    from ortools.sat.python import cp_model

    return cast("ModuleType", cp_model)


def solved(model: CpModel, settings: SolverSettings) -> tuple[CpSolver, SearchEnd]:
    """Solve a model; say how far the search came, too.

    One thread, a fixed seed and a limit in deterministic time: what is found is always the same.
    Raises AssertionError for a model that has no solution or makes no sense.
    """
    cp = cp_model()
    solver: CpSolver = cp.CpSolver()
    parameters = solver.parameters
    parameters.num_workers = 1
    parameters.random_seed = _SEED
    parameters.linearization_level = 0  # twice as fast, and as good here
    parameters.max_deterministic_time = settings.limit
    endings = {
        cp.OPTIMAL: SearchEnd.PROVEN,
        cp.FEASIBLE: SearchEnd.LIMITED,
        cp.UNKNOWN: SearchEnd.NOTHING_FOUND,
    }
    status = solver.solve(model)
    assert status in endings, f"a model of CP-SAT without a solution: {status}"
    return solver, endings[status]


def work_of(solver: CpSolver) -> float:
    """Give how much CP-SAT has worked in its last search, in deterministic seconds."""
    return float(solver.response_proto.deterministic_time)


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
