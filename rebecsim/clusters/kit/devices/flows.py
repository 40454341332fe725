"""A network in which transfers are flows: at every moment, rates are max-min fair.

Nothing is sent in packets: a flow has its fair rate from its first moment to its last, whatever
happens elsewhere is known everywhere at once, and nothing is lost or sent twice.

Flows over the same links are one class and have one rate. So as in `sharing`, one number says how
much each of them has been served; arriving costs O(log n), and rates are found anew once for all
that arrives and leaves at one time.
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heapify, heappop, heappush
from math import ceil
from typing import Generic

from rebecsim.clusters.kit.devices.columns import FlowColumns
from rebecsim.clusters.kit.devices.loops import LINKS_OF_PATH
from rebecsim.clusters.kit.devices.sharing import INSTANT, Item


class FlowNetwork(Generic[Item]):
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

    def remove(self, item: Item, now: int) -> None:
        """Send nothing more of a flow; nothing happens if there is none of this name."""
        self._pass(now)
        for slot in reversed(range(len(self._heaps))):
            self._keep(slot, [entry for entry in self._heaps[slot] if entry[2] is not item])

    def cut(self, links: Sequence[int], now: int) -> list[Item]:
        """Send nothing more over links; give the flows that went over them, the oldest first."""
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
        """Give when the next flow ends if none begins or is removed; None: there is none."""
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
        """Take note that flows of a class have left; a class without any is closed."""
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
