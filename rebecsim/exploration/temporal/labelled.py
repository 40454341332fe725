"""The graph of all states as temporal formulas are judged on it: runs of it have no end.

A state in which nothing can happen any more repeats itself. What goes wrong in a transition ends a
run too, and the state before it repeats itself. Bits of transitions say what fairness is about: bit
r, that rebec r acts, or could not; the last bit, that time passes, or nothing happens any more.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rebecsim.errors import UserError
from rebecsim.exploration.graphs.state_graph import StateGraph
from rebecsim.exploration.recording import NO_SERVICE

Integers = NDArray[np.int64]

STAYS = -1
"""In the place of the number of an edge: the state repeats itself."""

_MOST_BITS = 62


class EndlessGraph(NamedTuple):
    """A graph of which every state that was expanded has a successor.

    Attributes:
        first: the transitions of state s are those from `first[s]` up to `first[s + 1]`.
        target: the state that each leads to.
        edge: its number in the graph of states, or STAYS.
        marks: its bits.
        is_cut: which states were not expanded.
        rebecs: how many rebecs there are; the bit of time is the one after theirs.
    """

    first: Integers
    target: Integers
    edge: Integers
    marks: Integers
    is_cut: NDArray[np.bool_]
    rebecs: int

    @property
    def fair(self) -> int:
        """The bits of a run that is fair to all rebecs."""
        return (1 << self.rebecs) - 1

    @property
    def advancing(self) -> int:
        """The bit of a run in which time goes on."""
        return 1 << self.rebecs


def endless(graph: StateGraph) -> EndlessGraph:
    """Make runs endless. Raises UserError for a model of too many rebecs."""
    rebecs = len(graph.search.system.runner.rebecs)
    if rebecs >= _MOST_BITS:
        raise UserError(
            f"temporal formulas are judged for at most {_MOST_BITS - 1} rebecs; these are {rebecs}"
        )
    states, source = len(graph), graph.source
    owners = np.array([each.owner for each in graph.services] + [rebecs], np.int64)
    actors = np.int64(1) << owners[graph.service]  # NO_SERVICE, -1, is the last one
    can_act = np.zeros(states, np.int64)
    np.bitwise_or.at(can_act, source, actors)
    everybody = np.int64((1 << rebecs) - 1)
    takes_time = (graph.duration > 0).astype(np.int64) << rebecs
    acts = np.where(graph.service == NO_SERVICE, 0, actors)
    marks = (acts & everybody) | (~can_act[source] & everybody) | takes_time

    goes_on = graph.target < states
    leads = np.zeros(states, np.bool_)
    leads[source[goes_on]] = True
    stays = np.flatnonzero(~leads & ~graph.cut)
    sources = np.concatenate([source[goes_on], stays])
    order = np.argsort(sources, kind="stable")
    first = np.zeros(states + 1, np.int64)
    np.cumsum(np.bincount(sources, minlength=states), out=first[1:])
    alone = np.full(len(stays), everybody | np.int64(1 << rebecs))
    columns = (
        np.concatenate([graph.target[goes_on], stays])[order],
        np.concatenate([np.flatnonzero(goes_on), np.full(len(stays), STAYS)])[order],
        np.concatenate([marks[goes_on], alone])[order],
    )
    return EndlessGraph(first, *columns, graph.cut, rebecs)
