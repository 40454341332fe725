"""Choose whose turn it is in model time, by the rules of `rebecsim.actors.semantics`.

Nothing here knows of threads or of real time.
"""

from __future__ import annotations

from heapq import heappop, heappush

from rebecsim.actors import Rebec, Stream, System, next_time, ready
from rebecsim.actors.rebec import LOWEST_PRIORITY


class Turns:
    """Rebecs that are due at the same time serve at the same time.

    That is a run of the semantics, in the order in which they end: rebecs share nothing, whatever
    is sent arrives at the time of the others or later, and so takes the turn from nobody. Without
    priorities, that is; see `OneByOne`.
    """

    def __init__(self, system: System, stream: Stream) -> None:
        self.time = -1
        self._system = system
        self._stream = stream
        self._heap: list[tuple[int, int]] = []
        self._noted: list[int | None] = [None] * len(system.rebecs)

    def is_due(self, rebec: Rebec) -> bool:
        """Look again at a rebec that is free and has messages: can it serve at this time?

        If not, it is noted for later.
        """
        time = next_time(rebec)
        if time <= self.time:
            return True
        if self._noted[rebec._index] != time:
            self._noted[rebec._index] = time
            heappush(self._heap, (time, rebec._index))
        return False

    def upcoming(self) -> int | None:
        """Give the time to move on to, now that nobody is serving; None without any message."""
        heap = self._heap
        while heap and self._noted[heap[0][1]] != heap[0][0]:
            heappop(heap)  # its rebec has had an earlier turn since
        return heap[0][0] if heap else None

    def move_to(self, time: int) -> list[Rebec]:
        """Move on to the next time and give the rebecs due at it, in random order."""
        self.time = time
        due = []
        while self._heap and self._heap[0][0] == time:
            _, index = heappop(self._heap)
            if self._noted[index] == time:
                self._noted[index] = None
                due.append(self._system.rebecs[index])
        return self._shuffled(due)

    def _shuffled(self, rebecs: list[Rebec]) -> list[Rebec]:
        for place in range(len(rebecs) - 1, 0, -1):
            other = self._stream.below(place + 1)
            rebecs[place], rebecs[other] = rebecs[other], rebecs[place]
        return rebecs


class OneByOne(Turns):
    """One rebec serves at a time, for models with priorities.

    While a message server runs, another one could send a more urgent message, which should then
    have gone first.
    """

    def is_due(self, rebec: Rebec) -> bool:
        """Give no turn: who is next is looked up when nobody is serving."""
        return False

    def upcoming(self) -> int | None:
        """Give the time of the next message; None without any."""
        time, rebecs = ready(self._system)
        return time if rebecs else None

    def move_to(self, time: int) -> list[Rebec]:
        """Move on to the next time and give one of the rebecs that may act, drawn at random."""
        self.time = time
        rebecs = ready(self._system)[1]
        return [rebecs[self._stream.below(len(rebecs))]]


def has_priorities(system: System) -> bool:
    """Whether rebecs or message servers of a system have priorities that differ."""
    servers = {
        server.priority for rebec in system.rebecs for server in type(rebec).__servers__.values()
    }
    rebecs = {rebec._priority for rebec in system.rebecs}
    return system.uses_global_priority or len(rebecs) > 1 or not servers <= {LOWEST_PRIORITY}
