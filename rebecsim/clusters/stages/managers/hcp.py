"""HCP-RM: minimise (late jobs + 1) times the longest turnaround, with data locality.

The search works in whole seconds, rounded up; all other times are ms."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from rebecsim.clusters.stages.job import SECOND, StageTask, TaskKey, TaskKind
from rebecsim.clusters.stages.laxity import list_run
from rebecsim.clusters.stages.managers.planning import (
    PendingJob,
    PlacedTasks,
    PlanningProblem,
    in_order_of,
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
from rebecsim.clusters.stages.resources import (
    Assignment,
    Locality,
    StageResource,
    pool_of,
    slot_count,
)

if TYPE_CHECKING:
    from ortools.sat.python.cp_model import CpModel, IntervalVar, IntVar, LinearExprT


@dataclass(frozen=True, slots=True)
class _Plan:
    """When tasks start (ms), on which resources, and how the search ended (`SearchResult`)."""

    starts: Mapping[TaskKey, int]
    resources: Mapping[TaskKey, int]
    limited: bool = False
    work: float = 0.0


class TurnaroundManager(SearchingManager):
    """Minimises the product by CP-SAT whenever a job has arrived.

    Attributes:
        locality: where the data of maps lie; None if everywhere.
    """

    defers: ClassVar[bool] = False

    def __init__(
        self,
        resources: Sequence[StageResource],
        settings: SolverTable | None = None,
        locality: Locality | None = None,
    ) -> None:
        super().__init__(resources, settings)
        cp_model()
        self.locality = locality

    def search(self, problem: PlanningProblem, known: PlacedTasks | None) -> SearchResult:
        """Search from a list schedule."""
        plan = self._planned(problem)
        return SearchResult(plan.starts, plan.limited, plan.work)

    def placed(
        self, problem: PlanningProblem, scheduled: Mapping[TaskKey, Assignment]
    ) -> Iterator[Assignment]:
        """Place all tasks. With data locality, tasks keep the resources that the search chose."""
        plan = self._planned(problem)
        self.limits_reached += plan.limited
        self.searched += plan.work
        if self.locality is None:
            return matched(problem, in_order_of(problem, plan.starts).starts)
        return self._as_searched(problem, plan, self.locality)

    def _as_searched(
        self, problem: PlanningProblem, plan: _Plan, locality: Locality
    ) -> Iterator[Assignment]:
        for each in problem.jobs:
            for key in keys(each):
                task, start, resource = (
                    each.job.tasks[key.task],
                    plan.starts[key],
                    plan.resources[key],
                )
                longer = locality.extra(key, task.kind, resource)
                start = plan.starts[key]
                yield Assignment(key, resource, start, start + task.expected + longer)

    def _planned(self, problem: PlanningProblem) -> _Plan:
        listed = _listed(problem, self.locality)
        if not problem.jobs:
            return listed
        if problem.tasks > self.settings.most_tasks:
            return replace(listed, limited=True)
        model = _ProductModel(problem, self.locality, listed)
        return model.result(self.settings)


def _listed(problem: PlanningProblem, locality: Locality | None) -> _Plan:
    """Place jobs by deadline, each task on the resource where it ends first."""
    slots: dict[TaskKind, list[list[int]]] = {}
    for each in problem.resources:
        for kind in {pool_of(each, kind) for kind in TaskKind}:
            slots.setdefault(kind, []).extend(
                [problem.now, each.number] for _ in range(each.slots_for(kind))
            )
    for kind, running in problem.running:
        pool = slots[pool_of(problem.resources[running.resource], kind)]
        next(slot for slot in pool if slot == [problem.now, running.resource])[0] = running.end
    starts: dict[TaskKey, int] = {}
    resources: dict[TaskKey, int] = {}

    def place(pending: PendingJob) -> None:
        left = frozenset(pending.left)

        def begin(number: int, ready: int) -> int:
            task = pending.job.tasks[number]
            if number not in left:
                return pending.ends[number] - task.expected
            key, since = TaskKey(pending.number, number), max(ready, problem.now)

            def end(slot: Sequence[int]) -> tuple[int, int]:
                longer = 0 if locality is None else locality.extra(key, task.kind, slot[1])
                return max(slot[0], since) + task.expected + longer, slot[1]

            slot = min(slots[pool_of(problem.resources[0], task.kind)], key=end)
            starts[key], resources[key] = max(slot[0], since), slot[1]
            slot[0] = end(slot)[0]
            return slot[0] - task.expected

        list_run(pending.job, begin)

    for pending in problem.jobs:
        place(pending)
    return _Plan(starts, resources)


class _ProductModel:
    """The CP-SAT model, in whole seconds from now on."""

    def __init__(self, problem: PlanningProblem, locality: Locality | None, known: _Plan) -> None:
        self._problem, self._locality, self._known = problem, locality, known
        self._model: CpModel = cp_model().CpModel()
        self._starts: dict[TaskKey, IntVar] = {}
        self._choices: dict[TaskKey, dict[int, IntVar]] = {}
        self._on: dict[tuple[int, TaskKind], list[IntervalVar]] = {}
        self._anywhere: dict[TaskKind, list[IntervalVar]] = {}
        self._horizon = self._latest_end()
        longest = self._model.new_int_var(0, self._horizon + self._oldest_age(), "")
        late = [self._add(each, longest) for each in problem.jobs]
        self._limit_slots()
        count = len(problem.jobs) + 1
        factor = self._model.new_int_var(1, count, "")
        self._model.add(factor == sum(late) + 1)
        product = self._model.new_int_var(0, count * (self._horizon + self._oldest_age()), "")
        self._model.add_multiplication_equality(product, [factor, longest])
        self._model.minimize(product)

    def result(self, settings: SolverTable) -> _Plan:
        """Search; return the list schedule if nothing better is found before the limit.

        At an equal product the list schedule is better: jobs that do not affect it start early.
        """
        solver, ending = solve(self._model, settings)
        limited, work = ending is not SearchStatus.PROVEN, work_of(solver)
        if (
            ending is SearchStatus.NOTHING_FOUND
            or solver.objective_value >= self._product_of_known()
        ):
            return replace(self._known, limited=limited, work=work)
        now = self._problem.now
        starts = {key: now + SECOND * solver.value(each) for key, each in self._starts.items()}
        resources = {
            key: next(number for number, each in choice.items() if solver.boolean_value(each))
            for key, choice in self._choices.items()
        }
        free = {**self._known.resources, **resources}
        if self._locality is not None:
            free.update(self._reduces_matched(starts))
        return _Plan(starts, free, limited, work)

    def _product_of_known(self) -> int:
        late, longest, now = 1, 0, self._problem.now
        for each in self._problem.jobs:
            left = frozenset(each.left)
            ends = [end for number, end in enumerate(each.ends) if number not in left]
            for key in keys(each):
                task = each.job.tasks[key.task]
                longer = 0
                if self._locality is not None:
                    longer = self._locality.extra(key, task.kind, self._known.resources[key])
                ends.append(self._known.starts[key] + task.expected + longer)
            late += max(ends) > each.job.deadline
            longest = max(longest, _ceil(max(ends) - now) + _ceil(now - each.job.start))
        return late * longest

    def _reduces_matched(self, starts: Mapping[TaskKey, int]) -> dict[TaskKey, int]:
        """Assign reduce tasks, which run anywhere equally well, to the first free slots."""
        free: dict[TaskKind, list[list[int]]] = {}
        known = {each.number: each.job for each in self._problem.jobs}
        for each in self._problem.resources:
            for kind in {pool_of(each, kind) for kind in TaskKind}:
                free.setdefault(kind, []).extend(
                    [0, each.number] for _ in range(each.slots_for(kind))
                )
        for kind, running in self._problem.running:
            pool = free[pool_of(self._problem.resources[0], kind)]
            next(slot for slot in pool if slot == [0, running.resource])[0] = running.end
        found = {}
        for key, start in sorted(starts.items(), key=lambda each: (each[1], each[0])):
            task = known[key.job].tasks[key.task]
            if key not in self._choices:
                slot = min(free[pool_of(self._problem.resources[0], task.kind)])
                slot[0] = max(slot[0], start) + task.expected
                found[key] = slot[1]
        return found

    def _add(self, pending: PendingJob, longest: IntVar) -> LinearExprT:
        """Add the tasks of a job and its turnaround; return whether it is late."""
        model, job, now = self._model, pending.job, self._problem.now
        ends: dict[int, LinearExprT] = {}
        end = model.new_int_var(0, self._horizon, "")
        left = frozenset(pending.left)
        for number in job.order:
            task = job.tasks[number]
            if number not in left and not task.is_dummy:
                ends[number] = _ceil(pending.ends[number] - now)
                model.add(end >= ends[number])
                continue
            start = model.new_int_var(max(0, _ceil(pending.head(number) - now)), self._horizon, "")
            for parent in task.parents:
                model.add(start >= ends[parent])
            ends[number] = start
            if number in left:
                ends[number] = start + self._add_task(TaskKey(job.number, number), task, start)
            model.add(end >= ends[number])
        model.add(longest >= end + _ceil(now - job.start))
        if pending.is_surely_late:
            return 1
        late = model.new_bool_var("")
        model.add(end <= (job.deadline - now) // SECOND).only_enforce_if(~late)
        return late

    def _add_task(self, key: TaskKey, task: StageTask, start: IntVar) -> LinearExprT:
        """Add a task; return its duration."""
        model, duration = self._model, _ceil(task.expected)
        self._starts[key] = start
        model.add_hint(start, _ceil(self._known.starts[key] - self._problem.now))
        kind = pool_of(self._problem.resources[0], task.kind)
        if self._locality is None or task.kind is not TaskKind.MAP:
            interval = model.new_fixed_size_interval_var(start, duration, "")
            self._anywhere.setdefault(kind, []).append(interval)
            return duration
        choice = self._choices[key] = {}
        longer: list[LinearExprT] = []
        for each in self._problem.resources:
            if each.slots_for(task.kind) == 0:
                continue
            chosen = choice[each.number] = model.new_bool_var("")
            model.add_hint(chosen, self._known.resources[key] == each.number)
            extra = _ceil(self._locality.extra(key, task.kind, each.number))
            longer.append(extra * chosen)
            interval = model.new_optional_fixed_size_interval_var(
                start, duration + extra, chosen, ""
            )
            self._on.setdefault((each.number, kind), []).append(interval)
        model.add_exactly_one(choice.values())
        return duration + sum(longer)

    def _limit_slots(self) -> None:
        resources = self._problem.resources
        for kind, intervals in self._anywhere.items():
            self._limit(intervals, self._running(kind), slot_count(resources, kind))
        for (number, kind), intervals in self._on.items():
            running = self._running(kind, number)
            self._limit(intervals, running, resources[number].slots_for(kind))

    def _running(self, pool: TaskKind, resource: int | None = None) -> list[int]:
        return [
            _ceil(each.end - self._problem.now)
            for kind, each in self._problem.running
            if pool_of(self._problem.resources[0], kind) is pool
            and resource in (None, each.resource)
        ]

    def _limit(self, intervals: Sequence[IntervalVar], running: Sequence[int], slots: int) -> None:
        fixed = [self._model.new_fixed_size_interval_var(0, end, "") for end in running]
        every = [*fixed, *intervals]
        if len(every) > slots:
            self._model.add_cumulative(every, [1] * len(every), slots)

    def _latest_end(self) -> int:
        """Return a bound on all ends: all tasks one after the other."""
        longer = 0 if self._locality is None else self._locality.transfer
        work = sum(
            _ceil(each.job.expected[number]) + _ceil(longer)
            for each in self._problem.jobs
            for number in each.left
        )
        running = [_ceil(each.end - self._problem.now) for _, each in self._problem.running]
        starts = [_ceil(each.job.start - self._problem.now) for each in self._problem.jobs]
        return work + max([0, *running, *starts])

    def _oldest_age(self) -> int:
        """Return the age of the oldest job."""
        return max(
            0, *(_ceil(self._problem.now - each.job.start) for each in self._problem.jobs), 0
        )


def _ceil(time: int) -> int:
    return -(-time // SECOND)
