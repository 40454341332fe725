"""Bounds on misses until an AppMaster is free, under any policy and order.

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
work, less one for each free AppMaster, is no more than the chain comes to.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rebecsim.clusters.dispatch.orders.loops import FloatTable, Graph, unpack
from rebecsim.clusters.dispatch.orders.states import OrderedCluster, Tables
from rebecsim.native.arrays import Integers
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
    parts = np.zeros(tables.layout.shape[0] + 1, np.int64)
    work = np.zeros(behind, np.int64)
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


@compiled(inner=True)
def _longest(tables: Tables, kind: int) -> int:
    longest = 0
    for group in range(tables.groups.shape[0]):
        longest = max(longest, tables.busy[kind, group])
    return longest
