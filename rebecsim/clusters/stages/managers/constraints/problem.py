"""The problem of a decision: tasks that have not started, beside running ones.

All times are ms.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from rebecsim.clusters.stages.job import StageJob, TaskKey, TaskKind
from rebecsim.clusters.stages.resources import StageResource, pool_of, slot_count
from rebecsim.clusters.stages.schedule import Assignment


@dataclass(frozen=True, slots=True)
class OpenJob:
    """A job of which tasks are to be placed.

    Attributes:
        job: what it is.
        left: the numbers of these tasks, parents before children.
        ends: when each task has ended at the earliest, if none waits for slots; for one that runs
            that is when it ends.
        tails: how long it takes at least from the start of a task to the end of the job.
    """

    job: StageJob
    left: tuple[int, ...]
    ends: tuple[int, ...]
    tails: tuple[int, ...]

    @property
    def number(self) -> int:
        """Of the job."""
        return self.job.number

    @property
    def is_lost(self) -> bool:
        """Whether it is late whatever is decided."""
        return max(self.ends) > self.job.deadline

    def head(self, task: int) -> int:
        """Give when a task can start at the earliest."""
        return self.ends[task] - self.job.expected[task]

    def last_start(self, task: int) -> int:
        """Give when a task must start at the latest if the job is to be in time."""
        return self.job.deadline - self.tails[task]


@dataclass(frozen=True, slots=True)
class PlanningProblem:
    """Jobs that are to be placed, on resources.

    Attributes:
        now: from when on tasks can start.
        jobs: in the order of their deadlines.
        running: tasks that take slots, until they end.
        resources: that are there.
    """

    now: int
    jobs: tuple[OpenJob, ...]
    running: tuple[tuple[TaskKind, Assignment], ...]
    resources: Sequence[StageResource]

    @property
    def lost(self) -> int:
        """How many jobs are late whatever is decided."""
        return sum(each.is_lost for each in self.jobs)

    @property
    def tasks(self) -> int:
        """How many tasks are to be placed."""
        return sum(len(each.left) for each in self.jobs)

    @property
    def pools(self) -> list[tuple[TaskKind, ...]]:
        """The kinds of tasks that take the same slots, for each sort of slots there is."""
        found: dict[TaskKind, list[TaskKind]] = {}
        for kind in TaskKind:
            if slot_count(self.resources, kind):
                found.setdefault(pool_of(self.resources[0], kind), []).append(kind)
        return [tuple(kinds) for kinds in found.values()]


def planning_problem(
    now: int,
    jobs: Mapping[int, StageJob],
    left: Mapping[int, Iterable[int]],
    running: Iterable[Assignment],
    resources: Sequence[StageResource],
) -> PlanningProblem:
    """Make the problem of a decision.

    Args:
        now: from when on tasks can start.
        jobs: all that have not ended and of which tasks have started or are to be placed.
        left: of each job the tasks that are to be placed.
        running: what runs; a task that should have ended by now ends next.
        resources: that are there.
    """
    until: dict[int, dict[int, int]] = {}
    taken = []
    for each in running:
        number, task = each.key
        end = max(each.end, now + 1)
        until.setdefault(number, {})[task] = end
        kind = jobs[number].tasks[task].kind
        taken.append((kind, each if each.end == end else each._replace(end=end)))
    opened = [
        _opened(jobs[number], frozenset(tasks), until.get(number, {}), now)
        for number, tasks in left.items()
    ]
    opened.sort(key=lambda each: (each.job.deadline, each.number))
    return PlanningProblem(now, tuple(opened), tuple(taken), resources)


def _opened(job: StageJob, left: frozenset[int], running: Mapping[int, int], now: int) -> OpenJob:
    tasks, expected = job.tasks, job.expected
    ends, tails = [now] * len(tasks), [0] * len(tasks)
    base = max(now, job.start)
    for number in job.order:
        if number in running:
            ends[number] = running[number]
        elif number in left or tasks[number].is_dummy:
            ready = max((ends[parent] for parent in tasks[number].parents), default=base)
            ends[number] = max(ready, base) + expected[number]
    for number in reversed(job.order):
        own = expected[number] if number in left else 0
        tails[number] = own + max((tails[child] for child in job.children[number]), default=0)
    ordered = tuple(number for number in job.order if number in left)
    return OpenJob(job, ordered, tuple(ends), tuple(tails))


def keys(opened: OpenJob) -> Iterable[TaskKey]:
    """Give the tasks of a job that are to be placed."""
    return (TaskKey(opened.number, task) for task in opened.left)
