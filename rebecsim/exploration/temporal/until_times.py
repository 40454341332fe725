"""Compute the time bounds with which an until holds in each node of a system.

E. Khamespanah, R. Khosravi, M. Sirjani, "An efficient TCTL model checking algorithm and a reduction
technique for verification of timed actor models" (Science of Computer Programming 153, 2018) go
over a graph with durations, which is polynomial for `<=` and `>=`, and harder for `==`. So is this:
with `<=` it holds for all bounds from some least one on, with `>=` up to a greatest one, so that
one number tells all; with `==` there are stretches of bounds, found in the order of time.
"""

from __future__ import annotations

import heapq

import numpy as np

from rebecsim.exploration.predicates import TimeBound, weak
from rebecsim.exploration.temporal.labelled_graph import Stretches
from rebecsim.native.arrays import Flags, Integers, ranges

NEVER = 1 << 60
"""A time that does not come; where the greatest bound is meant, any time."""

MOST_TIMES = 100_000
"""The most times considered, one by one, for `==`."""

MOST_RANGES = 20_000_000
"""The most ranges of times, of all nodes, considered for `==`."""

_NONE: Integers = np.zeros(0, np.int64)


class TooManyTimesError(Exception):
    """An exact time can be met in too many ways."""


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
        self._system, self._least, self.limit = system, least, limit

    def holds(self, node: int, limit: int) -> bool:
        """Whether it holds with a bound of that limit."""
        return int(self._least[node]) <= limit

    def truth(self) -> Flags:
        """Say where it holds."""
        found: Flags = self._least <= self.limit
        return found

    def cuts(self) -> tuple[Integers, Integers]:
        """Give where less time is left than the limit: from there on it holds."""
        units = self._least - self.limit
        inside = (self._least < NEVER) & (units > 0) & (units < self._system.length)
        return np.flatnonzero(inside), units[inside]

    def nearest(self, node: int, *, holds: bool) -> int:
        """Give the least limit; without any, one that is never reached."""
        least = int(self._least[node])
        return min(least, self.limit) if holds or least < NEVER else NEVER - 1


class AtLeast:
    """It holds with all bounds up to `most`; less than 0: with none."""

    def __init__(self, system: Stretches, left: Flags, most: Integers, limit: int) -> None:
        self._system, self._left, self._most, self.limit = system, left, most, limit

    def holds(self, node: int, limit: int) -> bool:
        """Whether it holds with a bound of that limit."""
        return int(self._most[node]) >= limit

    def truth(self) -> Flags:
        """Say where it holds."""
        found: Flags = self._most >= self.limit
        return found

    def cuts(self) -> tuple[Integers, Integers]:
        """Give where too little time is left: from there on it does not hold."""
        units = self._most - self.limit + 1
        inside = self._left & (self._most >= 0) & (self._most < NEVER)
        inside &= (units > 0) & (units < self._system.length)
        return np.flatnonzero(inside), units[inside]

    def nearest(self, node: int, *, holds: bool) -> int:
        """Give the least bound with which it does not hold: it does not with any larger one."""
        return self.limit if holds else int(self._most[node]) + 1


