"""Resources, data locality of map tasks, and schedules: which task runs where, and when.

Each resource has slots for any task, or separate map and reduce slots."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from rebecsim.actors import Constant, StatePart, Unordered
from rebecsim.clusters.stages.job import SECOND, StageJob, StageTask, TaskKey, TaskKind
from rebecsim.errors import UserError


@dataclass(frozen=True, slots=True)
class StageResource(Constant):
    """A machine that runs at most one task on each slot.

    Attributes:
        number: index among the resources.
        slots: slots for any task; 0 if slots are typed.
        map_slots: slots for map tasks.
        reduce_slots: slots for reduce tasks.
    """

    number: int
    slots: int = 0
    map_slots: int = 0
    reduce_slots: int = 0

    @property
    def is_typed(self) -> bool:
        """Whether map and reduce tasks take different slots."""
        return self.slots == 0

    @property
    def name(self) -> str:
        """The name in tables."""
        return f"resource_{self.number}"

    def slots_for(self, kind: TaskKind) -> int:
        """Return how many tasks of a kind can run at once."""
        if not self.is_typed:
            return self.slots
        return (0, self.map_slots, self.reduce_slots)[kind]


def identical(count: int, slots: int) -> tuple[StageResource, ...]:
    """Make identical resources with slots for any task."""
    return tuple(StageResource(number, slots) for number in range(count))


def identical_typed(count: int, map_slots: int, reduce_slots: int) -> tuple[StageResource, ...]:
    """Make identical resources with map and reduce slots."""
    return tuple(StageResource(number, 0, map_slots, reduce_slots) for number in range(count))


def pool_of(resource: StageResource, kind: TaskKind) -> TaskKind:
    """Return the kind of slot that a task takes: its own kind if slots are typed, else GENERIC."""
    return kind if resource.is_typed else TaskKind.GENERIC


def slot_count(resources: Iterable[StageResource], kind: TaskKind) -> int:
    """Return how many tasks of a kind can run at once on all resources."""
    return sum(each.slots_for(kind) for each in resources)


def warm_up_job(resources: Iterable[StageResource]) -> StageJob:
    """Make a job of one task, with which managers load their compiled loops."""
    every = tuple(resources)
    kind = next(each for each in TaskKind if slot_count(every, each))
    return StageJob(0, 0, 0, SECOND, (StageTask(0, SECOND, (), kind),))


def require_runnable(jobs: Iterable[StageJob], resources: Iterable[StageResource]) -> None:
    """Raise UserError if no resource has a slot for some task, or if only some slots are typed."""
    all_resources = tuple(resources)
    if len({each.is_typed for each in all_resources}) != 1:
        raise UserError("resources: give all of them slots, or all map_slots and reduce_slots")
    runnable = {
        kind for kind in TaskKind if any(each.slots_for(kind) > 0 for each in all_resources)
    }
    for job in jobs:
        for task in job.real_tasks:
            if task.kind not in runnable:
                raise UserError(
                    f"{job.name}, {task.name or f'task {task.number}'}: no resource has a slot "
                    f"for a {task.kind.name.lower()} task"
                )


class Assignment(NamedTuple):
    """A task on a resource during [start, end) (ms). Dummies have none."""

    key: TaskKey
    resource: int
    start: int
    end: int

    def __str__(self) -> str:
        return f"{self.key} on resource {self.resource} from {self.start} to {self.end}"


class Schedule(StatePart):
    """All tasks that have a place, by state. The three views follow later changes.

    Attributes:
        scheduled: tasks that have not started.
        running: tasks that have started and not ended, with their expected ends.
        done: tasks that have ended, as they ran.
    """

    def __init__(self) -> None:
        self._scheduled: Unordered[TaskKey, Assignment] = Unordered()
        self._running: Unordered[TaskKey, Assignment] = Unordered()
        self._done: Unordered[TaskKey, Assignment] = Unordered()
        self._moves: Unordered[TaskKey, int] = Unordered()  # how often a scheduled task was moved
        self.scheduled: Mapping[TaskKey, Assignment] = self._scheduled
        self.running: Mapping[TaskKey, Assignment] = self._running
        self.done: Mapping[TaskKey, Assignment] = self._done

    def __str__(self) -> str:
        running, planned = (", ".join(map(str, each)) for each in (self._running, self._scheduled))
        return f"running: {running or 'none'}; planned: {planned or 'none'}"

    def plan(self, assignment: Assignment) -> int:
        """Schedule or move a task; return how often it has been moved."""
        key, moves = assignment.key, 0
        if key in self._scheduled:
            moves = self._moves[key] = self._moves.get(key, 0) + 1
        self._scheduled[key] = assignment
        return moves

    def is_planned(self, assignment: Assignment, moves: int) -> bool:
        """Whether a task still waits for this start, with no move since."""
        key = assignment.key
        if self._moves and self._moves.get(key, 0) != moves:
            return False
        return key in self._scheduled

    def begin(self, assignment: Assignment) -> None:
        """Start a scheduled task."""
        del self._scheduled[assignment.key]
        if self._moves:
            self._moves.pop(assignment.key, None)
        self._running[assignment.key] = assignment

    def extend(self, assignment: Assignment) -> None:
        """Change the expected end of a running task."""
        self._running[assignment.key] = assignment

    def end(self, assignment: Assignment, now: int) -> Assignment:
        """End a running task; return it as it ran."""
        del self._running[assignment.key]
        ran = assignment if assignment.end == now else assignment._replace(end=now)
        self._done[assignment.key] = ran
        return ran


@dataclass(frozen=True)
class Locality(Constant):
    """Where the input blocks of map tasks lie. A map without a local replica transfers its block.

    Attributes:
        resources: number of resources.
        replicas: replicas of each block, at most one on each resource.
        transfer: extra time of a map task without a local replica (ms).
        seed: seed of the placement, which is the same for all resource managers.
    """

    resources: int
    replicas: int
    transfer: int
    seed: tuple[int, ...]
    _known: dict[TaskKey, frozenset[int]] = field(default_factory=dict, repr=False, compare=False)

    def local(self, key: TaskKey) -> frozenset[int]:
        """Return the resources with a replica of a map task's block."""
        found = self._known.get(key)
        if found is None:
            draws = np.random.default_rng([*self.seed, *key])
            count = min(self.replicas, self.resources)
            chosen = draws.choice(self.resources, count, replace=False).tolist()
            found = self._known[key] = frozenset(chosen)
        return found

    def extra(self, key: TaskKey, kind: TaskKind, resource: int) -> int:
        """Return the transfer time of a task on a resource (ms), 0 if its data are local."""
        if kind is not TaskKind.MAP or resource in self.local(key):
            return 0
        return self.transfer
