"""A cluster of resources as rebecs on one clock, and its runs, until all jobs have ended.

    ArrivalSource --submit--> ResourceManager
    ResourceManager: consider, decide             which task runs where and when
    ResourceManager: begin                        when the planned time of a task has come
    ResourceManager --run--> TaskExecutor
    TaskExecutor: finish
    TaskExecutor --ended--> ResourceManager
    ResourceManager: overran                      when a task has not ended that should have
    ResourceManager: pull                         when tasks have ended, and others can start

At equal times, tasks end first; then the plan is repaired, tasks begin, jobs arrive, and decisions
are made. Tasks overrun or are pulled forward only if estimates are wrong."""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from rebecsim.actors import (
    Constant,
    Instance,
    Model,
    Rebec,
    RebecNamed,
    StatePart,
    Unordered,
    known_rebec,
    message_server,
)
from rebecsim.clusters.kit.queued import QueuedSystem, rarely_collecting, serve
from rebecsim.clusters.stages.checking import ScheduleChecker, require_sound_schedule
from rebecsim.clusters.stages.estimates import PlanRepair, time_extension
from rebecsim.clusters.stages.job import StageJob, TaskKey
from rebecsim.clusters.stages.managers.decisions import (
    DecisionClock,
    DecisionCost,
    MadeDecision,
    Stopwatch,
)
from rebecsim.clusters.stages.managers.manager import StageManager
from rebecsim.clusters.stages.resources import Assignment, Schedule, StageResource, require_runnable
from rebecsim.errors import UserError

_UNBOUNDED = 2**31 - 1
_ENDS, _REPAIRS, _BEGINS, _ARRIVES, _DECIDES = 1, 2, 3, 4, 5

MANAGER = "manager"


class ArrivalSource(Rebec, queue_size=_UNBOUNDED):
    """Submits jobs when they arrive."""

    manager: ResourceManager = known_rebec()

    def __init__(self, jobs: Sequence[StageJob]) -> None:
        self._left = sorted(jobs, key=lambda job: (-job.arrival, -job.number))
        if self._left:
            self.arrive(after=self._left[-1].arrival)

    @message_server(priority=_ARRIVES, global_priority=_ARRIVES)
    def arrive(self) -> None:
        """Submit the next job."""
        left = self._left
        self.manager.submit(left.pop())
        if left:
            self.arrive(after=left[-1].arrival - self._now)


class TaskExecutor(Rebec, queue_size=_UNBOUNDED):
    """Runs tasks on a resource."""

    manager: ResourceManager = known_rebec()

    @message_server(priority=_BEGINS, global_priority=_BEGINS)
    def run(self, assignment: Assignment, duration: int) -> None:
        """Begin a task."""
        self.finish(assignment, after=duration)

    @message_server(priority=_ENDS, global_priority=_ENDS)
    def finish(self, assignment: Assignment) -> None:
        """End a task."""
        self.manager.ended(assignment)


class Plan(StatePart):
    """The jobs in the system and their schedule.

    Attributes:
        jobs: jobs that have arrived and not ended, by number.
        schedule: where and when their tasks run.
        repair: keeps the schedule feasible; None if tasks run as long as expected.
    """

    __slots__ = ("jobs", "repair", "schedule")

    def __init__(self, deviating: Sequence[StageResource] | None) -> None:
        self.jobs: Unordered[int, StageJob] = Unordered()
        self.schedule = Schedule()
        self.repair: PlanRepair | None = None
        if deviating is not None:
            self.repair = PlanRepair(self.jobs, self.schedule, deviating)

    def __str__(self) -> str:
        return str(self.schedule)


ManagerMaker = Callable[[Sequence[StageResource]], StageManager]
"""Makes a resource manager for some resources."""


@dataclass(frozen=True)
class ManagerSetup(Constant):
    """What a resource manager is built from.

    Attributes:
        maker: makes the manager's policy.
        resources: the resources that run tasks.
        cost: cost of decisions.
        jobs: number of jobs that will arrive.
        deviates: whether tasks may run longer or shorter than expected.
        watch: measures decisions by the wall clock, if given.
    """

    maker: ManagerMaker
    resources: Sequence[StageResource]
    cost: DecisionCost
    jobs: int
    deviates: bool
    watch: Stopwatch | None = None


