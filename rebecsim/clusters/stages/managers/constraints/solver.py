"""Settings of solvers, and CP-SAT of Google's OR-Tools (an extra), set so that runs repeat."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from types import ModuleType
from typing import TYPE_CHECKING, cast

from rebecsim.clusters.stages.job import TaskKey
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
class SolverSettings:
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
