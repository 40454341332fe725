"""Serving messages fast: those of one time and one priority wait in a line of their own.

What it does is specified by `rebecsim.actors.semantics` with a FIFO scheduler, for rebecs that
never delay and draw nothing, and whose message servers have one priority, within a rebec and over
all. A step costs nothing for rebecs that have nothing to do, not even the first time. What is
sorted are numbers, and only those of times at which a message comes, however many come then.
"""

from __future__ import annotations

import gc
import math
from bisect import bisect_left, insort
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from heapq import heappop, heappush
from typing import Any, Protocol

from rebecsim.actors.rebec import MessageServer, Rebec, no_time
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

    closed = False


_Entry = tuple[int, Rebec, MessageServer, tuple[Any, ...]]
"""A message in its line: its number, who serves it, how, and its arguments."""

Until = tuple[float, int, int]
"""An end of serving: the arrival, the priority and the number of a message."""

_NEVER: Until = math.inf, 0, 0


class QueuedSystem(System):
    """A system whose messages wait in lines instead of in bags.

    A line is that of a moment, which is a time and the rank of a priority in one number; messages
    stand there in the order of their numbers. One that is alone needs no line.

    Each rebec is of a class of this system, derived from its own: sending is one call there.

    Raises ModelError for a model with other priorities within a rebec than over all.
    """

    __slots__ = ("_classes", "_senders", "levels", "lines", "moments", "priorities", "ranks")

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
        self.moments: list[int] = []  # a heap
        self.lines: dict[int, _Entry | deque[_Entry]] = {}
        self._senders = {each: self._sender(each) for each in servers}
        self._classes = {each: self._sending(each) for each in classes}
        super().__init__(model)

    def _class_of(self, instance: Instance) -> type[Rebec]:
        return self._classes[instance.reactive_class]

    def _sending(self, reactive_class: type[Rebec]) -> type[Rebec]:
        """Derive the class whose message servers, when they are called, put messages into lines."""
        servers = reactive_class.__servers__.items()
        senders = {name: self._senders[server] for name, server in servers}
        return type(reactive_class.__name__, (reactive_class,), senders)

    def _sender(self, server: MessageServer) -> Callable[..., None]:
        """Make what sends messages to a server: what `message_server` makes, and `send`, in one."""
        system, moments, lines = self, self.moments, self.lines
        levels, rank = self.levels, self.ranks[server]

        def send(
            receiver: Rebec, /, *arguments: Any, after: int = 0, deadline: int | None = None
        ) -> None:
            if type(after) is not int:
                raise no_time(f"{receiver}.{server.name}", after)
            if after < 0:
                late = f"{receiver}.{server.name}: after({after}) lies in the past"
                raise NegativeTimeError(late)
            if deadline is not None:
                raise ModelError(f"{receiver}.{server.name}: there are no deadlines here")
            system.sequence = number = system.sequence + 1
            moment = (system.actor._now + after) * levels + rank
            line = lines.get(moment)
            if line is None:
                lines[moment] = number, receiver, server, arguments
                heappush(moments, moment)
            elif isinstance(line, tuple):
                lines[moment] = deque((line, (number, receiver, server, arguments)))
            else:
                line.append((number, receiver, server, arguments))

        return send

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
        line = self.lines.get(moment)
        if line is None:
            heappush(self.moments, moment)
            line = deque()
        elif isinstance(line, tuple):
            line = deque((line,))
        insort(line, (number, receiver, server, arguments))
        self.lines[moment] = line

    def under_way(self) -> Iterator[Waiting]:
        """Give the messages that have been sent and not served, in no order."""
        for moment, line in self.lines.items():
            arrival, rank = divmod(moment, self.levels)
            for entry in (line,) if isinstance(line, tuple) else line:
                yield arrival, self.priorities[rank], *entry

    def comes_before(self, until: Until) -> bool:
        """Whether the next message, which there has to be, is one that `until` comes after."""
        line = self.lines[self.moments[0]]
        number, *_ = line if isinstance(line, tuple) else line[0]
        arrival, rank = divmod(self.moments[0], self.levels)
        return (arrival, self.priorities[rank], number) < until


def serve(system: QueuedSystem, closing: Closing, until: Until = _NEVER) -> int:
    """Serve messages until there are none, or something is `closed`; give how many that were.

    Those that `until` does not come after are left. Ends also when time stands still, as `simulate`
    does, if a little later. What a message server raises comes as it is; raises ModelError for one
    that delays.
    """
    moments, lines, levels = system.moments, system.lines, system.levels
    end = until[0] * levels + bisect_left(system.priorities, until[1])
    current, now, served = -1, 0, 0
    system.serving = True
    while moments:
        began = moments[0] // levels
        for number in range(MOST_AT_ONE_TIME):
            if not moments or closing.closed:
                system.serving = False
                return served + number
            moment = moments[0]
            if moment != current:
                if moment < end:
                    current = moment
                elif not system.comes_before(until):
                    system.serving = False
                    return served + number
                now = moment // levels
            line = lines[moment]
            if isinstance(line, tuple):
                _, receiver, server, arguments = line
                del lines[heappop(moments)]
            else:
                _, receiver, server, arguments = line.popleft()
                if not line:
                    del lines[heappop(moments)]
            receiver._now = now
            system.actor = receiver
            if len(arguments) == 1:  # half the time of the general way
                server.handler(receiver, arguments[0])
            else:
                server.handler(receiver, *arguments)
            if receiver._now != now:
                raise ModelError(f"{receiver}.{server.name}: a delay is not possible here")
        served += MOST_AT_ONE_TIME
        if now == began:
            break
    system.serving = False
    return served


@contextmanager
def rarely_collecting() -> Iterator[None]:
    """Search for garbage only now and then: what a run makes stays until its end."""
    before = gc.get_threshold()
    if before[0]:  # 0: nobody searches
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
