"""Strongly connected components, and the edges on cycles."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rebecsim.exploration.search import Edges

_MANY = 100_000
"""Transitions from which on it pays to leave out in arrays what lies on no cycle."""

_WORTH = 0.9
"""It is done again while less than this part is left."""

Adjacency = dict[int, list[tuple[int, int]]]
"""(Target, ordinal) of transitions of each state."""


def components(
    first: Sequence[int], target: Sequence[int], roots: Sequence[int]
) -> Iterator[list[int]]:
    """Give the strongly connected components reached from roots, each after those it leads to.

    Tarjan, "Depth-first search and linear graph algorithms", SIAM Journal on Computing 1 (1972),
    without recursion.
    """
    nodes = len(first) - 1
    index, low = [-1] * nodes, [0] * nodes
    waiting: list[int] = []
    is_waiting = bytearray(nodes)
    count = 0
    for root in roots:
        if index[root] >= 0:
            continue
        work = [(root, first[root])]
        while work:
            node, edge = work.pop()
            if index[node] < 0:
                index[node] = low[node] = count
                count += 1
                waiting.append(node)
                is_waiting[node] = True
            end = first[node + 1]
            while edge < end:
                other = target[edge]
                edge += 1
                if index[other] < 0:
                    work.append((node, edge))
                    work.append((other, first[other]))
                    break
                if is_waiting[other] and index[other] < low[node]:
                    low[node] = index[other]
            else:
                if low[node] == index[node]:
                    component = []
                    member = -1
                    while member != node:
                        member = waiting.pop()
                        is_waiting[member] = False
                        component.append(member)
                    yield component
                if work:
                    parent = work[-1][0]
                    low[parent] = min(low[parent], low[node])


def on_cycles(source: Sequence[int], target: Sequence[int]) -> list[int]:
    """Give the places of the edges that lie on cycles; the sources must ascend."""
    nodes = max([*source[-1:], *target], default=-1) + 1
    counts = [0] * nodes
    for node in source:
        counts[node] += 1
    label = [0] * nodes
    first = list(accumulate(counts, initial=0))
    for number, component in enumerate(components(first, target, range(nodes))):
        for node in component:
            label[node] = number
    ends = enumerate(zip(source, target, strict=True))
    return [place for place, (at, to) in ends if label[at] == label[to]]


def edges_on_cycles(edges: Edges) -> Adjacency:
    """Keep the edges that lie on cycles."""
    if len(edges[0]) >= _MANY:
        edges = _trimmed(edges)
    source, target, ordinal = (each.tolist() for each in edges)
    graph: Adjacency = {}
    for place in on_cycles(source, target):
        graph.setdefault(source[place], []).append((target[place], ordinal[place]))
    return graph


def _trimmed(edges: Edges) -> Edges:
    """Leave out most edges that lie on no cycle, and fast.

    Such are those from a state that no other leads to, and those to a state that leads to none, as
    often as that is worth it.
    """
    import numpy as np

    source, target, ordinal = (np.asarray(each, np.int64) for each in edges)
    before = len(source) + 1
    while 0 < len(source) < _WORTH * before:
        before = len(source)
        nodes = int(max(source.max(), target.max())) + 1
        leads, is_led_to = np.zeros((2, nodes), np.bool_)
        leads[source] = is_led_to[target] = True
        kept = is_led_to[source] & leads[target]
        source, target, ordinal = source[kept], target[kept], ordinal[kept]
    return source, target, ordinal
