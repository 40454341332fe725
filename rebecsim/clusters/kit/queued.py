"""Serving messages fast, with one queue for each time and priority.

What it does is specified by `rebecsim.actors.semantics` with a FIFO scheduler, for rebecs that
never delay and draw nothing, and whose message servers have one priority, within a rebec and over
all. A step costs nothing for rebecs that have nothing to do, not even the first time. What is
sorted are numbers, and only those of times at which a message comes, however many come then.
"""

from __future__ import annotations

import gc
from bisect import bisect_left
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from heapq import heappush
from typing import Any, Protocol

from rebecsim.actors.rebec import MessageServer, Rebec, message_server, no_time
from rebecsim.actors.semantics import MOST_AT_ONE_TIME
from rebecsim.actors.system import (
    NEVER,
    Calendar,
    Instance,
    Model,
    ModelError,
    System,
    ranks_of,
)
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
"""A message in the calendar: its number, who serves it, how, and its arguments."""

Until = tuple[int, int, int]
"""An end of serving: the arrival, the priority and the number of a message."""

_NEVER: Until = NEVER, 0, 0


class QueuedSystem(System):
    """A system whose messages wait in a calendar instead of in bags.

    Each rebec is of a class of this system, derived from its own: sending is one call there.

    Raises ModelError for a model with other priorities within a rebec than over all.
    """

    __slots__ = ("_classes", "_ranks", "_senders", "calendar", "priorities")

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
        self._ranks = ranks_of(each.global_priority for each in servers)
        self.priorities = sorted(self._ranks)
        self.calendar: Calendar[_Entry] = Calendar(len(self.priorities))
        self._senders = {each: self._sender(each) for each in servers}
        self._classes = {each: self._sending(each) for each in classes}
        super().__init__(model)

    @property
    def now(self) -> int:
        """The time from which what is sent next is sent."""
        return self.calendar.time

    @now.setter
    def now(self, time: int) -> None:
        self.calendar.time = time

    def _class_of(self, instance: Instance) -> type[Rebec]:
        return self._classes[instance.reactive_class]

    def _sending(self, reactive_class: type[Rebec]) -> type[Rebec]:
        """Derive the class whose message servers, when they are called, put messages there."""
        servers = reactive_class.__servers__.items()
        senders = {name: self._senders[server] for name, server in servers}
        own = {"delay": _refuse_delay, **senders}
        return type(reactive_class.__name__, (reactive_class,), own)

    def _sender(self, server: MessageServer) -> Callable[..., None]:
        """Make what sends messages to a server: what `message_server` makes, and `send`, in one."""
        system, calendar = self, self.calendar
        moments, front = calendar.moments, calendar.front
        firsts, others = calendar.firsts, calendar.others
        levels, rank = calendar.ranks, self._ranks[server.global_priority]

        def send(
            receiver: Rebec, /, *arguments: Any, after: int = 0, deadline: int | None = None
        ) -> None:
            if type(after) is not int or after < 0 or deadline is not None:
                raise _refused(f"{receiver}.{server.name}", after)
            system.sequence = number = system.sequence + 1
            entry = number, receiver, server, arguments
            moment = (calendar.time + after) * levels + rank
            if moment > calendar.present:  # this is `calendar.put`, without a call
                if firsts.setdefault(moment, entry) is entry:
                    heappush(moments, moment)
                else:
                    others[moment].append(entry)
            else:
                if moment < calendar.present:
                    calendar.precede(moment)
                front.append(entry)

        return send

    def send(
        self,
        receiver: Rebec,
        server: MessageServer,
        arguments: tuple[Any, ...],
        after: int,
        deadline: int | None,
    ) -> None:
        """Put a message there. Raises NegativeTimeError for one that lies in the past."""
        self._senders[server](receiver, *arguments, after=after, deadline=deadline)

    def take_over(self, message: Waiting) -> None:
        """Put a message of another system into its place, before those of larger numbers."""
        arrival, priority, number, receiver, server, arguments = message
        moment, _ = self.moment((arrival, priority, number))
        self.calendar.put(moment, (number, receiver, server, arguments))

    def under_way(self) -> Iterator[Waiting]:
        """Give the messages that have been sent and not served, in no order."""
        for moment, entry in self.calendar:
            arrival, rank = divmod(moment, self.calendar.ranks)
            yield arrival, self.priorities[rank], *entry

    def comes_before(self, until: Until) -> bool:
        """Whether there is a message that `until` comes after."""
        return self.calendar.next < self.moment(until)

    def moment(self, until: Until) -> tuple[int, int]:
        """Give the moment and the number of a message, or of one in its place."""
        arrival, priority, number = until
        rank = bisect_left(self.priorities, priority)
        return arrival * self.calendar.ranks + rank, number if priority in self._ranks else 0


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


def serve(system: QueuedSystem, closing: Closing, until: Until = _NEVER) -> int:
    """Serve messages until there are none, or something is `closed`; give how many that were.

    Those that `until` does not come after are left. Ends also when time stands still, as `simulate`
    does, if a little later. What a message server raises comes as it is; one that delays raises
    ModelError.
    """
    calendar, served, most = system.calendar, 0, MOST_AT_ONE_TIME
    messages = () if closing.closed else calendar.taken(*system.moment(until))
    began = calendar.next_time
    system.serving = True
    for _, receiver, server, arguments in messages:
        receiver._now = calendar.time
        system.actor = receiver
        if len(arguments) == 1:  # twice as fast as the general way
            server.handler(receiver, arguments[0])
        else:
            server.handler(receiver, *arguments)
        served += 1
        if closing.closed:
            break
        if served == most:
            if calendar.time == began:
                break
            began, most = calendar.next_time, most + MOST_AT_ONE_TIME
    system.serving = False
    return served


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
