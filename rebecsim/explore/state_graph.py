"""The state space of a model as a graph: every state and transition that a search finds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from rebecsim.explore.exploring import Problem
from rebecsim.explore.limits import Limits
from rebecsim.explore.outcome import Breach
from rebecsim.explore.search import Progress, Search
from rebecsim.explore.transitions import Cause

__all__ = ["Edge", "StateGraph", "build_graph"]

_CHECK_EVERY = 256  # expanded states between two looks at clock and memory

Edge = tuple[Cause, int | Breach]
"""What happens, and the number of the state it leads to or what goes wrong."""


@dataclass(frozen=True)
class StateGraph:
    """States, numbered breadth first, and the transitions of each, in the order of `expand`.

    `edges` holds None for a state that a bound has kept from being expanded. `breaches` is what is
    wrong with a state itself: a property that does not hold, or a deadlock.
    """

    search: Search
    edges: tuple[tuple[Edge, ...] | None, ...]
    breaches: tuple[Breach | None, ...]


def build_graph(
    problem: Problem,
    *,
    deadlock: bool = True,
    limits: Limits | None = None,
    progress: Callable[[Progress], None] | None = None,
    is_interrupted: Callable[[], bool] = lambda: False,
) -> StateGraph:
    """Expand every state within the limits.

    Unlike a search for violations this goes on behind states in which a property does not hold.
    Raises EndlessError for a message server that does not end.
    """
    search = Search(problem.system, limits=limits, progress=progress, is_interrupted=is_interrupted)
    edges: list[tuple[Edge, ...] | None] = []
    with search.expanding():
        while len(edges) < len(search.states):
            if not len(edges) % _CHECK_EVERY:
                search.check_limits()
            edges.append(_edges(search, len(edges)))
            search.expanded = len(edges)
    edges += [None] * (len(search.states) - len(edges))
    breaches = tuple(
        _breach(problem, number, search, edges[number], deadlock)
        for number in range(len(search.states))
    )
    return StateGraph(search, tuple(edges), breaches)


def _edges(search: Search, number: int) -> tuple[Edge, ...] | None:
    if search.is_beyond(search.states[number]):
        return None
    found = tuple(search.successors(number))
    search.transitions += sum(not isinstance(target, Breach) for _, target in found)
    return found


def _breach(
    problem: Problem,
    number: int,
    search: Search,
    edges: tuple[Edge, ...] | None,
    deadlock: bool,
) -> Breach | None:
    state = search.states[number]
    if number:  # properties are not evaluated in the initial state
        for each in problem.properties:
            if not each.holds(state):
                return each.breach
    if edges == () and deadlock and not any(allowed(state) for allowed in problem.terminal):
        return Breach("deadlock", "no message is left")
    return None
