"""The states of a cluster up to a tick, found in the order of ticks."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from rebecsim.clusters.dispatch.orders.bounds import Rest
from rebecsim.clusters.dispatch.orders.loops import (
    ACTIONS,
    CHOICES,
    NODES,
    RECEIPTS,
    UNKNOWN,
    Graph,
    enter_all,
    expand,
    spread,
)
from rebecsim.clusters.dispatch.orders.states import OrderedCluster

Entry = TypeVar("Entry", bound=np.generic)

Integers = NDArray[np.int64]
Numbers = NDArray[np.float64]

_SMALLEST = 1 << 10
_FULLEST = 2
"""Places of a table for each row that it has room for, at least."""

_SHARES = np.array([0.0, 0.5, 1.0])
"""How often ticks are served first, beside the random order, in the runs by which it is told how
likely states are: so those are not forgotten in which work piles up."""

_RARE = ((0.3, 0.0), (0.6, 1e-12), (0.8, 1e-10), (0.9, 1e-8), (0.97, 1e-6), (1.0, 1e-4))
"""How likely states must be that are looked at, once there are such shares of all that may be."""


@dataclass(frozen=True)
class Found:
    """States that were found.

    Attributes:
        cluster: whose states.
        graph: how they follow each other; number 0 is before the first tick, when nothing comes.
        first_seen: the tick at which each is reached first.
        known: the ticks up to which every state was looked at; those of the cluster if all were.
    """

    cluster: OrderedCluster
    graph: Graph
    first_seen: NDArray[np.int32]
    known: int

    @property
    def states(self) -> int:
        """How many states there are at ticks."""
        return int(self.graph.counts[NODES])

    def rest(self, last: int) -> Rest:
        """Give what bounds states that were not looked at, up to a last tick."""
        if self._rest.last != last:
            self.__dict__["_rest"] = Rest(self.cluster, last)
        return self._rest

    @cached_property
    def _rest(self) -> Rest:
        return Rest(self.cluster, self.cluster.last)

    @property
    def figures(self) -> dict[str, int]:
        """How many states there are, how many with the jobs that come, and ways to go on."""
        counts = self.graph.counts
        return {
            "states": int(counts[NODES]),
            "states_with_arrivals": int(counts[CHOICES]),
            "actions": int(counts[ACTIONS]),
        }


def find_states(cluster: OrderedCluster, most: int, all_or_none: bool = False) -> Found:
    """Find the states that can be reached up to the last tick; about so many at most.

    Where there are more, those that are least likely are not looked at. With `all_or_none` that
    is of no use, and the search ends there.
    """
    builder = _Builder(cluster)
    likely = np.ones((1, len(_SHARES)))
    known = cluster.last
    for tick in range(cluster.last + 1):
        limit = next(least for share, least in _RARE if share * most >= builder.count or share == 1)
        limit = 0.0 if all_or_none else limit
        best = likely.max(axis=1)
        reached = np.flatnonzero(best)
        unseen = reached[builder.graph.first_action[reached] == UNKNOWN]
        wanted = unseen[best[unseen] >= limit] if builder.count < most else unseen[:0]
        done = builder.expand_all(wanted, tick, most)
        if done < len(unseen):
            known = min(known, tick - 1)
            if all_or_none:
                break
        if tick < cluster.last:
            after = np.zeros((builder.count, len(_SHARES)))
            spread(builder.graph, cluster.chances, likely, after, _SHARES)
            likely = after
    return Found(cluster, builder.graph, builder.first_seen[: builder.count], known)


class _Builder:
    """A graph that grows."""

    def __init__(self, cluster: OrderedCluster) -> None:
        self._cluster = cluster
        tables = cluster.tables
        self._words = cluster.words
        rewards = 1 + int(tables.sizes[0])
        self.graph = Graph(
            counts=np.array([1, 0, 0, 0], np.int64),
            nodes=np.zeros((_SMALLEST, self._words), np.int64),
            node_places=np.zeros(_FULLEST * _SMALLEST, np.int32),
            waiting=np.zeros(_SMALLEST, np.int32),
            way=np.zeros((_SMALLEST, 2), np.int32),
            first_choice=np.zeros(_SMALLEST, np.int64),
            first_action=np.full(_SMALLEST, UNKNOWN, np.int64),
            ticks=np.zeros(_SMALLEST, np.int32),
            actions=np.zeros(_SMALLEST, np.int32),
            receipts=np.zeros((_SMALLEST, rewards), np.int64),
            receipt_places=np.zeros(_FULLEST * _SMALLEST, np.int32),
            target=np.zeros(_SMALLEST, np.int32),
            receipt=np.zeros(_SMALLEST, np.int32),
            weight=np.zeros(_SMALLEST),
        )
        # Before the first tick all is empty, and that state is found by nobody.
        self.graph.nodes[0, 0] = cluster.periods - 1
        self.graph.way[0] = len(cluster.chances) - 1, len(cluster.chances)
        self.first_seen = np.zeros(_SMALLEST, np.int32)
        self._work = np.zeros((8, len(tables.layout) + 1), np.int64)
        worst = cluster.most_actions * cluster.most_ways
        self._together = max(1, _SMALLEST * 16 // worst)

    @property
    def count(self) -> int:
        """How many states there are."""
        return int(self.graph.counts[NODES])

    def expand_all(self, wanted: Integers, tick: int, most: int) -> int:
        """Look at states, until there are too many; give how many were looked at."""
        before = self.count
        done = 0
        while done < len(wanted) and self.count < most:
            some = wanted[done : done + self._together]
            self._make_room(len(some))
            left = self._cluster.last - tick + 1
            expand(self._cluster.tables, self.graph, some, self._work, self._words, left)
            done += len(some)
        if self.count > len(self.first_seen):
            self.first_seen = _longer(self.first_seen, len(self.graph.nodes))
        self.first_seen[before : self.count] = tick + 1
        return done

    def _make_room(self, coming: int) -> None:
        choices = coming * self._cluster.most_ways
        actions = choices * self._cluster.most_actions + 1  # the last one is for working
        graph, counts = self.graph, self.graph.counts
        if counts[NODES] + actions > len(graph.nodes):
            nodes = _longer(graph.nodes, counts[NODES] + actions)
            graph = graph._replace(
                nodes=nodes,
                node_places=_places(nodes, 1, int(counts[NODES]), self._words),
                waiting=_longer(graph.waiting, len(nodes)),
                way=_longer(graph.way, len(nodes)),
                first_choice=_longer(graph.first_choice, len(nodes)),
                first_action=_longer(graph.first_action, len(nodes)),
                ticks=_longer(graph.ticks, len(nodes)),
            )
        if counts[RECEIPTS] + actions > len(graph.receipts):
            receipts = _longer(graph.receipts, counts[RECEIPTS] + actions)
            places = _places(receipts, 0, int(counts[RECEIPTS]), receipts.shape[1])
            graph = graph._replace(receipts=receipts, receipt_places=places)
        if counts[CHOICES] + choices > len(graph.actions):
            graph = graph._replace(actions=_longer(graph.actions, counts[CHOICES] + choices))
        if counts[ACTIONS] + actions > len(graph.target):
            more = int(counts[ACTIONS] + actions)
            graph = graph._replace(
                target=_longer(graph.target, more),
                receipt=_longer(graph.receipt, more),
                weight=_longer(graph.weight, more),
            )
        self.graph = graph


def _longer(old: NDArray[Entry], least: int) -> NDArray[Entry]:
    """Give an array with room for at least so many rows, and for half as many again."""
    longer = np.zeros((max(int(least), len(old) * 3 // 2), *old.shape[1:]), old.dtype)
    longer[: len(old)] = old
    return longer


def _places(rows: NDArray[np.int64], first: int, behind: int, words: int) -> NDArray[np.int32]:
    size = 1 << (_FULLEST * len(rows) - 1).bit_length()
    places = np.zeros(size, np.int32)
    enter_all(rows, places, first, behind, words)
    return places
