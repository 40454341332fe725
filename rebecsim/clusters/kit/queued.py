"""Serving messages fast, with one queue for each time and priority.

What it does is specified by `rebecsim.actors.semantics` with a FIFO scheduler, for rebecs that
never delay and draw nothing, and whose message servers have one priority, within a rebec and over
all. A step costs nothing for rebecs that have nothing to do, not even the first time. What is
sorted are numbers, and only those of times at which a message comes, however many come then.
"""

from __future__ import annotations

import gc
import sys
from bisect import bisect_left, insort
from collections import defaultdict, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from heapq import heappop, heappush
from typing import Any, Protocol

from rebecsim.actors.rebec import MessageServer, Rebec, message_server, no_time
from rebecsim.actors.semantics import MOST_AT_ONE_TIME
from rebecsim.actors.system import Instance, Model, ModelError, System
from rebecsim.actors.violations import NegativeTimeError

Waiting = tuple[int, int, int, Rebec, MessageServer, tuple[Any, ...]]
"""A message: when it arrives, its priority, its number; who serves it, how, and its arguments."""

_RARELY = 100_000
"""Objects that are made between two searches for garbage, of which a run has next to none."""


class Closing(Protocol):
    """What says when there is nothing more to do."""

    closed: bool


class NeverClosing:
    """What lets a system go on until there are no messages."""

    def __init__(self) -> None:
        self.closed = False  # attributes of an object are found faster than those of its class


_Entry = tuple[int, Rebec, MessageServer, tuple[Any, ...]]
"""A message in its line: its number, who serves it, how, and its arguments."""

Until = tuple[int, int, int]
"""An end of serving: the arrival, the priority and the number of a message."""

NEVER: Until = sys.maxsize, 0, 0  # integers compare faster with it than with infinity


class QueuedSystem(System):
    """A system whose messages wait in lines instead of in bags.

    A line is that of a moment, which is a time and the rank of a priority in one number; messages
    stand there in the order of their numbers, the first one apart, as most are alone. The moment
    that is being served is `present`: what is sent to it, or to an earlier one, which becomes the
    present then, waits in `front` and is not sorted. All others are of later moments.

    Each rebec is of a class of this system, derived from its own: sending is one call there.

    Raises ModelError for a model with other priorities within a rebec than over all.
    """

    __slots__ = (
        "_classes",
        "_senders",
        "firsts",
        "front",
        "levels",
        "moments",
        "now",
        "others",
        "present",
        "priorities",
        "ranks",
    )

    def __init__(self, model: Model) -> None:
        servers: set[MessageServer] = set()
        classes = {instance.reactive_class for instance in model.instances}
        for each in classes:
            for server in each.__servers__.values():
                if server.priority != server.global_priority:
                    raise ModelError(
                        f"{each.__name__}.{server.name}: its priority is not its global one"
                    )
                servers.add(server)
        self.priorities = sorted({each.global_priority for each in servers})
        self.levels = len(self.priorities)
        self.ranks = {each: self.priorities.index(each.global_priority) for each in servers}
        self.now = 0
        self.present = -1
        self.front: deque[_Entry] = deque()
        self.moments: list[int] = []  # a heap
        self.firsts: dict[int, _Entry] = {}
        self.others: defaultdict[int, list[_Entry]] = defaultdict(list)
        self._senders = {each: self._sender(each) for each in servers}
        self._classes = {each: self._sending(each) for each in classes}
        super().__init__(model)

    def _class_of(self, instance: Instance) -> type[Rebec]:
        return self._classes[instance.reactive_class]

    def _sending(self, reactive_class: type[Rebec]) -> type[Rebec]:
        """Derive the class whose message servers, when they are called, put messages into lines."""
        servers = reactive_class.__servers__.items()
        senders = {name: self._senders[server] for name, server in servers}
        own = {"delay": _refuse_delay, **senders}
        return type(reactive_class.__name__, (reactive_class,), own)

    def _sender(self, server: MessageServer) -> Callable[..., None]:
        """Make what sends messages to a server: what `message_server` makes, and `send`, in one."""
        system, moments, front = self, self.moments, self.front
        firsts, others = self.firsts, self.others
        levels, rank = self.levels, self.ranks[server]

        def send(
            receiver: Rebec, /, *arguments: Any, after: int = 0, deadline: int | None = None
        ) -> None:
            if type(after) is not int or after < 0 or deadline is not None:
                raise _refused(f"{receiver}.{server.name}", after)
            system.sequence = number = system.sequence + 1
            entry = number, receiver, server, arguments
            moment = (system.now + after) * levels + rank
            if moment > system.present:
                if firsts.setdefault(moment, entry) is entry:
                    heappush(moments, moment)
                else:
                    others[moment].append(entry)
            else:
                if moment < system.present:
                    system.precede(moment)
                front.append(entry)

        return send

    def precede(self, moment: int) -> None:
        """Make a moment the present that comes before what has been; the front is empty then."""
        if self.front:
            self.firsts[self.present], *others = self.front
            if others:
                self.others[self.present] = others
            self.front.clear()
            heappush(self.moments, self.present)
        self.present = moment

    def send(
        self,
        receiver: Rebec,
        server: MessageServer,
        arguments: tuple[Any, ...],
        after: int,
        deadline: int | None,
    ) -> None:
        """Put a message into its line. Raises NegativeTimeError for one that lies in the past."""
        self._senders[server](receiver, *arguments, after=after, deadline=deadline)

    def take_over(self, message: Waiting) -> None:
        """Put a message of another system into its line, before those of larger numbers."""
        arrival, _, number, receiver, server, arguments = message
        moment = arrival * self.levels + self.ranks[server]
        entry = number, receiver, server, arguments
        if moment <= self.present:
            if moment < self.present:
                self.precede(moment)
            insort(self.front, entry)
            return
        first = self.firsts.setdefault(moment, entry)
        if first is entry:
            heappush(self.moments, moment)
        else:
            self.firsts[moment] = min(first, entry)
            insort(self.others[moment], max(first, entry))

    def under_way(self) -> Iterator[Waiting]:
        """Give the messages that have been sent and not served, in no order."""
        firsts = ((moment, (first,)) for moment, first in self.firsts.items())
        for moment, line in ((self.present, self.front), *firsts, *self.others.items()):
            arrival, rank = divmod(moment, self.levels)
            for entry in line:
                yield arrival, self.priorities[rank], *entry

    @property
    def next_moment(self) -> int:
        """The moment of the next message; the present one if there is none."""
        return self.present if self.front or not self.moments else self.moments[0]

    def comes_before(self, until: Until) -> bool:
        """Whether the next message, which there has to be, is one that `until` comes after."""
        moment = self.next_moment
        number, *_ = self.front[0] if self.front else self.firsts[moment]
        arrival, rank = divmod(moment, self.levels)
        return (arrival, self.priorities[rank], number) < until


