"""The timed transition system moment by moment: time in which nothing happens passes in units.

A node is a state, or a moment of the time that passes between two states, in which all is as in the
first of them. A transition takes no time, or one unit. A state in which nothing can happen any more
lets time pass for ever.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rebecsim.exploration.temporal.labelled import EndlessGraph
from rebecsim.native.rows import ranges

Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]

MOST_MOMENTS = 5_000_000


class TooManyMomentsError(Exception):
    """Time passes in units so small that the moments do not fit."""


class Hops(NamedTuple):
    """Transitions of one kind, by ascending sources, and again by ascending targets.

    Attributes:
        source, target: of each.
        into: the places of the transitions in the order of their targets.
        first_into: those into node n are `into[first_into[n]:first_into[n + 1]]`.
    """

    source: Integers
    target: Integers
    into: Integers
    first_into: Integers

    def into_nodes(self, nodes: Integers) -> Integers:
        """Give the places of the transitions into some nodes."""
        first = self.first_into[nodes]
        return self.into[ranges(first, self.first_into[nodes + 1] - first)]

    def out_of(self, node: int) -> range:
        """Give the places of the transitions out of a node."""
        first, behind = np.searchsorted(self.source, [node, node + 1]).tolist()
        return range(first, behind)


@dataclass(frozen=True)
class Moments:
    """The nodes and transitions of a system, moment by moment.

    Attributes:
        state: the state in which, or after which, each node is; states come first.
        at_once: transitions that take no time.
        later: those that take a unit.
        edge: for each of `at_once`, and then of `later`, which of the endless graph it belongs to.
    """

    state: Integers
    at_once: Hops
    later: Hops
    edge: tuple[Integers, Integers]

    @cached_property
    def all_hops(self) -> Hops:
        """Transitions of both kinds."""
        sources = np.concatenate([self.at_once.source, self.later.source])
        targets = np.concatenate([self.at_once.target, self.later.target])
        return _hops(sources, targets, len(self.state))[0]


def moments_of(graph: EndlessGraph, duration: Integers) -> Moments:
    """Take a graph apart; `duration` says how long each of its transitions takes.

    Raises TooManyMomentsError for more than `MOST_MOMENTS` nodes.
    """
    states = len(graph.first) - 1
    source = np.repeat(np.arange(states, dtype=np.int64), np.diff(graph.first))
    lasting = np.flatnonzero(duration > 0)
    between = duration[lasting] - 1
    count = int(between.sum())
    if states + count > MOST_MOMENTS:
        raise TooManyMomentsError
    nodes = states + count
    begins = states + np.cumsum(between) - between  # the first moment of each transition
    state = np.concatenate([np.arange(states), np.repeat(source[lasting], between)])
    chain = np.arange(states, nodes, dtype=np.int64)
    last = np.cumsum(between) + states - 1
    is_last = np.zeros(nodes, np.bool_)
    is_last[last[between > 0]] = True
    inner = chain[~is_last[chain]]
    of_chain = np.repeat(lasting, between)
    later_source = np.concatenate([source[lasting], inner, last[between > 0]])
    later_target = np.concatenate(
        [
            np.where(between > 0, begins, graph.target[lasting]),
            inner + 1,
            graph.target[lasting[between > 0]],
        ]
    )
    later_edge = np.concatenate([lasting, of_chain[inner - states], lasting[between > 0]])
    at_once = np.flatnonzero(duration == 0)
    later, order = _hops(later_source, later_target, nodes)
    at_once_target = graph.target[at_once].astype(np.int64)
    now, now_order = _hops(source[at_once], at_once_target, nodes)
    return Moments(state, now, later, (at_once[now_order], later_edge[order]))


def _hops(source: Integers, target: Integers, nodes: int) -> tuple[Hops, Integers]:
    order = np.argsort(source, kind="stable")
    source, target = source[order], target[order]
    into = np.argsort(target, kind="stable")
    first_into = np.zeros(nodes + 1, np.int64)
    np.cumsum(np.bincount(target, minlength=nodes), out=first_into[1:])
    return Hops(source, target, into, first_into), order
