"""Bags that collect what a running message server sends."""

from __future__ import annotations

from rebecsim.actors import Bag, Message, PlainMessage, QueueOverflowError

Sent = list[tuple[int, PlainMessage]]


class Outbox(Bag):
    """Stands in for the bag of a rebec: notes what is sent to it in the order of sending.

    `sent` is one list for all rebecs, of receivers' positions and messages. Only what the rebec
    at work sends to itself is counted against the capacity, which is how many places the others
    in its bag leave; `tried` is how often it did.
    """

    __slots__ = ("_owner", "_sent", "tried")

    def __init__(self, owner: int, capacity: int, sent: Sent) -> None:
        super().__init__(capacity)
        self._owner = owner
        self._sent = sent
        self.tried = 0

    def put(self, message: PlainMessage, reserved: int = 0) -> None:
        """Note a message; it is to the rebec at work itself if a place is reserved.

        Raises QueueOverflowError when such a message finds no place.
        """
        if reserved:
            self.tried += 1
            if self.tried + reserved > self.capacity:
                raise QueueOverflowError(Message(*message), self.capacity)
        self._sent.append((self._owner, message))
