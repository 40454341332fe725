"""Find cycles without time (Zeno runs): a timed model can repeat them for ever at one moment.

Such a cycle is legal (a Zeno run), but hardly ever meant: a simulation of it never gets any
further. It is looked for in two steps. What goes on for ever without time is a cycle of messages,
each sent while the one before it was served and served at once. If message servers, as far as they
have been run, have no such cycle, states have none either; that costs next to nothing and settles
nearly all models. Otherwise the transitions without time are worked out once more, and the
strongly connected components of the graph that they make are looked at.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from rebecsim.exploration.graphs.components import Adjacency, edges_on_cycles, on_cycles
from rebecsim.exploration.paths.path import Path, path_along
from rebecsim.exploration.search import Search
from rebecsim.exploration.states.remembering import Place

_LOOKS = 1_000_000
"""The most transitions that are looked at to find a shorter cycle."""


class Verdict(NamedTuple):
    """A path that goes round without time, and whether all that was expanded has been looked at."""

    found: Path | None
    is_decided: bool


def find_standstill(search: Search) -> Verdict:
    """Look for a cycle without time among the states that were expanded."""
    system = search.system
    if system.mode == "core" or not _has_cycle(search.sent_at_once()):
        return Verdict(None, is_decided=True)
    edges = search.edges(still=True)
    if edges is None:
        return Verdict(None, is_decided=False)
    graph = edges_on_cycles(edges)
    if not graph:
        return Verdict(None, is_decided=True)
    cycle = _shortest_cycle(graph)
    begins = cycle[0][0]
    way = search.way_to(begins)
    ordinals = (*way, *(ordinal for _, ordinal in cycle))
    through = [*search.states_to(begins)[1:], *(state for state, _ in cycle[1:]), begins]
    return Verdict(path_along(*search.followed(ordinals, through), loop=len(way)), is_decided=True)


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
    left = _LOOKS
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
                return list(_back(came, start, (at, by))), looks
            if to not in depth:
                depth[to] = depth[at] + 1
                came[to] = at, by
                pending.append(to)
    return [], looks


def _back(
    came: dict[int, tuple[int, int]], start: int, last: tuple[int, int]
) -> Iterator[tuple[int, int]]:
    steps = [last]
    while steps[-1][0] != start:
        steps.append(came[steps[-1][0]])
    yield from reversed(steps)
