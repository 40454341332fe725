"""Servers that share what they do equally among all that is to be done: processors and disks.

With n demands present, each is served at the rate of one server, or at its n-th part of what all
of them do together, if that is less. All demands go forward alike, so one number says how much
each has been served since the server was last idle, and a demand is done when that number has
grown by its size: arriving and being done cost O(log n), however many others are present.

Times are whole microseconds. A demand is done at the first of them at which it has been served, so
it stays up to one microsecond longer than it would in continuous time."""

from __future__ import annotations

from collections.abc import Hashable
from heapq import heapify, heappop, heappush
from math import ceil
from typing import Generic, TypeVar

from rebecsim.actors import StatePart

Item = TypeVar("Item", bound=Hashable)

INSTANT = 1e-6
"""Microseconds that are no time: what rounding errors may amount to."""


class SharedServer(StatePart, Generic[Item]):
    """A few servers of one rate that share all demands equally.

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
        """Serve a demand no more; say whether there was one of this name."""
        self._pass(now)
        before, self._heap = self._heap, [entry for entry in self._heap if entry[2] != item]
        heapify(self._heap)
        self._share()
        return len(self._heap) < len(before)

    def clear(self, now: int) -> list[Item]:
        """Serve nothing more; give what was being served, in the order of arrival."""
        self._pass(now)
        present = sorted(self._heap, key=_number_of)
        self._heap = []
        self._share()
        return [item for _, _, item in present]

    def advance(self, now: int) -> list[Item]:
        """Serve until a time; give what is done by then, of one time in the order of arrival."""
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
        """Give when the next demand will be done if none arrives or leaves; None: there is none."""
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
        """Share the servers anew, after demands have come or gone.

        Without any, what each has been served counts from 0 again: so nothing is lost to rounding.
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
