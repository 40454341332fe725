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

`BusyPeriods` bound misses until an AppMaster is free, under any policy and order.

Work is how long AppMasters are taken by jobs if all updates come behind the tick. A job is not
begun at a tick only if each AppMaster is taken then by something that may go before it: so until
then all of them together have done their share of that work at each tick, and a job is not late
unless at each tick up to when it must begin there has come as much. That is all work there is, and
that of jobs which come in the meantime and may go before it: none under FIFO, those with no later
deadline under EDF, else all. How likely these come to so much does not hang on what happened
before, so the expected number of late jobs is bounded by a chain of one number, the work.

As long as jobs are left in the queue after a tick, or no AppMaster is free, all of them were taken
in it, so the work became less by one for each. Else the chain ends, in a state without waiting
jobs and with an AppMaster that is free; these are few and were all looked at. There the work became
less by one for each that is not free. So what may be missed from then on is the most of those whose
work, less one for each free AppMaster, is no more than the chain comes to."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rebecsim.clusters.dispatch.orders.loops import FloatTable, Graph, unpack
from rebecsim.clusters.dispatch.orders.results import Counted
from rebecsim.clusters.dispatch.orders.states import OrderedCluster, Tables
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
from rebecsim.exploration.orders import GOALS, Goal
from rebecsim.native.arrays import Integers, room
from rebecsim.native.cache import compiled

Numbers = NDArray[np.float64]

_EDF, _FIFO = 0, 1
_MOST_CHANCES = 4_000_000
"""Chances that are kept of how much work comes."""


class BusyPeriods:
    """Bounds how many jobs are missed, for states of a cluster in which jobs wait."""

    def __init__(self, cluster: OrderedCluster, last: int) -> None:
        self._cluster, self._last = cluster, last
        tables = cluster.tables
        self._workers, slots, self._classes = (int(tables.sizes[each]) for each in (0, 1, 3))
        longest = int(tables.busy.max()) + 1
        self._most = (self._workers + slots) * longest
        self._ways = [self._ways_at(phase) for phase in range(cluster.periods)]
        self._tails = np.stack(self._tails_for())
        self._late = [self._late_at(phase) for phase in range(cluster.periods)]

    @staticmethod
    def is_feasible(cluster: OrderedCluster) -> bool:
        """Whether there are few enough chances to keep."""
        sizes = cluster.tables.sizes
        return int(cluster.periods * sizes[7] ** 3 * sizes[0]) <= _MOST_CHANCES

    def layers(self) -> list[Numbers]:
        """Give what may be missed at each tick while jobs wait, by the work at hand."""
        layers = [self.layer_behind(1)]
        for tick in range(self._last, -1, -1):
            layers.append(self.layer(tick, layers[-1], np.zeros_like(layers[-1])))
        return layers[::-1]

    def layer_behind(self, columns: int) -> Numbers:
        """Give what is missed behind the last tick: nothing."""
        return np.zeros((self._most + 1, columns))

    def layer(self, tick: int, later: Numbers, idle: Numbers) -> Numbers:
        """Give what may be missed from a tick on, by the work at hand; a column for each goal.

        `later` is that of the next tick, and `idle` what may be missed from then on where no job
        waits and an AppMaster is free, by the work less one for each of these.
        """
        phase = (tick - 1) % self._cluster.periods
        late = self._late[phase]
        found = np.repeat(
            late[: self._last - tick + 1].sum(axis=0)[:, None], later.shape[1], axis=1
        )
        work = np.arange(self._most + 1)
        for chance, jobs in self._ways[phase]:
            then = np.clip(work + sum(each for _, each, _ in jobs) - self._workers, 0, self._most)
            found += chance * np.maximum(idle[then], later[then])
        return found

    def bounds(self, graph: Graph, nodes: Integers, tick: int, layer: Numbers) -> Numbers:
        """Give how many jobs may be missed from a tick on in some states, for each goal."""
        found = np.empty((len(nodes), layer.shape[1]))
        phase = (tick - 1) % self._cluster.periods
        left = self._last - tick
        tails = self._tails[phase].reshape(-1, self._tails.shape[-1])
        miss_in_queue(self._cluster.tables, graph, nodes, left, tails, layer, found)
        return found

    def _ways_at(self, phase: int) -> list[tuple[float, list[tuple[int, int, int]]]]:
        """Give how likely jobs come: the tick of the deadline, work, and when it must begin."""
        tables = self._cluster.tables
        together = tables.jobs.shape[1]
        first, behind = tables.ways[phase * (together + 1) + together].tolist()
        ways = []
        for way in range(first, behind):
            jobs = []
            for code in tables.jobs[way].tolist():
                due, kind = code // self._classes - 1, code % self._classes
                if code:
                    busy = int(tables.busy[kind].max())
                    start = due - busy if tables.lengths[kind] else -1
                    jobs.append((due, min(busy, due) + 1, start))
            ways.append((float(self._cluster.chances[way]), jobs))
        return ways

    def _tails_for(self) -> list[Numbers]:
        """Give how likely a job that must begin by a tick is kept waiting until then.

        For each phase: by the tick of its deadline, by that tick, and by how much less work is
        before it than all AppMasters do until then.
        """
        dues, phases = int(self._cluster.tables.sizes[7]), self._cluster.periods
        size = self._workers * (dues + 1) + 1
        tails = [np.zeros((dues + 1, dues + 1, size)) for _ in range(phases)]
        for busy in range(dues + 1):
            # How likely it waits until `start`, by the work that is left over when a tick begins.
            later = [np.ones(size)] * phases
            for start in range(dues + 1 - busy):
                waits = [
                    self._waits_on(phase, busy + start, later[(phase + 1) % phases])
                    for phase in range(phases)
                ]
                most = self._workers * (start + 1)
                for phase in range(phases):
                    tails[phase][busy + start, start, : most + 1] = waits[phase][: most + 1][::-1]
                later = waits
        return tails

    def _waits_on(self, phase: int, due: int, later: Numbers) -> Numbers:
        """Give how likely a job waits on, from a tick on at which its deadline is so far."""
        policy, last = int(self._cluster.tables.sizes[4]), len(later) - 1
        found = np.zeros_like(later)
        work = np.arange(len(later))
        for chance, jobs in self._ways[phase]:
            more = sum(
                each
                for other, each, _ in jobs
                if policy != _FIFO and (policy != _EDF or other <= due)
            )
            then = work + more - self._workers
            found += chance * np.where(then >= 0, later[np.clip(then, 0, last)], 0.0)
        return found

    def _late_at(self, phase: int) -> Numbers:
        """Give how many jobs that come may be late: by the tick of the deadline and the work."""
        dues = int(self._cluster.tables.sizes[7])
        late = np.zeros((dues + 1, self._most + 1))
        work = np.arange(self._most + 1)
        tails = self._tails[(phase + 1) % self._cluster.periods]
        for chance, jobs in self._ways[phase]:
            total = sum(each for _, each, _ in jobs)
            for due, own, start in jobs:
                if start < 0:
                    late[due] += chance
                    continue
                wanted = np.maximum(self._workers * (start + 1) - work - (total - own), 0)
                one = (wanted == 0).astype(float)
                late[due] += chance * (tails[due - 1, start - 1][wanted] if start else one)
        return late


