"""MRCP-RM: the fewest late jobs by constraint programming, searched by CP-SAT.

Only jobs that are in time have places in the model; a late job can always run after all others. So
each task has a window, from its earliest start to the latest start that meets the deadline. All
times are ms."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

from rebecsim.clusters.stages.job import TaskKey, TaskKind
from rebecsim.clusters.stages.managers.planning import (
    PendingJob,
    PlacedTasks,
    PlanningProblem,
    keys,
    matched,
)
from rebecsim.clusters.stages.managers.searching import (
    SearchingManager,
    SearchResult,
    SearchStatus,
    SolverTable,
    cp_model,
    solve,
    work_of,
)
from rebecsim.clusters.stages.resources import StageResource, slot_count

if TYPE_CHECKING:
    from ortools.sat.python.cp_model import BoolVarT, CpModel, IntervalVar, IntVar


def fewest_late(
    problem: PlanningProblem,
    known: PlacedTasks | None,
    settings: SolverTable,
    matching: Mapping[TaskKey, int] | None = None,
) -> SearchResult:
    """Search a schedule with the fewest late jobs.

    Args:
        problem: the problem.
        known: a feasible schedule to start from, if any.
        settings: limits of the search.
        matching: resources of that schedule, to search resources together with times; None to
            count slots over all resources only.
    """
    search = _Search(problem, known)
    if matching is None:
        search.share_all_slots()
    else:
        search.match(matching)
    return search.result(settings)


class _Search:
    """The CP-SAT model."""

    def __init__(self, problem: PlanningProblem, known: PlacedTasks | None) -> None:
        self._problem = problem
        self._model: CpModel = cp_model().CpModel()
        self._jobs = [each for each in problem.jobs if not each.is_surely_late]
        self._in_time: dict[int, IntVar] = {}
        self._starts: dict[TaskKey, IntVar] = {}
        self._hints = {} if known is None else known.in_time
        for each in self._jobs:
            self._add(each, known)
        self._model.maximize(sum(self._in_time.values()))

    def share_all_slots(self) -> None:
        """Add capacity over all resources together."""
        resources = self._problem.resources
        for kinds in self._problem.pools:
            intervals = [
                self._interval(each, key)
                for each in self._jobs
                for key in keys(each)
                if each.job.tasks[key.task].kind in kinds
            ]
            running = [end for kind, _, end in self._running() if kind in kinds]
            self._limit(intervals, running, slot_count(resources, kinds[0]))

    def match(self, known: Mapping[TaskKey, int]) -> None:
        """Add a resource for each task of a job in time, and the capacity of each resource."""
        model = self._model
        for kinds in self._problem.pools:
            on: dict[int, list[IntervalVar]] = {
                each.number: [] for each in self._problem.resources if each.slots_for(kinds[0]) > 0
            }
            for each in self._jobs:
                for key in keys(each):
                    task = each.job.tasks[key.task]
                    if task.kind not in kinds:
                        continue
                    choice: dict[int, BoolVarT] = {}
                    for number, intervals in on.items():
                        choice[number] = model.new_bool_var("")
                        if key in known:
                            model.add_hint(choice[number], known[key] == number)
                        intervals.append(
                            model.new_optional_fixed_size_interval_var(
                                self._starts[key], task.expected, choice[number], ""
                            )
                        )
                    model.add(sum(choice.values()) == self._in_time[key.job])
            for number, intervals in on.items():
                running = [
                    end
                    for kind, resource, end in self._running()
                    if kind in kinds and resource == number
                ]
                slots = self._problem.resources[number].slots_for(kinds[0])
                self._limit(intervals, running, slots)

    def result(self, settings: SolverTable) -> SearchResult:
        """Search; return the known schedule if nothing is found before the limit."""
        solver, ending = solve(self._model, settings)
        if ending is SearchStatus.NOTHING_FOUND:
            return SearchResult(self._hints, limited=True, work=work_of(solver))
        now = self._problem.now
        kept = {number for number, each in self._in_time.items() if solver.boolean_value(each)}
        starts = {
            key: now + solver.value(each) for key, each in self._starts.items() if key.job in kept
        }
        return SearchResult(starts, limited=ending is SearchStatus.LIMITED, work=work_of(solver))

    def _add(self, pending: PendingJob, known: PlacedTasks | None) -> None:
        """Add the variables of a job: whether it is in time, and its starts, with precedence."""
        model, now, job = self._model, self._problem.now, pending.job
        in_time = self._in_time[job.number] = model.new_bool_var("")
        if known is not None:
            model.add_hint(in_time, job.number not in known.late)
        left = frozenset(pending.left)
        begins: dict[int, IntVar] = {}
        for number in job.order:
            task = job.tasks[number]
            if number not in left and not (task.is_dummy and left.intersection(task.parents)):
                continue
            first, last = pending.head(number) - now, pending.last_start(number) - now
            begins[number] = model.new_int_var(first, last, "")
            if number in left:
                key = TaskKey(job.number, number)
                self._starts[key] = begins[number]
                if key in self._hints:
                    model.add_hint(begins[number], self._hints[key] - now)
            for parent in task.parents:
                if parent in begins:
                    model.add(begins[number] >= begins[parent] + job.expected[parent])

    def _interval(self, pending: PendingJob, key: TaskKey) -> IntervalVar:
        return self._model.new_optional_fixed_size_interval_var(
            self._starts[key], pending.job.expected[key.task], self._in_time[key.job], ""
        )

    def _running(self) -> Iterable[tuple[TaskKind, int, int]]:
        for kind, each in self._problem.running:
            yield kind, each.resource, each.end - self._problem.now

    def _limit(self, intervals: Sequence[IntervalVar], running: Sequence[int], slots: int) -> None:
        """Limit overlapping intervals to the slots that running tasks leave."""
        if len(intervals) + len(running) <= slots:
            return
        fixed = [self._model.new_fixed_size_interval_var(0, end, "") for end in running]
        every = [*fixed, *intervals]
        if slots == 1:
            self._model.add_no_overlap(every)
        else:
            self._model.add_cumulative(every, [1] * len(every), slots)


class ConstraintManager(SearchingManager):
    """Searches by CP-SAT.

    Attributes:
        matches_later: search starts over all resources together, and match resources afterwards
            (POpt1), instead of both at once.
    """

    matches_later: ClassVar[bool] = True

    def __init__(
        self, resources: Sequence[StageResource], settings: SolverTable | None = None
    ) -> None:
        super().__init__(resources, settings)
        cp_model()  # here, as it is not there or takes its time

    def search(self, problem: PlanningProblem, known: PlacedTasks | None) -> SearchResult:
        """Search from a known schedule, which is kept if the problem is too large."""
        if known is not None and problem.tasks > self.settings.most_tasks:
            return SearchResult(known.in_time, limited=True)
        if self.matches_later:
            return fewest_late(problem, known, self.settings)
        placed = () if known is None else matched(problem, known.starts)
        who = {each.key: each.resource for each in placed}
        return fewest_late(problem, known, self.settings, who)
