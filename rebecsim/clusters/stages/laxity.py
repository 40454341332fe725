"""Laxity: the time that a deadline leaves beyond how long the job takes alone.

Sample execution times, all from the earliest start of a job until its last task ends (ms):
of all tasks one after the other (`sequential_time`), of as many at a time as may be
(`shortest_time`), and as a list schedule on resources, on their own (`sample_run`) or with what is
planned on them (`planned_run`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush, heapreplace

from rebecsim.clusters.stages.job import StageJob, TaskKind
from rebecsim.clusters.stages.resources import StageResource, pool_of, slot_count
from rebecsim.clusters.stages.timelines import Timelines


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
