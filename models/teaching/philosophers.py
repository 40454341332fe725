"""philosophers.rebeca as Python: written by rebecsim, not by hand.

Calling a message server sends a message; everything else happens at once. The comments name the
lines of the Rebeca text.
"""

from __future__ import annotations

from rebecsim.actors import (
    Instance,
    Int,
    Model,
    Rebec,
    Reference,
    int32,
    known_rebec,
    message_server,
    refer,
    state_variable,
)


class Philosopher(Rebec, queue_size=2):
    """Reactive class of line 7."""

    first: Fork = known_rebec()
    second: Fork = known_rebec()

    forks: int = state_variable(Int)

    def __init__(self) -> None:
        # philosophers.rebeca, line 16
        self.think()  # line 17

    @message_server
    def think(self) -> None:
        # philosophers.rebeca, line 20
        self.first.request()  # line 21

    @message_server
    def granted(self) -> None:
        # philosophers.rebeca, line 24
        self.forks = int32(self.forks + 1)  # line 25
        if self.forks == 1:  # line 26
            self.second.request()  # line 27
        else:
            self.eat()  # line 29

    @message_server
    def eat(self) -> None:
        # philosophers.rebeca, line 33
        self.forks = 0  # line 34
        self.first.release()  # line 35
        self.second.release()  # line 36
        self.think()  # line 37


class Fork(Rebec, queue_size=4):
    """Reactive class of line 42."""

    holder: Philosopher = state_variable(Reference)
    waiting: Philosopher = state_variable(Reference)

    @message_server
    def request(self) -> None:
        # philosophers.rebeca, line 48
        if self.holder is None:  # line 49
            self.holder = refer(self.sender, Philosopher)  # line 50
            self.holder.granted()  # line 51
        else:
            self.waiting = refer(self.sender, Philosopher)  # line 53

    @message_server
    def release(self) -> None:
        # philosophers.rebeca, line 57
        self.holder = self.waiting  # line 58
        self.waiting = None  # line 59
        if self.holder is not None:  # line 60
            self.holder.granted()  # line 61


model = Model(
    "philosophers",
    (
        Instance("ada", Philosopher, knows=["left", "middle"]),
        Instance("bob", Philosopher, knows=["middle", "right"]),
        Instance("cem", Philosopher, knows=["left", "right"]),
        Instance("left", Fork),
        Instance("middle", Fork),
        Instance("right", Fork),
    ),
    core=True,
)
