"""The timed transition system as a graph with durations: time in which nothing happens is a jump.

A node is a state, at the moment at which it is reached, or a stretch of the time that passes after
a state, in which all is as in it. A formula need not have one value in the whole of such a stretch:
what comes within five units is true in its last moments only. There it is cut, so that the number
of nodes grows with what happens, and with the formulas, but not with the time that passes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rebecsim.exploration.temporal.labelled import EndlessGraph
from rebecsim.native.arrays import Integers
from rebecsim.native.rows import ranges


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
    """Take a graph apart; `duration` says how long each of its transitions takes."""
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
