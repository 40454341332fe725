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

from rebecsim.actors import Instance, Model, Rebec, known_rebec, message_server
from rebecsim.clusters.kit.queued import QueuedSystem, rarely_collecting, serve
from rebecsim.clusters.stages.checking import ScheduleChecker, require_sound_schedule
from rebecsim.clusters.stages.estimates import PlanKeeper, more_time
from rebecsim.clusters.stages.job import StageJob, TaskKey
from rebecsim.clusters.stages.managers.decisions import DecisionClock, DecisionCost, MadeDecision
from rebecsim.clusters.stages.managers.manager import StageManager
from rebecsim.clusters.stages.resources import Assignment, Schedule, StageResource, require_runnable
from rebecsim.errors import UserError

_UNBOUNDED = 2**31 - 1
_ENDS, _KEEPS, _BEGINS, _ARRIVES, _DECIDES = 1, 2, 3, 4, 5


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

    def __init__(self, number: int) -> None:
        self.number = number
        self.manager.executors[number] = self

    @message_server(priority=_BEGINS, global_priority=_BEGINS)
    def run(self, assignment: Assignment, duration: int) -> None:
        """Begin a task."""
        self.finish(assignment, after=duration)

    @message_server(priority=_ENDS, global_priority=_ENDS)
    def finish(self, assignment: Assignment) -> None:
        """End a task."""
        self.manager.ended(assignment)


class ResourceManager(Rebec, queue_size=_UNBOUNDED):
    """Decides about jobs that arrive, one decision after the other, and is busy with each.

    Attributes:
        jobs: that have arrived and not ended, by number.
        completed: when each job that has ended did so (ms), by number.
        decisions: that have been made.
        closed: whether all jobs have ended.
    """

    def __init__(
        self,
        manager: StageManager,
        checker: ScheduleChecker,
        cost: DecisionCost,
        to_come: int,
        deviating: Sequence[StageResource] | None = None,
    ) -> None:
        self._manager = manager
        self._checker = checker
        self._deciding = DecisionClock(cost)
        self._to_come = to_come  # jobs that have not ended, those included that have not arrived
        self.executors: dict[int, TaskExecutor] = {}
        self.schedule = Schedule()
        self.jobs: dict[int, StageJob] = {}
        self.completed: dict[int, int] = {}
        self.decisions: list[MadeDecision] = []
        self._left: dict[int, int] = {}  # of each job, how many tasks have not ended
        self._queue: list[tuple[int, int]] = []  # deadline and number
        self._busy = False
        self._asked = False
        self._wakes_at: int | None = None
        self.closed = to_come == 0
        self._keeper: PlanKeeper | None = None
        if deviating is not None:
            self._keeper = PlanKeeper(self.jobs, self.schedule, deviating)
        self._is_stale = False  # whether the manager does not know where all tasks are
        self._pulls = False  # whether it is to be seen which tasks can begin earlier

    @message_server(priority=_ARRIVES, global_priority=_ARRIVES)
    def submit(self, job: StageJob) -> None:
        """Take a job into the queue."""
        self.jobs[job.number] = job
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
        now, manager = self._now, self._manager
        jobs = [self.jobs[number] for number in numbers]
        if self._is_stale:
            manager.corrected(now, self.schedule.running, self.schedule.scheduled)
            self._is_stale = False
        changes, made = self._deciding.decided(manager, jobs, self.schedule, (began, now))
        self._checker.decided(now, changes)
        self._install(changes)
        if not manager.decides_at_ends and manager.wakes_at(now) is None:
            for job in jobs:
                self._checker.require_complete(job)
        self.decisions.append(made)
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
    def begin(self, assignment: Assignment) -> None:
        """Let a task begin, unless it has been moved since this was planned."""
        if self.schedule.scheduled.get(assignment.key) is assignment:
            self._checker.began(assignment)
            self.schedule.begin(assignment)
            job, task = assignment.key
            duration = self.jobs[job].tasks[task].duration
            self.executors[assignment.resource].run(assignment, duration)
            if self._keeper is not None:
                self._keeper.runs(assignment)
                if self._now + duration > assignment.end:  # otherwise it is never late
                    self.overran(assignment.key, after=assignment.end - self._now)

    @message_server(priority=_KEEPS, global_priority=_KEEPS)
    def overran(self, key: TaskKey) -> None:
        """Give a task time that has not ended, and let those wait that cannot start for it."""
        assert self._keeper is not None
        each = self.schedule.running.get(key)
        if each is None:
            return
        longer = each._replace(end=self._now + more_time(each))
        self.schedule.extend(longer)
        self._checker.extended(longer, self._now)
        self._keeper.runs(longer)
        self._is_stale = True
        self._deviated(self._keeper.pushed(longer, self._now))
        self.overran(key, after=longer.end - self._now)

    @message_server(priority=_KEEPS, global_priority=_KEEPS)
    def pull(self) -> None:
        """Let tasks begin now that can, as others have ended."""
        assert self._keeper is not None
        self._pulls = False
        self._deviated(self._keeper.pulled(self._now))

    @message_server(priority=_ENDS, global_priority=_ENDS)
    def ended(self, assignment: Assignment) -> None:
        """Take note that a task has ended, and with the last one its job."""
        now, number = self._now, assignment.key.job
        job = self.jobs[number]
        expected = self.schedule.running[assignment.key]
        self._checker.ended(assignment, now)
        self._manager.ended(job, self.schedule.end(assignment, now))
        if self._keeper is not None:
            self._keeper.ended(expected)
            self._see_end(deviates=now < expected.end or expected.end > assignment.end)
        self._left[number] -= 1
        if self._left[number] == 0:
            self.completed[number] = now
            self._checker.forget(number)
            del self._left[number], self.jobs[number]
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
            self._checker.decided(self._now, changes)
            self._install(changes)

    def _turn(self) -> None:
        """Begin a decision if nothing is being decided, when all that happens now has happened."""
        if not self._busy and (self._queue or self._asked):
            self._busy = True
            self.consider()

    def _install(self, changes: Sequence[Assignment]) -> None:
        """Put changes into the schedule."""
        for each in changes:
            if self._keeper is not None:
                self._keeper.planned(each, self.schedule.scheduled.get(each.key))
            self.schedule.plan(each)
            self.begin(each, after=each.start - self._now)

    def _set_alarm(self, time: int | None) -> None:
        if time is not None and time != self._wakes_at:
            self._wakes_at = time
            self.wake(time, after=time - self._now)


ManagerMaker = Callable[[Sequence[StageResource]], StageManager]
"""Makes a resource manager for some resources."""


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
    system = QueuedSystem(stages_model(jobs, resources, maker(resources), cost or DecisionCost()))
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
    return FinishedStages(ordered, resources, manager.completed, ran, manager.decisions, served)


def stages_model(
    jobs: Sequence[StageJob],
    resources: Sequence[StageResource],
    manager: StageManager,
    cost: DecisionCost,
) -> Model:
    """Make the model of a cluster."""
    deviates = any(task.expected != task.duration for job in jobs for task in job.tasks)
    checker = ScheduleChecker(resources, manager.expected)
    arguments = (manager, checker, cost, len(jobs), resources if deviates else None)
    instances = [Instance("manager", ResourceManager, (), arguments)]
    instances.extend(
        Instance(each.name, TaskExecutor, ("manager",), (each.number,)) for each in resources
    )
    instances.append(Instance("arrivals", ArrivalSource, ("manager",), (tuple(jobs),)))
    return Model("stages", tuple(instances))
