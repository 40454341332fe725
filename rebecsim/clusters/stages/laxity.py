"""Laxity: the time that a deadline leaves beyond how long the job takes alone.

A sample execution time runs from the earliest start of a job to the end of its last task. Tasks
run one after the other (`sequential_time`), on unlimited slots (`shortest_time`), or as a list
schedule on free resources (`sample_run`) or beside planned tasks (`planned_run`).

`Timelines` keep a usage profile for each resource and kind of slot: how many slots are taken over
time. Which of them a task takes does not matter.

A deadline budget gives each task a share of its job's laxity, and a sub-deadline. All times are
ms."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from heapq import heapify, heappop, heappush, heapreplace
from types import ModuleType

import numpy as np

from rebecsim.actors import Constant, StatePart
from rebecsim.clusters.stages.job import StageJob, TaskKind
from rebecsim.clusters.stages.resources import StageResource, pool_of, slot_count

UNPLACED = -1
"""Profile, start and end of a task that has no place."""

_TIMES = 64
"""Initial room for changes in each profile."""


@cache
def compiled_loops() -> ModuleType:
    """Import the compiled loops; the first call takes a while."""
    from rebecsim.clusters.stages import loops

    return loops


class Timelines(StatePart):
    """When the slots of all resources are taken. Times are ms.

    Attributes:
        profiles: the usage profiles.
        resources: the resource of each profile.
        pools: the range of profiles that each kind of task can use: first, and one after the last.
    """

    def __init__(self, resources: Sequence[StageResource]) -> None:
        loops = compiled_loops()
        self.pools: dict[TaskKind, tuple[int, int]] = {}
        self.resources: list[int] = []
        slots: list[int] = []
        for kind in TaskKind:
            first = len(slots)
            for each in resources:
                if pool_of(each, kind) is kind and each.slots_for(kind) > 0:
                    self.resources.append(each.number)
                    slots.append(each.slots_for(kind))
            self.pools[kind] = first, len(slots)
        for kind in TaskKind:
            self.pools[kind] = self.pools[pool_of(resources[0], kind)]
        count = len(slots)
        self.profiles = loops.Profiles(
            np.full((count, _TIMES), -1, np.int64),
            np.zeros((count, _TIMES), np.int64),
            np.ones(count, np.int64),
            np.array(slots, np.int64),
        )
        self._room = _TIMES - 1
        self._profile = {
            (kind, self.resources[profile]): profile
            for kind, pool in self.pools.items()
            for profile in range(*pool)
        }

    def profile_of(self, kind: TaskKind, resource: int) -> int:
        """Return the profile of the slots that tasks of a kind take on a resource."""
        return self._profile[kind, resource]

    def add(self, kind: TaskKind, resource: int, start: int, end: int) -> None:
        """Take a slot for a task of a kind."""
        self.require_room(1)
        compiled_loops().change_usage(self.profiles, self._profile[kind, resource], start, end, 1)

    def remove(self, kind: TaskKind, resource: int, start: int, end: int) -> None:
        """Release a slot that `add` has taken."""
        self.require_room(1)
        compiled_loops().change_usage(self.profiles, self._profile[kind, resource], start, end, -1)

    def forget(self, now: int) -> None:
        """Drop all changes before a time, which are never searched again."""
        compiled_loops().forget(self.profiles, now)

    def earliest(self, kind: TaskKind, start: int, duration: int) -> tuple[int, int]:
        """Return the resource and time of the earliest start from `start` on.

        Ties go to the slot that was free for the shortest time, then to the lowest number.
        """
        pool = self.pools[kind]
        found = np.zeros(1, np.int64)
        time = compiled_loops().earliest(self.profiles, *pool, start, duration, found)
        return self.resources[found[0]], time

    def latest(
        self, kind: TaskKind, first: int, last: int, duration: int
    ) -> tuple[int, int] | None:
        """Return the resource and time of the latest start in [first, last], or None.

        Ties go to the resource with the lowest number.
        """
        pool = self.pools[kind]
        found = np.zeros(1, np.int64)
        time = compiled_loops().latest(self.profiles, *pool, first, last, duration, found)
        profile = found[0]
        return None if profile == UNPLACED else (self.resources[profile], time)

    def require_room(self, tasks: int) -> None:
        """Make room to add or remove this many tasks, even in one profile."""
        self._room -= 2 * tasks
        if self._room >= 0:
            return
        most, capacity = int(self.profiles.counts.max()), self.profiles.times.shape[1]
        if most + 2 * tasks > capacity:
            capacity = 2 * (most + 2 * tasks)
            grown = (
                np.full((len(self.resources), capacity), -1, np.int64),
                np.zeros((len(self.resources), capacity), np.int64),
            )
            for new, old in zip(grown, (self.profiles.times, self.profiles.used), strict=True):
                new[:, : old.shape[1]] = old
            self.profiles = self.profiles._replace(times=grown[0], used=grown[1])
        self._room = capacity - most - 2 * tasks


@dataclass(frozen=True, slots=True)
class SampleRun:
    """A job as it would run alone or beside planned tasks.

    Attributes:
        start: earliest start of the job (ms).
        completions: end of each task (ms).
    """

    start: int
    completions: tuple[int, ...]

    @property
    def duration(self) -> int:
        """From the earliest start to the last end (ms)."""
        return max(self.completions) - self.start


def sequential_time(job: StageJob) -> int:
    """Return the sum of all task times (ms)."""
    return sum(job.expected)


def shortest_time(job: StageJob) -> int:
    """Return the length of the critical path (ms): tasks never wait for slots."""
    return unlimited_run(job).duration


def unlimited_run(job: StageJob) -> SampleRun:
    """Run a job on unlimited slots."""
    return list_run(job, lambda _task, ready: ready)


def sample_run(job: StageJob, resources: Sequence[StageResource]) -> SampleRun:
    """Run a job alone on resources, as a list schedule: the longest ready task starts first."""
    if _has_slots_for_all(job, resources):
        return unlimited_run(job)
    if _comes_in_waves(job):
        return _waves(job, resources)
    return planned_run(job, Timelines(resources), job.start)


def planned_run(job: StageJob, timelines: Timelines, now: int) -> SampleRun:
    """Run a job from now on beside planned tasks; leaves the timelines unchanged."""
    taken: list[tuple[TaskKind, int, int, int]] = []

    def begin(task: int, ready: int) -> int:
        kind, duration = job.tasks[task].kind, job.expected[task]
        resource, start = timelines.earliest(kind, max(ready, now), duration)
        timelines.add(kind, resource, start, start + duration)
        taken.append((kind, resource, start, start + duration))
        return start

    found = list_run(job, begin)
    for each in reversed(taken):
        timelines.remove(*each)
    return found


def list_run(job: StageJob, begin: Callable[[int, int], int]) -> SampleRun:
    """Place tasks after their parents, the longest first.

    `begin(task, ready)` returns when a task starts. Dummies take no time and no slot.
    """
    tasks, expected, children = job.tasks, job.expected, job.children
    left = [len(task.parents) for task in tasks]
    ready = [job.start] * len(tasks)
    completions = [job.start] * len(tasks)
    heap = [(-expected[number], number) for number, count in enumerate(left) if count == 0]
    heapify(heap)
    while heap:
        _, number = heappop(heap)
        duration = expected[number]
        end = begin(number, ready[number]) + duration if duration else ready[number]
        completions[number] = end
        for child in children[number]:
            ready[child] = max(ready[child], end)
            left[child] -= 1
            if left[child] == 0:
                heappush(heap, (-expected[child], child))
    return SampleRun(job.start, tuple(completions))


def _has_slots_for_all(job: StageJob, resources: Sequence[StageResource]) -> bool:
    counts = [0] * len(TaskKind)
    for task in job.real_tasks:
        counts[pool_of(resources[0], task.kind)] += 1
    return all(
        count <= slot_count(resources, kind)
        for kind, count in zip(TaskKind, counts, strict=True)
        if count
    )


def _comes_in_waves(job: StageJob) -> bool:
    """Whether every real task has no parent, or the same single dummy as its parent."""
    barriers = {task.parents for task in job.real_tasks}
    return len(barriers) == 1 or (
        len(barriers) == 2
        and () in barriers
        and all(len(barrier) < 2 for barrier in barriers)
        and _one_barrier(job)
    )


def _one_barrier(job: StageJob) -> bool:
    """Whether a dummy separates all tasks of the first wave from the second."""
    barrier = next(task.parents[0] for task in job.real_tasks if task.parents)
    first = {task.number for task in job.real_tasks if not task.parents}
    return job.tasks[barrier].is_dummy and set(job.tasks[barrier].parents) == first


def _waves(job: StageJob, resources: Sequence[StageResource]) -> SampleRun:
    """Run a job of one or two waves, where a list schedule never leaves gaps."""
    free = {
        kind: [job.start] * slot_count(resources, kind)
        for kind in {pool_of(resources[0], task.kind) for task in job.real_tasks}
    }
    completions = [job.start] * len(job.tasks)
    barrier = job.start
    longest_first = sorted(job.real_tasks, key=lambda task: (bool(task.parents), -task.expected))
    for task in longest_first:
        slots = free[pool_of(resources[0], task.kind)]
        ready = barrier if task.parents else job.start
        end = max(slots[0], ready) + task.expected
        heapreplace(slots, end)
        completions[task.number] = end
        if not task.parents:
            barrier = max(barrier, end)
    for task in job.tasks:
        if task.is_dummy and task.parents:
            completions[task.number] = barrier
    return SampleRun(job.start, tuple(completions))


class BudgetRule(StrEnum):
    """How laxity is divided between tasks."""

    PROPORTIONAL = "PD"
    EVEN = "ED"


@dataclass(frozen=True, slots=True)
class Budget(Constant):
    """The laxity of a job, and the sub-deadlines of its tasks.

    Attributes:
        laxity: time until the deadline less the sample time; negative if that is too short.
        sub_deadlines: when each task should end.
        ranks: order of tasks that take equally long; the lowest is placed first.
    """

    laxity: int
    sub_deadlines: tuple[int, ...]
    ranks: tuple[int, ...]


def budget_of(
    job: StageJob, sample: SampleRun, rule: BudgetRule, *, by_letter: bool = False
) -> Budget:
    """Divide the laxity of a job between its tasks.

    The proportional rule gives a task laxity in proportion to its completion time in the sample
    run; the even rule gives each phase the same. Parents with one child share the latest
    sub-deadline of that child's parents. Ranks follow algorithm 7.3, where all parents of a dummy
    get its sub-deadline: so the tasks of a phase of CyberShake tie, and the rule makes no
    difference to tasks that start as early as they can (tables D.1 to D.8). With `by_letter`,
    sub-deadlines follow that algorithm, too.
    """
    time = sample.duration
    laxity = job.deadline - job.start - time
    if rule is BudgetRule.PROPORTIONAL:
        shares = [(each - job.start) * laxity // time for each in sample.completions]
    else:
        shares = _even_shares(job, sample, laxity)
    deadlines = [end + share for end, share in zip(sample.completions, shares, strict=True)]
    ranks = list(deadlines)
    for number in job.order:
        if len(job.tasks[number].parents) > 1:
            if by_letter:
                _raise_as_printed(job, number, deadlines)
            else:
                _raise_parents(job, number, deadlines)
            _raise_parents(job, number, ranks, all_of_dummies=True)
    if by_letter:
        ranks = deadlines
    return Budget(laxity, tuple(deadlines), tuple(ranks))


def _even_shares(job: StageJob, sample: SampleRun, laxity: int) -> list[int]:
    """Return, for each task, the laxity of all phases up to its own."""
    phases = sorted({task.phase for task in job.tasks})
    place = {phase: number for number, phase in enumerate(phases, 1)}
    shares = [0] * len(job.tasks)
    for number in job.order:
        task = job.tasks[number]
        if not task.is_dummy:
            shares[number] = place[task.phase] * laxity // len(phases)
        elif task.parents:  # a dummy takes the share of the parent that ends last
            last = max(task.parents, key=lambda parent: sample.completions[parent])
            shares[number] = shares[last]
    return shares


def _raise_parents(
    job: StageJob, number: int, deadlines: list[int], *, all_of_dummies: bool = False
) -> None:
    """Raise the sub-deadlines of a task's parents to the latest of them, or to that of a dummy.

    Skips parents with other children, which would be left with less than their share.
    """
    task = job.tasks[number]
    latest = deadlines[number]
    if not task.is_dummy:
        latest = max(deadlines[parent] for parent in task.parents)
    for parent in task.parents:
        if len(job.children[parent]) == 1 or (all_of_dummies and task.is_dummy):
            deadlines[parent] = latest


def _raise_as_printed(job: StageJob, number: int, deadlines: list[int]) -> None:
    """Raise sub-deadlines as algorithm 7.3 prints it.

    All parents of a dummy get its sub-deadline. Parents of a task get the latest of theirs, unless
    a longer path leads from them to the task.
    """
    task = job.tasks[number]
    if task.is_dummy:
        for parent in task.parents:
            deadlines[parent] = deadlines[number]
        return
    latest = max(deadlines[parent] for parent in task.parents)
    before = _ancestors(job, task.parents)
    for parent in task.parents:
        if parent not in before:
            deadlines[parent] = latest


def _ancestors(job: StageJob, numbers: tuple[int, ...]) -> set[int]:
    """Return all ancestors of some tasks."""
    found: set[int] = set()
    left = [parent for number in numbers for parent in job.tasks[number].parents]
    while left:
        number = left.pop()
        if number not in found:
            found.add(number)
            left.extend(job.tasks[number].parents)
    return found
