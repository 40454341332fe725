"""Explain races and breaches: the way there, both orders, and what each makes possible.

A breach that no race decides is explained by its last decision: the step after which it was
inevitable, and the alternative.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from rebecsim.exploration.checks import NO_MESSAGE_LEFT, Problem
from rebecsim.exploration.paths import path_along
from rebecsim.exploration.races.diamonds import NONE, Diamonds
from rebecsim.exploration.races.following import Start
from rebecsim.exploration.races.futures import Future, Futures
from rebecsim.exploration.races.judging import Group, JoinAnalysis, Row
from rebecsim.exploration.races.result import (
    Decision,
    Distance,
    RaceGroup,
    Unexplained,
    Way,
    Witness,
    witness_of,
)
from rebecsim.exploration.races.step_graph import NO_ACTION, Arrays
from rebecsim.exploration.search import Search
from rebecsim.exploration.states.effects import Breach, BreachKey
from rebecsim.native.arrays import Flags


class FutureComparison:
    """Compares the orders of a race by what is possible and inevitable after each."""

    def __init__(self, arrays: Arrays, diamonds: Diamonds, futures: Futures) -> None:
        self.arrays = arrays
        self.diamonds = diamonds
        self.futures = futures

    def compare(self, group: Group, pair: int) -> None:
        """Note what is inevitable, or possible, after one order and not after the other."""
        if not self.arrays.keys:
            return
        ways = group.rows(self.diamonds, pair)
        for side in (0, 1):
            mine, theirs = ways[side], ways[1 - side]
            for key, future in enumerate(self.futures.of_key):
                inevitable = self._is_inevitable(mine, theirs, future)
                if inevitable or (
                    self._leads(any, mine, future, future.possible)
                    and not self._leads(any, theirs, future, future.maybe_possible)
                ):
                    group.keys[side].add(key)
                    distance = min(self.distance(way, key) for way in mine)
                    group.note("inevitable" if inevitable else "avoidable", distance, pair, None)
            if self._is_inevitable(mine, theirs, self.futures.any):
                keys = {
                    key
                    for key, future in enumerate(self.futures.of_key)
                    if self._leads(any, mine, future, future.possible)
                }
                group.keys[side].update(keys)
                distance = min(self.distance(way, key) for way in mine for key in keys)
                group.note("inevitable", distance, pair, None)

    def _is_inevitable(self, mine: list[Row], theirs: list[Row], future: Future) -> bool:
        """Whether a breach is inevitable after one order and surely not after the other."""
        return self._leads(all, mine, future, future.inevitable) and not self._leads(
            all, theirs, future, future.maybe_inevitable
        )

    def _leads(
        self,
        which: Callable[[Iterable[bool]], bool],
        ways: list[Row],
        future: Future,
        flags: Flags,
    ) -> bool:
        """Whether all, or any, of the ways meet a breach or end in a flagged state."""
        return which(self._meets(way, future) or bool(flags[way.end]) for way in ways)

    def _targets(self, way: Row) -> list[int]:
        """Give the states and breaches that a way passes."""
        arrays = self.arrays
        return [int(arrays.target[edge]) for edge in way.edges]

    def _meets(self, way: Row, future: Future) -> bool:
        return any(future.meets[target] for target in self._targets(way))

    def meets(self, way: Row, key: int) -> bool:
        """Say whether a breach is met on a way itself."""
        return self._meets(way, self.futures.of_key[key])

    def distance(self, way: Row, key: int) -> int:
        """Give how many steps a breach lies behind the state of the race."""
        future = self.futures.of_key[key]
        for steps, target in enumerate(self._targets(way), 1):
            if future.meets[target]:
                return steps
        distance = int(future.distance[way.end])
        return len(way.edges) + distance if distance >= 0 else 1 << 60

    def to_breach(self, way: Row, key: int) -> list[int]:
        """Give the edges of a way and those of a shortest one behind it to a breach."""
        future = self.futures.of_key[key]
        edges = []
        for edge in way.edges:
            edges.append(edge)
            if future.meets[self.arrays.target[edge]]:
                return edges
        return edges + future.nearest(self.arrays, way.end)


def unexplained(
    problem: Problem, search: Search, arrays: Arrays, futures: Futures, keys: Sequence[int]
) -> tuple[Unexplained, ...]:
    """Say what decides each of these breaches, if anything does."""
    source = arrays.source
    found = []
    for key in keys:
        inevitable = futures.of_key[key].inevitable
        decision = None
        # States are numbered in the order of being found: the first edge is one found soonest.
        into = np.flatnonzero(~inevitable[source] & inevitable[arrays.target])
        for edge in into[:1].tolist():
            decision = _decision(search, arrays, int(source[edge]), edge, inevitable)
        breach = _shortest_breach(search, arrays, futures, key)
        found.append(Unexplained(arrays.keys[key], breach, decision))
    return tuple(found)


def _decision(
    search: Search, arrays: Arrays, state: int, edge: int, inevitable: np.ndarray
) -> Decision | None:
    low, high = int(arrays.first[state]), int(arrays.first[state + 1])
    out = [each for each in range(low, high) if not inevitable[arrays.target[each]]]
    if not out:
        return None
    same = [each for each in out if arrays.message[each] == arrays.message[edge]]
    other = [each for each in out if each not in same]
    instead = (other or same)[0]
    way = search.way_to(state)
    taken, avoided = (path_along(search.system, (*way, each - low)) for each in (edge, instead))
    return Decision(taken, avoided, by_order=bool(other))


def _shortest_breach(search: Search, arrays: Arrays, futures: Futures, key: int) -> Breach:
    """Give the breach as a shortest run shows it."""
    edges = futures.of_key[key].nearest(arrays, 0)
    path = path_along(search.system, arrays.ordinals(edges))
    return path.breach or breach_of_state(arrays.keys[key])


def breach_of_state(key: BreachKey) -> Breach:
    """Give the breach of a state from its key."""
    return NO_MESSAGE_LEFT if key.verdict == "deadlock" else Breach(key.verdict, key.text)


class Explainer:
    """Describes groups of races, each with a witness.

    `analysis` gives the analysis of all orders followed so far.
    """

    def __init__(
        self, search: Search, comparison: FutureComparison, analysis: Callable[[], JoinAnalysis]
    ) -> None:
        self._search, self._comparison, self._analysis = search, comparison, analysis
        self._arrays = comparison.arrays
        self._diamonds = comparison.diamonds
        self._futures = comparison.futures

    def explained(self, group: Group, *, observing: bool) -> RaceGroup:
        """Give the group with a witness of the worst that comes of it."""
        assert group.shown is not None
        pair, start = group.shown
        kind = group.kind or "joins"
        keys = tuple(
            tuple(self._arrays.keys[key] for key in sorted(of_side)) for of_side in group.keys
        )
        if start is None:
            ways = self._ways_to_breach(group, pair)
        else:
            ways = self._ways_followed(group, start)
        state = int(self._diamonds.steps.state[self._diamonds.left[pair]])
        witness = witness_of(self._search, state, ways, (keys[0], keys[1]))
        distance = None
        if kind in ("inevitable", "avoidable"):
            distance = _distance(witness)
        elif kind == "while":
            distance = group.span
        matters = kind in ("inevitable", "avoidable", "observed") or (
            kind == "results" and not observing
        )
        return RaceGroup(
            group.contenders, kind, len(group.pairs), (keys[0], keys[1]), distance, witness, matters
        )

    def _ways_to_breach(self, group: Group, pair: int) -> tuple[Way, Way]:
        """Show the order that leads to a breach up to it, beside the other one."""
        ways = group.rows(self._diamonds, pair)
        best = min(
            (
                (self._comparison.distance(way, key), side, place, key)
                for side in (0, 1)
                for key in group.keys[side]
                for place, way in enumerate(ways[side])
            ),
        )
        _, side, place, key = best
        wrong = ways[side][place]
        other = min(
            ways[1 - side], key=lambda way: (self._comparison.meets(way, key), -len(way.edges))
        )
        edges = self._comparison.to_breach(wrong, key)
        bad = self._way(edges, key)
        good = self._way(self._caught_up(list(other.edges), edges, key), None)
        return (bad, good) if side == 0 else (good, bad)

    def _caught_up(self, edges: list[int], others: list[int], key: int) -> list[int]:
        """Let an order go on until it has served what the other one has, as far as it can."""
        arrays = self._arrays
        missing = [int(action) for action in arrays.action[others] if action != NO_ACTION]
        for action in arrays.action[edges].tolist():
            if action in missing:
                missing.remove(action)
        at = int(arrays.target[edges[-1]])
        meets = self._futures.of_key[key].meets
        while missing and at < arrays.states:
            low, high = int(arrays.first[at]), int(arrays.first[at + 1])
            fitting = [
                edge
                for edge in range(low, high)
                if int(arrays.action[edge]) in (*missing, NO_ACTION)
                and not meets[arrays.target[edge]]
            ]
            if not fitting:
                break
            edges.append(fitting[0])
            if arrays.action[fitting[0]] != NO_ACTION:
                missing.remove(int(arrays.action[fitting[0]]))
            at = int(arrays.target[fitting[0]])
        return edges

    def _ways_followed(self, group: Group, start: Start) -> tuple[Way, Way]:
        pair, _ = group.shown or (0, None)
        ways = group.in_order(self._diamonds, pair)
        edges = [
            [int(edge) for edge in (each.one[row], each.two[row]) if edge != NONE]
            for each, row in zip(ways, start.rows, strict=True)
        ]
        alone = list(start.arrival.alone)
        if not alone and not start.arrival.differs:
            analysis = self._analysis()
            for move, arrival in analysis.way(start.arrival.node):
                for side in (0, 1):
                    if move.edges[side] != NONE:
                        edges[side].append(move.edges[side])
                alone = list(arrival.alone)
        key = dict(alone)
        first, second = (self._way(edges[side], key.get(side)) for side in (0, 1))
        return first, second

    def _way(self, edges: list[int], key: int | None) -> Way:
        """Give edges as transitions, up to the first that meets a breach if there is one."""
        arrays = self._arrays
        breach = None
        if key is not None:
            meets = self._futures.of_key[key].meets
            for place, edge in enumerate(edges):
                if meets[arrays.target[edge]]:
                    edges = edges[: place + 1]
                    breach = self._breach_of(int(arrays.target[edge]), arrays.keys[key])
                    break
        end = int(arrays.target[edges[-1]])
        return Way(arrays.ordinals(edges), end if end < arrays.states else None, breach)

    def _breach_of(self, target: int, key: BreachKey) -> Breach | None:
        """Give the breach of a state; one of the last transition is found by following the path."""
        return None if target >= self._arrays.states else breach_of_state(key)


def _distance(witness: Witness) -> Distance | None:
    """Give how far the breach that is shown lies behind the state of the race."""
    found = [
        Distance(len(order.steps), order.steps[-1].time - witness.time)
        for order in witness.orders
        if order.breach is not None
    ]
    return min(found, default=None)
