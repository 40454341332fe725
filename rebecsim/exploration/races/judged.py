"""Judge orders that were followed: whether they join, and what differs until then."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property
from itertools import chain

import numpy as np

from rebecsim.exploration.races.arrays import Arrays, Graph
from rebecsim.exploration.races.diamonds import NONE
from rebecsim.exploration.races.fate import avoiding, distances, longest, reaching
from rebecsim.exploration.races.following import Arrival, Follower, Move
from rebecsim.native.arrays import Flags, Integers

_Test = Callable[[Move, Arrival], bool]


class Judged:
    """Judges all nodes of a follower as far as they have been followed."""

    def __init__(self, follower: Follower, arrays: Arrays) -> None:
        self._follower = follower
        self._arrays = arrays
        self._graph, self._passed = self._as_graph()
        nodes = len(follower.nodes)
        joined = _mask(nodes, follower.joined)
        unknown = _mask(nodes, follower.cut)
        unknown |= ~np.array(follower.is_expanded, dtype=bool) & ~joined
        nothing = np.zeros(nodes, dtype=bool)
        self.stays_apart = avoiding(self._graph, joined | unknown, nothing)
        """Some run never joins the other one."""
        self.may_stay_apart = self.stays_apart
        if unknown.any():
            self.may_stay_apart = avoiding(self._graph, joined, unknown)
        self._to_alone = distances(self._graph, _mask(nodes, follower.meeting))
        self._to_noted = distances(self._graph, _mask(nodes, follower.noting))
        self._to_differing = distances(self._graph, _mask(nodes, follower.differing))
        self._to_joined = distances(self._graph, joined)
        if any(node.leads for node in follower.nodes):
            even = np.array(
                [not any(lead.shown for lead in node.leads) for node in follower.nodes], dtype=bool
            )
            behind = avoiding(self._graph, even | unknown, nothing)
            self._lags = reaching(self._graph, behind)
        else:
            self._lags = nothing

    def _as_graph(self) -> tuple[Graph, Integers]:
        follower, arrays = self._follower, self._arrays
        counts = list(map(len, follower.moves))
        first = np.concatenate(([0], np.cumsum(counts))).astype(np.int64)
        arrivals = chain.from_iterable(follower.arrivals)
        target = np.array([after.node for after in arrivals], dtype=np.int64)
        moves = chain.from_iterable(follower.moves)
        edges = np.array([move.edges for move in moves], dtype=np.int64).reshape(-1, 2)
        owners = np.zeros(len(edges), dtype=np.int64)
        duration = np.zeros(len(edges), dtype=np.int64)
        of_edge = arrays.graph
        passed = []
        for side in (0, 1):
            goes = edges[:, side] != NONE
            owners |= np.where(goes, of_edge.owners[edges[:, side]], 0)
            passed.append(np.where(goes, arrays.duration[edges[:, side]], 0))
            duration += passed[-1]
        return Graph(first, target, owners, duration), passed[0]

    # --- questions about one node ----------------------------------------------------------------

    def shows_different(self, node: int) -> bool:
        """Whether the two can show different things."""
        return bool(self._to_differing[node] >= 0 or self._lags[node])

    def is_noted(self, node: int) -> bool:
        """Whether the two can do different services, or at different times."""
        return bool(self._to_noted[node] >= 0)

    def keys_met_alone(self, node: int) -> set[tuple[int, int]]:
        """Give all breaches that one side can meet and the other one not, as (side, key)."""
        follower = self._follower
        found: set[tuple[int, int]] = set()
        seen, pending = {node}, [node]
        while pending:
            for after in follower.arrivals[pending.pop()]:
                found |= set(after.alone)
                if after.node not in seen and self._to_alone[after.node] >= 0:
                    seen.add(after.node)
                    pending.append(after.node)
        return found

    def way(self, node: int) -> list[tuple[Move, Arrival]]:
        """Give the shortest way to what tells most of how the two differ."""
        if self._to_alone[node] >= 0:
            return self._walk(node, self._to_alone, lambda move, after: bool(after.alone))
        if self._to_differing[node] >= 0:
            return self._walk(node, self._to_differing, lambda move, after: after.differs)
        if self._to_noted[node] >= 0:
            return self._walk(node, self._to_noted, lambda move, after: move.noted)
        if self._to_joined[node] >= 0:
            joined = self._follower.joined
            return self._walk(node, self._to_joined, lambda move, after: after.node in joined)
        return []

    def _walk(self, node: int, distance: Integers, last: _Test) -> list[tuple[Move, Arrival]]:
        """Go the shortest way to a node with a move of some sort, and take that one."""
        follower = self._follower
        way: list[tuple[Move, Arrival]] = []
        while True:
            pairs = list(zip(follower.moves[node], follower.arrivals[node], strict=True))
            if distance[node] == 0:
                return way + [pair for pair in pairs if last(*pair)][:1]
            nearer = [pair for pair in pairs if distance[pair[1].node] == distance[node] - 1]
            way.append(nearer[0])
            node = nearer[0][1].node

    def until_joined(self, node: int) -> tuple[int, int]:
        """Give the most moves and time, as the first side counts it, until the two have joined."""
        steps, time = self._until_joined
        return int(steps[node]), int(time[node])

    @cached_property
    def _until_joined(self) -> tuple[Integers, Integers]:
        graph = self._graph
        return longest(Graph(graph.first, graph.target, graph.owners, self._passed))


def _mask(nodes: int, members: Iterable[int]) -> Flags:
    found = np.zeros(nodes, dtype=bool)
    found[list(members)] = True
    return found
