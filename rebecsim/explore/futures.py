"""What can still come of a state: the ends that runs from it can have, and what can go wrong.

The ends of a state space are its bottom strongly connected components: sets of states that no run
leaves again, of which a run sooner or later visits every state if it is fair. A state without
transitions is one of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rebecsim.explore.outcome import Breach
from rebecsim.explore.state_graph import StateGraph

__all__ = ["Futures", "futures"]


@dataclass(frozen=True)
class Futures:
    """For each state a set of ends and breaches that can be reached, as the bits of an integer.

    `breaches` numbers the bits of breaches, `opened` has the bits of states that were not
    expanded, so that more may come of them.
    """

    of_state: tuple[int, ...]
    breaches: dict[Breach, int]
    opened: int

    def bit(self, breach: Breach) -> int:
        """Give the bit of a breach."""
        return self.breaches[_kind(breach)]

    @property
    def wrong(self) -> int:
        """The bits of all breaches."""
        return sum(self.breaches.values())

    def named(self, bits: int) -> tuple[Breach, ...]:
        """Give the breaches in a set."""
        return tuple(breach for breach, bit in self.breaches.items() if bits & bit)


def _kind(breach: Breach) -> Breach:
    """Leave out texts that hold times and arguments: they are of one run."""
    if breach.verdict in ("assertion failed", "property violated"):
        return breach
    return Breach(breach.verdict, "")


def futures(graph: StateGraph) -> Futures:
    """Work out the futures of every state: linear in states and transitions."""
    successors = [
        [] if edges is None else [target for _, target in edges if isinstance(target, int)]
        for edges in graph.edges
    ]
    breaches: dict[Breach, int] = {}
    for breach in _all_breaches(graph):
        breaches.setdefault(_kind(breach), 1 << len(breaches))
    next_bit = 1 << len(breaches)
    opened = 0
    of_state = [0] * len(successors)
    same: dict[int, int] = {}  # one object for equal sets, of which there are few
    for component in components(successors):
        bits, left = 0, False
        members = set(component)
        for number in component:
            for target in successors[number]:
                if target not in members:
                    left = True
                    bits |= of_state[target]
            bits |= _own_breaches(graph, number, breaches)
        if not left:
            bits |= next_bit
            if graph.edges[component[0]] is None:
                opened |= next_bit
            next_bit <<= 1
        bits = same.setdefault(bits, bits)
        for number in component:
            of_state[number] = bits
    return Futures(tuple(of_state), breaches, opened)


def _all_breaches(graph: StateGraph) -> Iterator[Breach]:
    yield from (breach for breach in graph.breaches if breach is not None)
    for edges in graph.edges:
        yield from (target for _, target in edges or () if isinstance(target, Breach))


def _own_breaches(graph: StateGraph, number: int, bits: dict[Breach, int]) -> int:
    own = graph.breaches[number]
    found = 0 if own is None else bits[_kind(own)]
    for _, target in graph.edges[number] or ():
        if isinstance(target, Breach):
            found |= bits[_kind(target)]
    return found


def components(successors: Sequence[Sequence[int]]) -> Iterator[list[int]]:
    """Give the strongly connected components of a graph, each after those that it leads to.

    Tarjan, "Depth-first search and linear graph algorithms", SIAM Journal on Computing 1 (1972),
    without recursion.
    """
    unseen = -1
    index = [unseen] * len(successors)
    low = [0] * len(successors)
    waiting: list[int] = []
    is_waiting = bytearray(len(successors))
    count = 0
    for root in range(len(successors)):
        if index[root] != unseen:
            continue
        work = [(root, 0)]
        while work:
            node, place = work.pop()
            if place == 0:
                index[node] = low[node] = count
                count += 1
                waiting.append(node)
                is_waiting[node] = True
            for position in range(place, len(successors[node])):
                target = successors[node][position]
                if index[target] == unseen:
                    work += [(node, position + 1), (target, 0)]
                    break
                if is_waiting[target]:
                    low[node] = min(low[node], low[target])
            else:
                if low[node] == index[node]:
                    yield _popped(waiting, is_waiting, node)
                if work:
                    parent = work[-1][0]
                    low[parent] = min(low[parent], low[node])


def _popped(waiting: list[int], is_waiting: bytearray, root: int) -> list[int]:
    component = []
    while True:
        node = waiting.pop()
        is_waiting[node] = False
        component.append(node)
        if node == root:
            return component
