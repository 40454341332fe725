"""Compute what is possible and what is inevitable, for every state and breach.

Runs are *fair* to rebecs: a rebec that can always act does act (weak fairness). Where time passes
that needs no thought: every rebec that can act at a time has done so before it moves on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rebecsim.exploration.cycles import components
from rebecsim.exploration.races.step_graph import Arrays, Graph
from rebecsim.native.arrays import Flags, Integers, ranges


def reaching(graph: Graph, goal: Flags) -> Flags:
    """Say from which nodes a node of the goal can be reached, those of the goal included."""
    return distances(graph, goal) >= 0


def distances(graph: Graph, goal: Flags) -> Integers:
    """Give the fewest edges from each node to the goal; -1 where it cannot be reached."""
    found = np.where(goal, 0, -1).astype(np.int64)
    front = np.flatnonzero(goal)
    if not len(front):
        return found
    first, sources = graph.before
    steps = 0
    while len(front):
        steps += 1
        rows = ranges(first[front], first[front + 1] - first[front])
        before = distinct(sources[rows])
        front = before[found[before] < 0]
        found[front] = steps
    return found


def distinct(numbers: Integers) -> Integers:
    """Give the different numbers, sorted."""
    ordered = np.sort(numbers)
    kept = np.ones(len(ordered), dtype=bool)
    kept[1:] = ordered[1:] != ordered[:-1]
    return ordered[kept]


def avoiding(graph: Graph, goal: Flags, ends: Flags) -> Flags:
    """Say from which nodes a fair run never meets the goal.

    A run may stay at one of the `ends`, beside nodes without edges.
    """
    stays = (ends | (np.diff(graph.first) == 0)) & ~goal
    free = reaching(_without(graph, goal), stays)
    open_ = ~(free | goal)
    if open_.any():
        inner = _within(graph, open_)
        enabled = _all_owners(graph)
        rest = np.flatnonzero(open_)
        loops = np.zeros(len(graph), dtype=bool)
        loops[inner.target[inner.target == inner.source]] = True
        seeds = np.zeros(len(graph), dtype=bool)
        for component in components(inner.first.tolist(), inner.target.tolist(), rest.tolist()):
            is_cycle = len(component) > 1 or loops[component[0]]
            if is_cycle and _is_fair(inner, enabled, component):
                seeds[component] = True
        if seeds.any():
            free |= reaching(_without(graph, goal), seeds | free)
    return free


def _without(graph: Graph, goal: Flags) -> Graph:
    """Leave out the edges that leave the goal or lead to it."""
    source = graph.source
    return _filtered(graph, source, ~(goal[source] | goal[graph.target]))


def _within(graph: Graph, nodes: Flags) -> Graph:
    source = graph.source
    return _filtered(graph, source, nodes[source] & nodes[graph.target])


def _filtered(graph: Graph, source: Integers, kept: Flags) -> Graph:
    counts = np.bincount(source[kept], minlength=len(graph))
    first = np.concatenate(([0], np.cumsum(counts))).astype(np.int64)
    return Graph(first, graph.target[kept], graph.owners[kept], graph.duration[kept])


def _all_owners(graph: Graph) -> Integers:
    """Give the rebecs that can act in each node."""
    enabled = np.zeros(len(graph), dtype=np.int64)
    np.bitwise_or.at(enabled, graph.source, graph.owners)
    return enabled


def _is_fair(inner: Graph, enabled: Integers, component: Sequence[int]) -> bool:
    """Whether a run can stay in a component for ever and be fair to all rebecs."""
    nodes = np.array(component, dtype=np.int64)
    edges = ranges(inner.first[nodes], inner.first[nodes + 1] - inner.first[nodes])
    member = np.zeros(len(inner), dtype=bool) if len(nodes) > 1 else None
    if member is None:
        edges = edges[inner.target[edges] == nodes[0]]
    else:
        member[nodes] = True
        edges = edges[member[inner.target[edges]]]
    if not len(edges):
        return False
    if inner.duration[edges].any():
        return True
    always = int(np.bitwise_and.reduce(enabled[nodes]))
    acting = int(np.bitwise_or.reduce(inner.owners[edges]))
    return not always & ~acting


def longest(graph: Graph) -> tuple[Integers, Integers]:
    """Give the most edges and the most time from each node until all runs have ended.

    Cycles, where they are none of fair runs, count nothing.
    """
    steps, time = np.zeros((2, len(graph)), dtype=np.int64)
    first, target = graph.first.tolist(), graph.target.tolist()
    duration = graph.duration.tolist()
    of: dict[int, int] = {}
    for number, component in enumerate(components(first, target, range(len(graph)))):
        for node in component:
            of[node] = number
        most = latest = 0
        for node in component:
            for edge in range(first[node], first[node + 1]):
                other = target[edge]
                if of[other] != number:
                    most = max(most, 1 + int(steps[other]))
                    latest = max(latest, duration[edge] + int(time[other]))
        steps[component], time[component] = most, latest
    return steps, time


@dataclass(frozen=True)
class Future:
    """Where one kind of breach is possible or inevitable, for each state and breach.

    `meets`: it is there. `distance` is the fewest steps to it, -1 if there is no way to it within
    the limits; `maybe_possible`: there may be a way behind them. `inevitable`: all fair runs lead
    to it; `maybe_inevitable`: unless there is a way out behind the limits.
    """

    meets: Flags
    distance: Integers
    maybe_possible: Flags
    inevitable: Flags
    maybe_inevitable: Flags

    @cached_property
    def possible(self) -> Flags:
        """Where some way leads to it."""
        return self.distance >= 0

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
    """Compute the futures of all states."""
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
