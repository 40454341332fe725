"""The states of a cluster up to a tick, in the order of ticks; their chances and values."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from rebecsim.clusters.dispatch.orders.bounds import Rest, columns_of
from rebecsim.clusters.dispatch.orders.loops import (
    ACTIONS,
    CHOICES,
    NODES,
    OPEN,
    RECEIPTS,
    UNKNOWN,
    Floats,
    FloatTable,
    Graph,
    enter_all,
    enter_states,
    expand,
)
from rebecsim.clusters.dispatch.orders.states import OrderedCluster
from rebecsim.exploration.orders import GOALS
from rebecsim.native.arrays import Integers
from rebecsim.native.cache import compiled


@compiled()
def spread(
    graph: Graph, chances: Floats, here: FloatTable, there: FloatTable, shares: Floats
) -> None:
    """Lead how likely states are on to those that follow.

    In each column the order is the random one, but that a share of the ticks is served first.
    """
    columns = shares.shape[0]
    for node in range(here.shape[0]):
        action = graph.first_action[node]
        total = 0.0
        for column in range(columns):
            total += here[node, column]
        if total == 0.0 or action == UNKNOWN:
            continue
        choice = graph.first_choice[node]
        for way in range(graph.way[node, 0], graph.way[node, 1]):
            first = action
            behind = action + graph.actions[choice]
            while action < behind:
                block = action
                action += 1
                while action < behind and graph.weight[action] == OPEN:
                    action += 1
                for column in range(columns):
                    weight = (1.0 - shares[column]) * graph.weight[block]
                    if block == first:
                        weight += shares[column]
                    # None is so unlikely that it counts as not reached.
                    likely = here[node, column] * chances[way] * weight / (action - block)
                    for each in range(block, action):
                        there[np.int64(graph.target[each]), column] += max(likely, 1e-290)
            choice += 1


@compiled()
def step_back(
    graph: Graph,
    chances: Floats,
    nodes: Integers,
    gains: FloatTable,
    goals: Integers,
    is_high: Integers,
    later: FloatTable,
    now: FloatTable,
    work: FloatTable,
) -> None:
    """Work out values of states that were looked at from those at the next tick.

    Columns are values of one goal, 0 the least, 1 the expected, 2 the most, and one side: of what
    is open the most counts if it `is_high`, else the least. `gains` has what each receipt is worth
    in each. `work` is for working.
    """
    columns = now.shape[1]
    best, found = work[0], work[1]
    for each in range(nodes.shape[0]):
        node = nodes[each]
        action = graph.first_action[node]
        choice = graph.first_choice[node]
        for column in range(columns):
            now[node, column] = 0.0
        for way in range(graph.way[node, 0], graph.way[node, 1]):
            first = action
            behind = action + graph.actions[choice]
            while action < behind:
                target = np.int64(graph.target[action])
                receipt = np.int64(graph.receipt[action])
                weight = graph.weight[action]
                is_first = action == first
                for column in range(columns):
                    found[column] = gains[receipt, column] + later[target, column]
                action += 1
                while action < behind and graph.weight[action] == OPEN:
                    target = np.int64(graph.target[action])
                    receipt = np.int64(graph.receipt[action])
                    for column in range(columns):
                        other = gains[receipt, column] + later[target, column]
                        if (other > found[column]) == (is_high[column] > 0):
                            found[column] = other
                    action += 1
                for column in range(columns):
                    if goals[column] == 1:
                        value = found[column] * weight
                        best[column] = value + (0.0 if is_first else best[column])
                    elif is_first:
                        best[column] = found[column]
                    elif goals[column] == 0:
                        best[column] = min(best[column], found[column])
                    else:
                        best[column] = max(best[column], found[column])
            choice += 1
            for column in range(columns):
                now[node, column] += chances[way] * best[column]


Entry = TypeVar("Entry", bound=np.generic)

Numbers = NDArray[np.float64]

_SMALLEST = 1 << 10
_FEWEST = 16
"""States that are looked at together, at least."""

_FULLEST = 2
"""Places of a table for each row that it has room for, at least."""

_SHARES = np.array([0.0, 0.5, 1.0])
"""How often ticks are served first, beside the random order, in the runs by which it is told how
likely states are: so those are not forgotten in which work piles up."""

_IDLE_SHARE = 0.1
"""How many may be states without jobs that wait."""

_KNOWN_SHARE = 0.2
"""How many of the states are taken for ticks of which all is known, where there are too many."""

_TINY = 1e-290
_STEPS = (*(10.0**-each for each in range(5, 17)), 0.0)
"""What may be lost, step by step, by each state that is not looked at: misses."""


@dataclass(frozen=True)
class Found:
    """States that were found.

    Attributes:
        cluster: whose states.
        graph: how they follow each other; number 0 is before the first tick, when nothing comes.
        first_seen: the tick at which each is reached first.
        known: the ticks up to which every state was looked at; those of the cluster if all were.
        attempted: those up to which it was when all of them were to be looked at, in vain.
        most: about how many states were to be looked at.
        idle: all states without jobs that wait; none if not all were looked at.
    """

    cluster: OrderedCluster
    graph: Graph
    first_seen: NDArray[np.int32]
    known: int
    attempted: int
    most: int
    idle: Integers

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

    @cached_property
    def of_known_ticks(self) -> Found:
        """What was found up to the ticks of which every state was looked at, no tie being open."""
        if not self.cluster.tables.sizes[8]:
            return self
        cluster = replace(self.cluster.with_ties(are_open=False), last=self.attempted)
        return find_states(cluster, self.most, all_or_none=True)

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

    Where there are more, those are not looked at by which least is lost: how likely they are times
    how far apart their bounds are. With `all_or_none` that is of no use, and the search ends there.
    """
    whole = _Search(cluster, most)
    known = whole.sweep(0.0, is_last_seen=True)
    if all_or_none or known == cluster.last:
        return whole.found(known, known)
    attempted = known
    del whole
    search = _Search(cluster.with_ties(are_open=True), most)
    for least in _STEPS:
        known = search.sweep(least)
        if known == cluster.last or search.is_full:
            break
    return search.found(known, attempted)


