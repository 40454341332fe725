"""When slots of resources are taken, and where the next task fits.

A resource with several slots runs as many tasks at a time; which slot a task takes does not matter:
for each line, which is the slots of one sort of one resource, the times are kept at which the
number of those that are taken changes.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rebecsim.clusters.stages.job import TaskKind
from rebecsim.clusters.stages.resources import StageResource, pool_of

NOWHERE = -1
"""The line, the start and the end of a task that has no place."""

_TIMES = 64
"""Of changes, that there is room for at first."""


class Timelines:
    """When the slots of all resources are taken. Times are ms.

    Attributes:
        loops: what works on lines, compiled.
        lines: the slots of each sort of each resource.
        resources: of which resource each line is.
        pools: for each kind of task the first of its lines, and that after the last one.
    """

    def __init__(self, resources: Sequence[StageResource]) -> None:
        from rebecsim.clusters.stages import timeline_loops as loops

        self.loops = loops
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
        self._found = np.zeros(1, np.int64)
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
        self.loops.change(self.lines, self._line[kind, resource], start, end, 1)

    def remove(self, kind: TaskKind, resource: int, start: int, end: int) -> None:
        """Give back a slot that was taken so."""
        self.require_room(1)
        self.loops.change(self.lines, self._line[kind, resource], start, end, -1)

    def forget(self, now: int) -> None:
        """Forget what was before a time, to be fast: nothing is looked for there any more."""
        self.loops.forget(self.lines, now)

    def earliest(self, kind: TaskKind, start: int, duration: int) -> tuple[int, int]:
        """Give the resource and the time, from `start` on, where a task can begin first.

        Among resources that are as good it is the one whose slot has been free for the least time
        before, and among such the one with the least number.
        """
        pool = self.pools[kind]
        time = self.loops.earliest(self.lines, *pool, start, duration, self._found)
        return self.resources[self._found[0]], time

    def latest(
        self, kind: TaskKind, first: int, last: int, duration: int
    ) -> tuple[int, int] | None:
        """Give the resource and the latest time from `first` to `last` where a task can begin.

        None: it can nowhere. Among resources that are as good it is the one with the least number.
        """
        pool = self.pools[kind]
        time = self.loops.latest(self.lines, *pool, first, last, duration, self._found)
        line = self._found[0]
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
