"""A cluster of resources as rebecs on one clock, and its runs, until all jobs have ended.

    ArrivalSource --submit--> ResourceManager
    ResourceManager: consider, decide             which task runs where and when
    ResourceManager: begin                        when the planned time of a task has come
    ResourceManager --run--> TaskExecutor
    TaskExecutor: finish
    TaskExecutor --ended--> ResourceManager
    ResourceManager: overran                      when a task has not ended that should have
    ResourceManager: pull                         when tasks have ended, and others can start

At one time tasks end first, then plans are made possible again, then others begin, then jobs
arrive, and then it is decided. Tasks overrun, and are pulled, only where estimates are wrong."""

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
from rebecsim.clusters.stages.estimates import PlanKeeper, more_time
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
_ENDS, _KEEPS, _BEGINS, _ARRIVES, _DECIDES = 1, 2, 3, 4, 5

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
    """What a resource manager knows of jobs and of their tasks.

    Attributes:
        jobs: that have arrived and not ended, by number.
        schedule: where and when their tasks run.
        keeper: keeps the schedule possible; None where tasks run as long as expected.
    """

    __slots__ = ("jobs", "keeper", "schedule")

    def __init__(self, deviating: Sequence[StageResource] | None) -> None:
        self.jobs: Unordered[int, StageJob] = Unordered()
        self.schedule = Schedule()
        self.keeper: PlanKeeper | None = None
        if deviating is not None:
            self.keeper = PlanKeeper(self.jobs, self.schedule, deviating)

    def __str__(self) -> str:
        return str(self.schedule)


ManagerMaker = Callable[[Sequence[StageResource]], StageManager]
"""Makes a resource manager for some resources."""


@dataclass(frozen=True)
class Setting(Constant):
    """Under what a resource manager works.

    Attributes:
        maker: makes what decides.
        resources: that tasks run on.
        cost: of decisions.
        jobs: how many will arrive.
        deviates: whether tasks may run longer or shorter than expected.
        watch: takes the time of decisions; None: nobody asks for it.
    """

    maker: ManagerMaker
    resources: Sequence[StageResource]
    cost: DecisionCost
    jobs: int
    deviates: bool
    watch: Stopwatch | None = None


