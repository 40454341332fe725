"""Strongly connected components, and what lies on cycles."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate


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
