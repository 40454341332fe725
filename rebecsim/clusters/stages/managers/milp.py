"""The fewest late jobs by an integer programme with a variable for each task and time.

The jobs that are in time have a place each, as in the search by constraints, and a late one has
none. A resource is not said: as all are alike, who runs a task is said afterwards. Tasks start at
multiples of a step, and take whole steps. All times are ms."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from rebecsim.clusters.stages.job import TaskKey, TaskKind
from rebecsim.clusters.stages.managers.planning import OpenJob, PlacedTasks, PlanningProblem, keys
from rebecsim.clusters.stages.managers.searching import Found, SearchingManager, SolverSettings
from rebecsim.clusters.stages.resources import slot_count
from rebecsim.errors import UserError

if TYPE_CHECKING:
    from scipy.optimize import LinearConstraint

MAX_VARIABLES = 2_000_000
"""More take more memory than most machines have."""


class IntegerProgramme(SearchingManager):
    """Searches by HiGHS, for as long as `seconds` say; runs that need them all do not repeat."""

    defers: ClassVar[bool] = False

    def search(self, problem: PlanningProblem, known: PlacedTasks | None) -> Found:
        """Search from nothing: HiGHS takes no schedule to start from."""
        return fewest_late_by_milp(problem, known, self.settings)


def fewest_late_by_milp(
    problem: PlanningProblem, known: PlacedTasks | None, settings: SolverSettings
) -> Found:
    """Search a schedule in which the fewest jobs are late.

    What is known is the result where there was no time to find one. Raises UserError where there
    are too many variables.
    """
    from scipy.optimize import Bounds, milp  # not at each start of the program

    programme = _Programme(problem, settings.step)
    if not programme.jobs:
        return Found({})
    solution = milp(
        programme.costs,
        integrality=programme.integral,
        bounds=Bounds(0, programme.highest),
        constraints=programme.constraints,
        options={"time_limit": settings.seconds},
    )
    work = len(programme.costs) / 1e6
    if solution.x is None:
        return Found({} if known is None else known.in_time, limited=True, work=work)
    return Found(programme.starts(solution.x), limited=solution.status != 0, work=work)


class _Programme:
    """Variables: whether each job is late; for each task and time whether it starts then; when
    each dummy is over. Times are counted in steps from now on.

    Attributes:
        jobs: that may be in time.
        costs: what is to be the least.
        integral: which variables are whole.
        highest: that each variable may be.
    """

    def __init__(self, problem: PlanningProblem, step: int) -> None:
        self._problem, self._step = problem, step
        self.jobs = [each for each in problem.jobs if not each.is_lost]
        self._expected = {each.number: each.job.expected for each in self.jobs}
        self._first: dict[TaskKey, int] = {}  # the variable of a task at its first time
        self._times: dict[TaskKey, range] = {}
        self._gates: dict[TaskKey, int] = {}
        self._count = len(self.jobs)
        for each in self.jobs:
            self._add_variables(each)
        _require_few(self._count)
        self.costs = np.zeros(self._count)
        self.costs[: len(self.jobs)] = 1
        self.integral = np.ones(self._count)
        self.highest = np.ones(self._count)
        for gate in self._gates.values():
            self.integral[gate], self.highest[gate] = 0, np.inf
        self._rows: list[tuple[float, float]] = []
        self._entries: list[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]] = []

    @property
    def constraints(self) -> LinearConstraint:
        """Everything that must hold."""
        from scipy.optimize import LinearConstraint
        from scipy.sparse import coo_array

        for place, each in enumerate(self.jobs):
            for key in keys(each):
                self._row(1, 1, [(place, 1.0)], self._all(key, 1))
            self._add_order(each)
        self._add_slots()
        rows, columns, values = (np.concatenate(each) for each in zip(*self._entries, strict=True))
        places = (rows.astype(np.int32), columns.astype(np.int32))  # older SciPy takes no others
        matrix = coo_array((values, places), (len(self._rows), self._count))
        low, high = np.array(self._rows).T
        return LinearConstraint(matrix.tocsr(), low, high)

    def starts(self, solution: NDArray[np.float64]) -> dict[TaskKey, int]:
        """Read when the tasks of jobs that are in time start."""
        found = {}
        for place, each in enumerate(self.jobs):
            if solution[place] < 0.5:
                for key in keys(each):
                    first, times = self._first[key], self._times[key]
                    chosen = int(np.argmax(solution[first : first + len(times)]))
                    found[key] = self._problem.now + times[chosen] * self._step
        return found

    def _add_variables(self, opened: OpenJob) -> None:
        now, step = self._problem.now, self._step
        for key in keys(opened):
            first = -(-(opened.head(key.task) - now) // step)
            last = (opened.last_start(key.task) - now) // step
            self._first[key] = self._count
            self._times[key] = range(first, last + 1)
            self._count += len(self._times[key])
        left = set(opened.left)
        for task in opened.job.tasks:
            if task.is_dummy and left.intersection(task.parents):
                self._gates[TaskKey(opened.number, task.number)] = self._count
                self._count += 1

    def _add_order(self, opened: OpenJob) -> None:
        """A task starts when its parents are over, and so does a dummy."""
        for task in opened.job.tasks:
            key = TaskKey(opened.number, task.number)
            for parent in task.parents:
                before = TaskKey(opened.number, parent)
                if self._knows(key) and self._knows(before):
                    self._row(0, np.inf, self._over(key, 0), self._over(before, -1))

    def _knows(self, key: TaskKey) -> bool:
        return key in self._first or key in self._gates

    def _over(self, key: TaskKey, sign: int) -> list[tuple[int, float]]:
        """Give the terms of when a task starts (0), or is over, taken away (-1)."""
        if key in self._gates:
            return [(self._gates[key], -1.0 if sign else 1.0)]
        first, times = self._first[key], self._times[key]
        steps = self._steps(key) if sign else 0
        return [
            (first + place, float(-(time + steps) if sign else time))
            for place, time in enumerate(times)
        ]

    def _all(self, key: TaskKey, value: float) -> list[tuple[int, float]]:
        first = self._first[key]
        return [(first + place, value) for place in range(len(self._times[key]))]

    def _steps(self, key: TaskKey) -> int:
        """Give how many steps a task takes."""
        return -(-self._expected[key.job][key.task] // self._step)

    def _row(self, low: float, high: float, *terms: Sequence[tuple[int, float]]) -> None:
        columns = [column for each in terms for column, _ in each]
        values = [value for each in terms for _, value in each]
        self._entries.append(
            (
                np.full(len(columns), len(self._rows), dtype=np.int64),
                np.array(columns, dtype=np.int64),
                np.array(values, dtype=np.float64),
            )
        )
        self._rows.append((low, high))

    def _add_slots(self) -> None:
        """At no time more tasks run than there are slots."""
        resources, now, step = self._problem.resources, self._problem.now, self._step
        for kinds in self._problem.pools:
            tasks = list(self._tasks(kinds))
            if not tasks:
                continue
            last = max(self._times[key][-1] + self._steps(key) for key in tasks)
            slots = np.full(last, slot_count(resources, kinds[0]), dtype=np.int64)
            for kind, each in self._problem.running:
                if kind in kinds:
                    slots[: -(-(each.end - now) // step)] -= 1
            for key in tasks:
                steps = np.arange(self._steps(key))
                times = np.array(self._times[key], dtype=np.int64)
                rows = (times[:, None] + steps).ravel() + len(self._rows)
                columns = np.repeat(np.arange(len(times)) + self._first[key], len(steps))
                self._entries.append((rows, columns, np.ones(len(rows))))
            self._rows.extend((-np.inf, float(each)) for each in slots)

    def _tasks(self, kinds: Sequence[TaskKind]) -> Iterator[TaskKey]:
        for each in self.jobs:
            for key in keys(each):
                if each.job.tasks[key.task].kind in kinds and len(self._times[key]):
                    yield key


def _require_few(variables: int) -> None:
    if variables > MAX_VARIABLES:
        raise UserError(
            f"the integer programme has {variables} variables; the limit is {MAX_VARIABLES}; "
            "take longer steps of time (solver.step), or fewer jobs"
        )
