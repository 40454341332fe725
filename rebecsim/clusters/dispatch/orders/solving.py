"""The least, the expected and the greatest value of a figure over all orders of messages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from rebecsim.actors import ChoiceLaw
from rebecsim.clusters.dispatch.configuration import Configuration, Power
from rebecsim.clusters.dispatch.orders.bounds import Column, columns_of
from rebecsim.clusters.dispatch.orders.graph import Found, find_states, is_known, step_back
from rebecsim.clusters.dispatch.orders.loops import NODES, RECEIPTS
from rebecsim.clusters.dispatch.orders.results import Bounds, ClusterValues, Counted, Worth
from rebecsim.clusters.dispatch.orders.states import OrderedCluster, cluster_of
from rebecsim.errors import UserError
from rebecsim.exploration.orders import GOALS, Goal
from rebecsim.studies.study import MOST_STATES

Integers = NDArray[np.int64]
Numbers = NDArray[np.float64]


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


class Values:
    """Works out the values of states, tick by tick, from the last one on."""

    def __init__(self, found: Found, columns: Sequence[Column], last: int) -> None:
        self._found, self._columns, self._last = found, columns, last
        self._receipts = Receipts(found)
        shape = (int(found.graph.counts[NODES]), len(columns))
        self._now, self._later = np.zeros(shape), np.zeros(shape)
        self._goals = np.array([GOALS.index(each.goal) for each in columns], np.int64)
        self._is_high = np.array([each.side == "high" for each in columns], np.int64)
        phases = found.cluster.periods
        phase_of = found.graph.nodes[: shape[0], 0] & found.cluster.tables.layout[0, 2]
        self._of_phase = [_ordered(found.first_seen, phase_of == each) for each in range(phases)]
        self._seen = [found.first_seen[some] for some in self._of_phase]
        self._periods = _Periods(found, columns, last) if last > found.known else None

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
            worth = {
                each.counted: self._receipts.gains(each.counted, left) for each in self._columns
            }
            for place, column in enumerate(self._columns):
                gains[:, place] = worth[column.counted]
            nodes = self._of_phase[phase][:reached]
            known = is_known(found.graph, nodes, cluster.last - tick + 1)
            self._bound(nodes[~known], tick)
            step_back(
                found.graph,
                cluster.chances,
                nodes[known],
                gains,
                self._goals,
                self._is_high,
                self._later,
                self._now,
                np.empty((2, len(self._columns))),
            )
            if self._periods is not None:
                self._periods.end(tick, self._now)
            yield tick, self._now
            self._now, self._later = self._later, self._now

    def _bound(self, unknown: Integers, tick: int) -> None:
        """Bound the values of states that were not looked at."""
        if not len(unknown):
            return
        found = self._found
        rest = found.rest(self._last)
        bounds = rest.bounds(found.graph, unknown, tick, self._columns)
        if self._periods is not None:
            self._periods.lower(bounds, unknown, tick)
        self._now[unknown] = bounds


class _Periods:
    """Bounds how many jobs are missed by when an AppMaster is free, from the last tick back."""

    def __init__(self, found: Found, columns: Sequence[Column], last: int) -> None:
        self._found = found
        self._busy = found.rest(last).busy if len(found.idle) else None
        self._places = [
            place
            for place, each in enumerate(columns)
            if each.counted == "deadline_misses" and each.side == "high"
        ]
        if self._busy is not None:
            behind = 1 + int(found.cluster.tables.sizes[0])
            phases, *workers = (
                found.graph.nodes[found.idle, word] >> shift & mask
                for word, shift, mask in found.cluster.tables.layout[:behind]
            )
            free = (np.stack(workers) == 0).sum(axis=0)
            ends = [(free > 0) & (phases == each) for each in range(found.cluster.periods)]
            self._idle_of = [found.idle[each] for each in ends]
            work = np.maximum(sum(workers) - free, 0)
            self._work_of = [work[each] for each in ends]
            self._layer = self._busy.layer_behind(len(self._places))
            self._idle = np.zeros_like(self._layer)

    def lower(self, bounds: Numbers, nodes: Integers, tick: int) -> None:
        """Lower bounds of some states at a tick, where this is known to be less."""
        if self._busy is None:
            return
        layer = self._busy.layer(tick, self._layer, self._idle)
        most = self._busy.bounds(self._found.graph, nodes, tick, layer)
        bounds[:, self._places] = np.minimum(bounds[:, self._places], most)

    def end(self, tick: int, values: Numbers) -> None:
        """Go on to the tick before, the values of this one being known."""
        if self._busy is None:
            return
        self._layer = self._busy.layer(tick, self._layer, self._idle)
        phase = (tick - 1) % self._found.cluster.periods
        idle = self._idle_of[phase]
        if tick and len(idle):
            self._idle = np.zeros_like(self._layer)
            np.maximum.at(self._idle, self._work_of[phase], values[idle][:, self._places])
            self._idle = np.maximum.accumulate(self._idle, axis=0)


def _ordered(first_seen: NDArray[np.int32], mask: NDArray[np.bool_]) -> Integers:
    """Give some states by when they are reached first."""
    some = np.flatnonzero(mask)
    ordered: Integers = some[np.argsort(first_seen[some], kind="stable")]
    return ordered


def exact_cluster(
    configuration: Configuration,
    ticks: int,
    *,
    law: ChoiceLaw = "fair",
    power: Power | None = None,
    most_states: int = MOST_STATES,
) -> ClusterValues:
    """Find what all orders of the messages of a configuration come to, up to the last tick.

    Energy is among it where the power draw is given. About `most_states` states are looked at, the
    likely ones first if there are more; then the values lie between two numbers each.

    Raises UserError for what is not known how to reckon: see `cluster_of`.
    """
    return values_over(states_of(configuration, ticks, law, power, most_states))


def states_of(
    configuration: Configuration,
    ticks: int,
    law: ChoiceLaw,
    power: Power | None,
    most_states: int,
) -> Found:
    """Find the states of a configuration; else as `exact_cluster`."""
    if most_states < 1:
        raise UserError(f"the number of states must be 1 or more, not {most_states}")
    return find_states(cluster_of(configuration, ticks, law, power), most_states)


def values_over(found: Found) -> ClusterValues:
    """Compute best case, worst case and mean over all orders, from the states that were found.

    If states are missing, this is also computed for the largest number of ticks that is exact:
    states after the last tick need not be distinguished, so fewer ticks need fewer states.
    """
    last = found.cluster.last
    counted: list[Counted] = ["deadline_misses", "completions"]
    if found.cluster.has_power:
        counted.append("energy")
    values = _solved(found, counted, last)
    solved = ClusterValues(last + 1, values, {}, found.figures)
    if solved.is_exact or found.known == last:
        return solved
    return replace(solved, by_ticks=_known_ticks(found, counted))


def _known_ticks(found: Found, counted: Sequence[Counted]) -> dict[int, Worth]:
    """Work out the values of as many ticks as can be known exactly, for each number of them."""
    known = found.of_known_ticks
    for sooner in range(max(found.attempted, known.known + 1), found.cluster.last):
        cluster = replace(known.cluster, last=sooner)
        shorter = find_states(cluster, found.most, all_or_none=True)
        if shorter.known < sooner:
            break
        known = shorter
    return {each + 1: _solved(known, counted, each) for each in range(known.known + 1)}


def _solved(found: Found, counted: Sequence[Counted], last: int) -> Worth:
    columns = columns_of(counted, last <= found.known)
    start = np.zeros(len(columns))
    for _, values in Values(found, columns, last).backward():
        start = values[0].copy()
    if last > found.known:
        # What bounds states that were not looked at may know more of all of it than they together.
        first = np.zeros(1, np.int64)
        bounds = found.rest(last).bounds(found.graph, first, 0, columns)[0]
        is_low = np.array([each.side == "low" for each in columns])
        start = np.where(is_low, np.maximum(start, bounds), np.minimum(start, bounds))
    worth = dict(zip(columns, start.tolist(), strict=True))
    solved: dict[Counted, dict[Goal, Bounds]] = {}
    for each in counted:
        rest = idle_energy(found.cluster, each, last)
        solved[each] = {}
        for goal in GOALS:
            sides = [v + rest for c, v in worth.items() if (c.counted, c.goal) == (each, goal)]
            solved[each][goal] = Bounds(sides[0], sides[-1])
    return solved


def idle_energy(cluster: OrderedCluster, counted: Counted, last: int) -> float:
    """Give what runs get whatever happens."""
    return cluster.idle * (last + 1) if counted == "energy" else 0.0