class ResourceManager(Rebec, queue_size=_UNBOUNDED):
    """Plans arriving jobs, one decision after the other, and is busy during each.

    Attributes:
        completed: end of each finished job (ms), by number.
        decisions: all decisions so far.
        closed: whether all jobs have ended.
    """

    def __init__(self, setting: ManagerSetup, *executors: TaskExecutor) -> None:
        self._manager = setting.maker(setting.resources)
        self._checker = ScheduleChecker(setting.resources)
        self._deciding = DecisionClock(setting.cost, setting.watch)
        # jobs that have not ended, including those still to arrive
        self._to_come = setting.jobs
        self._executors = executors
        self._plan = Plan(setting.resources if setting.deviates else None)
        self.completed: dict[int, int] = {}
        self.decisions: list[MadeDecision] = []
        self._left: Unordered[int, int] = Unordered()  # unfinished tasks of each job
        self._queue: list[tuple[int, int]] = []  # deadline and number
        self._busy = False
        self._decision_requested = False
        self._wakes_at: int | None = None
        self.closed = self._to_come == 0
        self._is_stale = False  # whether the plan was repaired since the manager last saw it
        self._pull_pending = False

    @property
    def jobs(self) -> Mapping[int, StageJob]:
        """Jobs that have arrived and not ended, by number."""
        return self._plan.jobs

    @property
    def schedule(self) -> Schedule:
        """Where and when tasks run."""
        return self._plan.schedule

    @message_server(priority=_ARRIVES, global_priority=_ARRIVES)
    def submit(self, job: StageJob) -> None:
        """Put a job into the queue."""
        self._plan.jobs[job.number] = job
        self._left[job.number] = len(job.real_tasks)
        self._checker.arrived(job)
        insort(self._queue, (job.deadline, job.number))
        self._start_decision()

    @message_server(priority=_DECIDES, global_priority=_DECIDES)
    def consider(self) -> None:
        """Begin a decision about the next jobs in the queue."""
        count = 1 if self._manager.one_job_at_a_time else len(self._queue)
        numbers = tuple(number for _, number in self._queue[:count])
        del self._queue[:count]
        self._decision_requested = False
        tasks = sum(len(self.jobs[number].real_tasks) for number in numbers)
        self.decide(numbers, self._now, after=self._deciding.before(tasks))

    @message_server(priority=_DECIDES, global_priority=_DECIDES)
    def decide(self, numbers: tuple[int, ...], began: int) -> None:
        """Plan these jobs, and all tasks that have not started."""
        now, manager, schedule = self._now, self._manager, self._plan.schedule
        jobs = [self._plan.jobs[number] for number in numbers]
        if self._is_stale:
            manager.corrected(now, schedule.running, schedule.scheduled)
            self._is_stale = False
        changes, made = self._deciding.decided(manager, jobs, schedule, (began, now))
        self._checker.decided(now, changes, manager.expected)
        self._install(changes)
        if not manager.decides_at_ends and manager.wakes_at(now) is None:
            for job in jobs:
                self._checker.require_complete(job)
        self._record(made)
        self.free(after=made.busy)
        self._set_alarm(manager.wakes_at(now))

    @message_server(priority=_DECIDES, global_priority=_DECIDES)
    def free(self) -> None:
        """End a decision; begin the next if one is due."""
        self._busy = False
        self._start_decision()

    @message_server(priority=_ARRIVES, global_priority=_ARRIVES)
    def wake(self, time: int) -> None:
        """Decide at a time that the manager has asked for."""
        if self._wakes_at == time:
            self._wakes_at = None
            self._decision_requested = True
            self._start_decision()

    @message_server(priority=_BEGINS, global_priority=_BEGINS)
    def begin(self, assignment: Assignment, moves: int) -> None:
        """Start a task, unless it was moved since this was planned."""
        plan = self._plan
        if plan.schedule.is_planned(assignment, moves):
            self._checker.began(assignment)
            plan.schedule.begin(assignment)
            job, task = assignment.key
            duration = plan.jobs[job].tasks[task].duration
            self._executors[assignment.resource].run(assignment, duration)
            if plan.repair is not None:
                plan.repair.runs(assignment)
                if self._now + duration > assignment.end:  # otherwise it never overruns
                    self.overran(assignment.key, after=assignment.end - self._now)

    @message_server(priority=_REPAIRS, global_priority=_REPAIRS)
    def overran(self, key: TaskKey) -> None:
        """Extend a task past its planned end, and delay the tasks that wait for it."""
        repair, schedule = self._plan.repair, self._plan.schedule
        assert repair is not None
        each = schedule.running.get(key)
        if each is None:
            return
        longer = each._replace(end=self._now + time_extension(each))
        schedule.extend(longer)
        self._checker.extended(longer, self._now)
        repair.runs(longer)
        self._is_stale = True
        self._repair_plan(repair.right_shifted(longer, self._now))
        self.overran(key, after=longer.end - self._now)

    @message_server(priority=_REPAIRS, global_priority=_REPAIRS)
    def pull(self) -> None:
        """Start tasks early on slots that others have freed."""
        repair = self._plan.repair
        assert repair is not None
        self._pull_pending = False
        self._repair_plan(repair.left_shifted(self._now))

    @message_server(priority=_ENDS, global_priority=_ENDS)
    def ended(self, assignment: Assignment) -> None:
        """Record the end of a task, and of its job after the last one."""
        now, number, plan = self._now, assignment.key.job, self._plan
        job = plan.jobs[number]
        expected = plan.schedule.running[assignment.key]
        self._checker.ended(assignment, now)
        self._manager.ended(job, plan.schedule.end(assignment, now))
        if plan.repair is not None:
            plan.repair.ended(expected)
            self._replan_after_end(deviates=now < expected.end or expected.end > assignment.end)
        self._left[number] -= 1
        if self._left[number] == 0:
            self.completed[number] = now
            self._checker.forget(number)
            del self._left[number], plan.jobs[number]
            self._to_come -= 1
            self.closed = self._to_come == 0
        if self._manager.decides_at_ends:
            self._decision_requested = True
            self._start_decision()

    def _replan_after_end(self, *, deviates: bool) -> None:
        """Pull tasks forward or plan anew after a task has ended, if the manager plans ahead."""
        manager = self._manager
        if manager.decides_at_ends:
            return
        if manager.pulls_forward and not self._pull_pending:
            self._pull_pending = True
            self.pull()
        if deviates:
            self._is_stale = True
            if manager.replans:
                self._decision_requested = True
                self._start_decision()

    def _repair_plan(self, changes: Sequence[Assignment]) -> None:
        """Install changes of the plan that deviating tasks have caused."""
        if changes:
            self._is_stale = True
            self._checker.decided(self._now, changes, self._manager.expected)
            self._install(changes)

    def _record(self, made: MadeDecision) -> None:
        """Keep a decision for the tables of the run."""
        self.decisions.append(made)

    def _start_decision(self) -> None:
        """Begin a decision if one is due and none is under way, after all events of this time."""
        if not self._busy and (self._queue or self._decision_requested):
            self._busy = True
            self.consider()

    def _install(self, changes: Sequence[Assignment]) -> None:
        """Put changed assignments into the schedule."""
        repair, schedule = self._plan.repair, self._plan.schedule
        for each in changes:
            if repair is not None:
                repair.planned(each, schedule.scheduled.get(each.key))
            self.begin(each, schedule.plan(each), after=each.start - self._now)

    def _set_alarm(self, time: int | None) -> None:
        if time is not None and time != self._wakes_at:
            self._wakes_at = time
            self.wake(time, after=time - self._now)