class ResourceManager(Rebec, queue_size=_UNBOUNDED):
    """Decides about jobs that arrive, one decision after the other, and is busy with each.

    Attributes:
        completed: when each job that has ended did so (ms), by number.
        decisions: that have been made.
        closed: whether all jobs have ended.
    """

    def __init__(self, setting: Setting, *executors: TaskExecutor) -> None:
        self._manager = setting.maker(setting.resources)
        self._checker = ScheduleChecker(setting.resources)
        self._deciding = DecisionClock(setting.cost, setting.watch)
        # jobs that have not ended, those included that have not arrived
        self._to_come = setting.jobs
        self._executors = executors
        self._plan = Plan(setting.resources if setting.deviates else None)
        self.completed: dict[int, int] = {}
        self.decisions: list[MadeDecision] = []
        self._left: Unordered[int, int] = Unordered()  # of each job, how many tasks have not ended
        self._queue: list[tuple[int, int]] = []  # deadline and number
        self._busy = False
        self._asked = False
        self._wakes_at: int | None = None
        self.closed = self._to_come == 0
        self._is_stale = False  # whether the manager does not know where all tasks are
        self._pulls = False  # whether it is to be seen which tasks can begin earlier

    @property
    def jobs(self) -> Mapping[int, StageJob]:
        """Those that have arrived and not ended, by number."""
        return self._plan.jobs

    @property
    def schedule(self) -> Schedule:
        """Where and when tasks run."""
        return self._plan.schedule

    @message_server(priority=_ARRIVES, global_priority=_ARRIVES)
    def submit(self, job: StageJob) -> None:
        """Take a job into the queue."""
        self._plan.jobs[job.number] = job
        self._left[job.number] = len(job.real_tasks)
        self._checker.arrived(job)
        insort(self._queue, (job.deadline, job.number))
        self._turn()

    @message_server(priority=_DECIDES, global_priority=_DECIDES)
    def consider(self) -> None:
        """Begin a decision about the jobs whose turn it is."""
        count = 1 if self._manager.one_job_at_a_time else len(self._queue)
        numbers = tuple(number for _, number in self._queue[:count])
        del self._queue[:count]
        self._asked = False
        tasks = sum(len(self.jobs[number].real_tasks) for number in numbers)
        self.decide(numbers, self._now, after=self._deciding.before(tasks))

    @message_server(priority=_DECIDES, global_priority=_DECIDES)
    def decide(self, numbers: tuple[int, ...], began: int) -> None:
        """Decide about jobs, and about all tasks that have not started."""
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
        self._keep(made)
        self.free(after=made.busy)
        self._set_alarm(manager.wakes_at(now))

    @message_server(priority=_DECIDES, global_priority=_DECIDES)
    def free(self) -> None:
        """Be ready for the next decision."""
        self._busy = False
        self._turn()

    @message_server(priority=_ARRIVES, global_priority=_ARRIVES)
    def wake(self, time: int) -> None:
        """Decide because the manager wanted to be asked now."""
        if self._wakes_at == time:
            self._wakes_at = None
            self._asked = True
            self._turn()

    @message_server(priority=_BEGINS, global_priority=_BEGINS)
    def begin(self, assignment: Assignment, moves: int) -> None:
        """Let a task begin, unless it has been moved since this was planned."""
        plan = self._plan
        if plan.schedule.is_planned(assignment, moves):
            self._checker.began(assignment)
            plan.schedule.begin(assignment)
            job, task = assignment.key
            duration = plan.jobs[job].tasks[task].duration
            self._executors[assignment.resource].run(assignment, duration)
            if plan.keeper is not None:
                plan.keeper.runs(assignment)
                if self._now + duration > assignment.end:  # otherwise it is never late
                    self.overran(assignment.key, after=assignment.end - self._now)

    @message_server(priority=_KEEPS, global_priority=_KEEPS)
    def overran(self, key: TaskKey) -> None:
        """Give a task time that has not ended, and let those wait that cannot start for it."""
        keeper, schedule = self._plan.keeper, self._plan.schedule
        assert keeper is not None
        each = schedule.running.get(key)
        if each is None:
            return
        longer = each._replace(end=self._now + more_time(each))
        schedule.extend(longer)
        self._checker.extended(longer, self._now)
        keeper.runs(longer)
        self._is_stale = True
        self._deviated(keeper.pushed(longer, self._now))
        self.overran(key, after=longer.end - self._now)

    @message_server(priority=_KEEPS, global_priority=_KEEPS)
    def pull(self) -> None:
        """Let tasks begin now that can, as others have ended."""
        keeper = self._plan.keeper
        assert keeper is not None
        self._pulls = False
        self._deviated(keeper.pulled(self._now))

    @message_server(priority=_ENDS, global_priority=_ENDS)
    def ended(self, assignment: Assignment) -> None:
        """Take note that a task has ended, and with the last one its job."""
        now, number, plan = self._now, assignment.key.job, self._plan
        job = plan.jobs[number]
        expected = plan.schedule.running[assignment.key]
        self._checker.ended(assignment, now)
        self._manager.ended(job, plan.schedule.end(assignment, now))
        if plan.keeper is not None:
            plan.keeper.ended(expected)
            self._see_end(deviates=now < expected.end or expected.end > assignment.end)
        self._left[number] -= 1
        if self._left[number] == 0:
            self.completed[number] = now
            self._checker.forget(number)
            del self._left[number], plan.jobs[number]
            self._to_come -= 1
            self.closed = self._to_come == 0
        if self._manager.decides_at_ends:
            self._asked = True
            self._turn()

    def _see_end(self, *, deviates: bool) -> None:
        """Let others begin earlier as a task has ended, unless the manager plans nothing ahead."""
        manager = self._manager
        if manager.decides_at_ends:
            return
        if manager.pulls_forward and not self._pulls:
            self._pulls = True
            self.pull()
        if deviates:
            self._is_stale = True
            if manager.replans:
                self._asked = True
                self._turn()

    def _deviated(self, changes: Sequence[Assignment]) -> None:
        """Change the plan because tasks have run longer or shorter than expected."""
        if changes:
            self._is_stale = True
            self._checker.decided(self._now, changes, self._manager.expected)
            self._install(changes)

    def _keep(self, made: MadeDecision) -> None:
        """Keep a decision, for who looks at the run."""
        self.decisions.append(made)

    def _turn(self) -> None:
        """Begin a decision if nothing is being decided, when all that happens now has happened."""
        if not self._busy and (self._queue or self._asked):
            self._busy = True
            self.consider()

    def _install(self, changes: Sequence[Assignment]) -> None:
        """Put changes into the schedule."""
        keeper, schedule = self._plan.keeper, self._plan.schedule
        for each in changes:
            if keeper is not None:
                keeper.planned(each, schedule.scheduled.get(each.key))
            self.begin(each, schedule.plan(each), after=each.start - self._now)

    def _set_alarm(self, time: int | None) -> None:
        if time is not None and time != self._wakes_at:
            self._wakes_at = time
            self.wake(time, after=time - self._now)


@dataclass(frozen=True, eq=False)
class FinishedStages:
    """What became of a run.

    Attributes:
        jobs: in the order of their numbers.
        resources: that they ran on.
        completed: when each job ended (ms), by its number.
        ran: where and when each task ran, but for dummies.
        decisions: in the order of time.
        messages: that were served.
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

    Every decision is checked, and the whole run at its end. Raises UserError for a task that no
    resource can run, and for a manager that leaves tasks without a place for ever, and
    BrokenScheduleError for one that breaks the rules.
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
    """Make the model of a cluster; a stopwatch, if there is one, takes the time of decisions."""
    deviates = any(task.expected != task.duration for job in jobs for task in job.tasks)
    setting = Setting(maker, resources, cost, len(jobs), deviates, watch)
    names = [each.name for each in resources]
    return Model(
        "stages",
        (
            Instance(MANAGER, ResourceManager, (), (setting, *map(RebecNamed, names))),
            *(Instance(name, TaskExecutor, (MANAGER,)) for name in names),
            Instance("arrivals", ArrivalSource, (MANAGER,), (tuple(jobs),)),
        ),
    )
