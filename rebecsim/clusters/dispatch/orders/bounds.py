"""Bounds on the values of states that were not explored.

Under FIFO a job that waits never falls behind another one. Say all updates come before the tick:
then each job begins no later than in any other order. Say all come behind it, and that the slot of
a job whose deadline is the very tick at which it could begin is not saved: then each begins no
sooner. For when an AppMaster is ready again is a function of when it begins a job that does not
decrease, as a late job takes until its deadline whenever it begins; and if no entry of a sorted
vector is larger than that of another one, so it is when both let their least entry be another one
in this way (Kiefer and Wolfowitz 1955). So jobs are late in any order that are late in the first,
and in no order unless they are in the second; and the other way round for those that complete.
Both are chains of few states and the mean over what is drawn is a bound. There is nothing to decide
but one thing: a job of one tick that could begin at its deadline is missed, or it begins sooner and
is not, and then its AppMaster is ready later. The worse of both counts.

Moreover "all updates first" and "the tick first" are orders, if all AppMasters have one speed: the
least is no more than the one comes to, and the most no less than the other.

Where jobs might find all slots taken, fewer jobs are there to be late or to be done. How likely
that is at most, times all jobs there may be, is taken off, or added.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np

from rebecsim.clusters.dispatch.orders.busy import _FIFO, BusyPeriods, Numbers
from rebecsim.clusters.dispatch.orders.loops import Graph
from rebecsim.clusters.dispatch.orders.states import OrderedCluster
from rebecsim.clusters.dispatch.orders.waits import (
    COMPLETIONS,
    EARLY,
    LATE,
    LATEST,
    MISSES,
    OVERFLOW,
    Waits,
    enter_vectors,
    wait_back,
    wait_on,
)
from rebecsim.clusters.dispatch.orders.worth import Counted
from rebecsim.exploration.orders import GOALS, Goal
from rebecsim.native.arrays import Integers

_COLUMNS = 7
_MOST_VECTORS = 4_000_000
"""Vectors of all ticks together that are kept."""


class Column(NamedTuple):
    """A column of values: of what, of which orders, from below or above."""

    counted: Counted
    goal: Goal
    side: Literal["low", "high"]


def columns_of(counted: Sequence[Counted], all_known: bool) -> list[Column]:
    """Give the columns that are worked out: both sides only where not all is known."""
    sides: tuple[Literal["low", "high"], ...] = ("low",) if all_known else ("low", "high")
    return [Column(each, goal, side) for each in counted for goal in GOALS for side in sides]


class Rest:
    """Bounds what is counted from a tick on, up to the last one, in states not looked at."""

    def __init__(self, cluster: OrderedCluster, last: int) -> None:
        self._cluster, self.last = cluster, last
        self._waits = _waits_of(cluster, last)
        self._layers = [] if self._waits is None else _layers_of(cluster, self._waits, last)

    @cached_property
    def busy(self) -> BusyPeriods | None:
        """What bounds how many jobs are missed where nothing is known of how long they wait."""
        if self._waits is not None or not BusyPeriods.is_feasible(self._cluster):
            return None
        return BusyPeriods(self._cluster, self.last)

    def bounds(
        self, graph: Graph, nodes: Integers, tick: int, columns: Sequence[Column]
    ) -> Numbers:
        """Give a row for each of some states, with the bounds of the columns."""
        found = np.empty((len(nodes), len(columns)))
        waiting = graph.waiting[nodes]
        for place, column in enumerate(columns):
            least, each = _crude(self._cluster, column, tick, self.last)
            found[:, place] = least + each * waiting
        if self._waits is None or not len(nodes):
            return found
        coming = sum(self._cluster.most_arrivals[max(tick - 1, 0) : self.last])
        on = np.empty((len(nodes), _COLUMNS))
        left = self.last - tick
        layer = self._layers[tick]
        wait_on(self._cluster.tables, graph, self._waits, nodes, coming, left, layer, on)
        for place, column in enumerate(columns):
            if column.counted == "energy":
                continue
            chain, sign = self._chain(column)
            first = MISSES if column.counted == "deadline_misses" else COMPLETIONS
            found[:, place] = np.clip(
                on[:, first + chain] + sign * on[:, OVERFLOW],
                0.0,
                found[:, place] if column.side == "high" else None,
            )
        return found

    def _chain(self, column: Column) -> tuple[int, int]:
        """Give which chain bounds a column, and what is to be done with jobs that are refused."""
        is_low, is_one_speed = column.side == "low", self._is_one_speed
        is_missed = column.counted == "deadline_misses"
        bound = EARLY if is_low == is_missed else LATEST
        attained = column.goal == ("maximum" if is_low else "minimum")
        if attained and is_one_speed:
            bound = LATE if is_low == is_missed else EARLY
        sign = -1 if is_low else 1
        return bound, 0 if is_missed and not is_low else sign

    @property
    def _is_one_speed(self) -> bool:
        busy = self._cluster.tables.busy
        return bool((busy == busy[:, :1]).all())


def _crude(cluster: OrderedCluster, column: Column, tick: int, last: int) -> tuple[float, float]:
    """Bound what a state is worth whatever it is: for itself, and for each waiting job.

    Every job is counted once at most, and those that come at the last tick are not. AppMasters are
    idle all the time, or busy.
    """
    if column.counted == "energy":
        extremes = [0.0, 0.0]
        for (first, behind), watts in zip(cluster.tables.groups, cluster.watts, strict=True):
            worth = watts * int(behind - first) * (last - tick + 1)
            extremes[worth > 0] += worth
        return (extremes[0] if column.side == "low" else extremes[1]), 0.0
    if column.side == "low":
        return 0.0, 0.0
    return float(sum(cluster.most_arrivals[max(tick - 1, 0) : last])), 1.0


def _waits_of(cluster: OrderedCluster, last: int) -> Waits | None:
    """Lay out the vectors of a cluster; None where they bound nothing, or are too many."""
    tables = cluster.tables
    workers, slots, classes = (int(tables.sizes[each]) for each in (0, 1, 3))
    if int(tables.sizes[4]) != _FIFO:
        return None
    codes = sorted(set(tables.jobs.ravel().tolist()) - {0})
    longest = tables.busy.max(axis=1)
    spread = int(longest.max()) + 1
    waits = max(max((code // classes for code in codes), default=0), spread) + 1
    each = math.comb(spread + workers - 1, workers - 1)
    if each * waits * (last + 2) > _MOST_VECTORS:
        return None
    binomials = np.array(
        [[math.comb(n, k) for k in range(workers + 1)] for n in range(spread + workers + 1)],
        np.int64,
    )
    more = np.array(
        list(itertools.combinations_with_replacement(range(spread + 1), workers - 1)), np.int64
    ).reshape(each, workers - 1)
    places = np.arange(1, workers)
    more = more[np.argsort(binomials[more + places - 1, places].sum(axis=1))]
    apart = np.hstack([np.zeros((each, 1), np.int64), more])
    vectors = (np.arange(waits)[:, None, None] + apart).reshape(-1, workers)
    never = int(tables.busy.max()) + max(codes, default=0) + 1
    kinds = [
        (code // classes - 1, *((tables.shortest[kind], longest[kind]) if real else (never, never)))
        for code in codes
        for kind in (code % classes,)
        for real in (tables.lengths[kind] > 0,)
    ]
    together = tables.jobs.shape[1]
    found = Waits(
        sizes=np.array([workers, spread, each, slots // max(together, 1)], np.int64),
        binomials=binomials,
        vectors=np.ascontiguousarray(vectors),
        aged=np.zeros(len(vectors), np.int64),
        kinds=np.array(kinds, np.int64).reshape(-1, 3),
        after=np.zeros((3 * len(vectors), len(codes)), np.int32),
    )
    enter_vectors(found)
    return found


def _layers_of(cluster: OrderedCluster, waits: Waits, last: int) -> list[Numbers]:
    """Work out what is counted from each tick on, for each vector."""
    tables = cluster.tables
    codes = sorted(set(tables.jobs.ravel().tolist()) - {0})
    kinds = {0: -1} | {code: place for place, code in enumerate(codes)}
    jobs = np.array([[kinds[each] for each in row] for row in tables.jobs.tolist()], np.int64)
    jobs = jobs.reshape(tables.jobs.shape)
    together = tables.jobs.shape[1]
    layers = [np.zeros((len(waits.vectors), _COLUMNS)) for _ in range(last + 2)]
    counted = np.zeros((1, 4), np.int64)
    for tick in range(last, 0, -1):
        phase = (tick - 1) % cluster.periods
        first, behind = tables.ways[phase * (together + 1) + together].tolist()
        ways, chances = jobs[first:behind], cluster.chances[first:behind]
        wait_back(waits, ways, chances, last - tick, layers[tick + 1], layers[tick], counted)
    layers[0] = layers[1][waits.aged]  # before the first tick no jobs come
    return layers
