"""The state space of a model as a graph: every state and transition that a search finds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from rebecsim.explore.exploring import Problem
from rebecsim.explore.limits import Limits
from rebecsim.explore.outcome import Breach
from rebecsim.explore.search import Progress, Search
from rebecsim.explore.transitions import Cause, State

__all__ = ["DEADLOCK", "Edge", "StateGraph", "breaches_of", "build_graph"]

DEADLOCK = Breach("deadlock", "no message is left")

_CHECK_EVERY = 256  # expanded states between two looks at clock and memory

Edge = tuple[Cause, int | Breach]
"""What happens, and the number of the state it leads to or what goes wrong."""


@dataclass(frozen=True)
class StateGraph:
    """States, numbered breadth first, and the transitions of each, in the order of `expand`.

    `edges` holds None for a state that a bound has kept from being expanded. `breaches` is all that
    is wrong with a state itself: properties that do not hold, or a deadlock.
    """

    search: Search
    edges: tuple[tuple[Edge, ...] | None, ...]
    breaches: tuple[tuple[Breach, ...], ...]


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
        breaches_of(problem, number, state, edges[number] == (), deadlock=deadlock)
        for number, state in enumerate(search.states)
    )
    return StateGraph(search, tuple(edges), breaches)


def _edges(search: Search, number: int) -> tuple[Edge, ...] | None:
    if search.is_beyond(search.states[number]):
        return None
    found = tuple(search.successors(number))
    search.transitions += sum(not isinstance(target, Breach) for _, target in found)
    return found


def breaches_of(
    problem: Problem, number: int, state: State, is_stuck: bool, *, deadlock: bool
) -> tuple[Breach, ...]:
    """Give all that is wrong with a state; properties are not evaluated in the initial one."""
    if not number and not is_stuck:
        return ()
    wrong = [each.breach for each in problem.properties if number and not each.holds(state)]
    if is_stuck and deadlock and not any(allowed(state) for allowed in problem.terminal):
        wrong.append(DEADLOCK)
    return tuple(wrong)
