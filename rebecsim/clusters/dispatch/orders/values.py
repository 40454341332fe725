"""Values over all orders, from the last tick back, with two layers in memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from rebecsim.clusters.dispatch.orders.graph import Found
from rebecsim.clusters.dispatch.orders.loops import NODES, RECEIPTS, step_back
from rebecsim.clusters.dispatch.orders.states import OrderedCluster
from rebecsim.clusters.dispatch.orders.worth import Counted
from rebecsim.exploration.orders.process import GOALS, Goal

Integers = NDArray[np.int64]
Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Column:
    """A column of values: of what, of which orders, from below or above."""

    counted: Counted
    goal: Goal
    side: Literal["low", "high"]


def columns_of(counted: Sequence[Counted], all_known: bool) -> list[Column]:
    """Give the columns that are worked out: both sides only where not all is known."""
    sides: tuple[Literal["low", "high"], ...] = ("low",) if all_known else ("low", "high")
    return [Column(each, goal, side) for each in counted for goal in GOALS for side in sides]


class Receipts:
    """What is counted in steps, by how many ticks are left after them."""

    def __init__(self, found: Found) -> None:
        rows = found.graph.receipts[: int(found.graph.counts[RECEIPTS])]
        groups = len(found.cluster.tables.groups)
        jobs = rows[:, 1:] - 1
        self._missed_waiting = rows[:, 0].astype(np.float64)
        self._is_job = jobs >= 0
        self._busy = jobs // groups // 2
        self._is_late = jobs // groups % 2 == 1
        self._watts = np.array(found.cluster.watts)[np.where(self._is_job, jobs % groups, 0)]

    def gains(self, counted: Counted, left: int) -> Numbers:
        """Give what each is worth at a tick after which so many follow."""
        ends = self._is_job & (self._busy <= left)
        gains: Numbers = self._missed_waiting + (ends & self._is_late).sum(axis=1)
        if counted == "completions":
            gains = (ends & ~self._is_late).sum(axis=1).astype(np.float64)
        elif counted == "energy":
            busy = np.minimum(self._busy, left + 1) * self._watts
            gains = np.where(self._is_job, busy, 0.0).sum(axis=1)
        return gains


def unknown_worth(
    cluster: OrderedCluster, column: Column, tick: int, last: int
) -> tuple[float, float]:
    """Bound what a state is worth that was not looked at: for itself, and for each waiting job.

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


class Values:
    """Works out the values of states, tick by tick, from the last one on."""

    def __init__(self, found: Found, columns: Sequence[Column], last: int) -> None:
        self._found, self._columns, self._last = found, columns, last
        self._receipts = Receipts(found)
        shape = (int(found.graph.counts[NODES]), len(columns))
        self._now, self._later = np.zeros(shape), np.zeros(shape)
        self._goals = np.array([GOALS.index(each.goal) for each in columns], np.int64)
        phases = found.cluster.periods
        phase_of = found.graph.nodes[: shape[0], 0] & found.cluster.tables.layout[0, 2]
        self._of_phase = [np.flatnonzero(phase_of == phase) for phase in range(phases)]
        self._seen = [found.first_seen[some] for some in self._of_phase]

    def backward(self) -> Iterator[tuple[int, Numbers]]:
        """Give each tick, the last one first, and the values of states there.

        They are those of one array, which is used again, a row for each state. What a column says
        of states that are not reached by then has no meaning.
        """
        found, cluster = self._found, self._found.cluster
        for tick in range(self._last, -1, -1):
            left = self._last - tick
            phase = (tick - 1) % cluster.periods  # that of the jobs that come before it
            reached = int(np.searchsorted(self._seen[phase], tick, side="right"))
            gains = np.empty((len(self._receipts._busy), len(self._columns)))
            unknown = np.empty((2, len(self._columns)))
            worth = {
                each.counted: self._receipts.gains(each.counted, left) for each in self._columns
            }
            for place, column in enumerate(self._columns):
                gains[:, place] = worth[column.counted]
                unknown[:, place] = unknown_worth(cluster, column, tick, self._last)
            step_back(
                found.graph,
                cluster.chances,
                self._of_phase[phase][:reached],
                cluster.last - tick + 1,
                gains,
                self._goals,
                unknown,
                self._later,
                self._now,
                np.empty(len(self._columns)),
            )
            yield tick, self._now
            self._now, self._later = self._later, self._now
