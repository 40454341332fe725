"""Messages and the bags that hold them."""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from rebecsim.actors.violations import QueueOverflowError

if TYPE_CHECKING:
    from rebecsim.actors.rebec import MessageServer, Rebec

NOBODY = "main"
"""How the sender of an `initial` message is shown, which no rebec has sent."""


class Message(NamedTuple):
    """A message on its way to, or waiting at, a rebec. Times are absolute model time units.

    The order of the fields is the order of a bag: by arrival, then by the priority of the message
    server, then by the order of sending. The sequence number is unique, so that comparing two
    messages never reaches the fields behind it. An `initial` message has no sender.
    """

    arrival: int
    priority: int
    sequence: int
    server: MessageServer
    sender: Rebec | None
    arguments: tuple[Any, ...]
    deadline: int | None

    @property
    def sent_by(self) -> str:
        """The name of the sender."""
        return NOBODY if self.sender is None else self.sender._name

    def __str__(self) -> str:
        arguments = ", ".join(str(argument) for argument in self.arguments)
        return f"{self.server.name}({arguments})"


class Bag:
    """The messages of one rebec, sorted, at most `capacity` of them.

    Messages that have not arrived yet occupy their place from the moment of sending.
    """

    __slots__ = ("capacity", "messages")

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.messages: list[Message] = []

    def put(self, message: Message, reserved: int = 0) -> None:
        """Add a message; `reserved` places are taken by the message being executed.

        Raises QueueOverflowError when the bag is full.
        """
        if len(self.messages) + reserved >= self.capacity:
            raise QueueOverflowError(message, self.capacity)
        insort(self.messages, message)

    def remove(self, message: Message) -> None:
        """Take a message out. Raises ValueError if it is not in the bag."""
        self.messages.remove(message)

    def __len__(self) -> int:
        return len(self.messages)

    def __iter__(self) -> Iterator[Message]:
        return iter(self.messages)