class _Search:
    """Looks at states in the order of ticks, in several sweeps."""

    def __init__(self, cluster: OrderedCluster, most: int) -> None:
        self._cluster, self._most = cluster, most
        self._builder = _Builder(cluster)
        self._sweeps = 0
        self._apart = np.zeros((1, 2))
        self._idle: list[Integers] = []

    @cached_property
    def _rest(self) -> Rest:
        return Rest(self._cluster, self._cluster.last)

    @property
    def is_full(self) -> bool:
        """Whether there are as many states as may be."""
        return self._builder.count >= self._most

    def found(self, known: int, attempted: int) -> Found:
        """Give what was found."""
        builder, cluster = self._builder, self._cluster
        first_seen = builder.first_seen[: builder.count]
        idle = np.concatenate([*self._idle, np.zeros(0, np.int64)])
        if cluster.tables.sizes[8]:
            known = -1  # of no tick, as ties are open
        found = Found(cluster, builder.graph, first_seen, known, attempted, self._most, idle)
        if "_rest" in self.__dict__:
            found.__dict__["_rest"] = self._rest
        return found

    def sweep(self, least: float, is_last_seen: bool = False) -> int:
        """Look at states by which so much may be lost; give the ticks of which all is known.

        With `is_last_seen`, the search ends where not all can be looked at, and what comes behind
        the last tick is not told apart. Otherwise what is found holds at all ticks.
        """
        builder, last = self._builder, self._cluster.last
        likely = np.ones((1, len(_SHARES)))
        known = last
        for tick in range(last + 1):
            if not is_last_seen and 0 < tick <= len(self._idle):
                self._expand_idle(tick, likely)
            reached = np.flatnonzero(_most(likely))
            builder.first_seen[reached] = np.minimum(builder.first_seen[reached], tick)
            unseen = reached[~is_known(builder.graph, reached, last - tick + 1)]
            wanted = unseen
            if least and (self._sweeps or builder.count > _KNOWN_SHARE * self._most):
                wanted = unseen[self._lost(unseen, tick, likely[unseen]) >= least]
            ticks = last - tick + 1 if is_last_seen or tick == last else last + 1
            done = builder.expand_all(wanted, tick, self._most, ticks)
            if done < len(unseen):
                known = min(known, tick - 1)
                if is_last_seen:
                    break
            if not is_last_seen and tick < min(last, self._cluster.periods) and self._guess:
                self._idle[tick:] = [builder.enter_idle(tick)]
            if tick < last:
                after = np.zeros((builder.count, len(_SHARES)))
                spread(builder.graph, self._cluster.chances, likely, after, _SHARES)
                likely = after
        self._sweeps += 1
        return known

    def _lost(self, nodes: Integers, tick: int, likely: Numbers) -> Numbers:
        """Give what may be lost by each state, in misses: by the random order, or by the worst."""
        apart = self._apart
        if len(apart) < self._builder.count:
            self._apart = apart = _longer(apart, self._builder.count)
        new = nodes[apart[nodes, 1] == 0]
        # How far apart bounds are is worked out once, as it hardly grows when fewer ticks are left.
        low, high = np.moveaxis(self._bounds(new, tick).reshape(len(new), len(GOALS), 2), 2, 0)
        apart[new, 0] = (high - low)[:, :2].max(axis=1)
        apart[new, 1] = np.maximum((high - low)[:, 2], _TINY)
        by_worst = _most(likely) * apart[nodes, 1]
        lost: Numbers = np.maximum(likely[:, 0] * apart[nodes, 0], by_worst)
        return lost

    def _bounds(self, nodes: Integers, tick: int) -> Numbers:
        columns = columns_of(["deadline_misses"], all_known=False)
        bounds = self._rest.bounds(self._builder.graph, nodes, tick, columns)
        busy = self._rest.busy
        if self._guess and busy:
            high = busy.bounds(self._builder.graph, nodes, tick, self._guess[tick])
            bounds[:, 1::2] = np.minimum(bounds[:, 1::2], high)
        return bounds

    @cached_property
    def _guess(self) -> list[Numbers]:
        """What is missed while jobs wait, as if nothing were after that; nothing if not bounded."""
        busy = self._rest.busy
        few = self._cluster.idle_states * self._cluster.periods <= _IDLE_SHARE * self._most
        return busy.layers() if busy and few else []

    def _expand_idle(self, tick: int, likely: Numbers) -> None:
        """Look at all states without jobs that wait, as if they might always be reached."""
        builder = self._builder
        idle = self._idle[tick - 1]
        likely[idle] = np.maximum(likely[idle], _TINY)
        ticks = self._cluster.last + 1
        unseen = idle[~is_known(builder.graph, idle, ticks)]
        builder.expand_all(unseen, tick, builder.count + len(unseen) * 1_000, ticks)


