"""Checks that schedules keep the rules, independently of the code that made them.

The rules: tasks take no more slots than a resource has, start when their job may and their parents
have ended, are planned for as long as they are expected to run, and are not moved once they have
started. Where estimates are wrong what really happens is looked at, too: a task starts when its
parents have ended and a slot is free, and runs as long as it does.
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
    """A schedule that breaks a rule; the text names the task and the rule.

    It is also an assertion of the resource manager that fails, for whoever explores one.
    """


Expectation = Callable[[StageJob, int], int]
"""Says how long a task of a job is expected to run (ms)."""


class _Pool(StatePart):
    """The slots of one sort of one resource: when tasks take them, and when they give them back."""

    def __init__(self, slots: int) -> None:
        self.slots = slots
        self.busy = 0  # with tasks that have started
        self.starts: list[int] = []
        self.ends: list[int] = []

    def add(self, start: int, end: int) -> None:
        insort(self.starts, start)
        insort(self.ends, end)

    def remove(self, start: int, end: int) -> None:
        del self.starts[bisect_left(self.starts, start)]
        del self.ends[bisect_left(self.ends, end)]

    def most_during(self, start: int, end: int) -> int:
        """Give how many slots are taken at a time, at most, from start until before end."""
        starts, ends = self.starts, self.ends
        first, last = bisect_right(starts, start), bisect_left(starts, end)
        most = first - bisect_right(ends, start)
        for place in range(first, last):
            most = max(most, place + 1 - bisect_right(ends, starts[place]))
        return most


class ScheduleChecker(StatePart):
    """Follows the schedule of a run, and looks at everything that a decision changes.

    Times are ms. All methods raise BrokenScheduleError.
    """

    def __init__(self, resources: Sequence[StageResource]) -> None:
        self._resources = resources
        self._pools = {
            (each.number, pool_of(each, kind)): _Pool(each.slots_for(kind))
            for each in resources
            for kind in TaskKind
        }
        self._pools_for = {  # by resource; looked up for every task, over and over
            kind: [self._pools[each.number, pool_of(each, kind)] for each in resources]
            for kind in TaskKind
        }
        self._jobs: Unordered[int, StageJob] = Unordered()
        self._placed: Unordered[int, Unordered[int, Assignment]] = Unordered()
        self._fixed: Unordered[TaskKey, bool] = Unordered()  # tasks that have started
        self._ended: Unordered[int, Unordered[int, bool]] = Unordered()  # of each job

    def arrived(self, job: StageJob) -> None:
        """Take note of a job of which tasks may be placed from now on."""
        self._jobs[job.number] = job
        self._placed[job.number] = Unordered()
        self._ended[job.number] = Unordered()

    def decided(
        self, now: int, assignments: Sequence[Assignment], expected: Expectation | None = None
    ) -> None:
        """Look at the changes of a decision: all of them are made before any is looked at.

        How long tasks are expected to run is what users say, unless there is somebody to ask.
        """
        for each in assignments:
            self._require_possible(each, now, expected or _said)
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
            if pool.most_during(each.start, each.end) > pool.slots:
                raise _broken(self._task(each), each, "there are no slots left for it there")
        for number, moved in changed.items():
            require_order_around(self._jobs[number], self._placed[number], moved)

    def require_complete(self, job: StageJob) -> None:
        """Look whether every task of a job has a place."""
        for task in job.real_tasks:
            if task.number not in self._placed[job.number]:
                raise BrokenScheduleError(f"{_name(job.number, task)} has no place")

    def began(self, assignment: Assignment) -> None:
        """Take note that a task has started; it is not moved any more."""
        if self._placed[assignment.key.job].get(assignment.key.task) != assignment:
            raise _broken(self._task(assignment), assignment, "it was to start at another place")
        number, task = assignment.key
        if not self._jobs[number].prerequisites[task] <= self._ended[number].keys():
            raise _broken(self._task(assignment), assignment, "a task that it waits for still runs")
        pool = self._pool(assignment)
        pool.busy += 1
        if pool.busy > pool.slots:
            raise _broken(self._task(assignment), assignment, "no slot is free where it starts")
        self._fixed[assignment.key] = True

    def extended(self, assignment: Assignment, now: int) -> None:
        """Take note that a task that has started is expected to end later than before."""
        before = self._placed[assignment.key.job][assignment.key.task]
        if assignment.key not in self._fixed or assignment[:3] != before[:3]:
            raise _broken(self._task(assignment), assignment, "it does not run there")
        if assignment.end <= max(now, before.end):
            raise _broken(self._task(assignment), assignment, "it is given no more time")
        self._replace(before, assignment)

    def ended(self, assignment: Assignment, now: int) -> None:
        """Take note that a task has ended, when it may have run shorter or longer than expected."""
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
        """Forget a job whose tasks have all ended: nothing can be placed before now."""
        for each in self._placed.pop(job).values():
            self._pool(each).remove(each.start, each.end)
            self._fixed.pop(each.key, None)
        del self._jobs[job], self._ended[job]

    def _require_possible(self, each: Assignment, now: int, expected: Expectation) -> None:
        if each.key.job not in self._jobs:
            raise BrokenScheduleError(f"job_{each.key.job}: is placed and has not arrived")
        job = self._jobs[each.key.job]
        if not 0 <= each.key.task < len(job.tasks):
            raise BrokenScheduleError(f"{job.name}: has no task {each.key.task}")
        task = job.tasks[each.key.task]
        if each.key in self._fixed:
            raise _broken(task, each, "it has started already")
        if each.start < now:
            raise _broken(task, each, f"that is before now, {now} ms")
        _require_alone(job, task, each, self._resources, expected(job, task.number))

    def _pool(self, each: Assignment) -> _Pool:
        return self._pools_for[self._task(each).kind][each.resource]

    def _task(self, each: Assignment) -> StageTask:
        return self._jobs[each.key.job].tasks[each.key.task]


def require_order(job: StageJob, placed: Mapping[int, Assignment]) -> None:
    """Raise BrokenScheduleError if a task of a job starts before a parent has ended.

    Tasks that have no place yet must not be waited for by one that has.
    """
    ready: list[int | None] = [None] * len(job.tasks)  # when each has ended; None: nobody knows
    for number in job.order:
        task = job.tasks[number]
        ends = [ready[parent] for parent in task.parents]
        begin = None if None in ends else max((end for end in ends if end is not None), default=0)
        if task.is_dummy:
            ready[number] = begin
        elif number in placed:
            each = placed[number]
            if begin is None:
                raise _broken(task, each, "a task that it waits for has no place")
            if each.start < begin:
                raise _broken(task, each, f"a task that it waits for ends at {begin} ms")
            ready[number] = each.end


_FEW = 8
"""A job is looked at as a whole where more than one in so many of its tasks has changed."""


def require_order_around(
    job: StageJob, placed: Mapping[int, Assignment], changed: Sequence[Assignment]
) -> None:
    """Do the same for a job of which only some tasks have changed since it was in order."""
    if _FEW * len(changed) > len(job.tasks):
        require_order(job, placed)
        return
    for each in changed:
        task = job.tasks[each.key.task]
        ends = [placed.get(number) for number in job.prerequisites[task.number]]
        latest = max((end.end for end in ends if end is not None), default=0)
        if None in ends:
            raise _broken(task, each, "a task that it waits for has no place")
        if each.start < latest:
            raise _broken(task, each, f"a task that it waits for ends at {latest} ms")
        for number in _behind(job, task.number):
            later = placed.get(number)
            if later is not None and later.start < each.end:
                problem = f"a task that it waits for ends at {each.end} ms"
                raise _broken(job.tasks[number], later, problem)


def _behind(job: StageJob, task: int) -> Iterator[int]:
    """Give the tasks that take time and wait for a task, those behind dummies included."""
    for number in job.children[task]:
        if job.tasks[number].is_dummy:
            yield from _behind(job, number)
        else:
            yield number


def require_sound_schedule(
    jobs: Iterable[StageJob],
    resources: Sequence[StageResource],
    assignments: Iterable[Assignment],
    *,
    needed: Callable[[Assignment], int] | None = None,
) -> None:
    """Raise BrokenScheduleError unless a whole schedule of some jobs keeps all rules.

    `needed` says how long a task takes where it runs (ms); otherwise that is as users say.
    """
    placed: dict[int, dict[int, Assignment]] = {job.number: {} for job in jobs}
    known = {job.number: job for job in jobs}
    held: list[tuple[int, TaskKind, int, int]] = []
    for each in assignments:
        job = known[each.key.job]
        task = job.tasks[each.key.task]
        if each.key.task in placed[job.number]:
            raise _broken(task, each, "it is placed twice")
        _require_alone(*(job, task, each, resources), needed(each) if needed else task.expected)
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
    """Raise BrokenScheduleError if at some time tasks hold more slots than a resource has.

    `beside` are slots that something else holds: of which resource and kind, from when until when.
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


def _require_alone(
    job: StageJob,
    task: StageTask,
    each: Assignment,
    resources: Sequence[StageResource],
    time: int,
) -> None:
    """Look at what concerns one task alone, which takes some time."""
    if task.is_dummy:
        raise _broken(task, each, "dummies take no slot")
    if each.start < job.start:
        raise _broken(task, each, f"its job may start at {job.start} ms")
    if each.end - each.start != time:
        raise _broken(task, each, f"it runs for {time} ms")
    if not 0 <= each.resource < len(resources):
        raise _broken(task, each, "there is no such resource")
    if resources[each.resource].slots_for(task.kind) == 0:
        raise _broken(task, each, f"there are no slots for a {task.kind.name.lower()} task")


def _said(job: StageJob, task: int) -> int:
    return job.expected[task]


def _broken(task: StageTask, each: Assignment, problem: str) -> BrokenScheduleError:
    return BrokenScheduleError(
        f"{_name(each.key.job, task)} on resource_{each.resource} from {each.start} to "
        f"{each.end} ms: {problem}"
    )


def _name(job: int, task: StageTask) -> str:
    return f"job_{job}, {task.name or f'task {task.number}'}"
