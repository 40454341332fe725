"""Jobs as directed acyclic graphs of tasks, with an earliest start and a soft deadline.

All times are whole milliseconds. The shape of a workflow is its depth, width and critical path."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from enum import IntEnum
from functools import cached_property
from typing import NamedTuple

from rebecsim.actors import Constant
from rebecsim.errors import UserError

SECOND = 1000
"""One second in ms."""


class TaskKind(IntEnum):
    """The kind of slot that a task takes on resources with typed slots."""

    GENERIC = 0
    MAP = 1
    REDUCE = 2


class TaskKey(NamedTuple):
    """Identifies a task: the number of its job, and its number within the job."""

    job: int
    task: int

    def __str__(self) -> str:
        return f"task {self.task} of job {self.job}"


class BrokenJobError(UserError):
    """An invalid job; the text names the job and the task."""


@dataclass(frozen=True, slots=True)
class StageTask:
    """A task, which runs on one slot of one resource, and is never interrupted.

    Attributes:
        number: index among the tasks of its job.
        duration: run time (ms); 0 for a dummy, which only orders others and takes no slot.
        parents: numbers of the tasks that must end before it starts.
        kind: kind of slot that it takes.
        phase: phase of its job, from 1; some managers divide laxity between phases.
        name: name in the workflow; may be empty.
        estimated: the user's estimate (ms); None if it is exact.
    """

    number: int
    duration: int
    parents: tuple[int, ...] = ()
    kind: TaskKind = TaskKind.GENERIC
    phase: int = 1
    name: str = ""
    estimated: int | None = None

    @property
    def is_dummy(self) -> bool:
        """Whether the task only orders others."""
        return self.duration == 0

    @property
    def expected(self) -> int:
        """Run time that managers plan with (ms)."""
        return self.duration if self.estimated is None else self.estimated


@dataclass(frozen=True)
class StageJob(Constant):
    """A job: a directed acyclic graph of tasks.

    A late job runs to its end like any other. A barrier between two sets of tasks is a dummy task.

    Raises BrokenJobError for contradictory times, an unknown parent, and a cycle of tasks.

    Attributes:
        number: number of the job, which breaks ties.
        arrival: when it is submitted (ms).
        start: earliest start of its tasks (ms), at or after its arrival.
        deadline: when all of its tasks should have ended (ms).
        tasks: its tasks, at least one of them no dummy.
        family: kind of job, by which figures are grouped.
    """

    number: int
    arrival: int
    start: int
    deadline: int
    tasks: tuple[StageTask, ...]
    family: str = ""

    def __post_init__(self) -> None:
        if not 0 <= self.arrival <= self.start:
            raise BrokenJobError(
                f"{self.name}: starts at {self.start} ms, before it arrives at {self.arrival} ms"
            )
        if self.deadline < self.start:
            raise self._deadline_error(self.deadline)
        if all(task.is_dummy for task in self.tasks):
            raise BrokenJobError(f"{self.name}: all of its tasks are dummies of 0 ms")
        for place, task in enumerate(self.tasks):
            _require_sound(self, task, place)
        if len(self.order) < len(self.tasks):
            waiting = sorted(set(range(len(self.tasks))) - set(self.order))
            names = ", ".join(self.tasks[each].name or f"task {each}" for each in waiting[:5])
            raise BrokenJobError(f"{self.name}: tasks wait for each other: {names}")

    def __hash__(self) -> int:
        return hash((self.number, self.arrival, self.start, self.deadline))

    def __str__(self) -> str:
        return self.name

    @property
    def name(self) -> str:
        """The name in tables."""
        return f"job_{self.number}"

    def due(self, deadline: int) -> StageJob:
        """Return this job with another deadline; keeps cached properties."""
        if deadline < self.start:
            raise self._deadline_error(deadline)
        found = copy(self)
        object.__setattr__(found, "deadline", deadline)
        return found

    def with_estimates(self, times: Sequence[int]) -> StageJob:
        """Return this job with other estimates (ms), one for each task: 0 for dummies only."""
        tasks = tuple(
            task if task.expected == time else replace(task, estimated=time)
            for task, time in zip(self.tasks, times, strict=True)
        )
        if all(new is old for new, old in zip(tasks, self.tasks, strict=True)):
            return self
        found = copy(self)
        object.__setattr__(found, "tasks", tasks)
        for known in ("expected", "real_tasks"):
            found.__dict__.pop(known, None)
        return found

    def _deadline_error(self, deadline: int) -> BrokenJobError:
        return BrokenJobError(
            f"{self.name}: its deadline, {deadline} ms, is before its earliest start, "
            f"{self.start} ms"
        )

    @cached_property
    def order(self) -> tuple[int, ...]:
        """The numbers of the tasks, parents before children."""
        return topological_order([task.parents for task in self.tasks])

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """The numbers of each task's children."""
        found: list[list[int]] = [[] for _ in self.tasks]
        for task in self.tasks:
            for parent in task.parents:
                found[parent].append(task.number)
        return tuple(map(tuple, found))

    @cached_property
    def prerequisites(self) -> tuple[frozenset[int], ...]:
        """The real tasks that must end before each task, looking through dummies."""
        found: list[frozenset[int]] = [frozenset()] * len(self.tasks)
        for number in self.order:
            parents = self.tasks[number].parents
            dummies = [each for each in parents if self.tasks[each].is_dummy]
            if len(dummies) == len(parents) == 1:
                found[number] = found[dummies[0]]  # many tasks share a barrier
            else:
                real = frozenset(parents).difference(dummies)
                found[number] = real.union(*(found[each] for each in dummies))
        return tuple(found)

    @cached_property
    def expected(self) -> tuple[int, ...]:
        """Run times that managers plan with (ms), one for each task."""
        return tuple(task.expected for task in self.tasks)

    @cached_property
    def real_tasks(self) -> tuple[StageTask, ...]:
        """The tasks that take a slot."""
        return tuple(task for task in self.tasks if not task.is_dummy)


