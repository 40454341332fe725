"""Compute for every state and breach whether it can still come, and whether it must."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rebecsim.exploration.races.arrays import Arrays, Graph
from rebecsim.exploration.races.fate import avoiding, distances
from rebecsim.native.arrays import Flags, Integers


@dataclass(frozen=True)
class Future:
    """What is known of one kind of breach, for each state and breach.

    `meets`: it is there. `distance` is the fewest steps to it, -1 if there is no way to it within
    the limits; with `may_come` there may be one behind them. `must_come` whatever is done, with
    `might_be_bound_to` unless there is a way out behind the limits.
    """

    meets: Flags
    distance: Integers
    may_come: Flags
    must_come: Flags
    might_be_bound_to: Flags

    def nearest(self, arrays: Arrays, at: int) -> list[int]:
        """Give the edges of a shortest way from a state to it."""
        edges: list[int] = []
        while not self.meets[at]:
            low, high = arrays.first[at], arrays.first[at + 1]
            ahead = self.distance[arrays.target[low:high]]
            edges.append(int(low + np.flatnonzero(ahead == self.distance[at] - 1)[0]))
            at = int(arrays.target[edges[-1]])
        return edges


@dataclass(frozen=True)
class Futures:
    """The futures for each number of a key, and of any breach at all."""

    of_key: tuple[Future, ...]
    any: Future


def futures_of(arrays: Arrays) -> Futures:
    """Work out what can come of every state."""
    graph = arrays.graph
    cut = np.append(arrays.cut, np.zeros(len(arrays.keys), dtype=bool))
    any_goal = np.zeros(len(graph), dtype=bool)
    for goal in arrays.meets:
        any_goal |= goal
    found = tuple(_future(graph, goal, cut) for goal in arrays.meets)
    return Futures(found, found[0] if len(found) == 1 else _future(graph, any_goal, cut))


def _future(graph: Graph, goal: Flags, cut: Flags) -> Future:
    nothing = np.zeros(len(graph), dtype=bool)
    distance = distances(graph, goal)
    if not goal.any():
        return Future(goal, distance, distances(graph, cut) >= 0, nothing, nothing)
    must = ~avoiding(graph, goal, cut)
    if not cut.any():
        return Future(goal, distance, distance >= 0, must, must)
    beyond = goal | cut
    return Future(
        goal, distance, distances(graph, beyond) >= 0, must, ~avoiding(graph, beyond, nothing)
    )
