"""ping_pong.rebeca as Python: written by rebecsim, not by hand.

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

STROKE = 1
FLIGHT = 2


class Player(Rebec, queue_size=1):
    """Reactive class of line 9."""

    other: Player = known_rebec()

    def __init__(self, serves: bool) -> None:
        # ping_pong.rebeca, line 14
        if serves:  # line 15
            self.ball()  # line 16

    @message_server
    def ball(self) -> None:
        # ping_pong.rebeca, line 20
        self.delay(STROKE)  # line 21
        self.other.ball(after=FLIGHT)  # line 22


model = Model(
    "ping_pong",
    (
        Instance("ping", Player, knows=["pong"], arguments=[True]),
        Instance("pong", Player, knows=["ping"], arguments=[False]),
    ),
)
