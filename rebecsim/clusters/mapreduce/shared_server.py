"""Processor sharing: processors and disks that serve all demands at equal rates.

With n demands, each gets the rate of one server, or an n-th of the total rate if that is less. All
demands progress equally, so one number tells how much each has been served since the servers were
last idle. A demand completes when that number has grown by its size: arrivals and completions cost
O(log n).

Times are whole microseconds, rounded up: a demand completes up to one microsecond later than in
continuous time."""

from __future__ import annotations

from collections.abc import Hashable
from heapq import heapify, heappop, heappush
from math import ceil
from typing import Generic, TypeVar

from rebecsim.actors import StatePart

Item = TypeVar("Item", bound=Hashable)

INSTANT = 1e-6
"""Tolerance for rounding errors (microseconds)."""


class SharedServer(StatePart, Generic[Item]):
    """A few equal servers that share all demands equally.

    Whoever uses it calls `advance` at each `next_completion`.

    Attributes:
        servers: how many; none serves more than one demand at a time.
        rate: of one server (units per microsecond).
        busy: for how long servers have been busy, all together (microseconds), up to `now`.
        now: the time up to which demands have been served (microseconds).
    """

    __slots__ = (
        "_at_work",
        "_each",
        "_heap",
        "_number",
        "_served",
        "busy",
        "now",
        "rate",
        "servers",
    )

    def __init__(self, servers: int, rate: float) -> None:
        self.servers = servers
        self.rate = rate
        self.busy = 0.0
        self.now = 0
        self._served = 0.0  # units served of each demand since the device was last idle
        self._number = 0
        self._heap: list[tuple[float, int, Item]] = []
        self._each = rate  # at what rate each demand is served now
        self._at_work = 0  # servers

    def __len__(self) -> int:
        return len(self._heap)

    def add(self, item: Item, size: float, now: int) -> None:
        """Begin to serve a demand of some size (units)."""
        if now != self.now:
            self._pass(now)
        self._number += 1
        heappush(self._heap, (self._served + size, self._number, item))
        self._share()

    def remove(self, item: Item, now: int) -> bool:
        """Remove a demand; return whether there was one of this name."""
        self._pass(now)
        before, self._heap = self._heap, [entry for entry in self._heap if entry[2] != item]
        heapify(self._heap)
        self._share()
        return len(self._heap) < len(before)

    def clear(self, now: int) -> list[Item]:
        """Remove and return all demands, in the order of arrival."""
        self._pass(now)
        present = sorted(self._heap, key=_number_of)
        self._heap = []
        self._share()
        return [item for _, _, item in present]

    def advance(self, now: int) -> list[Item]:
        """Serve until a time; return completed demands, ties in the order of arrival."""
        if now != self.now:
            self._pass(now)
        heap, done = self._heap, []
        enough = self._served + self._each * INSTANT
        while heap and heap[0][0] <= enough:
            done.append(heappop(heap)[2])
        if done:
            self._share()
        return done

    def next_completion(self) -> int | None:
        """Return the next completion if no demand arrives or leaves, or None."""
        if not self._heap:
            return None
        missing = (self._heap[0][0] - self._served) / self._each
        return self.now + max(ceil(missing - INSTANT), 0)

    def busy_until(self, now: int) -> float:
        """Give `busy` as it will be at a time before the next completion."""
        return self.busy + (now - self.now) * self._at_work

    def _pass(self, now: int) -> None:
        """Let time pass."""
        elapsed, self.now = now - self.now, now
        if self._at_work:
            self._served += elapsed * self._each
            self.busy += elapsed * self._at_work

    def _share(self) -> None:
        """Update the rate after demands have come or gone.

        When idle, the count of served units restarts at 0, which limits rounding errors.
        """
        present, servers = len(self._heap), self.servers
        if present <= servers:
            self._at_work = present
            self._each = self.rate
            if not present:
                self._served = 0.0
        else:
            self._at_work = servers
            self._each = self.rate * servers / present


def _number_of(entry: tuple[float, int, object]) -> int:
    return entry[1]
