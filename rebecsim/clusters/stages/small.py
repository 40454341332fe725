"""A small cluster for exploration, which asserts the promises of its resource manager."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from rebecsim.actors import Int, require, state_variable
from rebecsim.clusters.stages.cluster import (
    MANAGER,
    ManagerMaker,
    ManagerSetup,
    ResourceManager,
    TaskExecutor,
    stages_model,
)
from rebecsim.clusters.stages.job import StageJob, TaskKey, TaskKind
from rebecsim.clusters.stages.managers.decisions import ChargedBy, DecisionCost, MadeDecision
from rebecsim.clusters.stages.managers.wfbb import WorkflowBudgets
from rebecsim.clusters.stages.resources import StageResource, pool_of, require_runnable
from rebecsim.errors import UserError
from rebecsim.studies.small import Cut, SmallCluster, in_any_order
from rebecsim.wording import counted

PROMISES = (
    "a resource never runs more tasks than it has slots",
    "no task starts before its job may, or before all it waits for has ended",
    "a task that has started is never moved, and ends once",
    "no task waits while a slot is free for it (EDF, MINEDF_WC, MLF, FIFO)",
    "a job that is planned to be in time stays so (WFBB)",
    "every job ends",
)

_ORDERED = ("finish", "ended", "overran", "pull")
"""Messages that come first at equal times: a task frees its slot before the next one takes it."""


class WatchedManager(ResourceManager):
    """A resource manager that checks its promises.

    Attributes:
        unfinished: number of jobs that have not ended.
        late: number of jobs that ended after their deadlines.
        starts: start of each job's first task (ms), or -1.
        ends: end of each job (ms), or -1.
    """

    unfinished: int = state_variable(Int)
    late: int = state_variable(Int)

    def __init__(self, setting: ManagerSetup, *executors: TaskExecutor) -> None:
        super().__init__(setting, *executors)
        self.unfinished = setting.jobs
        self.starts = [-1] * setting.jobs
        self.ends = [-1] * setting.jobs
        self._deadlines = [0] * setting.jobs
        self._resources = setting.resources
        self._keeps_in_time = isinstance(self._manager, WorkflowBudgets) and not setting.deviates
        self._in_time: list[int] = []  # numbers of the jobs planned to be in time

    def check_promises(self) -> None:
        """Raise AssertionFailedError if a promise is broken that the schedule checker misses."""
        schedule = self.schedule
        for key in schedule.running:
            both = key in schedule.scheduled or key in schedule.done
            require(not both, f"{key} runs, but is also planned or has ended")
            if self.starts[key.job] < 0:
                self.starts[key.job] = schedule.running[key].start
        for job in self.jobs.values():
            self._deadlines[job.number] = job.deadline
        for number, end in self.completed.items():
            self.ends[number] = end
        self.late = sum(end > self._deadlines[each] for each, end in enumerate(self.ends))
        self.unfinished = self._to_come
        if self._manager.decides_at_ends and not self._busy:
            for key in self._waiting():
                require(False, f"{key} waits while a slot is free for it")
        if self._keeps_in_time:
            self._check_in_time()

    def _record(self, made: MadeDecision) -> None:
        """Drop a decision, so that runs with the same outcome merge into one state."""

    def _waiting(self) -> Iterator[TaskKey]:
        """Yield ready tasks without a place for which a slot is free."""
        schedule, resources = self.schedule, self._resources
        free = {
            (each.number, pool_of(each, kind)): each.slots_for(kind)
            for each in resources
            for kind in TaskKind
        }
        for each in (*schedule.running.values(), *schedule.scheduled.values()):
            kind = self.jobs[each.key.job].tasks[each.key.task].kind
            free[each.resource, pool_of(resources[0], kind)] -= 1
        kinds = {kind for (_, kind), slots in free.items() if slots > 0}
        for job in self.jobs.values():
            for number in _ready(job, self._now, {each.task for each in self._placed(job)}):
                if pool_of(resources[0], job.tasks[number].kind) in kinds:
                    key = TaskKey(job.number, number)
                    if not any(key in each for each in (schedule.running, schedule.scheduled)):
                        yield key

    def _placed(self, job: StageJob) -> Iterator[TaskKey]:
        return (key for key in self.schedule.done if key.job == job.number)

    def _check_in_time(self) -> None:
        schedule = self.schedule
        for job in self.jobs.values():
            ends = [
                each.end
                for placed in (schedule.scheduled, schedule.running, schedule.done)
                for each in placed.values()
                if each.key.job == job.number
            ]
            if len(ends) < len(job.real_tasks):
                continue
            if max(ends) <= job.deadline:
                if job.number not in self._in_time:
                    self._in_time = sorted([*self._in_time, job.number])
            elif job.number in self._in_time:
                text = f"was planned to be in time, but now ends at {max(ends)} ms"
                require(False, f"{job}, due at {job.deadline} ms, {text}")


def _ready(job: StageJob, now: int, ended: set[int]) -> Iterator[int]:
    """Yield the tasks of a job that wait only for slots, after its earliest start."""
    if job.start >= now:
        return
    over: set[int] = set()
    for number in job.order:
        task = job.tasks[number]
        if over.issuperset(task.parents):
            if task.is_dummy or number in ended:
                over.add(number)
            else:
                yield number


def small_cluster(
    name: str,
    maker: ManagerMaker,
    jobs: Sequence[StageJob],
    resources: Sequence[StageResource],
    cost: DecisionCost | None = None,
    cut: Cut | None = None,
) -> SmallCluster:
    """Cut a cluster to the first jobs and resources; jobs keep their tasks and times.

    Times count from the first arrival. At equal times tasks end first; other messages come in any
    order. Raises UserError for a task that no remaining resource can run, and for decisions
    charged by the wall clock.
    """
    cut, cost = cut or Cut(), cost or DecisionCost()
    if cost.charged_by is ChargedBy.CLOCK:
        raise UserError(
            "decisions are charged by the wall clock, so runs do not repeat and cannot be "
            'explored; set charged_by = "recorded" in [decisions]'
        )
    few = _cut_jobs(jobs, cut.jobs)
    left = tuple(resources)[: cut.nodes]
    require_runnable(few, left)
    maker(left)  # compiles its loops now, since constructors of rebecs have a time limit
    model = stages_model(few, left, maker, cost)
    watched = tuple(
        replace(each, reactive_class=WatchedManager)
        if each.reactive_class is ResourceManager
        else each
        for each in model.instances
    )
    return SmallCluster(
        in_any_order(replace(model, name=name, instances=watched), _ORDERED),
        f"{MANAGER}.starts",
        f"{MANAGER}.unfinished == 0",
        tuple(map(str, few)),
        "ms",
        PROMISES,
        f"{counted(len(few), 'job')} on {counted(len(left), 'resource')}",
    )


def _cut_jobs(jobs: Sequence[StageJob], count: int) -> tuple[StageJob, ...]:
    first = sorted(jobs, key=lambda each: (each.arrival, each.number))[:count]
    earlier = first[0].arrival if first else 0
    return tuple(
        replace(
            each,
            number=place,
            arrival=each.arrival - earlier,
            start=each.start - earlier,
            deadline=each.deadline - earlier,
        )
        for place, each in enumerate(first)
    )