def _refused(what: str, after: Any) -> Exception:
    """Make the error for a message that cannot be sent; `what` names it."""
    if type(after) is not int:
        return no_time(what, after)
    if after < 0:
        return NegativeTimeError(f"{what}: after({after}) is in the past; use 0 or more")
    return ModelError(f"{what}: there are no deadlines here")


def _refuse_delay(self: Rebec, duration: int) -> None:
    """Raise ModelError: a rebec that never delays is always free when a message comes."""
    raise ModelError(f"{self}: a delay of {duration} time units is not possible here")


def serve(system: QueuedSystem, closing: Closing, until: Until = NEVER) -> int:
    """Serve messages until there are none, or something is `closed`; give how many that were.

    Those that `until` does not come after are left. Ends also when time stands still, as `simulate`
    does, if a little later. What a message server raises comes as it is; one that delays raises
    ModelError.
    """
    served = 0
    system.serving = True
    while True:
        began = system.next_moment // system.levels
        number = _serve_some(system, closing, until)
        served += number
        if number < MOST_AT_ONE_TIME or system.present // system.levels == began:
            break
    system.serving = False
    return served


def _serve_some(system: QueuedSystem, closing: Closing, until: Until) -> int:
    """Serve messages as `serve` does, but no more than may be of one time."""
    moments, firsts, others = system.moments, system.firsts, system.others
    levels, front = system.levels, system.front
    end = until[0] * levels + bisect_left(system.priorities, until[1])
    now, is_late = system.present // levels, system.present >= end
    if front:
        system.now = now
    for number in range(MOST_AT_ONE_TIME):
        if closing.closed:
            return number
        if front:
            if is_late and not system.comes_before(until):
                return number
            _, receiver, server, arguments = front.popleft()
        elif moments:
            moment = moments[0]
            if moment >= end:
                is_late = True
                if not system.comes_before(until):
                    return number
            system.present = moment
            system.now = now = moment // levels
            heappop(moments)
            if moment in others:
                front += others.pop(moment)
            _, receiver, server, arguments = firsts.pop(moment)
        else:
            return number
        receiver._now = now
        system.actor = receiver
        if len(arguments) == 1:  # twice as fast as the general way
            server.handler(receiver, arguments[0])
        else:
            server.handler(receiver, *arguments)
    return MOST_AT_ONE_TIME


def in_turn(place: int) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Make a message server; of those of one time the one with the lowest place goes first."""
    return message_server(priority=place, global_priority=place)


@contextmanager
def rarely_collecting() -> Iterator[None]:
    """Search for garbage only now and then: what a run makes stays until its end."""
    before = gc.get_threshold()
    if before[0]:  # 0: no search is under way
        gc.set_threshold(max(before[0], _RARELY), *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


def under_way(system: System) -> list[Waiting]:
    """Give the messages that have been sent and not served, in no order."""
    if isinstance(system, QueuedSystem):
        return list(system.under_way())
    return [
        (at.arrival, at.server.global_priority, at.sequence, rebec, at.server, at.arguments)
        for rebec in system.rebecs
        for at in rebec._bag
    ]