class Exactly:
    """It holds with the bounds in some ranges, or with all others.

    For a run there are the times at which it can be met. For every run there are those at which
    some run fails: it has left `left` before, or cycles without time, or does not meet `right`.
    Ranges of one node are disjoint, and ascend.
    """

    def __init__(
        self, system: Stretches, left: Flags, right: Flags, limit: int, universal: bool
    ) -> None:
        self._system, self._left, self.limit, self._universal = system, left, limit, universal
        begins = _at_once(system, left, right, universal) ^ universal
        found = self._found(begins) if limit >= 0 else [(_NONE, _NONE, _NONE)]
        node, low, high = (np.concatenate(each) for each in zip(*found, strict=True))
        order = np.argsort(node, kind="stable")
        self._low, self._high = low[order], high[order]
        self._first = np.zeros(len(left) + 1, np.int64)
        np.cumsum(np.bincount(node, minlength=len(left)), out=self._first[1:])

    def _found(self, begins: Flags) -> list[tuple[Integers, Integers, Integers]]:
        """Give nodes, with the least and the greatest time of a range, in the order of time."""
        system, limit = self._system, self.limit
        levels = Levels()
        nodes = np.flatnonzero(begins)
        inside = np.where(self._left[nodes], np.maximum(system.length[nodes] - 1, 0), 0)
        levels.add(np.zeros_like(nodes), nodes, np.minimum(inside, limit))
        if self._universal and limit:
            fails = np.flatnonzero(~self._left | _goes_round(system, self._left))
            levels.add(np.ones_like(fails), fails, np.full_like(fails, limit))
        until = np.full(len(begins), -1, np.int64)  # the greatest time of each node so far
        found = [(_NONE, _NONE, _NONE)]
        ranges_found = 0
        while levels:
            time, nodes, high = levels.pop()
            order = np.lexsort((-high, nodes))
            nodes, high = nodes[order], high[order]
            once = np.append(np.ones(1, np.bool_), nodes[1:] != nodes[:-1])
            is_new = once & (high > until[nodes])
            nodes, high = nodes[is_new], high[is_new]
            low = np.maximum(until[nodes] + 1, time)
            until[nodes] = high
            found.append((nodes, low, high))
            ranges_found += len(nodes)
            if levels.popped > MOST_TIMES or ranges_found > MOST_RANGES:
                raise TooManyTimesError
            hops = system.into(nodes)
            of_hop = np.repeat(np.arange(len(nodes)), system.count_into(nodes))
            sources, units = system.source[hops], system.units[hops]
            first = np.maximum(low[of_hop] + units, 1)
            last = np.minimum(high[of_hop] + units, limit)
            goes_on = self._left[sources] & (first <= last) & (last > until[sources])
            levels.add(first[goes_on], sources[goes_on], last[goes_on])
        return found

    def holds(self, node: int, limit: int) -> bool:
        """Whether it holds with a bound of that limit."""
        first, behind = self._first[node], self._first[node + 1]
        low, high = self._low[first:behind], self._high[first:behind]
        met = bool(((low <= limit) & (limit <= high)).any())
        return limit >= 0 and met is not self._universal

    def truth(self) -> Flags:
        """Say where it holds."""
        if self.limit < 0:
            return np.zeros(len(self._left), np.bool_)
        met = np.zeros(len(self._left), np.bool_)
        nodes = np.repeat(np.arange(len(self._left)), np.diff(self._first))
        met[nodes[(self._low <= self.limit) & (self.limit <= self._high)]] = True
        return met ^ self._universal

    def cuts(self) -> tuple[Integers, Integers]:
        """Give where the truth at the exact time changes: within the stretch, or behind it."""
        system = self._system
        hops = np.flatnonzero((system.length[system.source] > 1) & self._left[system.source])
        if self.limit <= 0:
            hops = hops[:0]
        node, target = system.source[hops], system.target[hops]
        behind = system.length[node] - self.limit
        counts = self._first[target + 1] - self._first[target]
        places = ranges(self._first[target], counts)
        of_range = np.repeat(np.arange(len(node)), counts)
        nodes = np.concatenate([node, node[of_range], node[of_range]])
        units = np.concatenate(
            [
                behind,
                behind[of_range] + self._low[places],
                behind[of_range] + self._high[places] + 1,
            ]
        )
        inside = (units > 0) & (units < system.length[nodes])
        return nodes[inside], units[inside]

    def nearest(self, node: int, *, holds: bool) -> int:
        """Give the limit."""
        return self.limit


UntilTimes = AtMost | AtLeast | Exactly
"""The bounds with which an until holds in the first moment of a node.

`limit` is the bound that was asked for. `cuts` gives the stretches in which it changes whether the
until holds with it, and after how many units; `nearest` another limit for which the same runs show
that it holds, or does not.
"""

# --- bounds from below and above -----------------------------------------------------------------


class Levels:
    """A queue of nodes by time, with a number each; the soonest first."""

    def __init__(self) -> None:
        self._times: list[int] = []
        self._nodes: dict[int, list[tuple[Integers, Integers]]] = {}
        self.popped = 0

    def __bool__(self) -> bool:
        return bool(self._times)

    def add(self, times: Integers, nodes: Integers, numbers: Integers) -> None:
        """Add nodes."""
        order = np.argsort(times, kind="stable")
        times, nodes, numbers = times[order], nodes[order], numbers[order]
        firsts = np.flatnonzero(np.append(np.ones(1, np.bool_), times[1:] != times[:-1]))
        if not len(times):
            return
        for first, behind in zip(firsts, [*firsts[1:], len(times)], strict=True):
            time = int(times[first])
            if time not in self._nodes:
                self._nodes[time] = []
                heapq.heappush(self._times, time)
            self._nodes[time].append((nodes[first:behind], numbers[first:behind]))

    def pop(self) -> tuple[int, Integers, Integers]:
        """Take the soonest time, its nodes and their numbers."""
        self.popped += 1
        time = heapq.heappop(self._times)
        nodes, numbers = zip(*self._nodes.pop(time), strict=True)
        return time, np.concatenate(nodes), np.concatenate(numbers)


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
    levels = Levels()
    begins = np.flatnonzero(base < NEVER)
    levels.add(base[begins], begins, begins)
    while levels:
        time, nodes, _ = levels.pop()
        hops = system.into(np.unique(nodes[found[nodes] == time]))
        sources = system.source[hops]
        later = np.maximum(system.units[hops] + time, 0)
        better = allowed[sources] & (later < found[sources])
        sources, later = sources[better], later[better]
        np.minimum.at(found, sources, later)
        sources = np.unique(sources)
        levels.add(found[sources], sources, sources)
    return found


def _longest_to(
    system: Stretches, base: Flags, allowed: Flags, kind: Flags | None = None
) -> Integers:
    """Give the longest time to the base over allowed nodes; NEVER if some run stays away.

    Runs go over all hops, or over those of a kind.
    """
    counted = system.source if kind is None else system.source[kind]
    missing = np.bincount(counted, minlength=len(base))
    found = np.zeros(len(base), np.int64)
    done = base.copy()
    frontier = np.flatnonzero(base)
    while len(frontier):
        hops = system.into(frontier)
        if kind is not None:
            hops = hops[kind[hops]]
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
    ends = nodes & (np.bincount(system.source[kind], minlength=len(nodes)) == 0)
    return nodes & (_longest_to(system, base | ends, nodes, kind) < NEVER)
