"""producer_consumer.rebeca as Python: written by rebecsim, not by hand.

Calling a message server sends a message; everything else happens at once. The comments name the
lines of the Rebeca text.
"""

from __future__ import annotations

from rebecsim.actors import (
    Instance,
    Model,
    Rebec,
    known_rebec,
    message_server,
)

PLACES = 4
PERIOD = 2


class Producer(Rebec, queue_size=2):
    """Reactive class of line 7."""

    consumer: Consumer = known_rebec()

    def __init__(self) -> None:
        # producer_consumer.rebeca, line 12
        self.make(after=PERIOD)  # line 13

    @message_server
    def make(self) -> None:
        # producer_consumer.rebeca, line 16
        self.consumer.item()  # line 17
        self.make(after=PERIOD)  # line 18


class Consumer(Rebec, queue_size=4):
    """Reactive class of line 22."""

    @message_server
    def item(self) -> None:
        # producer_consumer.rebeca, line 23
        self.delay(self.choose(1, 2, 3, site=1))  # line 24


model = Model(
    "producer_consumer",
    (
        Instance("producer", Producer, knows=["consumer"]),
        Instance("consumer", Consumer),
    ),
)
