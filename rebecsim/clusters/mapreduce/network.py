"""The network of a cluster: links of nodes and racks, and transfers with max-min fair rates.

This is a fluid model: a flow has its fair rate from start to end, changes take effect everywhere at
once, and no packets are lost or resent.

Flows over the same links form a class with one rate. So, as in `shared_server`, one number tells
how much each of them has been served. An arrival costs O(log n), and rates are updated once for all
flows that begin or end at one time.

Loading compiled code takes about a second, longer than small networks need. So the columns of
classes start as lists. After some work they become arrays for compiled loops, with equal results.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from heapq import heapify, heappop, heappush
from math import ceil, inf
from typing import Any, Generic

from rebecsim.actors import Constant, StatePart
from rebecsim.clusters.mapreduce import network_loops
from rebecsim.clusters.mapreduce.network_loops import LINKS_OF_PATH
from rebecsim.clusters.mapreduce.shared_server import INSTANT, Item

_LOADS = 300_000
"""Visits of a class, in the search for rates, after which compiled loops on disk are loaded."""

_COMPILES = 3_000_000
"""Visits after which they are compiled, where they are not on disk."""

_loaded: list[Any] = []  # the compiled loops, once a network of this process has needed them


class FlowColumns(StatePart):
    """Columns with an entry for each class of flows or each link, and the loops over them.

    Attributes:
        classes: how many there are; columns have more places.
        paths, counts, rates, served, heads: of each class: its links, `LINKS_OF_PATH` of them; how
            many flows; their rate; what each has been served since the class was opened, and will
            have been when the first of them ends.
        capacities, carried: of each link.
    """

    def __init__(self, capacities: Sequence[float]) -> None:
        links = len(capacities)
        self.classes = 0
        self._places = 16
        self.capacities: Any = list(capacities)
        self.carried: Any = [0.0] * links
        self.paths: Any = [-1] * (self._places * LINKS_OF_PATH)
        self.counts: Any = [0] * self._places
        self.rates: Any = [0.0] * self._places
        self.served: Any = [0.0] * self._places
        self.heads: Any = [inf] * self._places
        self._working: Any = ([0.0] * links, [0] * links, [0] * links, [0] * links)
        self._members: Any = [0] * (self._places * LINKS_OF_PATH)
        self._found: Any = [0] * self._places
        self._is_compiled = False
        self._visits = 0
        self._enough = 0 if _loaded else _LOADS

    @property
    def _loops(self) -> Any:
        return _loaded[0] if self._is_compiled else network_loops

    def open(self, path: tuple[int, ...]) -> int:
        """Make room for a class; give its place."""
        slot = self.classes
        if slot == self._places:
            self._grow()
        self.classes = slot + 1
        for place in range(LINKS_OF_PATH):
            self.paths[slot * LINKS_OF_PATH + place] = path[place] if place < len(path) else -1
        self.counts[slot] = 0
        self.rates[slot] = 0.0
        self.served[slot] = 0.0
        self.heads[slot] = inf
        return slot

    def close(self, slot: int) -> None:
        """Forget a class; the last one takes its place."""
        last = self.classes = self.classes - 1
        if slot != last:
            for column in (self.counts, self.rates, self.served, self.heads):
                column[slot] = column[last]
            for place in range(LINKS_OF_PATH):
                self.paths[slot * LINKS_OF_PATH + place] = self.paths[last * LINKS_OF_PATH + place]

    def find_rates(self) -> None:
        """Bring the rates up to date."""
        self._visits += self.classes
        if self._visits > self._enough:
            self._use_compiled()
        self._loops.fair_rates(
            self.classes,
            self.paths,
            self.counts,
            self.rates,
            self.capacities,
            *self._working,
            self._members,
        )

    def go_on(self, elapsed: int) -> None:
        """Let time pass (microseconds)."""
        self._loops.go_on(
            float(elapsed),
            self.classes,
            self.paths,
            self.counts,
            self.rates,
            self.served,
            self.carried,
        )

    def next_end(self) -> float:
        """Give after what time the first flow ends (microseconds); -1: there is none."""
        return float(self._loops.next_end(self.classes, self.served, self.heads, self.rates))

    def ending(self, instant: float) -> list[int]:
        """Give the classes of which a flow ends within an instant (microseconds)."""
        number = self._loops.ending(
            instant, self.classes, self.served, self.heads, self.rates, self._found
        )
        return [int(slot) for slot in self._found[:number]]

    def _grow(self) -> None:
        """Double the places."""
        more = self._places
        self._places *= 2
        numbers, whole = [0.0] * more, [0] * more
        self.paths = _longer(self.paths, whole * LINKS_OF_PATH)
        self._members = _longer(self._members, whole * LINKS_OF_PATH)
        self.counts = _longer(self.counts, whole)
        self._found = _longer(self._found, whole)
        self.rates = _longer(self.rates, numbers)
        self.served = _longer(self.served, numbers)
        self.heads = _longer(self.heads, numbers)

    def _use_compiled(self) -> None:
        """Switch to compiled loops once they pay off."""
        if not _loaded:
            from rebecsim.clusters.mapreduce import compiled_network_loops
            from rebecsim.native.cache import is_plain, is_ready, prepare

            if is_plain():
                self._enough = sys.maxsize
                return
            if self._visits < _COMPILES and not all(map(is_ready, compiled_network_loops.ALL)):
                self._enough = _COMPILES
                return
            prepare(*compiled_network_loops.ALL)
            _loaded.append(compiled_network_loops)
        import numpy as np

        self._enough = sys.maxsize
        self._is_compiled = True
        for name in ("capacities", "carried", "rates", "served", "heads"):
            setattr(self, name, np.array(getattr(self, name), np.float64))
        for name in ("paths", "counts", "_members", "_found"):
            setattr(self, name, np.array(getattr(self, name), np.int64))
        left, *whole = self._working
        self._working = (np.array(left, np.float64), *(np.array(each, np.int64) for each in whole))


def _longer(column: Any, more: list[Any]) -> Any:
    """Add places to a list, or to an array."""
    if isinstance(column, list):
        return column + more
    import numpy as np

    return np.concatenate([column, np.array(more, column.dtype)])


class FlowNetwork(StatePart, Generic[Item]):
    """Links, and the flows over them.

    Whoever uses it calls `advance` at each `next_completion`. Times are whole microseconds; a flow
    ends at the first of them at which all its bytes have been sent.

    Attributes:
        now: the time up to which flows have gone on (microseconds).
    """

    def __init__(self, capacities: Sequence[float]) -> None:
        """`capacities` are those of the links (bytes per microsecond)."""
        self.now = 0
        self._number = 0
        self._changed = False
        self._columns = FlowColumns(capacities)
        self._slots: dict[tuple[int, ...], int] = {}
        self._paths: list[tuple[int, ...]] = []
        self._heaps: list[list[tuple[float, int, Item]]] = []

    def __len__(self) -> int:
        return sum(map(len, self._heaps))

    def start(self, item: Item, path: tuple[int, ...], size: float, now: int) -> None:
        """Begin to send bytes over one to four links."""
        if now != self.now:
            self._pass(now)
        self._number += 1
        self._changed = True
        slot = self._slots.get(path)
        if slot is None:
            slot = self._open(path)
        columns = self._columns
        columns.counts[slot] += 1
        heap = self._heaps[slot]
        heappush(heap, (float(columns.served[slot]) + size, self._number, item))
        columns.heads[slot] = heap[0][0]

    def remove(self, item: Item, now: int) -> bool:
        """Remove a flow; return whether there was one of this name."""
        self._pass(now)
        before = len(self)
        for slot in reversed(range(len(self._heaps))):
            self._keep(slot, [entry for entry in self._heaps[slot] if entry[2] != item])
        return len(self) < before

    def cut(self, links: Sequence[int], now: int) -> list[Item]:
        """Remove and return the flows over these links, the oldest first."""
        self._pass(now)
        flows: list[tuple[int, Item]] = []
        for slot in reversed(range(len(self._heaps))):
            if any(link in self._paths[slot] for link in links):
                flows += [(number, item) for _, number, item in self._heaps[slot]]
                self._keep(slot, [])
        return [item for _, item in sorted(flows, key=_number_of)]

    def advance(self, now: int) -> list[Item]:
        """Send until a time; give the flows that end by then, in the order of their beginning."""
        if now != self.now:
            self._pass(now)
        columns = self._columns
        ended: list[tuple[int, Item]] = []
        for slot in reversed(columns.ending(INSTANT)):
            enough = float(columns.served[slot] + columns.rates[slot] * INSTANT)
            heap = self._heaps[slot]
            while heap and heap[0][0] <= enough:
                _, number, item = heappop(heap)
                ended.append((number, item))
            self._count(slot)
        ended.sort(key=_number_of)
        return [item for _, item in ended]

    def next_completion(self) -> int | None:
        """Return when the next flow ends if none begins or is removed, or None."""
        self._find_rates()
        missing = self._columns.next_end()
        return None if missing < 0.0 else self.now + max(ceil(missing - INSTANT), 0)

    def rates(self) -> dict[tuple[int, ...], float]:
        """Give the rate of a flow over each path that has one (bytes per microsecond)."""
        self._find_rates()
        return {path: float(self._columns.rates[slot]) for path, slot in self._slots.items()}

    def flows(self) -> dict[tuple[int, ...], int]:
        """Give how many flows there are over each path that has one."""
        return {path: len(self._heaps[slot]) for path, slot in self._slots.items()}

    def carried(self, now: int) -> tuple[float, ...]:
        """Give how much each link has carried (bytes), at a time up to the next completion."""
        self._pass(now)
        return tuple(map(float, self._columns.carried))

    def _find_rates(self) -> None:
        """Bring the rates up to date."""
        if self._changed:
            self._changed = False
            self._columns.find_rates()

    def _pass(self, now: int) -> None:
        """Let time pass."""
        if now != self.now:
            self._find_rates()
            self._columns.go_on(now - self.now)
            self.now = now

    def _keep(self, slot: int, entries: list[tuple[float, int, Item]]) -> None:
        """Keep these flows of a class, and no others."""
        if len(entries) < len(self._heaps[slot]):
            heapify(entries)
            self._heaps[slot] = entries
            self._count(slot)

    def _count(self, slot: int) -> None:
        """Record that flows of a class have ended; close an empty class."""
        self._changed = True
        heap = self._heaps[slot]
        if heap:
            self._columns.counts[slot] = len(heap)
            self._columns.heads[slot] = heap[0][0]
        else:
            self._close(slot)

    def _open(self, path: tuple[int, ...]) -> int:
        """Make room for a class of flows. Raises ValueError for too few or too many links."""
        if not 0 < len(path) <= LINKS_OF_PATH:
            raise ValueError(f"a path has 1 to {LINKS_OF_PATH} links, not {len(path)}")
        slot = self._slots[path] = self._columns.open(path)
        self._paths.append(path)
        self._heaps.append([])
        return slot

    def _close(self, slot: int) -> None:
        """Forget a class; the last one takes its place."""
        self._columns.close(slot)
        del self._slots[self._paths[slot]]
        path, heap = self._paths.pop(), self._heaps.pop()
        if slot < len(self._paths):
            self._paths[slot], self._heaps[slot] = path, heap
            self._slots[path] = slot


def _number_of(ended: tuple[int, object]) -> int:
    return ended[0]


class RackTopology(Constant):
    """Nodes under switches of racks, under one switch for all.

    Links have one direction. Nodes have one up and one down. So have racks, if there are several
    of them: the links of its nodes together, divided by the oversubscription.

    Attributes:
        capacities: of each link (bytes per microsecond): nodes up, nodes down, racks up, racks
            down.
    """

    def __init__(self, racks: Sequence[int], rate: float, oversubscription: float = 1.0) -> None:
        """`racks` has the number of the rack of each node; `rate` is that of a node's link."""
        self._racks = racks
        nodes = len(racks)
        self._down = nodes
        self._rack_up = 2 * nodes
        sizes = [0] * (max(racks) + 1)
        for rack in racks:
            sizes[rack] += 1
        self._rack_down = 2 * nodes + len(sizes)
        uplinks = [size * rate / oversubscription for size in sizes]
        self.capacities: list[float] = [rate] * (2 * nodes) + uplinks + uplinks

    def path(self, source: int, target: int) -> tuple[int, ...]:
        """Give the links from one node to another; none within a node."""
        if source == target:
            return ()
        here, there = self._racks[source], self._racks[target]
        if here == there:
            return source, self._down + target
        return source, self._down + target, self._rack_up + here, self._rack_down + there

    def links_of(self, node: int) -> tuple[int, int]:
        """Give the links up and down of a node."""
        return node, self._down + node

    def name(self, link: int) -> str:
        """Return the name of a link in tables."""
        nodes = self._down
        if link < 2 * nodes:
            return f"node {link % nodes} {'down' if link >= nodes else 'up'}"
        return f"rack {(link - 2 * nodes) % (self._rack_down - 2 * nodes)} " + (
            "down" if link >= self._rack_down else "up"
        )
