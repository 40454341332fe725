"""Jobs of several stages: tasks that wait for one another, their times, and their shape.

An earliest start and a soft deadline belong to a job. All times are whole milliseconds. The shape
of a workflow is its depth and width, and its least duration."""

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
"""Of milliseconds."""


class TaskKind(IntEnum):
    """Which slots of a resource with typed slots a task takes."""

    GENERIC = 0
    MAP = 1
    REDUCE = 2


class TaskKey(NamedTuple):
    """The name of a task: the number of its job, and its own within the job."""

    job: int
    task: int

    def __str__(self) -> str:
        return f"task {self.task} of job {self.job}"


class BrokenJobError(UserError):
    """A job that can never run; the text names the job and the task."""


@dataclass(frozen=True, slots=True)
class StageTask:
    """A task, which runs on one slot of one resource, and is never interrupted.

    Attributes:
        number: its place among the tasks of its job.
        duration: how long it runs (ms); 0: a dummy, which only orders others and takes no slot.
        parents: the numbers of the tasks that must have ended before it starts.
        kind: which slots it takes.
        phase: of its job, from 1: some managers divide laxity between phases.
        name: what the workflow calls it; may be empty.
        estimated: how long its user says that it runs (ms); None: as long as it does.
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
        """Whether it only orders others."""
        return self.duration == 0

    @property
    def expected(self) -> int:
        """How long managers think that it runs (ms)."""
        return self.duration if self.estimated is None else self.estimated


@dataclass(frozen=True)
class StageJob(Constant):
    """A job: a directed acyclic graph of tasks.

    A late job runs to its end like any other. A barrier between many tasks and many others is a
    dummy task between them.

    Raises BrokenJobError for times that contradict one another, for a parent that is not there,
    and for tasks that wait for each other.

    Attributes:
        number: of the job; jobs of one time are told apart by it.
        arrival: when it is submitted (ms).
        start: before when no task of it may start (ms), not before its arrival.
        deadline: by when all of its tasks should have ended (ms).
        tasks: at least one of them no dummy.
        family: what kind of job it is, by name: figures are grouped by this.
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
            raise self._due_too_early(self.deadline)
        if all(task.is_dummy for task in self.tasks):
            raise BrokenJobError(f"{self.name}: no task of it takes any time")
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
        """What tables call it."""
        return f"job_{self.number}"

    def due(self, deadline: int) -> StageJob:
        """Give this job with another deadline; what is known of its tasks is kept."""
        if deadline < self.start:
            raise self._due_too_early(deadline)
        found = copy(self)
        object.__setattr__(found, "deadline", deadline)
        return found

    def expecting(self, times: Sequence[int]) -> StageJob:
        """Give this job with other estimates (ms), one for each task; 0 for dummies alone."""
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

    def _due_too_early(self, deadline: int) -> BrokenJobError:
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
        """For each task the numbers of those that wait for it."""
        found: list[list[int]] = [[] for _ in self.tasks]
        for task in self.tasks:
            for parent in task.parents:
                found[parent].append(task.number)
        return tuple(map(tuple, found))

    @cached_property
    def prerequisites(self) -> tuple[frozenset[int], ...]:
        """For each task those that take a slot and must have ended before, also behind dummies."""
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
        """How long managers think that each task runs (ms)."""
        return tuple(task.expected for task in self.tasks)

    @cached_property
    def real_tasks(self) -> tuple[StageTask, ...]:
        """The tasks that take a slot."""
        return tuple(task for task in self.tasks if not task.is_dummy)


def topological_order(parents: Sequence[Sequence[int]]) -> tuple[int, ...]:
    """Give the numbers of tasks, parents before children; without those on cycles and behind."""
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
        raise _broken(job, task, f"has the number {task.number}, and is task {place} of its job")
    if task.duration < 0 or task.expected < 0:
        raise _broken(job, task, "runs for less than 0 ms")
    if task.is_dummy != (task.expected == 0):
        raise _broken(job, task, "its duration and its estimate should be both 0, or both above 0")
    for parent in task.parents:
        if not 0 <= parent < len(job.tasks):
            raise _broken(job, task, f"waits for task {parent}, which is not there")


def _broken(job: StageJob, task: StageTask, problem: str) -> BrokenJobError:
    return BrokenJobError(f"{job.name}, {task.name or f'task {task.number}'}: {problem}")


@dataclass(frozen=True, slots=True)
class TaskGroup:
    """Tasks of one name.

    Attributes:
        count: how many there are.
        work: the sum of their durations (ms).
        longest: of these durations (ms).
    """

    count: int
    work: int
    longest: int

    @property
    def mean(self) -> float:
        """How long one of them takes (ms)."""
        return self.work / self.count


@dataclass(frozen=True)
class WorkflowShape:
    """A workflow as a graph.

    Attributes:
        tasks: with their numbers from 0 on.
    """

    tasks: tuple[StageTask, ...]

    @cached_property
    def levels(self) -> tuple[tuple[int, ...], ...]:
        """The numbers of the tasks by how many follow each other up to them, at most."""
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
        """How many tasks follow each other, at most."""
        return len(self.levels)

    @property
    def width(self) -> int:
        """How many tasks the widest level has."""
        return max(map(len, self.levels))

    @property
    def edges(self) -> int:
        """How often a task waits for another."""
        return sum(len(task.parents) for task in self.tasks)

    @property
    def dummies(self) -> int:
        """How many tasks take no time."""
        return sum(task.is_dummy for task in self.tasks)

    @property
    def work(self) -> int:
        """How long all tasks take one after the other (ms)."""
        return sum(task.duration for task in self.tasks)

    @cached_property
    def critical_path(self) -> tuple[int, ...]:
        """The numbers of tasks that follow each other and together take the longest."""
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
        """How long the workflow takes where tasks never wait for slots (ms)."""
        return sum(self.tasks[number].duration for number in self.critical_path)

    @property
    def parallelism(self) -> float:
        """How many tasks run at a time, on average, where tasks never wait for slots."""
        return self.work / self.shortest

    @cached_property
    def groups(self) -> Mapping[str, TaskGroup]:
        """The tasks by what they are called, in the order in which the names come."""
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
