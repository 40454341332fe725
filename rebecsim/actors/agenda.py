"""Which rebecs may act next: what `rebecsim.actors.semantics.ready` says, without asking them all.

The cost of a step grows neither with the rebecs that there are nor with those that are due. What
is noted of a rebec is its *moment*, its next time and its urgency in one number, of which the
smallest is next. The system tells of every message that is sent, and who executes a step tells of
the rebec that has served one; nothing else changes the moment of a rebec.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_left
from collections.abc import Iterable
from heapq import heappop, heappush

from rebecsim.actors.message import Message
from rebecsim.actors.rebec import MessageServer, Rebec
from rebecsim.actors.schedulers import FifoScheduler, Scheduler
from rebecsim.actors.system import System

_SPARE = 1000  # entries that may be out of date before they are looked for


def agenda_for(system: System, scheduler: Scheduler) -> Agenda:
    """Make the agenda that gives a scheduler the rebecs among which it decides."""
    if type(scheduler) is FifoScheduler:
        return FirstSent(system, scheduler.priorities)
    return AllDue(system, scheduler.priorities)


class Agenda(ABC):
    """The rebecs of a system by their moments. Without `priorities` all are equally urgent."""

    def __init__(self, system: System, priorities: bool = True) -> None:
        self._system = system
        self._ranks = 1  # how many urgencies there are; rank 0 is the most urgent
        self._rank_of_server: dict[MessageServer, int] = {}
        self._rank_of_rebec: list[int] = []
        if priorities:
            self._find_ranks()
        for rebec in system.rebecs:
            self.served(rebec)
        system.notice = self.served

    def _find_ranks(self) -> None:
        """Number the urgencies by which `semantics.most_urgent` goes."""
        rebecs = self._system.rebecs
        if self._system.uses_global_priority:
            classes = {type(rebec) for rebec in rebecs}
            servers = [server for each in classes for server in each.__servers__.values()]
            ranks = _ranks(server.global_priority for server in servers)
            self._rank_of_server = {server: ranks[server.global_priority] for server in servers}
        else:
            ranks = _ranks(rebec._priority for rebec in rebecs)
            self._rank_of_rebec = [ranks[rebec._priority] for rebec in rebecs]
        self._ranks = max(len(ranks), 1)

    def _rank(self, rebec: Rebec, head: Message) -> int:
        if self._rank_of_server:
            return self._rank_of_server[head.server]
        return self._rank_of_rebec[rebec._index]

    @abstractmethod
    def ready(self) -> tuple[int, list[Rebec]]:
        """Give the current time, and of the rebecs that may act at it those that are looked at.

        The list changes with the next step. No rebec: a deadlock, time 0.
        """

    @abstractmethod
    def served(self, rebec: Rebec) -> None:
        """Take note that the bag or the clock of a rebec has changed."""


def _ranks(urgencies: Iterable[int]) -> dict[int, int]:
    return {urgency: rank for rank, urgency in enumerate(sorted(set(urgencies)))}


class AllDue(Agenda):
    """Gives all rebecs that may act, in the order of main."""

    def __init__(self, system: System, priorities: bool = True) -> None:
        self._noted = [-1] * len(system.rebecs)  # the moment of each; -1: it has no messages
        self._moments: list[int] = []  # a heap of those that are to come
        self._later: dict[int, set[int] | _Sorted] = {}  # the rebecs of these, by their indices
        self._moment = -1  # the one that has come, and the rebecs of it:
        self._due = _Sorted((), system.rebecs)
        super().__init__(system, priorities)

    def ready(self) -> tuple[int, list[Rebec]]:
        """Give the current time, and the rebecs that may act at it."""
        moments = self._moments
        while not self._due.rebecs:
            if not moments:
                return 0, []
            self._moment = heappop(moments)
            later = self._later.pop(self._moment)
            if isinstance(later, set):
                later = _Sorted(later, self._system.rebecs)
            self._due = later
        return self._moment // self._ranks, self._due.rebecs

    def served(self, rebec: Rebec) -> None:
        """Note the moment of a rebec."""
        messages = rebec._bag.messages
        if messages:
            head = messages[0]
            moment = head[0]
            if rebec._now > moment:
                moment = rebec._now
            if self._ranks > 1:
                moment = moment * self._ranks + self._rank(rebec, head)
        else:
            moment = -1
        index = rebec._index
        before = self._noted[index]
        if moment == before:
            return
        self._noted[index] = moment
        if before >= 0:
            (self._due if before == self._moment else self._later[before]).remove(index)
        if moment < 0:
            return
        if moment in self._later:
            self._later[moment].add(index)
        elif moment == self._moment:
            self._due.add(index)
        else:
            if moment < self._moment:
                self._put_off()
            self._later[moment] = {index}
            heappush(self._moments, moment)

    def _put_off(self) -> None:
        """Go back to before the moment that has come; who is due at it stays sorted."""
        if self._due.rebecs:
            self._later[self._moment] = self._due
            heappush(self._moments, self._moment)
        self._moment = -1
        self._due = _Sorted((), self._system.rebecs)


class _Sorted:
    """Rebecs in the order of main, and their indices."""

    __slots__ = ("_all", "_indices", "rebecs")

    def __init__(self, indices: Iterable[int], rebecs: tuple[Rebec, ...]) -> None:
        self._all = rebecs
        self._indices = sorted(indices)
        self.rebecs = [rebecs[index] for index in self._indices]

    def add(self, index: int) -> None:
        place = bisect_left(self._indices, index)
        self._indices.insert(place, index)
        self.rebecs.insert(place, self._all[index])

    def remove(self, index: int) -> None:
        place = bisect_left(self._indices, index)
        del self._indices[place]
        del self.rebecs[place]


class FirstSent(Agenda):
    """Gives the rebec whose first message was sent first, of those that may act."""

    def __init__(self, system: System, priorities: bool = True) -> None:
        self._heap: list[tuple[int, int, Rebec]] = []  # moment, number of the first message
        self._most = 2 * len(system.rebecs) + _SPARE
        super().__init__(system, priorities)

    def ready(self) -> tuple[int, list[Rebec]]:
        """Give the current time, and the rebec whose first message was sent first."""
        heap, ranks = self._heap, self._ranks
        while heap:
            moment, number, rebec = heap[0]
            messages = rebec._bag.messages
            if messages and messages[0][2] == number and rebec._now * ranks <= moment:
                return moment // ranks, [rebec]
            heappop(heap)  # it was served since, or has become busy
        return 0, []

    def served(self, rebec: Rebec) -> None:
        """Note the first message of a rebec; what was noted before is out of date."""
        messages = rebec._bag.messages
        if not messages:
            return
        head = messages[0]
        moment = head[0]
        if rebec._now > moment:
            moment = rebec._now
        if self._ranks > 1:
            moment = moment * self._ranks + self._rank(rebec, head)
        heappush(self._heap, (moment, head[2], rebec))
        if len(self._heap) > self._most:
            self._heap.clear()
            for each in self._system.rebecs:
                self.served(each)
