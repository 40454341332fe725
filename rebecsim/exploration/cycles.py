"""Cycles of a state space, and why a search does not end.

**Cycles without time** (Zeno runs): a timed model can repeat them for ever at one moment. Such a
cycle is legal, but hardly ever meant: a simulation of it never gets any further. It is looked for
in two steps. An endless sequence without time is a cycle of messages, each sent while the one
before it was served, and served at once. If the message servers that were run have no such cycle,
states have none either; that costs next to nothing and settles nearly all models. Otherwise the
transitions without time are computed once more, and the strongly connected components of their
graph are searched.

**Ends**: states with no message left and no message server suspended.

**Growth**: a search that was cut off may have been near its end, or there is none. A variable that
took ever new values up to the end of the longest path makes the state space grow with the length of
paths, and if it never repeats, there is no end. Arguments of messages and bags can grow as well.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from rebecsim.exploration.paths import Path, path_along, written_name
from rebecsim.exploration.result import Ends
from rebecsim.exploration.search import Search
from rebecsim.exploration.states.memoized_runner import Place
from rebecsim.exploration.states.rebec_states import Local
from rebecsim.extras import is_installed

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
    if len(edges[0]) >= _MANY and is_installed("numpy"):
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


_MOST_LOOKED_AT = 500_000
"""The most transitions recomputed to decide whether every run ends."""


def ends_of(search: Search) -> Ends | None:
    """Describe the states in which runs end; None if a search has found none."""
    first = search.first_end
    if first is None:
        return None
    through = search.states_to(first)[1:]
    path = path_along(*search.followed(search.way_to(first), through))
    return Ends(search.ends, path, _every_run_ends(search))


def _every_run_ends(search: Search) -> bool | None:
    """Whether no run is endless, which means no cycle; None if not decided."""
    if search.bounds or search.frontier or search.system.partial_order is not None:
        return None
    if search.transitions == len(search.states):
        return True  # a tree, since each state but the initial one is reached by one transition
    if search.transitions > _MOST_LOOKED_AT:
        return None
    edges = search.edges(False)
    return None if edges is None else not edges_on_cycles(edges)


_MOST_TRANSITIONS = 1_000_000
"""The most transitions searched for a shorter cycle."""


class ZenoVerdict(NamedTuple):
    """A path that ends in a cycle without time, and whether all expanded states were searched."""

    found: Path | None
    is_decided: bool


def find_zeno_cycle(search: Search) -> ZenoVerdict:
    """Look for a cycle without time among the states that were expanded."""
    system = search.system
    if system.mode == "core" or not _has_cycle(search.sent_at_once()):
        return ZenoVerdict(None, is_decided=True)
    edges = search.edges(True)
    if edges is None:
        return ZenoVerdict(None, is_decided=False)
    graph = edges_on_cycles(edges)
    if not graph:
        return ZenoVerdict(None, is_decided=True)
    cycle = _shortest_cycle(graph)
    begins = cycle[0][0]
    way = search.way_to(begins)
    ordinals = (*way, *(ordinal for _, ordinal in cycle))
    through = [*search.states_to(begins)[1:], *(state for state, _ in cycle[1:]), begins]
    return ZenoVerdict(
        path_along(*search.followed(ordinals, through), loop=len(way)), is_decided=True
    )


def _has_cycle(pairs: Iterable[tuple[Place, Place]]) -> bool:
    ordered = sorted(pairs)
    places = sorted({place for pair in ordered for place in pair})
    numbers = {place: number for number, place in enumerate(places)}
    return bool(on_cycles([numbers[by] for by, _ in ordered], [numbers[to] for _, to in ordered]))


def _shortest_cycle(graph: Adjacency) -> list[tuple[int, int]]:
    """Give a cycle as (state, ordinal): the shortest, if not too many have to be looked at.

    It begins with the state of the smallest number.
    """
    best: list[tuple[int, int]] = []
    left = _MOST_TRANSITIONS
    for start in sorted(graph):
        found, looks = _cycle_from(graph, start, len(best) - 1 if best else len(graph))
        if found:
            best = found
        left -= looks
        if len(best) == 1 or (best and left < 0):
            break
    first = best.index(min(best))
    return best[first:] + best[:first]


def _cycle_from(graph: Adjacency, start: int, most: int) -> tuple[list[tuple[int, int]], int]:
    """Give a shortest cycle through a state, of at most so many steps, and how many were tried."""
    came: dict[int, tuple[int, int]] = {}
    depth = {start: 0}
    pending = deque([start])
    looks = 0
    while pending:
        at = pending.popleft()
        if depth[at] == most:
            break
        for to, by in graph.get(at, ()):
            looks += 1
            if to == start:
                steps = [(at, by)]
                while steps[-1][0] != start:
                    steps.append(came[steps[-1][0]])
                return steps[::-1], looks
            if to not in depth:
                depth[to] = depth[at] + 1
                came[to] = at, by
                pending.append(to)
    return [], looks


_MOST_STATES = 1_000
"""The most states of the path that are compared."""

_FEWEST = 50
"""The different values from which on something counts as growing."""


def growing(search: Search) -> tuple[str, ...]:
    """Name what has had ever new values on the way to the state found last.

    Variables as `rebec.variable`, arguments as `argument 1 of rebec.server`, bags as `the bag of
    rebec`.
    """
    way = search.states_to(len(search.states) - 1)
    looked_at = way[:: max(1, -(-len(way) // _MOST_STATES))]
    values: dict[str, list[object]] = {}
    for number in looked_at:
        for name, value in _values(search, number):
            values.setdefault(name, []).append(value)
    return tuple(name for name, seen in values.items() if _grows(seen))


def _grows(seen: list[object]) -> bool:
    """Whether there are many values, and among the last tenth some that were not there before."""
    late = len(seen) - len(seen) // 10
    before = set(seen[:late])
    return len(before) >= _FEWEST and not before.issuperset(seen[late:])


def _values(search: Search, number: int) -> Iterator[tuple[str, object]]:
    runner = search.system.runner
    locals_: Iterable[Local] = search.states[number][: len(runner.rebecs)]
    for rebec, local in zip(runner.rebecs, locals_, strict=True):
        names = runner.names[local.owner]
        hidden = search.system.locals.left_out(local.owner)
        for place, (name, value) in enumerate(zip(names, local.variables, strict=True)):
            if place not in hidden:
                yield f"{rebec}.{written_name(rebec, name)}", value
        yield f"the bag of {rebec}", len(local.bag)
        for message in local.bag:
            server = runner.server_of(local.owner, message).name
            for place, value in enumerate(message.arguments, 1):
                yield f"argument {place} of {rebec}.{server}", value
