"""token_ring.rebeca as Python: written by rebecsim, not by hand.

Calling a message server sends a message; everything else happens at once. The comments name the
lines of the Rebeca text.
"""

from __future__ import annotations

from rebecsim.actors import (
    Boolean,
    Byte,
    Instance,
    Model,
    Rebec,
    known_rebec,
    message_server,
    remainder,
    state_variable,
)

TIMEOUT = 10
LINK = 1
TIMERS = 4


class Station(Rebec, queue_size=6):
    """Reactive class of line 10."""

    next: Station = known_rebec()

    holding: bool = state_variable(Boolean)

    @message_server
    def token(self) -> None:
        # token_ring.rebeca, line 18
        self.holding = True  # line 19
        self.pass_(after=self.choose(1, 2, site=1))  # line 20

    @message_server(rebeca_name='pass')
    def pass_(self) -> None:
        # token_ring.rebeca, line 24
        self.holding = False  # line 25
        if self.choose(True, False, site=2):  # line 26
            self.next.token(after=LINK)  # line 27


class Monitor(Station, queue_size=10):
    """Reactive class of line 33."""

    timer: int = state_variable(Byte)

    def __init__(self) -> None:
        # token_ring.rebeca, line 38
        self.timeout(0)  # line 39

    @message_server
    def token(self) -> None:
        # token_ring.rebeca, line 42
        self.holding = True  # line 43
        self.pass_(after=self.choose(1, 2, site=3))  # line 44
        self.watch()  # line 45

    @message_server
    def timeout(self, number: int) -> None:
        # token_ring.rebeca, line 48
        if number == self.timer:  # line 49
            self.token()  # line 50

    def watch(self) -> None:
        # token_ring.rebeca, line 54
        self.timer = remainder(self.timer + 1, TIMERS)  # line 55
        self.timeout(self.timer, after=TIMEOUT)  # line 56


model = Model(
    "token_ring",
    (
        Instance("a", Monitor, knows=["b"]),
        Instance("b", Station, knows=["c"]),
        Instance("c", Station, knows=["a"]),
    ),
)