def topological_order(parents: Sequence[Sequence[int]]) -> tuple[int, ...]:
    """Return the numbers of tasks, parents before children, without tasks on or behind cycles."""
    left = [len(each) for each in parents]
    children: list[list[int]] = [[] for _ in parents]
    for number, each in enumerate(parents):
        for parent in each:
            children[parent].append(number)
    found = [number for number, count in enumerate(left) if count == 0]
    for number in found:
        for child in children[number]:
            left[child] -= 1
            if left[child] == 0:
                found.append(child)
    return tuple(found)


def _require_sound(job: StageJob, task: StageTask, place: int) -> None:
    if task.number != place:
        raise _broken(job, task, f"has number {task.number}, but stands at index {place}")
    if task.duration < 0 or task.expected < 0:
        raise _broken(job, task, "its duration or estimate is below 0 ms")
    if task.is_dummy != (task.expected == 0):
        raise _broken(job, task, "its duration and its estimate should be both 0, or both above 0")
    for parent in task.parents:
        if not 0 <= parent < len(job.tasks):
            raise _broken(job, task, f"waits for task {parent}, which does not exist")


def _broken(job: StageJob, task: StageTask, problem: str) -> BrokenJobError:
    return BrokenJobError(f"{job.name}, {task.name or f'task {task.number}'}: {problem}")


@dataclass(frozen=True, slots=True)
class TaskGroup:
    """Tasks of one name.

    Attributes:
        count: number of tasks.
        work: sum of their durations (ms).
        longest: longest duration (ms).
    """

    count: int
    work: int
    longest: int

    @property
    def mean(self) -> float:
        """Mean duration (ms)."""
        return self.work / self.count


@dataclass(frozen=True)
class WorkflowShape:
    """A workflow as a graph.

    Attributes:
        tasks: all tasks, numbered from 0.
    """

    tasks: tuple[StageTask, ...]

    @cached_property
    def levels(self) -> tuple[tuple[int, ...], ...]:
        """The numbers of the tasks on each level: the longest path to them has equally many."""
        depths = [0] * len(self.tasks)
        for number in self._order:
            parents = self.tasks[number].parents
            depths[number] = 1 + max((depths[parent] for parent in parents), default=-1)
        found: list[list[int]] = [[] for _ in range(max(depths) + 1)]
        for number, depth in enumerate(depths):
            found[depth].append(number)
        return tuple(map(tuple, found))

    @property
    def depth(self) -> int:
        """Number of tasks on the longest chain."""
        return len(self.levels)

    @property
    def width(self) -> int:
        """Number of tasks on the widest level."""
        return max(map(len, self.levels))

    @property
    def edges(self) -> int:
        """Number of pairs of a parent and a child."""
        return sum(len(task.parents) for task in self.tasks)

    @property
    def dummies(self) -> int:
        """Number of tasks that take no time."""
        return sum(task.is_dummy for task in self.tasks)

    @property
    def work(self) -> int:
        """Sum of all durations (ms)."""
        return sum(task.duration for task in self.tasks)

    @cached_property
    def critical_path(self) -> tuple[int, ...]:
        """The numbers of the tasks on the chain with the longest total duration."""
        ends = [0] * len(self.tasks)
        before: list[int | None] = [None] * len(self.tasks)
        for number in self._order:
            task = self.tasks[number]
            last = max(task.parents, key=lambda parent: ends[parent], default=None)
            before[number] = last
            ends[number] = task.duration + (0 if last is None else ends[last])
        path: list[int] = []
        place: int | None = max(range(len(ends)), key=ends.__getitem__)
        while place is not None:
            path.append(place)
            place = before[place]
        return tuple(reversed(path))

    @property
    def shortest(self) -> int:
        """Length of the critical path (ms): the run time on unlimited slots."""
        return sum(self.tasks[number].duration for number in self.critical_path)

    @property
    def parallelism(self) -> float:
        """Mean number of tasks that run at once on unlimited slots."""
        return self.work / self.shortest

    @cached_property
    def groups(self) -> Mapping[str, TaskGroup]:
        """The tasks by name, in topological order."""
        durations: dict[str, list[int]] = {}
        for number in self._order:
            task = self.tasks[number]
            durations.setdefault(task.name, []).append(task.duration)
        return {name: _group(each) for name, each in durations.items()}

    @cached_property
    def _order(self) -> tuple[int, ...]:
        return topological_order([task.parents for task in self.tasks])


def _group(durations: Sequence[int]) -> TaskGroup:
    return TaskGroup(len(durations), sum(durations), max(durations))
