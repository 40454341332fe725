"""Find the next step that `rebecsim.actors.semantics` allows, without looking at all rebecs.

The cost of a step grows neither with the rebecs that there are nor with those that are due. What
is noted of a rebec is its *moment*, its next time and its urgency in one number, of which the
smallest is next. A rebec at work is noted nowhere until it has served its message; all others are
noted when something is sent to them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_left, insort
from collections.abc import Callable, Iterator
from heapq import heappop, heappush

from rebecsim.actors.rebec import MessageServer, PlainMessage, Rebec
from rebecsim.actors.schedulers import FifoScheduler, Pick, RandomScheduler, Scheduler
from rebecsim.actors.semantics import count_alternatives, deciding_server
from rebecsim.actors.system import NEVER, Calendar, System, ranks_of

_SPARE = 1000  # entries that may get out of date, or as many as rebecs, before all are made anew


def agenda_for(system: System, scheduler: Scheduler, until: int | None = None) -> Agenda:
    """Make the agenda that takes the steps of a scheduler, at times up to and including `until`."""
    if type(scheduler) is FifoScheduler and not _may_turn(system):
        return FirstSent(system, scheduler.priorities, until)
    if type(scheduler) is RandomScheduler:
        return DrawnPlaces(system, scheduler, until)
    return AllDue(system, scheduler.priorities, until, scheduler.pick)


class Agenda(ABC):
    """The rebecs of a system by their moments. Without `priorities` all are equally urgent."""

    time = 0
    """That of the step that was taken last."""

    def __init__(self, system: System, priorities: bool, until: int | None) -> None:
        self._system = system
        self._rank_of_server: dict[MessageServer, int] = {}
        self._rank_of_rebec: list[int] = []
        self._turns = priorities and _may_turn(system)
        self._ranks = self._find_ranks() if priorities else 1
        self._end = NEVER if until is None else (until + 1) * self._ranks
        self._spare = 0  # so many entries may still get out of date
        self._bags = [rebec._bag.messages for rebec in system.rebecs]
        system.put = self.note
        self._note_all()

    def _find_ranks(self) -> int:
        """Number the urgencies by which `semantics.most_urgent` goes; give how many there are."""
        rebecs = self._system.rebecs
        if self._system.uses_global_priority:
            classes = {type(rebec) for rebec in rebecs}
            servers = [server for each in classes for server in each.__servers__.values()]
            ranks = ranks_of(server.global_priority for server in servers)
            self._rank_of_server = {server: ranks[server.global_priority] for server in servers}
        else:
            ranks = ranks_of(rebec._priority for rebec in rebecs)
            self._rank_of_rebec = [ranks[rebec._priority] for rebec in rebecs]
        return max(len(ranks), 1)

    def _rank(self, rebec: Rebec, head: PlainMessage) -> int:
        if self._turns:
            return self._rank_of_server[deciding_server(rebec)]
        if self._rank_of_server:
            return self._rank_of_server[head[3]]
        return self._rank_of_rebec[rebec._index]

    def _note_all(self) -> None:
        """Note every rebec, and forget what was noted before."""
        self._spare = max(len(self._system.rebecs), _SPARE)
        self._forget()
        for rebec in self._system.rebecs:
            if rebec._bag.messages:
                self.note(rebec)

    @abstractmethod
    def _forget(self) -> None:
        """Forget what is noted."""

    def _matters(self, rebec: Rebec, message: PlainMessage, at_work: bool) -> bool:
        """Put a message beside others; tell whether its rebec has to be noted for it.

        A rebec at work has reserved a place, and is noted afterwards.
        """
        bag = rebec._bag
        bag.put(message, at_work)
        if at_work or not (self._turns or bag.messages[0] is message):
            return False
        self._spare -= 1  # what was noted of it is out of date from now on
        if not self._spare:
            self._note_all()
        return True

    @abstractmethod
    def ready(self) -> tuple[int, list[Rebec]]:
        """Give the next time, and of the rebecs that may act at it those that are looked at.

        No rebec: a deadlock, time 0.
        """

    @abstractmethod
    def steps(self) -> Iterator[Pick]:
        """Give one step after the other, with its message taken out of the bag.

        Each is to be served before the next one is asked for. Ends when there is none at a time
        that counts, or the scheduler stops.
        """

    @abstractmethod
    def note(
        self, rebec: Rebec, message: PlainMessage | None = None, at_work: bool = False
    ) -> None:
        """Note when a rebec that has messages is due, and no longer what was noted before.

        `message` is one that is sent to it just now, which is put into its bag. That is one call
        and not two, as it is done for each message. Raises QueueOverflowError when it is full.
        """


def _may_turn(system: System) -> bool:
    """Whether a message that is not the first in its bag can change how urgent its rebec is."""
    if not system.uses_global_priority:
        return False
    for each in {type(rebec) for rebec in system.rebecs}:
        orders = {(one.priority, one.global_priority) for one in each.__servers__.values()}
        if len(orders) > len({priority for priority, _ in orders}):
            return True
    return False


class FirstSent(Calendar[tuple[int, Rebec]], Agenda):
    """Takes the step whose message was sent first, as `FifoScheduler` does.

    An entry is the number of a rebec's first message, and the rebec. One is out of date when its
    message is no longer the first, or the rebec is busy.
    """

    def __init__(self, system: System, priorities: bool, until: int | None) -> None:
        Calendar.__init__(self)
        Agenda.__init__(self, system, priorities, until)

    def _forget(self) -> None:
        self.clear()
        self.ranks = self._ranks

    def ready(self) -> tuple[int, list[Rebec]]:
        """Give the next time, and the rebec whose first message was sent first."""
        for number, rebec in self.taken():
            messages = rebec._bag.messages
            if messages and messages[0][2] == number and rebec._now <= self.time:
                self.put(self.present, (number, rebec))
                return self.time, [rebec]
        return 0, []

    def steps(self) -> Iterator[Pick]:
        """Give the steps whose messages were sent first."""
        for number, rebec in self.taken(self._end):
            messages = rebec._bag.messages
            if messages and messages[0][2] == number and rebec._now <= self.time:
                yield rebec, messages.pop(0)
                if messages:
                    self.note(rebec)

    def note(
        self, rebec: Rebec, message: PlainMessage | None = None, at_work: bool = False
    ) -> None:
        """Note the first message of a rebec."""
        messages = rebec._bag.messages
        if message is None:
            message = messages[0]
        elif messages or at_work:
            if not self._matters(rebec, message, at_work):
                return
        else:
            messages.append(message)
        moment = message[0]
        if rebec._now > moment:
            moment = rebec._now
        if self._ranks > 1:
            moment = moment * self._ranks + self._rank(rebec, message)
        self.put(moment, (message[2], rebec))


class AllDue(Agenda):
    """Lets someone pick among all rebecs that may act, in the order of main.

    An entry is the index of a rebec. Those of a moment are sorted when it is the first, and exact
    from then on; before, some may be out of date, of rebecs that have been noted elsewhere since.
    """

    def __init__(
        self,
        system: System,
        priorities: bool,
        until: int | None = None,
        pick: Callable[[list[Rebec]], Pick | None] = lambda _: None,
    ) -> None:
        self._pick = pick
        self._moments: list[int] = []  # a heap of those that have entries
        self._entries: dict[int, int | list[int]] = {}  # of each of these moments
        self._sorted: dict[int, list[int]] = {}  # of the moments that have been the first
        self._outdated: set[int] = set()  # moments of which entries are out of date
        self._noted = [-1] * len(system.rebecs)  # the moment of each; -1: it is at work, or idle
        super().__init__(system, priorities, until)

    def _forget(self) -> None:
        """Forget what is noted, also where steps look at it."""
        for due in self._sorted.values():
            due.clear()
        for each in (self._moments, self._entries, self._sorted, self._outdated):
            each.clear()
        self._noted[:] = [-1] * len(self._noted)

    def ready(self) -> tuple[int, list[Rebec]]:
        """Give the next time, and the rebecs that may act at it."""
        due = self._due()
        if not due:
            return 0, []
        rebecs = self._system.rebecs
        return self._moments[0] // self._ranks, [rebecs[index] for index in due]

    def steps(self) -> Iterator[Pick]:
        """Give the steps that are picked."""
        rebecs = self._system.rebecs
        while due := self._due():
            moment = self._moments[0]
            if moment >= self._end:
                return
            step = self._pick([rebecs[index] for index in due])
            if step is None:
                return
            rebec, message = step
            self.withdraw(rebec)
            self.time = moment // self._ranks
            rebec._bag.messages.remove(message)
            yield step
            if rebec._bag.messages:
                self.note(rebec)

    def withdraw(self, rebec: Rebec) -> None:
        """Note no longer when a rebec is due, as it is at work."""
        index = rebec._index
        moment, self._noted[index] = self._noted[index], -1
        if moment >= 0:
            self._leave(moment, index)

    def _due(self) -> list[int]:
        """Give the indices of the rebecs that are due at the first moment, sorted."""
        moments, noted = self._moments, self._noted
        while moments:
            moment = moments[0]
            due = self._sorted.get(moment)
            if due is None:
                entries = self._entries.pop(moment)
                due = [entries] if isinstance(entries, int) else entries
                if moment in self._outdated:
                    self._outdated.remove(moment)
                    due = list({index for index in due if noted[index] == moment})
                due.sort()
                self._sorted[moment] = due
            if due:
                return due
            heappop(moments)
            del self._sorted[moment]
        return []

    def note(
        self, rebec: Rebec, message: PlainMessage | None = None, at_work: bool = False
    ) -> None:
        """Note the moment of a rebec."""
        index = rebec._index
        messages = self._bags[index]
        if message is None:
            message = messages[0]
        elif not (messages or at_work):
            messages.append(message)
        elif self._matters(rebec, message, at_work):
            message = messages[0]
        else:
            return
        moment = message[0]
        if rebec._now > moment:
            moment = rebec._now
        if self._ranks > 1:
            moment = moment * self._ranks + self._rank(rebec, message)
        noted = self._noted
        before = noted[index]
        if moment == before:
            return
        noted[index] = moment
        if before >= 0:
            self._leave(before, index)
        entries = self._entries.get(moment)
        if entries is None:
            due = self._sorted.get(moment)
            if due is None:
                self._entries[moment] = index
                heappush(self._moments, moment)
            else:
                insort(due, index)
        elif isinstance(entries, int):
            self._entries[moment] = [entries, index]
        else:
            entries.append(index)

    def _leave(self, moment: int, index: int) -> None:
        """Let a rebec not be due at a moment."""
        due = self._sorted.get(moment)
        if due is None:
            self._outdated.add(moment)
        else:
            del due[bisect_left(due, index)]


class DrawnPlaces(AllDue):
    """The same for a scheduler that draws the places of rebecs and messages unseen."""

    def __init__(self, system: System, scheduler: RandomScheduler, until: int | None) -> None:
        super().__init__(system, scheduler.priorities, until)
        self._place = scheduler.place

    def steps(self) -> Iterator[Pick]:
        """Give the steps that the scheduler draws."""
        moments, entries, sorted_, end = self._moments, self._entries, self._sorted, self._end
        noted, rebecs, place, note = self._noted, self._system.rebecs, self._place, self.note
        bags, core = self._bags, self._system.model.core
        current = -1
        due: list[int] | None = None
        while moments:
            moment = moments[0]
            if moment != current:
                if moment >= end:
                    return
                current = moment
                self.time = moment // self._ranks
                due = sorted_.get(moment)
            if due:
                count = len(due)
                if count > 1:
                    index = due.pop(place(count))
                else:
                    index = due[0]
                    del sorted_[heappop(moments)]
                    current = -1
            else:
                alone = entries.get(moment)
                if not isinstance(alone, int) or noted[alone] != moment:
                    self._due()
                    current = -1
                    continue
                index = alone
                del entries[heappop(moments)]
            noted[index] = -1
            rebec = rebecs[index]
            messages = bags[index]
            if len(messages) == 1:
                yield rebec, messages.pop()
            else:
                yield rebec, messages.pop(place(count_alternatives(messages, core)))
            if messages:
                note(rebec)
