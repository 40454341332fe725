"""MapReduce jobs with deadlines on Hadoop 1, where TaskTrackers ask for tasks by heartbeats.

    ArrivalSource --submit--> JobTracker
    TaskTracker: beat
    TaskTracker --heartbeat--> JobTracker         reports ended tasks
    JobTracker: decide                            replans all unstarted tasks if jobs are new
    JobTracker --run_job_task--> TaskTracker      a job setup or cleanup task
    JobTracker --run--> TaskTracker               otherwise tasks for its free slots
    JobTracker --maps_ended--> TaskTracker        reduce tasks of a job can go on
    TaskTracker: finish, finish_job_task

A decision keeps the JobTracker busy; heartbeats wait."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

from rebecsim.actors import Instance, Model, Rebec, RebecNamed, known_rebec, message_server
from rebecsim.clusters.kit.queued import QueuedSystem, rarely_collecting, serve
from rebecsim.clusters.stages.checking import (
    BrokenScheduleError,
    require_slots,
    require_sound_schedule,
)
from rebecsim.clusters.stages.cluster import ArrivalSource, FinishedStages
from rebecsim.clusters.stages.hadoop_tasks import (
    HadoopTable,
    HeldSlot,
    JobInProgress,
    JobOrder,
    JobQueue,
    JobTask,
    JobTaskQueue,
    PlannedOrder,
    TaskSelector,
)
from rebecsim.clusters.stages.job import SECOND, StageJob, TaskKey, TaskKind
from rebecsim.clusters.stages.managers.decisions import (
    DecisionClock,
    DecisionCost,
    MadeDecision,
    Stopwatch,
)
from rebecsim.clusters.stages.managers.dispatching import EarliestDeadlineFirst, FirstInFirstOut
from rebecsim.clusters.stages.managers.hcp import TurnaroundManager
from rebecsim.clusters.stages.managers.manager import StageManager
from rebecsim.clusters.stages.managers.searching import SearchingManager, SolverTable
from rebecsim.clusters.stages.resources import (
    Assignment,
    Locality,
    Schedule,
    StageResource,
    require_runnable,
)
from rebecsim.errors import UserError

_UNBOUNDED = 2**31 - 1
_ENDS, _BEGINS, _ARRIVES, _DECIDES = 1, 2, 3, 4
_KINDS = TaskKind.MAP, TaskKind.REDUCE


class HadoopTaskTracker(Rebec, queue_size=_UNBOUNDED):
    """Runs tasks on a resource. Reduce tasks wait on their slots for the maps of their job."""

    tracker: HadoopJobTracker = known_rebec()

    def __init__(self, number: int, settings: HadoopTable, first: int) -> None:
        self.number = number
        self._heartbeat = round(settings.heartbeat * SECOND)
        self._ended: list[tuple[Assignment, int]] = []
        self._job_tasks: list[HeldSlot] = []
        self._waiting: dict[int, list[tuple[Assignment, int]]] = {}
        self.beat(after=first)

    @message_server(priority=_ARRIVES, global_priority=_ARRIVES)
    def beat(self) -> None:
        """Report the tasks that have ended since the last heartbeat."""
        self.tracker.heartbeat(self.number, tuple(self._ended), tuple(self._job_tasks))
        self._ended.clear()
        self._job_tasks.clear()
        self.beat(after=self._heartbeat)

    @message_server(priority=_BEGINS, global_priority=_BEGINS)
    def run(self, assignment: Assignment, duration: int, waits: bool) -> None:
        """Start a task, or hold a reduce task until the maps of its job have ended."""
        if waits:
            self._waiting.setdefault(assignment.key.job, []).append((assignment, duration))
        else:
            self.finish(assignment, after=duration)

    @message_server(priority=_BEGINS, global_priority=_BEGINS)
    def maps_ended(self, job: int) -> None:
        """Resume the waiting reduce tasks of a job."""
        for assignment, duration in self._waiting.pop(job, ()):
            self.finish(assignment, after=duration)

    @message_server(priority=_ENDS, global_priority=_ENDS)
    def finish(self, assignment: Assignment) -> None:
        """End a task; the next heartbeat reports it."""
        self._ended.append((assignment, self._now))

    @message_server(priority=_BEGINS, global_priority=_BEGINS)
    def run_job_task(self, held: HeldSlot) -> None:
        """Run a job setup or cleanup task."""
        self.finish_job_task(held, after=held.end - held.start)

    @message_server(priority=_ENDS, global_priority=_ENDS)
    def finish_job_task(self, held: HeldSlot) -> None:
        """End a job setup or cleanup task."""
        self._job_tasks.append(held)


class HadoopJobTracker(Rebec, queue_size=_UNBOUNDED):
    """Assigns tasks to TaskTrackers that ask for them.

    Attributes:
        schedule: planned, running and ended tasks.
        completed: when the end of each job was reported (ms), by number.
        decisions: all decisions so far.
        held: slots held by job setup and cleanup tasks.
        closed: whether all jobs have ended.
    """

    def __init__(
        self,
        makers: tuple[Callable[[], TaskSelector], Callable[[], StageManager] | None],
        costs: tuple[DecisionCost, HadoopTable, Locality],
        work: tuple[tuple[StageResource, ...], int],
        watch: Stopwatch,
        *trackers: HadoopTaskTracker,
    ) -> None:
        make_choice, make_manager = makers
        self._choice, self.schedule = make_choice(), Schedule()
        self._manager = None if make_manager is None else make_manager()
        cost, self._settings, self._locality = costs
        self._deciding = DecisionClock(cost, watch)
        resources, self._to_come = work
        self._trackers = trackers
        self.completed: dict[int, int] = {}
        self.decisions: list[MadeDecision] = []
        self.held: list[HeldSlot] = []
        self._job_tasks = JobTaskQueue()
        self._set_up: dict[int, StageJob] = {}
        self._free = {
            (each.number, kind): each.slots_for(kind) for each in resources for kind in _KINDS
        }
        self._new: list[StageJob] = []
        self._busy = False
        self._waiting: list[int] = []
        self.closed = self._to_come == 0

    @property
    def jobs(self) -> dict[int, JobInProgress]:
        """Jobs that have arrived and not ended, by number."""
        return self._choice.jobs

    @message_server(priority=_ARRIVES, global_priority=_ARRIVES)
    def submit(self, job: StageJob) -> None:
        """Take a job; its setup task runs first."""
        if self._settings.job_task == 0:
            self._admit(job)
        else:
            self._set_up[job.number] = job
            self._job_tasks.add(JobTask(job.number, sets_up=True))

    def _admit(self, job: StageJob) -> None:
        self.jobs[job.number] = JobInProgress(job)
        if self._manager is not None:
            self._new.append(job)

    @message_server(priority=_DECIDES, global_priority=_DECIDES)
    def heartbeat(
        self,
        number: int,
        ended: tuple[tuple[Assignment, int], ...],
        job_tasks: tuple[HeldSlot, ...],
    ) -> None:
        """Record ended tasks, plan new jobs, and assign tasks."""
        for assignment, time in ended:
            self._record_end(assignment, time)
        for held in job_tasks:
            self._record_job_task(held)
        self._waiting.append(number)
        if self._busy:
            return
        if self._new:
            self._busy = True
            new, self._new = tuple(self._new), []
            tasks = sum(len(job.real_tasks) for job in new)
            self.decide(new, self._now, after=self._deciding.before(tasks))
        else:
            self._answer()

    @message_server(priority=_DECIDES, global_priority=_DECIDES)
    def decide(self, new: tuple[StageJob, ...], began: int) -> None:
        """Plan new jobs, and all tasks that have not started."""
        assert self._manager is not None
        times = began, self._now
        changes, made = self._deciding.decided(self._manager, new, self.schedule, times)
        for each in changes:
            self.schedule.plan(each)
        self.decisions.append(made)
        self.free(after=made.busy)

    @message_server(priority=_DECIDES, global_priority=_DECIDES)
    def free(self) -> None:
        """Answer the heartbeats that arrived during the decision."""
        self._busy = False
        self._answer()

    def _answer(self) -> None:
        waiting, self._waiting = self._waiting, []
        for number in waiting:
            if self._assign_job_task(number):
                continue
            for kind in _KINDS:
                for _ in range(self._choice.most(kind, self._free[number, kind])):
                    self._assign(kind, number)

    def _assign_job_task(self, number: int) -> bool:
        """Assign a job setup or cleanup task, which is all that this heartbeat gets."""
        found = self._job_tasks.next(lambda kind: self._free[number, kind] > 0)
        if found is None:
            return False
        task, kind = found
        self._free[number, kind] -= 1
        now = self._now
        held = HeldSlot(task, number, kind, now, now + round(self._settings.job_task * SECOND))
        self._trackers[number].run_job_task(held)
        return True

    def _record_job_task(self, held: HeldSlot) -> None:
        """Record that a job has been set up or cleaned up."""
        self._free[held.resource, held.kind] += 1
        self.held.append(held._replace(end=self._now))
        if held.task.sets_up:
            self._admit(self._set_up.pop(held.task.job))
        else:
            self._complete(held.task.job)

    def _assign(self, kind: TaskKind, number: int) -> None:
        """Assign the next task to a TaskTracker, if there is one."""
        now = self._now
        key = self._choice.next(kind, number, now, self.schedule.scheduled)
        if key is None:
            return
        progress = self.jobs[key.job]
        task = progress.job.tasks[key.task]
        longer = self._locality.extra(key, kind, number)
        expected = task.expected
        if self._manager is not None:
            expected = self._manager.expected(progress.job, key.task)
        assignment = Assignment(key, number, now, now + expected + longer)
        self.schedule.plan(assignment)
        self.schedule.begin(assignment)
        del progress.pending[kind][key.task]
        self._free[number, kind] -= 1
        duration = task.duration + longer + round(self._settings.overhead * SECOND)
        waits = kind is TaskKind.REDUCE and progress.maps_left > 0
        self._trackers[number].run(assignment, duration, waits)

    def _record_end(self, assignment: Assignment, time: int) -> None:
        """Record the end of a task, and of its job after the last one."""
        number, task = assignment.key
        progress = self.jobs[number]
        ran = self.schedule.end(assignment, time)
        if self._manager is not None:
            self._manager.ended(progress.job, ran)
        kind = progress.job.tasks[task].kind
        self._free[assignment.resource, kind] += 1
        progress.left -= 1
        if kind is TaskKind.MAP:
            progress.maps_left -= 1
            if progress.maps_left == 0:
                for tracker in self._trackers:
                    tracker.maps_ended(number)
        if progress.left == 0:
            del self.jobs[number]
            if self._settings.job_task == 0:
                self._complete(number)
            else:
                self._job_tasks.add(JobTask(number, sets_up=False))

    def _complete(self, number: int) -> None:
        self.completed[number] = self._now
        self._to_come -= 1
        self.closed = self._to_come == 0


_ORDERS: Mapping[type[StageManager], JobOrder] = {
    EarliestDeadlineFirst: "deadline",
    FirstInFirstOut: "arrival",
}


def runs_on_hadoop(manager: type[StageManager]) -> bool:
    """Whether a manager works on Hadoop: it has a job order, or replans all tasks."""
    if issubclass(manager, SearchingManager):
        return issubclass(manager, TurnaroundManager) or not manager.defers
    return manager in _ORDERS


def run_on_hadoop(
    jobs: Sequence[StageJob],
    resources: Sequence[StageResource],
    manager: type[StageManager],
    settings: HadoopTable,
    cost: DecisionCost | None = None,
    solver: SolverTable | None = None,
    seed: tuple[int, ...] = (0,),
) -> FinishedStages:
    """Run MapReduce jobs under a resource manager; `seed` places the input blocks.

    Checks the whole run at its end. Raises UserError for jobs or resources other than maps and
    reduces, and BrokenScheduleError for an infeasible schedule.
    """
    _require_map_reduce(jobs, resources)
    transfer = round(settings.transfer * SECOND)
    locality = Locality(len(resources), settings.replicas, transfer, seed)
    choice: Callable[[], TaskSelector] = PlannedOrder
    planner: Callable[[], StageManager] | None = None
    if issubclass(manager, SearchingManager):
        planner = partial(manager, resources, settings=solver)
        if issubclass(manager, TurnaroundManager):
            planner = partial(planner, locality=locality)
    else:
        choice = partial(JobQueue, _ORDERS[manager], settings, locality)
    costs, watch = (cost or DecisionCost(), settings, locality), Stopwatch()
    arguments = (choice, planner), costs, (tuple(resources), len(jobs)), watch
    system = QueuedSystem(_model(jobs, resources, arguments, settings))
    tracker = system.rebecs[0]
    assert isinstance(tracker, HadoopJobTracker)
    with rarely_collecting():
        served = serve(system, tracker)
    done, decisions = tracker.schedule.done, watch.timed(tracker.decisions)
    _require_sound(jobs, resources, done, tracker.held, (settings, locality))
    ordered = sorted(jobs, key=lambda job: job.number)
    return FinishedStages(ordered, resources, tracker.completed, done, decisions, served)


def _model(
    jobs: Sequence[StageJob],
    resources: Sequence[StageResource],
    arguments: tuple[object, ...],
    settings: HadoopTable,
) -> Model:
    """Make the model of a cluster: TaskTrackers ask one after the other."""
    trackers = [RebecNamed(each.name) for each in resources]
    beat = round(settings.heartbeat * SECOND)
    instances = [Instance("job_tracker", HadoopJobTracker, (), (*arguments, *trackers))]
    instances.extend(
        Instance(
            each.name,
            HadoopTaskTracker,
            ("job_tracker",),
            (each.number, settings, beat * each.number // len(resources)),
        )
        for each in resources
    )
    instances.append(Instance("arrivals", ArrivalSource, ("job_tracker",), (tuple(jobs),)))
    return Model("hadoop", tuple(instances))


def _require_map_reduce(jobs: Sequence[StageJob], resources: Sequence[StageResource]) -> None:
    require_runnable(jobs, resources)
    if not resources[0].is_typed:
        raise UserError("Hadoop needs typed slots: give map_slots and reduce_slots")
    for job in jobs:
        if any(task.kind is TaskKind.GENERIC for task in job.real_tasks):
            raise UserError(f"{job.name}: Hadoop runs maps and reduces only")


def _require_sound(
    jobs: Sequence[StageJob],
    resources: Sequence[StageResource],
    ran: Mapping[TaskKey, Assignment],
    held: Iterable[HeldSlot],
    costs: tuple[HadoopTable, Locality],
) -> None:
    """Check the slots held during a run, and the order in which tasks worked."""
    settings, locality = costs
    overhead = round(settings.overhead * SECOND)
    beside = [(each.resource, each.kind, each.start, each.end) for each in held]
    require_slots(jobs, resources, ran.values(), beside)
    known = {job.number: job for job in jobs}

    def needed(each: Assignment) -> int:
        task = known[each.key.job].tasks[each.key.task]
        longer = locality.extra(each.key, task.kind, each.resource)
        return task.duration + overhead + longer

    worked = []
    for each in ran.values():
        if each.end - each.start < needed(each):
            raise BrokenScheduleError(f"job_{each.key.job}, task {each.key.task}: ran too short")
        worked.append(each._replace(start=each.end - needed(each)))
    require_sound_schedule(jobs, resources, worked, needed=needed)
