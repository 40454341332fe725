"""Serving the messages of a cluster fast: one heap of all messages, in the order of sending.

What it does is specified by `rebecsim.actors.semantics` with a FIFO scheduler, for rebecs that
never delay and whose message servers have one priority, within a rebec and over all. Which of them
is next does not depend then on how many rebecs there are.
"""

from __future__ import annotations

from heapq import heappop, heappush
from typing import Any, Protocol

from rebecsim.actors import Model
from rebecsim.actors.rebec import MessageServer, Rebec
from rebecsim.actors.system import System
from rebecsim.actors.violations import NegativeTimeError

Waiting = tuple[int, int, int, Rebec, MessageServer, tuple[Any, ...]]
"""A message: when it arrives, its priority, its number; who serves it, how, and its arguments."""


class Closing(Protocol):
    """What says when there is nothing more to do."""

    closed: bool


class QueuedSystem(System):
    """A system whose messages wait in one heap instead of in bags."""

    __slots__ = ("waiting",)

    def __init__(self, model: Model) -> None:
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
        self.sequence = number = self.sequence + 1
        arrival = self.actor._now + after
        heappush(
            self.waiting, (arrival, server.global_priority, number, receiver, server, arguments)
        )


def serve(system: QueuedSystem, closing: Closing) -> int:
    """Serve messages until there are none, or something is `closed`; give how many that were."""
    waiting, served = system.waiting, 0
    system.serving = True
    while waiting and not closing.closed:
        now, _, _, receiver, server, arguments = heappop(waiting)
        receiver._now = now
        system.actor = receiver
        server.handler(receiver, *arguments)
        served += 1
    system.serving = False
    return served


def under_way(system: System) -> list[Waiting]:
    """Give the messages that have been sent and not served, in no order."""
    if isinstance(system, QueuedSystem):
        return system.waiting
    return [
        (at.arrival, at.server.global_priority, at.sequence, rebec, at.server, at.arguments)
        for rebec in system.rebecs
        for at in rebec._bag
    ]
