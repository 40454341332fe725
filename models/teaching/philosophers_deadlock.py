"""philosophers_deadlock.rebeca as Python: written by rebecsim, not by hand.

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
    """Reactive class of line 6."""

    first: Fork = known_rebec()
    second: Fork = known_rebec()

    forks: int = state_variable(Int)

    def __init__(self) -> None:
        # philosophers_deadlock.rebeca, line 15
        self.think()  # line 16

    @message_server
    def think(self) -> None:
        # philosophers_deadlock.rebeca, line 19
        self.first.request()  # line 20

    @message_server
    def granted(self) -> None:
        # philosophers_deadlock.rebeca, line 23
        self.forks = int32(self.forks + 1)  # line 24
        if self.forks == 1:  # line 25
            self.second.request()  # line 26
        else:
            self.eat()  # line 28

    @message_server
    def eat(self) -> None:
        # philosophers_deadlock.rebeca, line 32
        self.forks = 0  # line 33
        self.first.release()  # line 34
        self.second.release()  # line 35
        self.think()  # line 36


class Fork(Rebec, queue_size=4):
    """Reactive class of line 41."""

    holder: Philosopher = state_variable(Reference)
    waiting: Philosopher = state_variable(Reference)

    @message_server
    def request(self) -> None:
        # philosophers_deadlock.rebeca, line 47
        if self.holder is None:  # line 48
            self.holder = refer(self.sender, Philosopher)  # line 49
            self.holder.granted()  # line 50
        else:
            self.waiting = refer(self.sender, Philosopher)  # line 52

    @message_server
    def release(self) -> None:
        # philosophers_deadlock.rebeca, line 56
        self.holder = self.waiting  # line 57
        self.waiting = None  # line 58
        if self.holder is not None:  # line 59
            self.holder.granted()  # line 60


model = Model(
    "philosophers_deadlock",
    (
        Instance("ada", Philosopher, knows=["left", "middle"]),
        Instance("bob", Philosopher, knows=["middle", "right"]),
        Instance("cem", Philosopher, knows=["right", "left"]),
        Instance("left", Fork),
        Instance("middle", Fork),
        Instance("right", Fork),
    ),
    core=True,
)
