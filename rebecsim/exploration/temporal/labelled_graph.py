"""The graph of all states as temporal formulas see it: endless, labelled, with durations.

**Endless.** All runs are infinite. A state in which nothing can happen any more repeats itself. A
breach in a transition ends a run too, and the state before it repeats itself. Bits of transitions
say what fairness is about: bit r, that rebec r acts, or could not; the last bit, that time passes,
or nothing happens any more.

**Labelled.** One pass finds the states in which propositions are true, for all formulas of a file.

**With durations.** A node of `Stretches` is a state, at the moment at which it is reached, or a
stretch of the time that passes after a state, in which all is as in it. A formula need not have one
value in the whole of such a stretch: what comes within five units is true in its last moments only.
There it is cut, so that the number of nodes grows with what happens, and with the formulas, but not
with the time that passes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rebecsim.errors import UserError
from rebecsim.exploration.compiled.compiled_search import PackedStates
from rebecsim.exploration.predicates import StateProposition
from rebecsim.exploration.state_graph import StateGraph
from rebecsim.exploration.states.transitions import State
from rebecsim.exploration.temporal.product_loops import ACTOR, TIME
from rebecsim.native.arrays import Integers, ranges

STAYS = -1
"""Stands for the number of an edge where a state repeats itself."""

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
        no_rebec = np.full(len(stays), rebecs + TIME, np.uint8)
        target = np.concatenate([target[goes_on], stays.astype(np.int32)])[order]
        edge = np.concatenate([edge[goes_on], np.full(len(stays), STAYS, np.int32)])[order]
        act = np.concatenate([act[goes_on], no_rebec])[order]
    return EndlessGraph(first, target, edge, act, idle, graph.cut, rebecs)


def _able(first: Integers, act: NDArray[np.uint8]) -> Integers:
    """Give the bits of who can act in each state."""
    able = np.zeros(len(first) - 1, np.int64)
    moves = first[:-1] < first[1:]
    if len(act):
        bits = np.int64(1) << np.arange(_MOST_BITS + 1, dtype=np.int64)
        able[moves] = np.bitwise_or.reduceat(bits[act], first[:-1][moves])
    return able


Labels = NDArray[np.int64]
"""For each state, a bit for each proposition."""


class Groups(NamedTuple):
    """States grouped by parts of them: a state of each group, and the group of each state."""

    first: Sequence[int]
    of_state: Integers


class Labelling:
    """Says in which states propositions are true."""

    def __init__(self, states: Sequence[State]) -> None:
        self._states = states
        self._groups: dict[frozenset[int], Groups] = {}

    def labels(self, propositions: Sequence[StateProposition]) -> Labels:
        """Say in which states which propositions are true.

        Each is evaluated once for states that do not differ in what it reads. Raises UserError
        where a proposition has no value.
        """
        labels = np.zeros(len(self._states), np.int64)
        for place, each in enumerate(propositions):
            groups = self._alike(each.reads)
            truth = [bool(each.holds(self._states[number])) for number in groups.first]
            labels |= (np.array(truth, np.int64) << place)[groups.of_state]
        return labels

    def _alike(self, reads: frozenset[int]) -> Groups:
        if reads not in self._groups:
            self._groups[reads] = self._grouped(reads)
        return self._groups[reads]

    def _grouped(self, reads: frozenset[int]) -> Groups:
        if isinstance(self._states, PackedStates):
            first, of_state = self._states.alike(reads)
            return Groups(first.tolist(), of_state)
        rebecs = sorted(reads)
        first_of: list[int] = []
        numbers: dict[tuple[object, ...], int] = {}
        of_state = np.empty(len(self._states), np.int64)
        for place, state in enumerate(self._states):
            number = numbers.setdefault(tuple([state[each] for each in rebecs]), len(numbers))
            if number == len(first_of):
                first_of.append(place)
            of_state[place] = number
        return Groups(first_of, of_state)


@dataclass(frozen=True)
class Stretches:
    """Nodes, and hops between them, by ascending sources.

    Attributes:
        state: the state in which, or after which, each node is; states come first.
        length: how many moments each stretch has; 0 for a state, which is one moment.
        source, target: of each hop.
        units: how long it takes. Out of a state 0 or 1, out of a stretch its length.
        edge: which transition of the endless graph it belongs to.
    """

    state: Integers
    length: Integers
    source: Integers
    target: Integers
    units: Integers
    edge: Integers

    @cached_property
    def _into(self) -> tuple[Integers, Integers]:
        """The hops by their targets, and where those into each node begin."""
        first = np.zeros(len(self.state) + 1, np.int64)
        np.cumsum(np.bincount(self.target, minlength=len(self.state)), out=first[1:])
        return np.argsort(self.target, kind="stable"), first

    def into(self, nodes: Integers) -> Integers:
        """Give the places of the hops into some nodes."""
        order, bounds = self._into
        first = bounds[nodes]
        return order[ranges(first, bounds[nodes + 1] - first)]

    def count_into(self, nodes: Integers) -> Integers:
        """Give how many hops lead into each of some nodes."""
        _, bounds = self._into
        return bounds[nodes + 1] - bounds[nodes]

    def out_of(self, node: int) -> range:
        """Give the places of the hops out of a node."""
        first, behind = np.searchsorted(self.source, [node, node + 1]).tolist()
        return range(first, behind)

    def cut(self, node: Integers, units: Integers) -> tuple[Stretches, Integers]:
        """Cut stretches after some units, and give which of the old nodes each new one is of."""
        order = np.lexsort((units, node))
        node, units = node[order], units[order]
        one = np.ones(1, np.bool_)
        once = np.append(one, (node[1:] != node[:-1]) | (units[1:] != units[:-1]))
        node, units = node[once], units[once]
        begins = np.append(one, node[1:] != node[:-1])
        ends = np.append(begins[1:], one)
        made = len(self.state) + np.arange(len(node))
        until = np.where(ends, self.length[node], np.append(units[1:], 0))
        hop = np.searchsorted(self.source, node)  # the only one out of each
        target = np.where(ends, self.target[hop], np.append(made[1:], 0))
        length, new_target, new_units = self.length.copy(), self.target.copy(), self.units.copy()
        length[node[begins]] = new_units[hop[begins]] = units[begins]
        new_target[hop[begins]] = made[begins]
        origin = np.concatenate([np.arange(len(self.state)), node])
        return Stretches(
            self.state[origin],
            np.concatenate([length, until - units]),
            np.concatenate([self.source, made]),
            np.concatenate([new_target, target]),
            np.concatenate([new_units, until - units]),
            np.concatenate([self.edge, self.edge[hop]]),
        ), origin


def stretches_of(graph: EndlessGraph, duration: Integers) -> Stretches:
    """Split transitions into units of time; `duration` says how long each takes."""
    states = len(graph.first) - 1
    source = np.repeat(np.arange(states, dtype=np.int64), np.diff(graph.first))
    target = graph.target.astype(np.int64)
    long = np.flatnonzero(duration > 1)  # the first unit leads to a stretch, which takes the rest
    made = states + np.arange(len(long))
    new_target = target.copy()
    new_target[long] = made
    rest = duration[long] - 1
    return Stretches(
        np.concatenate([np.arange(states), source[long]]),
        np.concatenate([np.zeros(states, np.int64), rest]),
        np.concatenate([source, made]),
        np.concatenate([new_target, target[long]]),
        np.concatenate([np.minimum(duration, 1), rest]),
        np.concatenate([np.arange(len(target)), long]),
    )
