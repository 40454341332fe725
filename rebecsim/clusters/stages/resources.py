"""Resources, where the data of maps lie, and schedules: which task runs where, and when.

Each resource has slots for any task, or slots for maps and slots for reduces."""

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
    """A machine that runs as many tasks at a time as it has slots.

    Attributes:
        number: its place among the resources.
        slots: that any task takes; 0 where slots are typed.
        map_slots: that maps take.
        reduce_slots: that reduces take.
    """

    number: int
    slots: int = 0
    map_slots: int = 0
    reduce_slots: int = 0

    @property
    def is_typed(self) -> bool:
        """Whether maps and reduces take different slots."""
        return self.slots == 0

    @property
    def name(self) -> str:
        """What tables call it."""
        return f"resource_{self.number}"

    def slots_for(self, kind: TaskKind) -> int:
        """Give how many tasks of a kind run at a time, at most."""
        if not self.is_typed:
            return self.slots
        return (0, self.map_slots, self.reduce_slots)[kind]


def alike(count: int, slots: int) -> tuple[StageResource, ...]:
    """Make resources with slots of one sort."""
    return tuple(StageResource(number, slots) for number in range(count))


def typed_alike(count: int, map_slots: int, reduce_slots: int) -> tuple[StageResource, ...]:
    """Make resources with slots for maps and for reduces."""
    return tuple(StageResource(number, 0, map_slots, reduce_slots) for number in range(count))


def pool_of(resource: StageResource, kind: TaskKind) -> TaskKind:
    """Give which slots of a resource a task of a kind takes: typed ones, or those of all."""
    return kind if resource.is_typed else TaskKind.GENERIC


def slot_count(resources: Iterable[StageResource], kind: TaskKind) -> int:
    """Give how many tasks of a kind run at a time on all resources together."""
    return sum(each.slots_for(kind) for each in resources)


def smallest_job(resources: Iterable[StageResource]) -> StageJob:
    """Give a job of one task that some resource can run; managers try with it what is compiled."""
    every = tuple(resources)
    kind = next(each for each in TaskKind if slot_count(every, each))
    return StageJob(0, 0, 0, SECOND, (StageTask(0, SECOND, (), kind),))


def require_runnable(jobs: Iterable[StageJob], resources: Iterable[StageResource]) -> None:
    """Raise UserError, which names the task, if no resource has a slot for some task.

    Raises it too where some resources have typed slots and others have not.
    """
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
                    f"{job.name}, {task.name or f'task {task.number}'}: is a task of kind "
                    f"{task.kind.name.lower()}, for which no resource has a slot"
                )


class Assignment(NamedTuple):
    """A task on a resource from `start` until before `end` (ms). Dummies have none."""

    key: TaskKey
    resource: int
    start: int
    end: int

    def __str__(self) -> str:
        return f"{self.key} on resource {self.resource} from {self.start} to {self.end}"


class Schedule(StatePart):
    """What runs and what is to run.

    Attributes:
        scheduled: the tasks that have not started; later changes appear in it.
        running: those that have started and not ended. Their end is the expected one.
        done: those that have ended, as they ran.
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
        """Schedule a task, anew if it was scheduled before; give how often it has been moved."""
        key, moves = assignment.key, 0
        if key in self._scheduled:
            moves = self._moves[key] = self._moves.get(key, 0) + 1
        self._scheduled[key] = assignment
        return moves

    def is_planned(self, assignment: Assignment, moves: int) -> bool:
        """Whether a task has not started, and has not been moved since it was planned so."""
        key = assignment.key
        if self._moves and self._moves.get(key, 0) != moves:
            return False
        return key in self._scheduled

    def begin(self, assignment: Assignment) -> None:
        """Let a scheduled task start."""
        del self._scheduled[assignment.key]
        if self._moves:
            self._moves.pop(assignment.key, None)
        self._running[assignment.key] = assignment

    def extend(self, assignment: Assignment) -> None:
        """Expect a task that runs to end at another time."""
        self._running[assignment.key] = assignment

    def end(self, assignment: Assignment, now: int) -> Assignment:
        """Let a task end that was running; give it as it ran."""
        del self._running[assignment.key]
        ran = assignment if assignment.end == now else assignment._replace(end=now)
        self._done[assignment.key] = ran
        return ran


@dataclass(frozen=True)
class Locality(Constant):
    """Every map reads a block of data that some resources have; others get it from there first.

    Attributes:
        resources: how many there are.
        replicas: how many of them have each block, if there are so many.
        transfer: how long a map takes longer elsewhere (ms).
        seed: of the random numbers that say which; they are the same for all resource managers.
    """

    resources: int
    replicas: int
    transfer: int
    seed: tuple[int, ...]
    _known: dict[TaskKey, frozenset[int]] = field(default_factory=dict, repr=False, compare=False)

    def local(self, key: TaskKey) -> frozenset[int]:
        """Give the resources that have what a map reads."""
        found = self._known.get(key)
        if found is None:
            draws = np.random.default_rng([*self.seed, *key])
            count = min(self.replicas, self.resources)
            chosen = draws.choice(self.resources, count, replace=False).tolist()
            found = self._known[key] = frozenset(chosen)
        return found

    def extra(self, key: TaskKey, kind: TaskKind, resource: int) -> int:
        """Give how much longer a task takes on a resource than where its data lie (ms)."""
        if kind is not TaskKind.MAP or resource in self.local(key):
            return 0
        return self.transfer
