"""Which rebecs may act next, without asking all of them: for systems of many rebecs."""

from __future__ import annotations

from heapq import heapify, heappop, heappush

from rebecsim.actors.rebec import Rebec
from rebecsim.actors.semantics import most_urgent, next_time
from rebecsim.actors.system import System


class Agenda:
    """Answers what `ready` answers, in a time that grows with what happens and not with the rebecs.

    A heap has the next time of every rebec with messages, and outdated entries, which are dropped
    when they come up. The system tells it of every message that is sent; who executes a step
    tells it whose clock and bag have changed by that, with `served`.
    """

    def __init__(self, system: System) -> None:
        self._system = system
        self._heap = [(next_time(each), each._index) for each in system.rebecs if each._bag]
        heapify(self._heap)
        system.notice = self.served

    def served(self, rebec: Rebec) -> None:
        """Take note that the bag or the clock of a rebec has changed."""
        if rebec._bag:
            heappush(self._heap, (next_time(rebec), rebec._index))

    def ready(self, priorities: bool = True) -> tuple[int, list[Rebec]]:
        """Give the current time and the rebecs that may act at it; see `semantics.ready`."""
        heap, rebecs = self._heap, self._system.rebecs
        time = 0
        due: list[int] = []
        while heap and (not due or heap[0][0] == time):
            at, index = heappop(heap)
            rebec = rebecs[index]
            if rebec._bag and next_time(rebec) == at and (not due or due[-1] != index):
                time = at
                due.append(index)
        for index in due:
            heappush(heap, (time, index))
        found = [rebecs[index] for index in due]
        return time, most_urgent(self._system, found) if priorities and len(found) > 1 else found
