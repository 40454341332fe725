"""train_crossing.rebeca as Python: written by rebecsim, not by hand.

Calling a message server sends a message; everything else happens at once. The comments name the
lines of the Rebeca text.
"""

from __future__ import annotations

from rebecsim.actors import (
    Boolean,
    Instance,
    Int,
    Model,
    Rebec,
    int32,
    known_rebec,
    message_server,
    state_variable,
)

SIGNAL = 1
LOWERING = 2


class Train(Rebec, queue_size=3):
    """Reactive class of line 10."""

    controller: Controller = known_rebec()

    crossing: bool = state_variable(Boolean)

    def __init__(self, start: int) -> None:
        # train_crossing.rebeca, line 18
        self.approach(after=start)  # line 19

    @message_server
    def approach(self) -> None:
        # train_crossing.rebeca, line 22
        self.controller.near()  # line 23
        self.enter(after=self.choose(4, 5, site=1))  # line 24

    @message_server
    def enter(self) -> None:
        # train_crossing.rebeca, line 27
        self.crossing = True  # line 28
        self.leave(after=2)  # line 29

    @message_server
    def leave(self) -> None:
        # train_crossing.rebeca, line 32
        self.crossing = False  # line 33
        self.controller.passed()  # line 34
        self.approach(after=self.choose(3, 6, site=2))  # line 35


class Controller(Rebec, queue_size=4):
    """Reactive class of line 39."""

    gate: Gate = known_rebec()

    trains: int = state_variable(Int)

    @message_server
    def near(self) -> None:
        # train_crossing.rebeca, line 47
        self.trains = int32(self.trains + 1)  # line 48
        if self.trains == 1:  # line 49
            self.gate.lower(after=SIGNAL)  # line 50

    @message_server
    def passed(self) -> None:
        # train_crossing.rebeca, line 54
        self.trains = int32(self.trains - 1)  # line 55
        if self.trains == 0:  # line 56
            self.gate.raise_(after=SIGNAL)  # line 57


class Gate(Rebec, queue_size=4):
    """Reactive class of line 63."""

    down: bool = state_variable(Boolean)

    @message_server
    def lower(self) -> None:
        # train_crossing.rebeca, line 68
        self.lowered(after=LOWERING)  # line 69

    @message_server
    def lowered(self) -> None:
        # train_crossing.rebeca, line 72
        self.down = True  # line 73

    @message_server(rebeca_name='raise')
    def raise_(self) -> None:
        # train_crossing.rebeca, line 76
        self.down = False  # line 77


model = Model(
    "train_crossing",
    (
        Instance("express", Train, knows=["controller"], arguments=[0]),
        Instance("local", Train, knows=["controller"], arguments=[1]),
        Instance("controller", Controller, knows=["gate"]),
        Instance("gate", Gate),
    ),
)
