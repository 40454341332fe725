"""The graph of all states for temporal formulas: all its runs are infinite.

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
from rebecsim.exploration.temporal.product_loops import ACTOR, TIME
from rebecsim.native.arrays import Integers

STAYS = -1
"""In the place of the number of an edge: the state repeats itself."""

_MOST_BITS = 62


class EndlessGraph(NamedTuple):
    """A graph of which every state that was expanded has a successor.

    Attributes:
        first: the transitions of state s are those from `first[s]` up to `first[s + 1]`.
        target: the state that each leads to.
        edge: its number in the graph of states, or STAYS.
        act: which rebec acts in it, `rebecs` for none; `TIME` is added where time passes.
        idle: for each state, the bits of the rebecs that cannot act in it.
        is_cut: which states were not expanded.
        rebecs: how many rebecs there are; the bit of time is the one after theirs.
    """

    first: Integers
    target: NDArray[np.int32]
    edge: NDArray[np.int32]
    act: NDArray[np.uint8]
    idle: Integers
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

    def mark(self, state: int, transition: int) -> int:
        """Give the bits of a transition of a state."""
        act = int(self.act[transition])
        found = int(self.idle[state])
        if act & ACTOR != self.rebecs:
            found |= 1 << (act & ACTOR)
        return found | (self.advancing if act & TIME else 0)


def endless(graph: StateGraph) -> EndlessGraph:
    """Make runs endless. Raises UserError for a model of too many rebecs, or states."""
    rebecs = len(graph.search.system.runner.rebecs)
    if rebecs >= _MOST_BITS:
        raise UserError(
            f"temporal formulas are judged for at most {_MOST_BITS - 1} rebecs; these are {rebecs}"
        )
    states = len(graph)
    if max(states, len(graph.target)) >= np.iinfo(np.int32).max:
        raise UserError(f"temporal formulas cannot be judged on a graph of {states} states")
    owners = np.array([each.owner for each in graph.services] + [rebecs], np.uint8)
    act: NDArray[np.uint8] = owners[graph.service]  # NO_SERVICE, -1, is the last one
    idle = ~_able(graph.first, act) & ((1 << rebecs) - 1)
    act[graph.duration > 0] += TIME

    goes_on = graph.target < states
    leads = np.zeros(states, np.bool_)
    leads[graph.source[goes_on]] = True
    stays = np.flatnonzero(~leads & ~graph.cut)
    target, edge = graph.target.astype(np.int32), np.arange(len(graph.target), dtype=np.int32)
    first = graph.first
    if len(stays) or not goes_on.all():
        sources = np.concatenate([graph.source[goes_on], stays])
        order = np.argsort(sources, kind="stable")
        first = np.zeros(states + 1, np.int64)
        np.cumsum(np.bincount(sources, minlength=states), out=first[1:])
        idle[stays] = (1 << rebecs) - 1
        nobody = np.full(len(stays), rebecs + TIME, np.uint8)
        target = np.concatenate([target[goes_on], stays.astype(np.int32)])[order]
        edge = np.concatenate([edge[goes_on], np.full(len(stays), STAYS, np.int32)])[order]
        act = np.concatenate([act[goes_on], nobody])[order]
    return EndlessGraph(first, target, edge, act, idle, graph.cut, rebecs)


def _able(first: Integers, act: NDArray[np.uint8]) -> Integers:
    """Give the bits of who can act in each state."""
    able = np.zeros(len(first) - 1, np.int64)
    moves = first[:-1] < first[1:]
    if len(act):
        bits = np.int64(1) << np.arange(_MOST_BITS + 1, dtype=np.int64)
        able[moves] = np.bitwise_or.reduceat(bits[act], first[:-1][moves])
    return able