@compiled()
def miss_in_queue(
    tables: Tables,
    graph: Graph,
    nodes: Integers,
    left: int,
    tails: FloatTable,
    layer: FloatTable,
    found: FloatTable,
) -> None:
    """Add up how many jobs that wait may be missed, and those that come, as a `layer` says."""
    workers, classes, dues = tables.sizes[0], tables.sizes[3], tables.sizes[7] + 1
    first = 1 + workers
    behind = first + tables.sizes[1]
    parts = room(np.int64, tables.layout.shape[0] + 1)
    work = room(np.int64, behind)
    for each in range(nodes.shape[0]):
        unpack(tables.layout, graph.nodes, nodes[each], parts)
        in_service = 0
        for worker in range(1, first):
            in_service += parts[worker]
        total = in_service
        for slot in range(first, behind):
            work[slot] = 0
            if parts[slot]:
                due = parts[slot] // classes - 1
                work[slot] = due + 1
                if tables.lengths[parts[slot] - (due + 1) * classes]:
                    busy = _longest(tables, parts[slot] - (due + 1) * classes)
                    work[slot] = min(busy, due) + 1
                total += work[slot]
        missed = 0.0
        for slot in range(first, behind):
            due = parts[slot] // classes - 1
            if parts[slot] == 0 or due > left:
                continue
            kind = parts[slot] - (due + 1) * classes
            start = due - _longest(tables, kind) if tables.lengths[kind] else -1
            if start < 0:
                missed += 1.0
                continue
            before = total - work[slot]
            if tables.sizes[4] == _EDF:
                before = in_service
                for other in range(first, behind):
                    if other != slot and parts[other] and parts[other] // classes <= due + 1:
                        before += work[other]
            wanted = max(workers * (start + 1) - before, 0)
            missed += tails[due * dues + start, wanted]
        for column in range(layer.shape[1]):
            found[each, column] = missed + layer[min(total, layer.shape[0] - 1), column]


@compiled()
def _longest(tables: Tables, kind: int) -> int:
    longest = 0
    for group in range(tables.groups.shape[0]):
        longest = max(longest, tables.busy[kind, group])
    return longest


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
