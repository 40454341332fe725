"""Times of heartbeats: of a node, or of each of its free slots."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rebecsim.clusters.mapreduce.job import SlotKind


class SlotBeats:
    """When the slots of a node send heartbeats: each has a first one, and others a period apart.

    A slot sends them while it is free, and to tell that what it ran has ended. Where a node sends
    them for all its slots, these have the same times, and what they send together is one.
    """

    __slots__ = ("_free", "_period")

    def __init__(self, period: int, slots: Iterable[int], firsts: Iterator[int]) -> None:
        """Take the first heartbeat of each slot, so many of each kind (microseconds)."""
        self._period = period
        self._free = tuple([next(firsts) for _ in range(number)] for number in slots)

    def fill(self, kind: SlotKind, now: int) -> int:
        """Fill a free slot, the one that sends a heartbeat now if there is one; give its first."""
        free = self._free[kind]
        sender = next((first for first in free if not (now - first) % self._period), free[0])
        free.remove(sender)
        return sender

    def empty(self, kind: SlotKind, first: int) -> None:
        """Take back a slot, by its first heartbeat."""
        self._free[kind].append(first)

    def until_next(
        self, now: int, kinds: Iterable[SlotKind], telling: Iterable[int] = ()
    ) -> int | None:
        """Give how long it is until the next heartbeat (microseconds); None: nobody sends any.

        Args:
            now: the time.
            kinds: whose free slots send some.
            telling: the first heartbeats of slots that have an end to tell, too.
        """
        senders = {*telling, *(first for kind in kinds for first in self._free[kind])}
        return min((self._until(first, now) for first in senders), default=None)

    def _until(self, first: int, now: int) -> int:
        return first - now if now < first else self._period - (now - first) % self._period
