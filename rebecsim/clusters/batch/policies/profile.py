"""How much of a machine is free from when to when, by the estimates."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import Any

from rebecsim.clusters.batch.job import Job
from rebecsim.clusters.batch.machine import Machine


class Profile:
    """The level of a machine as a step function of time: sorted times, and the level from each on.

    The last level is that of the empty machine: every reservation ends.
    """

    __slots__ = ("_levels", "_machine", "_times")

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._times: list[int] = [0]
        self._levels: list[Any] = [machine.empty]

    def forget(self, now: int) -> None:
        """Drop the steps before the time `now`."""
        place = bisect_right(self._times, now) - 1
        if place > 0:
            del self._times[:place], self._levels[:place]

    def take(self, start: int, end: int, amount: Any) -> None:
        """Reserve an amount from `start` until before `end`."""
        first, last = self._split(start), self._split(end)
        levels = self._levels
        for place in range(first, last):
            levels[place] = levels[place] - amount

    def give(self, start: int, end: int, amount: Any) -> None:
        """Free an amount from `start` until before `end`."""
        first, last = self._split(start), self._split(end)
        levels = self._levels
        for place in range(first, last):
            levels[place] = levels[place] + amount

    def earliest(self, job: Job, start: int, before: int | None = None) -> tuple[int, Any] | None:
        """Find the earliest time, from `start` on, at which the job fits for its whole estimate.

        Gives the time and the amount; None if there is no such time earlier than `before`.
        """
        times, levels, place = self._times, self._levels, self._machine.place
        count = len(times)
        first = bisect_right(times, start) - 1
        while first < count:
            begin = times[first] if times[first] > start else start
            if before is not None and begin >= before:
                return None
            end = begin + job.estimate
            level, last = levels[first], first
            while True:
                amount = place(job, level)
                if amount is None:
                    break
                last += 1
                if last == count or times[last] >= end:
                    return begin, amount
                level = self._machine.lower(level, levels[last])
            # Where it does not fit at all, no earlier start can do; else nodes may differ.
            first = last + 1 if place(job, levels[last]) is None else first + 1
        return None

    def peak(self, start: int, end: int) -> int:
        """Give the most processors that are free at one time from `start` until before `end`."""
        first = bisect_right(self._times, start) - 1
        last = bisect_left(self._times, end)
        return max(map(self._machine.free, self._levels[first:last]))

    def _split(self, time: int) -> int:
        """Make a step at a time, if there is none, and give its position."""
        place = bisect_left(self._times, time)
        if place == len(self._times) or self._times[place] != time:
            self._times.insert(place, time)
            self._levels.insert(place, self._levels[place - 1])
        return place