@dataclass(frozen=True, eq=False)
class FinishedStages:
    """The outcome of a run.

    Attributes:
        jobs: all jobs, by number.
        resources: the resources that they ran on.
        completed: end of each job (ms), by its number.
        ran: where and when each task ran, without dummies.
        decisions: all decisions, in order of time.
        messages: number of messages served.
    """

    jobs: Sequence[StageJob]
    resources: Sequence[StageResource]
    completed: Mapping[int, int]
    ran: Mapping[TaskKey, Assignment]
    decisions: Sequence[MadeDecision]
    messages: int


@rarely_collecting()
def run_stages(
    jobs: Sequence[StageJob],
    resources: Sequence[StageResource],
    maker: ManagerMaker,
    cost: DecisionCost | None = None,
) -> FinishedStages:
    """Run jobs on resources under a resource manager.

    Checks every decision, and the whole run at its end. Raises UserError for a task that no
    resource can run or that the manager never places, and BrokenScheduleError for an infeasible
    schedule.
    """
    require_runnable(jobs, resources)
    watch = Stopwatch()
    system = QueuedSystem(stages_model(jobs, resources, maker, cost or DecisionCost(), watch))
    manager = system.rebecs[0]
    assert isinstance(manager, ResourceManager)
    served = serve(system, manager)
    if not manager.closed:
        left = ", ".join(job.name for job in list(manager.jobs.values())[:5])
        raise UserError(f"the resource manager never places the tasks of {left}")
    ran = manager.schedule.done
    ordered = sorted(jobs, key=lambda job: job.number)
    durations = {job.number: [task.duration for task in job.tasks] for job in ordered}
    require_sound_schedule(
        jobs, resources, ran.values(), needed=lambda each: durations[each.key.job][each.key.task]
    )
    decisions = watch.timed(manager.decisions)
    return FinishedStages(ordered, resources, manager.completed, ran, decisions, served)


def stages_model(
    jobs: Sequence[StageJob],
    resources: Sequence[StageResource],
    maker: ManagerMaker,
    cost: DecisionCost,
    watch: Stopwatch | None = None,
) -> Model:
    """Make the model of a cluster; a stopwatch measures decisions by the wall clock."""
    deviates = any(task.expected != task.duration for job in jobs for task in job.tasks)
    setting = ManagerSetup(maker, resources, cost, len(jobs), deviates, watch)
    names = [each.name for each in resources]
    return Model(
        "stages",
        (
            Instance(MANAGER, ResourceManager, (), (setting, *map(RebecNamed, names))),
            *(Instance(name, TaskExecutor, (MANAGER,)) for name in names),
            Instance("arrivals", ArrivalSource, (MANAGER,), (tuple(jobs),)),
        ),
    )
