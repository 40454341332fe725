"""When slots of resources are taken, and where the next task fits.

A resource with several slots runs as many tasks at a time; which slot a task takes does not matter.
Looking for a place needs only the times at which all slots of a resource are taken: these are kept
as intervals beside the counts.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from rebecsim.clusters.stages.job import TaskKind
from rebecsim.clusters.stages.resources import StageResource, pool_of

NEVER = 2**62
"""Later than all times (ms)."""


class _Timeline:
    """The slots of one sort of one resource.

    Attributes:
        number: of the resource.
        slots: how many there are.
        times: at which the number of taken slots changes; the first one is before all others.
        used: slots taken from each of these times until the next.
        full_from: at which all slots begin to be taken.
        full_until: when the first one is free again.
    """

    __slots__ = ("full_from", "full_until", "number", "slots", "times", "used")

    def __init__(self, number: int, slots: int) -> None:
        self.number = number
        self.slots = slots
        self.times = [-1]
        self.used = [0]
        self.full_from: list[int] = []
        self.full_until: list[int] = []

    def add(self, start: int, end: int) -> None:
        """Take a slot."""
        first, last = self._cut(start), self._cut(end)
        times, used, slots = self.times, self.used, self.slots
        for place in range(first, last):
            used[place] += 1
            if used[place] == slots:
                self._fill(times[place], times[place + 1])
        self._join(last)
        self._join(first)

    def remove(self, start: int, end: int) -> None:
        """Give back a slot that was taken so."""
        first, last = self._cut(start), self._cut(end)
        times, used, slots = self.times, self.used, self.slots
        for place in range(first, last):
            if used[place] == slots:
                self._empty(times[place], times[place + 1])
            used[place] -= 1
        self._join(last)
        self._join(first)

    def forget(self, now: int) -> None:
        """Forget what was before a time."""
        place = bisect_right(self.times, now) - 1
        if place > 0:
            del self.times[:place], self.used[:place]
            self.times[0] = -1
            past = bisect_right(self.full_until, now)
            del self.full_from[:past], self.full_until[:past]

    def _cut(self, time: int) -> int:
        """Let something change at a time; give its place among the times."""
        times = self.times
        place = bisect_left(times, time)
        if place == len(times) or times[place] != time:
            times.insert(place, time)
            self.used.insert(place, self.used[place - 1])
        return place

    def _join(self, place: int) -> None:
        """Take out a time at which nothing changes."""
        used = self.used
        if used[place] == used[place - 1]:
            del self.times[place], used[place]

    def _fill(self, start: int, end: int) -> None:
        begins, ends = self.full_from, self.full_until
        place = bisect_left(begins, start)
        joins_before = place > 0 and ends[place - 1] == start
        joins_after = place < len(begins) and begins[place] == end
        if joins_before and joins_after:
            ends[place - 1] = ends[place]
            del begins[place], ends[place]
        elif joins_before:
            ends[place - 1] = end
        elif joins_after:
            begins[place] = start
        else:
            begins.insert(place, start)
            ends.insert(place, end)

    def _empty(self, start: int, end: int) -> None:
        begins, ends = self.full_from, self.full_until
        place = bisect_right(begins, start) - 1
        begin, until = begins[place], ends[place]
        if begin == start and until == end:
            del begins[place], ends[place]
        elif begin == start:
            begins[place] = end
        elif until == end:
            ends[place] = start
        else:
            ends[place] = start
            begins.insert(place + 1, end)
            ends.insert(place + 1, until)


class Timelines:
    """When the slots of all resources are taken. Times are ms."""

    def __init__(self, resources: Sequence[StageResource]) -> None:
        self._lines = {
            (each.number, kind): _Timeline(each.number, each.slots_for(kind))
            for each in resources
            for kind in TaskKind
            if pool_of(each, kind) is kind and each.slots_for(kind) > 0
        }
        self._pools: dict[TaskKind, list[_Timeline]] = {
            kind: [
                self._lines[each.number, pool_of(each, kind)]
                for each in resources
                if each.slots_for(kind) > 0
            ]
            for kind in TaskKind
        }
        self._typed = [each.is_typed for each in resources]

    def add(self, kind: TaskKind, resource: int, start: int, end: int) -> None:
        """Take a slot for a task of a kind."""
        self._line(kind, resource).add(start, end)

    def remove(self, kind: TaskKind, resource: int, start: int, end: int) -> None:
        """Give back a slot that was taken so."""
        self._line(kind, resource).remove(start, end)

    def forget(self, now: int) -> None:
        """Forget what was before a time, to be fast: nothing is looked for there any more."""
        for line in self._lines.values():
            line.forget(now)

    def earliest(self, kind: TaskKind, start: int, duration: int) -> tuple[int, int]:
        """Give the resource and the time, from `start` on, where a task can begin first.

        Among resources that are as good it is the one with the least number.
        """
        best, found = NEVER, -1
        for line in self._pools[kind]:
            ends = line.full_until
            place, count, time = bisect_right(ends, start), len(ends), start
            begins = line.full_from
            while place < count and begins[place] < time + duration:
                time = ends[place]
                if time >= best:
                    break
                place += 1
            else:
                if time == start:
                    return line.number, start
                if time < best:
                    best, found = time, line.number
        return found, best

    def latest(
        self, kind: TaskKind, first: int, last: int, duration: int
    ) -> tuple[int, int] | None:
        """Give the resource and the latest time from `first` to `last` where a task can begin.

        None: it can nowhere. Among resources that are as good it is the one with the least number.
        """
        best, found = first - 1, -1
        for line in self._pools[kind]:
            begins, ends = line.full_from, line.full_until
            time = last
            place = bisect_left(begins, time + duration) - 1
            while place >= 0 and ends[place] > time:
                time = begins[place] - duration
                if time <= best:
                    break
                place -= 1
            else:
                if time == last:
                    return line.number, last
                if time > best:
                    best, found = time, line.number
        return None if found < 0 else (found, best)

    def _line(self, kind: TaskKind, resource: int) -> _Timeline:
        return self._lines[resource, kind if self._typed[resource] else TaskKind.GENERIC]
