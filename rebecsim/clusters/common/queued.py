"""Serving messages fast: all of them wait in one heap, in the order in which they are served.

What it does is specified by `rebecsim.actors.semantics` with a FIFO scheduler, for rebecs that
never delay and draw nothing, and whose message servers have one priority, within a rebec and over
all. A step costs nothing for rebecs that have nothing to do, not even the first time.
"""

from __future__ import annotations

import gc
import math
from collections.abc import Iterator
from contextlib import contextmanager
from heapq import heappop, heappush
from typing import Any, Protocol

from rebecsim.actors.rebec import MessageServer, Rebec
from rebecsim.actors.semantics import MOST_AT_ONE_TIME
from rebecsim.actors.system import Model, ModelError, System
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


class QueuedSystem(System):
    """A system whose messages wait in one heap instead of in bags.

    Raises ModelError for a model with other priorities within a rebec than over all.
    """

    __slots__ = ("waiting",)

    def __init__(self, model: Model) -> None:
        for each in {instance.reactive_class for instance in model.instances}:
            for server in each.__servers__.values():
                if server.priority != server.global_priority:
                    raise ModelError(
                        f"{each.__name__}.{server.name}: its priority is not its global one"
                    )
        self.waiting: list[Waiting] = []
        super().__init__(model)

    def send(
        self,
        receiver: Rebec,
        server: MessageServer,
        arguments: tuple[Any, ...],
        after: int,
        deadline: int | None,
    ) -> None:
        """Put a message into the heap. Raises NegativeTimeError for one that lies in the past."""
        if after < 0:
            raise NegativeTimeError(f"{receiver}.{server.name}: after({after}) lies in the past")
        if deadline is not None:
            raise ModelError(f"{receiver}.{server.name}: there are no deadlines here")
        self.sequence = number = self.sequence + 1
        arrival = self.actor._now + after
        heappush(
            self.waiting, (arrival, server.global_priority, number, receiver, server, arguments)
        )


Until = tuple[Any, ...]
"""An end of serving: the arrival, the priority and the number of a message."""

_NEVER: Until = math.inf, 0, 0


def serve(system: QueuedSystem, closing: Closing, until: Until = _NEVER) -> int:
    """Serve messages until there are none, or something is `closed`; give how many that were.

    Those that `until` does not come after are left. Ends also when time stands still, as `simulate`
    does, if a little later. What a message server raises comes as it is; raises ModelError for one
    that delays.
    """
    waiting, served = system.waiting, 0
    has_end = until is not _NEVER
    system.serving = True
    while waiting:
        began = now = waiting[0][0]
        for number in range(MOST_AT_ONE_TIME):
            if not waiting or closing.closed or (has_end and waiting[0] >= until):
                system.serving = False
                return served + number
            now, _, _, receiver, server, arguments = heappop(waiting)
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
        return system.waiting
    return [
        (at.arrival, at.server.global_priority, at.sequence, rebec, at.server, at.arguments)
        for rebec in system.rebecs
        for at in rebec._bag
    ]
