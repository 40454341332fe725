"""Checks that schedules are feasible, independently of the code that made them.

Tasks must not take more slots than a resource has. They start after the earliest start of their job
and after their parents, are planned for their expected time, and never move once started. With
wrong estimates, the checks also follow the run: a task starts when its parents have ended and a
slot is free.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import numpy as np

from rebecsim.actors import AssertionFailedError, StatePart, Unordered
from rebecsim.clusters.kit.timeline import overfull
from rebecsim.clusters.stages.job import StageJob, StageTask, TaskKey, TaskKind
from rebecsim.clusters.stages.resources import Assignment, StageResource, pool_of
from rebecsim.errors import UserError


class BrokenScheduleError(UserError, AssertionFailedError):
    """An infeasible schedule; the text names the task and the broken rule.

    Exploration reports it as a failed assertion of the resource manager.
    """


Expectation = Callable[[StageJob, int], int]
"""Returns the expected time of a task (ms)."""


class _Pool(StatePart):
    """The slots of one kind on one resource, with the starts and ends of their tasks."""

    def __init__(self, slots: int) -> None:
        self.slots = slots
        self.busy = 0  # running tasks
        self.starts: list[int] = []
        self.ends: list[int] = []

    def add(self, start: int, end: int) -> None:
        insort(self.starts, start)
        insort(self.ends, end)

    def remove(self, start: int, end: int) -> None:
        del self.starts[bisect_left(self.starts, start)]
        del self.ends[bisect_left(self.ends, end)]

    def peak_during(self, start: int, end: int) -> int:
        """Return the largest number of slots taken at once in [start, end)."""
        starts, ends = self.starts, self.ends
        first, last = bisect_right(starts, start), bisect_left(starts, end)
        most = first - bisect_right(ends, start)
        for place in range(first, last):
            most = max(most, place + 1 - bisect_right(ends, starts[place]))
        return most


class ScheduleChecker(StatePart):
    """Follows the schedule of a run, and checks every change that a decision makes.

    Times are ms. All methods raise BrokenScheduleError.
    """

    def __init__(self, resources: Sequence[StageResource]) -> None:
        self._resources = resources
        self._pools = {
            (each.number, pool_of(each, kind)): _Pool(each.slots_for(kind))
            for each in resources
            for kind in TaskKind
        }
        self._pools_for = {  # by resource; looked up often
            kind: [self._pools[each.number, pool_of(each, kind)] for each in resources]
            for kind in TaskKind
        }
        self._jobs: Unordered[int, StageJob] = Unordered()
        self._placed: Unordered[int, Unordered[int, Assignment]] = Unordered()
        self._fixed: Unordered[TaskKey, bool] = Unordered()  # started tasks
        self._ended: Unordered[int, Unordered[int, bool]] = Unordered()  # tasks by job

    def arrived(self, job: StageJob) -> None:
        """Record a job whose tasks may be placed from now on."""
        self._jobs[job.number] = job
        self._placed[job.number] = Unordered()
        self._ended[job.number] = Unordered()

    def decided(
        self, now: int, assignments: Sequence[Assignment], expected: Expectation | None = None
    ) -> None:
        """Apply all changes of a decision, then check them.

        Tasks are expected to run as long as `expected` returns, or as long as users estimate.
        """
        for each in assignments:
            self._require_possible(each, now, expected or _user_estimate)
        changed: dict[int, list[Assignment]] = {}
        for each in assignments:
            before = self._placed[each.key.job].get(each.key.task)
            if before is not None:
                self._pool(before).remove(before.start, before.end)
        for each in assignments:
            self._placed[each.key.job][each.key.task] = each
            self._pool(each).add(each.start, each.end)
            changed.setdefault(each.key.job, []).append(each)
        for each in assignments:
            pool = self._pool(each)
            if pool.peak_during(each.start, each.end) > pool.slots:
                raise _broken(self._task(each), each, "all slots there are taken")
        for number, moved in changed.items():
            require_changed_order(self._jobs[number], self._placed[number], moved)

    def require_complete(self, job: StageJob) -> None:
        """Require a place for every task of a job."""
        for task in job.real_tasks:
            if task.number not in self._placed[job.number]:
                raise BrokenScheduleError(f"{_name(job.number, task)} has no place")

    def began(self, assignment: Assignment) -> None:
        """Record that a task has started; it must not move any more."""
        if self._placed[assignment.key.job].get(assignment.key.task) != assignment:
            raise _broken(self._task(assignment), assignment, "it was planned elsewhere")
        number, task = assignment.key
        if not self._jobs[number].prerequisites[task] <= self._ended[number].keys():
            raise _broken(self._task(assignment), assignment, "a parent task still runs")
        pool = self._pool(assignment)
        pool.busy += 1
        if pool.busy > pool.slots:
            raise _broken(self._task(assignment), assignment, "no slot is free where it starts")
        self._fixed[assignment.key] = True

    def extended(self, assignment: Assignment, now: int) -> None:
        """Record that a running task is expected to end later than before."""
        before = self._placed[assignment.key.job][assignment.key.task]
        if assignment.key not in self._fixed or assignment[:3] != before[:3]:
            raise _broken(self._task(assignment), assignment, "it does not run there")
        if assignment.end <= max(now, before.end):
            raise _broken(self._task(assignment), assignment, "its new end is no later")
        self._replace(before, assignment)

    def ended(self, assignment: Assignment, now: int) -> None:
        """Record the end of a task, which may deviate from its expected time."""
        number, task = assignment.key
        before = self._placed[number][task]
        if now != before.end:
            self._replace(before, before._replace(end=now))
        self._pool(before).busy -= 1
        self._ended[number][task] = True

    def _replace(self, before: Assignment, after: Assignment) -> None:
        pool = self._pool(before)
        pool.remove(before.start, before.end)
        pool.add(after.start, after.end)
        self._placed[after.key.job][after.key.task] = after

    def forget(self, job: int) -> None:
        """Drop a job whose tasks have all ended."""
        for each in self._placed.pop(job).values():
            self._pool(each).remove(each.start, each.end)
            self._fixed.pop(each.key, None)
        del self._jobs[job], self._ended[job]

    def _require_possible(self, each: Assignment, now: int, expected: Expectation) -> None:
        if each.key.job not in self._jobs:
            raise BrokenScheduleError(f"job_{each.key.job}: is placed before it arrives")
        job = self._jobs[each.key.job]
        if not 0 <= each.key.task < len(job.tasks):
            raise BrokenScheduleError(f"{job.name}: has no task {each.key.task}")
        task = job.tasks[each.key.task]
        if each.key in self._fixed:
            raise _broken(task, each, "it has started already")
        if each.start < now:
            raise _broken(task, each, f"it starts in the past; now is {now} ms")
        _require_task(job, task, each, self._resources, expected(job, task.number))

    def _pool(self, each: Assignment) -> _Pool:
        return self._pools_for[self._task(each).kind][each.resource]

    def _task(self, each: Assignment) -> StageTask:
        return self._jobs[each.key.job].tasks[each.key.task]


def require_order(job: StageJob, placed: Mapping[int, Assignment]) -> None:
    """Raise BrokenScheduleError if a task starts before its parents have ended or have places."""
    ready: list[int | None] = [None] * len(job.tasks)  # end of each task, if known
    for number in job.order:
        task = job.tasks[number]
        ends = [ready[parent] for parent in task.parents]
        begin = None if None in ends else max((end for end in ends if end is not None), default=0)
        if task.is_dummy:
            ready[number] = begin
        elif number in placed:
            each = placed[number]
            if begin is None:
                raise _broken(task, each, "a parent task has no place")
            if each.start < begin:
                raise _broken(task, each, f"a parent task ends at {begin} ms")
            ready[number] = each.end


_WHOLE_JOB_SHARE = 8
"""Check a whole job if more than one in this many of its tasks has changed."""


def require_changed_order(
    job: StageJob, placed: Mapping[int, Assignment], changed: Sequence[Assignment]
) -> None:
    """Do the same after changes of some tasks of a job that was in order before."""
    if _WHOLE_JOB_SHARE * len(changed) > len(job.tasks):
        require_order(job, placed)
        return
    for each in changed:
        task = job.tasks[each.key.task]
        ends = [placed.get(number) for number in job.prerequisites[task.number]]
        latest = max((end.end for end in ends if end is not None), default=0)
        if None in ends:
            raise _broken(task, each, "a parent task has no place")
        if each.start < latest:
            raise _broken(task, each, f"a parent task ends at {latest} ms")
        for number in _successors(job, task.number):
            later = placed.get(number)
            if later is not None and later.start < each.end:
                raise _broken(job.tasks[number], later, f"a parent task ends at {each.end} ms")


def _successors(job: StageJob, task: int) -> Iterator[int]:
    """Yield the real children of a task, looking through dummies."""
    for number in job.children[task]:
        if job.tasks[number].is_dummy:
            yield from _successors(job, number)
        else:
            yield number


def require_sound_schedule(
    jobs: Iterable[StageJob],
    resources: Sequence[StageResource],
    assignments: Iterable[Assignment],
    *,
    needed: Callable[[Assignment], int] | None = None,
) -> None:
    """Raise BrokenScheduleError unless the schedule of all these jobs is feasible.

    `needed` returns how long a task takes where it runs (ms), by default its estimate.
    """
    placed: dict[int, dict[int, Assignment]] = {job.number: {} for job in jobs}
    known = {job.number: job for job in jobs}
    held: list[tuple[int, TaskKind, int, int]] = []
    for each in assignments:
        job = known[each.key.job]
        task = job.tasks[each.key.task]
        if each.key.task in placed[job.number]:
            raise _broken(task, each, "it is placed twice")
        _require_task(*(job, task, each, resources), needed(each) if needed else task.expected)
        placed[job.number][task.number] = each
        held.append((each.resource, task.kind, each.start, each.end))
    for number, job in known.items():
        for task in job.real_tasks:
            if task.number not in placed[number]:
                raise BrokenScheduleError(f"{_name(number, task)} has no place")
        require_order(job, placed[number])
    _require_slots(held, resources)


def require_slots(
    jobs: Iterable[StageJob],
    resources: Sequence[StageResource],
    assignments: Iterable[Assignment],
    beside: Iterable[tuple[int, TaskKind, int, int]] = (),
) -> None:
    """Raise BrokenScheduleError if tasks ever hold more slots than a resource has.

    `beside` lists other held slots: resource, kind, start and end.
    """
    known = {job.number: job for job in jobs}
    held = [
        (each.resource, known[each.key.job].tasks[each.key.task].kind, each.start, each.end)
        for each in assignments
    ]
    _require_slots((*held, *beside), resources)


def _require_slots(
    held: Sequence[tuple[int, TaskKind, int, int]], resources: Sequence[StageResource]
) -> None:
    pools: dict[tuple[int, TaskKind], int] = {}
    rows = np.array(
        [
            (pools.setdefault((number, pool_of(resources[number], kind)), len(pools)), start, end)
            for number, kind, start, end in held
        ],
        dtype=np.int64,
    ).reshape(-1, 3)
    slots = [resources[number].slots_for(kind) for number, kind in pools]
    pool, start, end = rows.T
    one = np.ones(len(rows), dtype=np.int64)
    stretch, used = overfull(pool, start, end, one, np.array(slots, dtype=np.int64))
    if len(stretch):
        lane, time, _ = rows[stretch[0]].tolist()
        name = resources[list(pools)[lane][0]].name
        raise BrokenScheduleError(f"{name}: {used[0]} tasks at {time} ms, and {slots[lane]} slots")


def _require_task(
    job: StageJob,
    task: StageTask,
    each: Assignment,
    resources: Sequence[StageResource],
    time: int,
) -> None:
    """Check one task by itself; `time` is how long it should run (ms)."""
    if task.is_dummy:
        raise _broken(task, each, "dummies take no slot")
    if each.start < job.start:
        raise _broken(task, each, f"its job may start at {job.start} ms")
    if each.end - each.start != time:
        raise _broken(task, each, f"it should run for {time} ms")
    if not 0 <= each.resource < len(resources):
        raise _broken(task, each, "there is no such resource")
    if resources[each.resource].slots_for(task.kind) == 0:
        raise _broken(task, each, f"there are no slots for a {task.kind.name.lower()} task")


def _user_estimate(job: StageJob, task: int) -> int:
    return job.expected[task]


def _broken(task: StageTask, each: Assignment, problem: str) -> BrokenScheduleError:
    return BrokenScheduleError(
        f"{_name(each.key.job, task)} on resource_{each.resource} from {each.start} to "
        f"{each.end} ms: {problem}"
    )


def _name(job: int, task: StageTask) -> str:
    return f"job_{job}, {task.name or f'task {task.number}'}"
