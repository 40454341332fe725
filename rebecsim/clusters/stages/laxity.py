"""Laxity: the time that a deadline leaves beyond how long the job takes alone.

Sample execution times, all from the earliest start of a job until its last task ends (ms):
of all tasks one after the other (`sequential_time`), of as many at a time as may be
(`shortest_time`), and as a list schedule on resources, on their own (`sample_run`) or with what is
planned on them (`planned_run`).

`Timelines` say when slots of resources are taken, and where the next task fits. A resource with
several slots runs as many tasks at a time; which slot a task takes does not matter: for each line,
which is the slots of one sort of one resource, the times are kept at which the number of those that
are taken changes.

A deadline budget gives every task of a workflow a share of its job's laxity, and a sub-deadline.
All times are ms."""

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

NOWHERE = -1
"""The line, the start and the end of a task that has no place."""

_TIMES = 64
"""Of changes, that there is room for at first."""


@cache
def compiled_loops() -> ModuleType:
    """Give the loops that work on lines; the first time takes a while."""
    from rebecsim.clusters.stages import loops

    return loops


class Timelines(StatePart):
    """When the slots of all resources are taken. Times are ms.

    Attributes:
        lines: the slots of each sort of each resource.
        resources: of which resource each line is.
        pools: for each kind of task the first of its lines, and that after the last one.
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
        self.lines = loops.Lines(
            np.full((count, _TIMES), -1, np.int64),
            np.zeros((count, _TIMES), np.int64),
            np.ones(count, np.int64),
            np.array(slots, np.int64),
        )
        self._room = _TIMES - 1
        self._line = {
            (kind, self.resources[line]): line
            for kind, pool in self.pools.items()
            for line in range(*pool)
        }

    def line_of(self, kind: TaskKind, resource: int) -> int:
        """Give the line of the slots of a resource that tasks of a kind take."""
        return self._line[kind, resource]

    def add(self, kind: TaskKind, resource: int, start: int, end: int) -> None:
        """Take a slot for a task of a kind."""
        self.require_room(1)
        compiled_loops().change(self.lines, self._line[kind, resource], start, end, 1)

    def remove(self, kind: TaskKind, resource: int, start: int, end: int) -> None:
        """Give back a slot that was taken so."""
        self.require_room(1)
        compiled_loops().change(self.lines, self._line[kind, resource], start, end, -1)

    def forget(self, now: int) -> None:
        """Forget what was before a time, to be fast: nothing is looked for there any more."""
        compiled_loops().forget(self.lines, now)

    def earliest(self, kind: TaskKind, start: int, duration: int) -> tuple[int, int]:
        """Give the resource and the time, from `start` on, where a task can begin first.

        Among resources that are as good it is the one whose slot has been free for the least time
        before, and among such the one with the least number.
        """
        pool = self.pools[kind]
        found = np.zeros(1, np.int64)
        time = compiled_loops().earliest(self.lines, *pool, start, duration, found)
        return self.resources[found[0]], time

    def latest(
        self, kind: TaskKind, first: int, last: int, duration: int
    ) -> tuple[int, int] | None:
        """Give the resource and the latest time from `first` to `last` where a task can begin.

        None: it can nowhere. Among resources that are as good it is the one with the least number.
        """
        pool = self.pools[kind]
        found = np.zeros(1, np.int64)
        time = compiled_loops().latest(self.lines, *pool, first, last, duration, found)
        line = found[0]
        return None if line == NOWHERE else (self.resources[line], time)

    def require_room(self, tasks: int) -> None:
        """See to it that so many tasks can be added or removed, even all on one line."""
        self._room -= 2 * tasks
        if self._room >= 0:
            return
        most, capacity = int(self.lines.counts.max()), self.lines.times.shape[1]
        if most + 2 * tasks > capacity:
            capacity = 2 * (most + 2 * tasks)
            grown = (
                np.full((len(self.resources), capacity), -1, np.int64),
                np.zeros((len(self.resources), capacity), np.int64),
            )
            for new, old in zip(grown, (self.lines.times, self.lines.used), strict=True):
                new[:, : old.shape[1]] = old
            self.lines = self.lines._replace(times=grown[0], used=grown[1])
        self._room = capacity - most - 2 * tasks


@dataclass(frozen=True, slots=True)
class SampleRun:
    """A job as it would run.

    Attributes:
        start: the earliest start of the job (ms).
        completions: when each task ends (ms).
    """

    start: int
    completions: tuple[int, ...]

    @property
    def duration(self) -> int:
        """From the earliest start to the last end (ms)."""
        return max(self.completions) - self.start


def sequential_time(job: StageJob) -> int:
    """Give how long all tasks take one after the other."""
    return sum(job.expected)


def shortest_time(job: StageJob) -> int:
    """Give how long the job takes if tasks never wait for slots: its critical path."""
    return unlimited_run(job).duration


def unlimited_run(job: StageJob) -> SampleRun:
    """Run a job where tasks never wait for slots."""
    return list_run(job, lambda _task, ready: ready)


def sample_run(job: StageJob, resources: Sequence[StageResource]) -> SampleRun:
    """Run a job alone on resources, as a list schedule: of the tasks that are ready the longest
    one comes first, and begins as early as it can.
    """
    if _has_slots_for_all(job, resources):
        return unlimited_run(job)
    if _comes_in_waves(job):
        return _waves(job, resources)
    return planned_run(job, Timelines(resources), job.start)


def planned_run(job: StageJob, timelines: Timelines, now: int) -> SampleRun:
    """Run a job from now on beside what has taken slots; they are as before afterwards."""
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
    """Place tasks whose parents have been placed, the longest first.

    `begin` says when a task begins that is ready at some time. Dummies take no time and no slot.
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
    """Whether all tasks but dummies wait for nothing, or for one and the same dummy."""
    gates = {task.parents for task in job.real_tasks}
    return len(gates) == 1 or (
        len(gates) == 2 and () in gates and all(len(gate) < 2 for gate in gates) and _one_gate(job)
    )


