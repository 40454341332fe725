"""The shape of a workflow: its depth and width, and its least duration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from rebecsim.clusters.stages.job import StageTask, topological_order


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
