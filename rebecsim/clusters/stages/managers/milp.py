"""The fewest late jobs by a time-indexed integer programme.

As in the constraint model, only jobs that are in time have places. The model counts slots over all
identical resources; tasks get their resources afterwards. Tasks start at multiples of a step, and
take whole steps. All times are ms."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from rebecsim.clusters.stages.job import SECOND, TaskKey, TaskKind
from rebecsim.clusters.stages.managers.planning import (
    PendingJob,
    PlacedTasks,
    PlanningProblem,
    keys,
)
from rebecsim.clusters.stages.managers.searching import (
    SearchingManager,
    SearchResult,
    SolverTable,
)
from rebecsim.clusters.stages.resources import slot_count
from rebecsim.errors import UserError

if TYPE_CHECKING:
    from scipy.optimize import LinearConstraint

MAX_VARIABLES = 2_000_000
"""A larger model needs more memory than most machines have."""


class IntegerProgramme(SearchingManager):
    """Searches by HiGHS, up to `seconds` of wall-clock time; runs that reach it do not repeat."""

    defers: ClassVar[bool] = False

    def search(self, problem: PlanningProblem, known: PlacedTasks | None) -> SearchResult:
        """Search without a warm start, which HiGHS does not take."""
        return fewest_late_by_milp(problem, known, self.settings)


def fewest_late_by_milp(
    problem: PlanningProblem, known: PlacedTasks | None, settings: SolverTable
) -> SearchResult:
    """Search a schedule with the fewest late jobs.

    Returns the known schedule if the time limit passes first. Raises UserError for too many
    variables.
    """
    from scipy.optimize import Bounds, milp  # not at each start of the program

    programme = _Programme(problem, round(settings.step * SECOND))
    if not programme.jobs:
        return SearchResult({})
    solution = milp(
        programme.costs,
        integrality=programme.integral,
        bounds=Bounds(0, programme.highest),
        constraints=programme.constraints,
        options={"time_limit": settings.seconds},
    )
    work = len(programme.costs) / 1e6
    if solution.x is None:
        return SearchResult({} if known is None else known.in_time, limited=True, work=work)
    return SearchResult(programme.starts(solution.x), limited=solution.status != 0, work=work)


class _Programme:
    """The integer programme. Times are steps from now on.

    Variables: whether each job is late, whether each task starts at each time, and when each dummy
    ends.

    Attributes:
        jobs: jobs that may be in time.
        costs: objective to minimise.
        integral: which variables are integers.
        highest: upper bounds of the variables.
    """

    def __init__(self, problem: PlanningProblem, step: int) -> None:
        self._problem, self._step = problem, step
        self.jobs = [each for each in problem.jobs if not each.is_surely_late]
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
        """All constraints."""
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
        """Return the starts of the tasks of jobs that are in time."""
        found = {}
        for place, each in enumerate(self.jobs):
            if solution[place] < 0.5:
                for key in keys(each):
                    first, times = self._first[key], self._times[key]
                    chosen = int(np.argmax(solution[first : first + len(times)]))
                    found[key] = self._problem.now + times[chosen] * self._step
        return found

    def _add_variables(self, pending: PendingJob) -> None:
        now, step = self._problem.now, self._step
        for key in keys(pending):
            first = -(-(pending.head(key.task) - now) // step)
            last = (pending.last_start(key.task) - now) // step
            self._first[key] = self._count
            self._times[key] = range(first, last + 1)
            self._count += len(self._times[key])
        left = set(pending.left)
        for task in pending.job.tasks:
            if task.is_dummy and left.intersection(task.parents):
                self._gates[TaskKey(pending.number, task.number)] = self._count
                self._count += 1

    def _add_order(self, pending: PendingJob) -> None:
        """Add precedence: tasks and dummies start after their parents."""
        for task in pending.job.tasks:
            key = TaskKey(pending.number, task.number)
            for parent in task.parents:
                before = TaskKey(pending.number, parent)
                if self._knows(key) and self._knows(before):
                    self._row(0, np.inf, self._over(key, 0), self._over(before, -1))

    def _knows(self, key: TaskKey) -> bool:
        return key in self._first or key in self._gates

    def _over(self, key: TaskKey, sign: int) -> list[tuple[int, float]]:
        """Return the terms of a task's start, or of its end, with a sign."""
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
        """Return the duration of a task in steps."""
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
        """Add capacity: at no time more tasks run than there are slots."""
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
