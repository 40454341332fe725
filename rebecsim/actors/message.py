"""Messages and the bags that hold them."""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterator
from itertools import starmap
from typing import TYPE_CHECKING, Any, NamedTuple

from rebecsim.actors.violations import QueueOverflowError

if TYPE_CHECKING:
    from rebecsim.actors.rebec import MessageServer, Rebec

NOBODY = "main"
"""How the sender of an `initial` message is shown, which no rebec has sent."""


PlainMessage = tuple[int, int, int, "MessageServer", "Rebec | None", tuple[Any, ...], "int | None"]
"""The fields of a `Message` in their order, as they wait in a bag.

One is made for each message that is sent, in a fifth of the time that one with names takes.
"""


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
        self.messages: list[PlainMessage] = _list_of_one()

    def put(self, message: PlainMessage, reserved: int = 0) -> None:
        """Add a message; `reserved` places are taken by the message being executed.

        Raises QueueOverflowError when the bag is full.
        """
        if len(self.messages) + reserved >= self.capacity:
            raise QueueOverflowError(Message(*message), self.capacity)
        insort(self.messages, message)

    def __len__(self) -> int:
        return len(self.messages)

    def __iter__(self) -> Iterator[Message]:
        return starmap(Message, self.messages)


def _list_of_one() -> list[Any]:
    """Give an empty list that keeps memory for one thing.

    Others get and free it whenever something comes and goes, and most bags hold no more than one
    message: where there are thousands of them, that takes as long as all else.
    """
    made = [None]
    made.pop()
    return made
