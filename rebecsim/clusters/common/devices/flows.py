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
from math import ceil, inf
from typing import Generic, TypeVar

from rebecsim.clusters.common.devices.filling import LINKS_OF_PATH, fill
from rebecsim.clusters.common.devices.sharing import INSTANT, Item

Entry = TypeVar("Entry")


class FlowNetwork(Generic[Item]):
    """Links, and the flows over them.

    Whoever uses it calls `advance` at each `next_completion`. Times are whole microseconds; a flow
    ends at the first of them at which all its bytes have been sent.

    Attributes:
        capacities: of each link (bytes per microsecond).
        carried: by each link (bytes), up to `now`.
        now: the time up to which flows have gone on (microseconds).
    """

    def __init__(self, capacities: Sequence[float]) -> None:
        links = len(capacities)
        self.capacities = list(capacities)
        self.carried = [0.0] * links
        self.now = 0
        self._number = 0
        self._changed = False
        self._slots: dict[tuple[int, ...], int] = {}
        self._heaps: list[list[tuple[float, int, Item]]] = []
        self._paths: list[int] = []
        self._counts: list[int] = []
        self._rates: list[float] = []
        self._served: list[float] = []
        self._heads: list[float] = []
        self._left = [0.0] * links
        self._load = [0] * links
        self._used = [0] * links
        self._first = [0] * links
        self._members: list[int] = []

    def __len__(self) -> int:
        return sum(self._counts)

    def start(self, item: Item, path: tuple[int, ...], size: float, now: int) -> None:
        """Begin to send bytes over links, of which there must be one at least."""
        if now != self.now:
            self._pass(now)
        self._number += 1
        self._changed = True
        slot = self._slots.get(path)
        if slot is None:
            slot = self._open(path)
        self._counts[slot] += 1
        heap = self._heaps[slot]
        heappush(heap, (self._served[slot] + size, self._number, item))
        self._heads[slot] = heap[0][0]

    def remove(self, item: Item, now: int) -> None:
        """Send nothing more of a flow; nothing happens if there is none of this name."""
        self._pass(now)
        for slot in range(len(self._heaps)):
            self._keep(slot, [entry for entry in self._heaps[slot] if entry[2] is not item])
        self._close_empty()

    def cut(self, links: Sequence[int], now: int) -> list[Item]:
        """Send nothing more over links; give the flows that went over them, the oldest first."""
        self._pass(now)
        flows: list[tuple[int, Item]] = []
        for path, slot in self._slots.items():
            if any(link in path for link in links):
                flows += [(number, item) for _, number, item in self._heaps[slot]]
                self._keep(slot, [])
        self._close_empty()
        return [item for _, item in sorted(flows, key=_number_of)]

    def advance(self, now: int) -> list[Item]:
        """Send until a time; give the flows that end by then, in the order of their beginning."""
        if now != self.now:
            self._pass(now)
        rates, served, heads = self._rates, self._served, self._heads
        ended: list[tuple[int, Item]] = []
        for slot in range(len(rates)):
            enough = served[slot] + rates[slot] * INSTANT
            if heads[slot] <= enough:
                heap = self._heaps[slot]
                while heap and heap[0][0] <= enough:
                    _, number, item = heappop(heap)
                    ended.append((number, item))
                self._counts[slot] = len(heap)
                heads[slot] = heap[0][0] if heap else inf
        if ended:
            self._changed = True
            self._close_empty()
            ended.sort(key=_number_of)
        return [item for _, item in ended]

    def next_completion(self) -> int | None:
        """Give when the next flow ends if none begins or is removed; None: there is none."""
        self._find_rates()
        missing = inf
        for served, head, rate in zip(self._served, self._heads, self._rates, strict=True):
            missing = min(missing, (head - served) / rate)
        return None if missing == inf else self.now + max(ceil(missing - INSTANT), 0)

    def rates(self) -> dict[tuple[int, ...], float]:
        """Give the rate of a flow over each path that has one (bytes per microsecond)."""
        self._find_rates()
        return {path: self._rates[slot] for path, slot in self._slots.items()}

    def flows(self) -> dict[tuple[int, ...], int]:
        """Give how many flows there are over each path that has one."""
        return {path: self._counts[slot] for path, slot in self._slots.items()}

    def carried_until(self, now: int) -> list[float]:
        """Give `carried` as it will be at a time before the next completion."""
        self._pass(now)
        return list(self.carried)

    def _find_rates(self) -> None:
        """Bring the rates up to date."""
        if self._changed:
            self._changed = False
            fill(
                len(self._counts),
                self._paths,
                self._counts,
                self._rates,
                self.capacities,
                self._left,
                self._load,
                self._used,
                self._first,
                self._members,
            )

    def _pass(self, now: int) -> None:
        """Let time pass."""
        elapsed = now - self.now
        if not elapsed:
            return
        self._find_rates()
        self.now = now
        served, rates, counts, paths = self._served, self._rates, self._counts, self._paths
        carried = self.carried
        for slot in range(len(served)):
            sent = elapsed * rates[slot]
            served[slot] += sent
            sent *= counts[slot]
            for link in paths[slot * LINKS_OF_PATH : (slot + 1) * LINKS_OF_PATH]:
                if link >= 0:
                    carried[link] += sent

    def _keep(self, slot: int, entries: list[tuple[float, int, Item]]) -> None:
        """Keep these flows of a class, and no others."""
        if len(entries) < len(self._heaps[slot]):
            heapify(entries)
            self._heaps[slot] = entries
            self._counts[slot] = len(entries)
            self._heads[slot] = entries[0][0] if entries else inf
            self._changed = True

    def _open(self, path: tuple[int, ...]) -> int:
        """Make room for a class of flows."""
        slot = self._slots[path] = len(self._counts)
        self._heaps.append([])
        self._paths.extend((*path, -1, -1, -1, -1)[:LINKS_OF_PATH])
        self._members.extend((0,) * LINKS_OF_PATH)
        self._counts.append(0)
        self._rates.append(0.0)
        self._served.append(0.0)
        self._heads.append(inf)
        return slot

    def _close_empty(self) -> None:
        """Forget classes without flows."""
        for path in [path for path, slot in self._slots.items() if not self._counts[slot]]:
            self._close(path)

    def _close(self, path: tuple[int, ...]) -> None:
        """Forget a class; the last one takes its place."""
        slot, last = self._slots.pop(path), len(self._counts) - 1
        width = LINKS_OF_PATH
        if slot != last:
            moved = tuple(link for link in self._paths[last * width :] if link >= 0)
            self._slots[moved] = slot
            self._paths[slot * width : (slot + 1) * width] = self._paths[last * width :]
        _replace_by_last(self._heaps, slot)
        _replace_by_last(self._counts, slot)
        _replace_by_last(self._rates, slot)
        _replace_by_last(self._served, slot)
        _replace_by_last(self._heads, slot)
        del self._paths[last * width :], self._members[last * width :]


def _replace_by_last(column: list[Entry], slot: int) -> None:
    last = column.pop()
    if slot < len(column):
        column[slot] = last


def _number_of(ended: tuple[int, object]) -> int:
    return ended[0]
