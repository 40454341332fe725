"""Find the states in which runs end: no message is left and no message server is under way."""

from __future__ import annotations

from rebecsim.exploration.graphs.components import edges_on_cycles
from rebecsim.exploration.paths.path import path_along
from rebecsim.exploration.result import Ends
from rebecsim.exploration.search import Search

_MOST_LOOKED_AT = 500_000
"""The most transitions that are worked out again to see whether every run ends."""


def ends_of(search: Search) -> Ends | None:
    """Describe the states in which runs end; None if a search has found none."""
    first = search.first_end
    if first is None:
        return None
    through = search.states_to(first)[1:]
    path = path_along(*search.followed(search.way_to(first), through))
    return Ends(search.ends, path, _every_run_ends(search))


def _every_run_ends(search: Search) -> bool | None:
    """Whether no run goes on for ever, which is one that goes round; None if not decided."""
    if search.bounds or search.frontier or search.system.partial_order is not None:
        return None
    if search.transitions == len(search.states):
        return True  # a tree, since each state but the initial one is reached by one transition
    if search.transitions > _MOST_LOOKED_AT:
        return None
    edges = search.edges(still=False)
    return None if edges is None else not edges_on_cycles(edges)
