"""When an until is met: for each node of a system the bounds of time with which it holds.

E. Khamespanah, R. Khosravi, M. Sirjani, "An efficient TCTL model checking algorithm and a reduction
technique for verification of timed actor models" (Science of Computer Programming 153, 2018) go
over a graph with durations, which is polynomial for `<=` and `>=`, and harder for `==`. So is this:
with `<=` it holds for all bounds from some least one on, with `>=` up to a greatest one, so that
one number tells all; with `==` there are stretches of bounds, found in the order of time.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from typing import Protocol

import numpy as np

from rebecsim.exploration.temporal.bounds import TimeBound, weak
from rebecsim.exploration.temporal.stretches import Cut, Flags, Integers, Stretches

NEVER = 1 << 60
"""A time that does not come; where the greatest bound is meant, any time."""

MOST_TIMES = 1_000_000
"""The most stretches of bounds that are looked at for `==`."""


class TooManyTimesError(Exception):
    """An exact time can be met in too many ways."""


class UntilTimes(Protocol):
    """With which bounds an until holds in the first moments of nodes."""

    def holds(self, node: int, limit: int) -> bool:
        """Whether it holds with a bound of that limit."""

    def truth(self) -> Flags:
        """Say where it holds with the bound that it has."""

    def cuts(self) -> Iterator[Cut]:
        """Give the places within stretches at which that changes."""

    def nearest(self, node: int, *, holds: bool) -> int:
        """Give a limit no larger than that of the bound with which it holds as well, or not."""


def times_of(
    system: Stretches, left: Flags, right: Flags, bound: TimeBound | None, universal: bool
) -> UntilTimes:
    """Find out when `left U right` is met, on some run or on every one.

    Raises TooManyTimesError for an exact time that can be met in too many ways.
    """
    kind, limit = ("<=", NEVER - 1) if bound is None else weak(bound)
    if kind == "<=":
        return AtMost(system, _soonest(system, left, right, universal), limit)
    if kind == "==":
        return Exactly(system, left, right, limit, universal)
    return AtLeast(system, left, _latest(system, left, right, universal), max(limit, 0))


class AtMost:
    """It holds with all bounds from `least` on."""

    def __init__(self, system: Stretches, least: Integers, limit: int) -> None:
        self._system, self._least, self._limit = system, least, limit

    def holds(self, node: int, limit: int) -> bool:
        """Whether it holds with a bound of that limit."""
        return int(self._least[node]) <= limit

    def truth(self) -> Flags:
        """Say where it holds."""
        found: Flags = self._least <= self._limit
        return found

    def cuts(self) -> Iterator[Cut]:
        """Give where less time is left than the limit: from there on it holds."""
        units = self._least - self._limit
        inside = (self._least < NEVER) & (units > 0) & (units < self._system.length)
        for node in np.flatnonzero(inside).tolist():
            yield Cut(node, int(units[node]))

    def nearest(self, node: int, *, holds: bool) -> int:
        """Give the least bound, or where there is none that any one is as good as another."""
        least = int(self._least[node])
        return min(least, self._limit) if holds or least < NEVER else NEVER - 1


class AtLeast:
    """It holds with all bounds up to `most`; less than 0: with none."""

    def __init__(self, system: Stretches, left: Flags, most: Integers, limit: int) -> None:
        self._system, self._left, self._most, self._limit = system, left, most, limit

    def holds(self, node: int, limit: int) -> bool:
        """Whether it holds with a bound of that limit."""
        return int(self._most[node]) >= limit

    def truth(self) -> Flags:
        """Say where it holds."""
        found: Flags = self._most >= self._limit
        return found

    def cuts(self) -> Iterator[Cut]:
        """Give where too little time is left: from there on it does not hold."""
        units = self._most - self._limit + 1
        inside = self._left & (self._most >= 0) & (self._most < NEVER)
        inside &= (units > 0) & (units < self._system.length)
        for node in np.flatnonzero(inside).tolist():
            yield Cut(node, int(units[node]))

    def nearest(self, node: int, *, holds: bool) -> int:
        """Give the least bound with which it does not hold: it does not with any larger one."""
        return self._limit if holds else int(self._most[node]) + 1


class Exactly:
    """It holds with the bounds in some ranges, the lowest first, or with all others.

    For a run there are the times at which it can be met. For every run there are those at which
    some run fails: it has left `left` before, or goes round without time, or does not meet `right`.
    """

    def __init__(
        self, system: Stretches, left: Flags, right: Flags, limit: int, universal: bool
    ) -> None:
        self._system, self._left, self._limit, self._universal = system, left, limit, universal
        self._ranges: dict[int, list[tuple[int, int]]] = {}
        at_once = _at_once(system, left, right, universal)
        self._begins = ~at_once if universal else at_once
        if limit >= 0:
            self._find()

    def _find(self) -> None:
        system, limit = self._system, self._limit
        pending: list[tuple[int, int, int]] = []
        for node in np.flatnonzero(self._begins).tolist():
            inside = int(system.length[node]) - 1 if self._left[node] else 0
            pending.append((0, min(max(inside, 0), limit), node))
        if self._universal and limit:
            fails = ~self._left | _goes_round(system, self._left)
            pending += [(1, limit, node) for node in np.flatnonzero(fails).tolist()]
        heapq.heapify(pending)
        left, met = self._left, 0
        while pending:
            low, high, node = heapq.heappop(pending)
            known = self._ranges.setdefault(node, [])
            if known and low <= known[-1][1] + 1:
                low = known[-1][1] + 1
                if low > high:
                    continue
                known[-1] = known[-1][0], high
            else:
                known.append((low, high))
            met += 1
            if met > MOST_TIMES:
                raise TooManyTimesError
            for place in system.into(np.array([node])).tolist():
                source, units = int(system.source[place]), int(system.units[place])
                first, last = max(low + units, 1), min(high + units, limit)
                if left[source] and first <= last:
                    heapq.heappush(pending, (first, last, source))

    def holds(self, node: int, limit: int) -> bool:
        """Whether it holds with a bound of that limit."""
        known = self._ranges.get(node, ())
        met = any(low <= limit <= high for low, high in known)
        return limit >= 0 and met is not self._universal

    def truth(self) -> Flags:
        """Say where it holds."""
        found: Flags = np.full(len(self._left), self._universal)
        if self._limit < 0:
            return np.zeros_like(found)
        for node in self._ranges:
            found[node] = self.holds(node, self._limit)
        return found

    def cuts(self) -> Iterator[Cut]:
        """Give where what is so at the exact time changes: within the stretch, or behind it."""
        system = self._system
        if self._limit <= 0:
            return
        for node in np.flatnonzero((system.length > 1) & self._left).tolist():
            length = int(system.length[node])
            behind = length - self._limit
            target = int(system.target[system.out_of(node)[0]])
            places = {behind}
            for low, high in self._ranges.get(target, ()):
                places |= {behind + low, behind + high + 1}
            yield from (Cut(node, each) for each in places if 0 < each < length)

    def nearest(self, node: int, *, holds: bool) -> int:
        """Give the limit."""
        return self._limit


# --- bounds from below and above -----------------------------------------------------------------


def _soonest(system: Stretches, left: Flags, right: Flags, universal: bool) -> Integers:
    """Give the least time within which an until is met, NEVER where it need not be."""
    if universal:
        return _longest_to(system, right, left & ~right)
    return _least(system, np.where(right, 0, NEVER), left & ~right)


def _latest(system: Stretches, left: Flags, right: Flags, universal: bool) -> Integers:
    """Give the greatest time at or after which an until is met; -1 where it is not at all."""
    met = _soonest(system, left, right, universal) < NEVER
    goes_on = met & left
    if universal:
        round_at_once = _goes_round(system, goes_on)
        base = np.where(met, np.where(goes_on & ~round_at_once, NEVER, 0), -1)
        return _least(system, base, goes_on & ~round_at_once)
    base = np.where(met, 0, -1)
    endless = _time_goes_on(system, goes_on)
    base[endless] = NEVER
    return _longest(system, base, goes_on & ~endless)


def _least(system: Stretches, base: Integers, allowed: Flags) -> Integers:
    """Give the least of what each node has, and over allowed nodes of what others have, and later.

    Dijkstra, "A note on two problems in connexion with graphs", Numerische Mathematik 1 (1959), all
    nodes of one time together. A time below 0 counts only behind time that passes.
    """
    found = base.copy()
    pending: dict[int, list[Integers]] = {}
    times: list[int] = []

    def add(nodes: Integers, values: Integers) -> None:
        order = np.argsort(values, kind="stable")
        nodes, values = nodes[order], values[order]
        for some in np.split(np.arange(len(nodes)), np.flatnonzero(np.diff(values)) + 1):
            if len(some):
                value = int(values[some[0]])
                if value not in pending:
                    pending[value] = []
                    heapq.heappush(times, value)
                pending[value].append(nodes[some])

    begins = np.flatnonzero(base < NEVER)
    add(begins, base[begins])
    while times:
        time = heapq.heappop(times)
        nodes = np.unique(np.concatenate(pending[time]))
        del pending[time]
        hops = system.into(nodes[found[nodes] == time])
        sources = system.source[hops]
        later = np.maximum(system.units[hops] + time, 0)
        better = allowed[sources] & (later < found[sources])
        sources, later = sources[better], later[better]
        np.minimum.at(found, sources, later)
        sources = np.unique(sources)
        add(sources, found[sources])
    return found


def _longest_to(system: Stretches, base: Flags, allowed: Flags) -> Integers:
    """Give the longest time to the base over allowed nodes; NEVER if some run stays away."""
    missing = np.bincount(system.source, minlength=len(base))
    found = np.zeros(len(base), np.int64)
    done = base.copy()
    frontier = np.flatnonzero(base)
    while len(frontier):
        hops = system.into(frontier)
        sources = system.source[hops]
        np.subtract.at(missing, sources, 1)
        np.maximum.at(found, sources, system.units[hops] + found[system.target[hops]])
        touched = np.unique(sources)
        frontier = touched[(missing[touched] == 0) & allowed[touched] & ~done[touched]]
        done[frontier] = True
    return np.where(base, 0, np.where(done, found, NEVER))


def _longest(system: Stretches, base: Integers, allowed: Flags) -> Integers:
    """Give the greatest of what each node has, and over allowed nodes of what others have, later.

    Among the allowed ones there is no cycle on which time passes.
    """
    found = base.copy()
    frontier = np.arange(len(base))
    while len(frontier):
        hops = system.into(frontier)
        sources = system.source[hops]
        later = np.minimum(system.units[hops] + found[system.target[hops]], NEVER)
        better = allowed[sources] & (later > found[sources])
        sources, later = sources[better], later[better]
        np.maximum.at(found, sources, later)
        frontier = np.unique(sources)
    return found


# --- what takes no time, and what goes on for ever -----------------------------------------------


def _at_once(system: Stretches, left: Flags, right: Flags, universal: bool) -> Flags:
    """Say where an until is met before any time passes."""
    still = system.units == 0
    if not universal:
        found = right.copy()
        frontier = np.flatnonzero(found)
        while len(frontier):
            hops = system.into(frontier)
            sources = system.source[hops[still[hops]]]
            frontier = np.unique(sources[left[sources] & ~found[sources]])
            found[frontier] = True
        return found
    waits = np.zeros(len(left), np.bool_)
    waits[system.source[~still]] = True
    return right | _peeled(system, left & ~right & ~waits, right, still)


def _goes_round(system: Stretches, allowed: Flags) -> Flags:
    """Say from which allowed nodes runs can go on over such nodes without time for ever."""
    still = system.units == 0
    return allowed & ~_peeled(system, allowed, ~allowed, still)


def _time_goes_on(system: Stretches, allowed: Flags) -> Flags:
    """Say from which allowed nodes runs can go on over such nodes with ever more time."""
    every = np.ones(len(system.source), np.bool_)
    found = allowed.copy()
    while True:
        before = found
        found = found & ~_peeled(system, found, ~found, every)
        inside = found[system.source] & found[system.target]
        reached = np.zeros(len(found), np.bool_)
        reached[system.source[inside & (system.units > 0)]] = True
        frontier = np.flatnonzero(reached)
        while len(frontier):
            hops = system.into(frontier)
            sources = system.source[hops]
            frontier = np.unique(sources[found[sources] & ~reached[sources]])
            reached[frontier] = True
        found = reached
        if np.array_equal(found, before):
            return found


def _peeled(system: Stretches, nodes: Flags, base: Flags, kind: Flags) -> Flags:
    """Say which of some nodes come to the base on all runs over hops of a kind.

    Those without such a hop do as well.
    """
    missing = np.bincount(system.source[kind], minlength=len(nodes))
    done = base.copy()
    begins = nodes & (missing == 0)
    done |= begins
    frontier = np.flatnonzero(done)
    while len(frontier):
        hops = system.into(frontier)
        sources = system.source[hops[kind[hops]]]
        np.subtract.at(missing, sources, 1)
        touched = np.unique(sources)
        frontier = touched[(missing[touched] == 0) & nodes[touched] & ~done[touched]]
        done[frontier] = True
    return nodes & done