def _one_gate(job: StageJob) -> bool:
    """Whether what the second wave waits for is a dummy that waits for all of the first one."""
    gate = next(task.parents[0] for task in job.real_tasks if task.parents)
    first = {task.number for task in job.real_tasks if not task.parents}
    return job.tasks[gate].is_dummy and set(job.tasks[gate].parents) == first


def _waves(job: StageJob, resources: Sequence[StageResource]) -> SampleRun:
    """Run a job of one or two waves: no slot is ever left free before a task that could run."""
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
    """How laxity is divided."""

    PROPORTIONAL = "PD"
    EVEN = "ED"


@dataclass(frozen=True, slots=True)
class Budget(Constant):
    """What the deadline leaves a job, and its tasks.

    Attributes:
        laxity: what is left of the time until its deadline; negative where that is too short.
        sub_deadlines: by when each task should have ended.
        ranks: of tasks that take as long the one with the least is placed first.
    """

    laxity: int
    sub_deadlines: tuple[int, ...]
    ranks: tuple[int, ...]


def budget_of(
    job: StageJob, sample: SampleRun, rule: BudgetRule, *, by_letter: bool = False
) -> Budget:
    """Divide the laxity of a job by its sample run.

    Proportionally, a task gets as much as its completion is far in the sample run; evenly, all
    phases get as much. Parents for which nothing else waits get until the sub-deadline
    of the last one. Ranks are sub-deadlines as they would be if all parents of a dummy got its own,
    as algorithm 7.3 has it: so the tasks of a phase of CyberShake have one rank, and how laxity is
    divided makes no difference to tasks that begin as early as they can (tables D.1 to D.8). With
    `by_letter` sub-deadlines are those of that algorithm, too.
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
                _raise_by_letter(job, number, deadlines)
            else:
                _raise_parents(job, number, deadlines)
            _raise_parents(job, number, ranks, all_of_dummies=True)
    if by_letter:
        ranks = deadlines
    return Budget(laxity, tuple(deadlines), tuple(ranks))


def _even_shares(job: StageJob, sample: SampleRun, laxity: int) -> list[int]:
    """Give what the phases up to that of a task have together."""
    phases = sorted({task.phase for task in job.tasks})
    place = {phase: number for number, phase in enumerate(phases, 1)}
    shares = [0] * len(job.tasks)
    for number in job.order:
        task = job.tasks[number]
        if not task.is_dummy:
            shares[number] = place[task.phase] * laxity // len(phases)
        elif task.parents:  # that of the parent that ends last
            last = max(task.parents, key=lambda parent: sample.completions[parent])
            shares[number] = shares[last]
    return shares


def _raise_parents(
    job: StageJob, number: int, deadlines: list[int], *, all_of_dummies: bool = False
) -> None:
    """Give the parents of a task until the latest sub-deadline of them, that of a dummy until its.

    Not those for which others wait, too: these would be left with less than their share.
    """
    task = job.tasks[number]
    latest = deadlines[number]
    if not task.is_dummy:
        latest = max(deadlines[parent] for parent in task.parents)
    for parent in task.parents:
        if len(job.children[parent]) == 1 or (all_of_dummies and task.is_dummy):
            deadlines[parent] = latest


def _raise_by_letter(job: StageJob, number: int, deadlines: list[int]) -> None:
    """Do what algorithm 7.3 prints: all parents of a dummy get its sub-deadline; those of a task
    the latest of theirs, unless a longer path, too, leads from them to the task.
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
    """Give the tasks that some tasks wait for, directly or not."""
    found: set[int] = set()
    left = [parent for number in numbers for parent in job.tasks[number].parents]
    while left:
        number = left.pop()
        if number not in found:
            found.add(number)
            left.extend(job.tasks[number].parents)
    return found