def _most(likely: Numbers) -> Numbers:
    """Give the largest of each row, of which there are many and short ones."""
    most: Numbers = likely[:, 0]
    for column in range(1, likely.shape[1]):
        most = np.maximum(most, likely[:, column])
    return most


def is_known(graph: Graph, nodes: Integers, ticks: int) -> NDArray[np.bool_]:
    """Whether states were looked at, and not only when fewer ticks followed."""
    known: NDArray[np.bool_] = graph.first_action[nodes] != UNKNOWN
    return known & (graph.ticks[nodes] >= ticks)


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
        # Before the first tick all is empty, and no event leads to that state.
        self.graph.nodes[0, 0] = cluster.periods - 1
        self.graph.way[0] = len(cluster.chances) - 1, len(cluster.chances)
        self.first_seen = np.zeros(_SMALLEST, np.int32)
        self._work = np.zeros((10, len(tables.layout) + 1), np.int64)
        self._worst = cluster.most_actions * cluster.most_ways
        self._together = max(_FEWEST, _SMALLEST * 16 // self._worst)

    @property
    def count(self) -> int:
        """How many states there are."""
        return int(self.graph.counts[NODES])

    def expand_all(self, wanted: Integers, tick: int, most: int, ticks: int) -> int:
        """Look at states at a tick, until there are too many; give how many were looked at.

        What is found holds where so many `ticks` follow, and where fewer do.
        """
        before = self.count
        done = 0
        while done < len(wanted) and self.count < most:
            some = wanted[done : done + self._together]
            self._make_room(len(some))
            expand(self._cluster.tables, self.graph, some, self._work, self._words, ticks)
            done += len(some)
        self._note(before, tick + 1)
        return done

    def enter_idle(self, phase: int) -> Integers:
        """Enter all states without waiting jobs, at a point of the pattern; give their numbers."""
        tables, before = self._cluster.tables, self.count
        groups = [
            itertools.combinations_with_replacement(range(int(most), -1, -1), int(behind - first))
            for (first, behind), most in zip(tables.groups, tables.busy.max(axis=0), strict=True)
        ]
        workers = [list(itertools.chain(*each)) for each in itertools.product(*groups)]
        states = np.zeros((len(workers), len(tables.layout) + 1), np.int64)
        states[:, 0] = phase
        states[:, 1 : 1 + int(tables.sizes[0])] = workers
        self._make_room(len(states) // self._worst + 1)
        numbers = np.zeros(len(states), np.int64)
        enter_states(tables, self.graph, states, self._words, numbers)
        self._note(before, phase + 1)
        self.first_seen[numbers] = np.minimum(self.first_seen[numbers], phase + 1)
        return numbers

    def _note(self, before: int, tick: int) -> None:
        if self.count > len(self.first_seen):
            self.first_seen = _longer(self.first_seen, len(self.graph.nodes))
        self.first_seen[before : self.count] = tick

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
