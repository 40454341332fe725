"""How much of a machine is free from when to when, by the estimates."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from itertools import accumulate
from typing import Any

from rebecsim.clusters.batch.job import Job
from rebecsim.clusters.batch.machine import Machine


class Profile:
    """The level of a machine as a step function of time: sorted times, and the level from each on.

    The last level is that of the empty machine: every reservation ends. How many processors are
    free at each is counted, as most levels are out of the question by that alone; where levels are
    such numbers, they stand once.
    """

    __slots__ = ("_free", "_is_counted", "_levels", "_machine", "_peaks", "_times")

    def __init__(self, machine: Machine[Any]) -> None:
        self._machine = machine
        self._is_counted = machine.is_counted
        self._times: list[int] = [0]
        self._free = [machine.processors]
        self._levels: list[Any] = self._free if self._is_counted else [machine.empty]
        self._peaks: list[int] = []  # the most that is free up to each of the first steps

    def forget(self, now: int) -> None:
        """Drop the steps before the time `now`."""
        place = bisect_right(self._times, now) - 1
        if place > 0:
            del self._times[:place], self._free[:place]
            if not self._is_counted:
                del self._levels[:place]
            self._peaks.clear()

    def take(self, start: int, end: int, amount: Any) -> None:
        """Reserve an amount from `start` until before `end`."""
        first, last = self._split(start), self._split(end)
        free, processors = self._free, self._machine.free(amount)
        for place in range(first, last):
            free[place] -= processors
        if not self._is_counted:
            levels = self._levels
            for place in range(first, last):
                levels[place] = levels[place] - amount
        del self._peaks[first:]

    def give(self, start: int, end: int, amount: Any) -> None:
        """Free an amount from `start` until before `end`."""
        first, last = self._split(start), self._split(end)
        free, processors = self._free, self._machine.free(amount)
        for place in range(first, last):
            free[place] += processors
        if self._is_counted:
            self._merge(last)
            self._merge(first)
        else:
            levels = self._levels
            for place in range(first, last):
                levels[place] = levels[place] + amount
        del self._peaks[first:]

    def earliest(self, job: Job, start: int, before: int | None = None) -> tuple[int, Any] | None:
        """Find the earliest time, from `start` on, at which the job fits for its whole estimate.

        Gives the time and the amount; None if there is no such time earlier than `before`.
        """
        times, levels, machine = self._times, self._levels, self._machine
        first = bisect_right(times, start) - 1
        while (steps := self._enough(job, first, start, before)) is not None:
            first, last = steps
            if self._is_counted:
                return max(times[first], start), job.processors
            amount = machine.place(job, machine.lower(*levels[first:last]))
            if amount is not None:
                return max(times[first], start), amount
            first = self._behind(job, first)
        return None

    def may_move(self, job: Job, start: int, before: int, planned: int) -> int | None:
        """Give a time from `start` on before which a job that is planned for later cannot begin.

        None if it cannot before `before`. It has a reservation from `planned` on, which counts as
        free; where levels are numbers of processors, it can begin at the time that is given.
        """
        first = bisect_right(self._times, start) - 1
        steps = self._enough(job, first, start, before, planned)
        return None if steps is None else max(self._times[steps[0]], start)

    def _enough(
        self, job: Job, first: int, start: int, before: int | None, until: int | None = None
    ) -> tuple[int, int] | None:
        """Find the next steps, from `first` on, with enough processors for as long as a job takes.

        Gives the first one and the one behind the last one. What is from `until` on is enough.
        """
        times, free, wanted = self._times, self._free, job.processors
        count = len(times)
        if first == 0:
            first = bisect_left(self._peaks, wanted)
        latest = count if before is None else bisect_left(times, before)
        while first < latest:
            if free[first] < wanted:
                first += 1
                continue
            end = (times[first] if times[first] > start else start) + job.estimate
            if until is not None and until < end:
                end = until
            last = first + 1
            while last < count and times[last] < end and free[last] >= wanted:
                last += 1
            if last == count or times[last] >= end:
                return first, last
            first = last + 1
        return None

    def _behind(self, job: Job, first: int) -> int:
        """Give the next step at which a job may begin that cannot begin at this one.

        Where it does not fit at all, no earlier start can do; else nodes may differ.
        """
        level, last = self._levels[first], first
        while self._machine.place(job, level) is not None:
            last += 1
            level = self._machine.lower(level, self._levels[last])
        return last + 1 if self._machine.place(job, self._levels[last]) is None else first + 1

    def peak(self, end: int) -> int:
        """Give the most processors that are free at one time before `end`."""
        peaks, last = self._peaks, bisect_left(self._times, end)
        known = len(peaks)
        if known < last:
            highest = peaks.pop() if peaks else 0
            peaks += accumulate(self._free[known:last], max, initial=highest)
            if not known:
                del peaks[0]
        return peaks[last - 1]

    def _split(self, time: int) -> int:
        """Make a step at a time, if there is none, and give its position."""
        place = bisect_left(self._times, time)
        if place == len(self._times) or self._times[place] != time:
            self._times.insert(place, time)
            self._free.insert(place, self._free[place - 1])
            del self._peaks[place:]
            if not self._is_counted:
                self._levels.insert(place, self._levels[place - 1])
        return place

    def _merge(self, place: int) -> None:
        """Take out a step at which nothing changes."""
        if place and self._free[place] == self._free[place - 1]:
            del self._times[place], self._free[place]
