"""yarn_fifo2.rebeca as Python: written by rebecsim, not by hand.

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
    element,
    int32,
    known_rebec,
    message_server,
    state_variable,
)

SLOTS = 3
DEADLINE = 3
LENGTH = 2


class ResourceManager(Rebec, queue_size=5):
    """Reactive class of line 12."""

    am1: AppMaster = known_rebec()
    am2: AppMaster = known_rebec()

    left: list[int] = state_variable(Int[3])
    free1: bool = state_variable(Boolean)
    free2: bool = state_variable(Boolean)
    queueMisses: int = state_variable(Int)
    runMisses: int = state_variable(Int)
    completions: int = state_variable(Int)

    def __init__(self) -> None:
        # yarn_fifo2.rebeca, line 28
        for slot in range(SLOTS):  # line 29
            self.left[slot] = DEADLINE  # line 30
        self.free1 = True  # line 32
        self.free2 = True  # line 33
        self.checkQueue()  # line 34

    @message_server
    def checkQueue(self) -> None:
        # yarn_fifo2.rebeca, line 39
        self.queueMisses = 0  # line 40
        self.runMisses = 0  # line 41
        self.completions = 0  # line 42
        if self.free1:  # line 43
            self.free1 = False  # line 44
            self.am1.runJob(self.left[0])  # line 45
            self.remove(0)  # line 46
        if self.free2:  # line 48
            self.free2 = False  # line 49
            self.am2.runJob(self.left[0])  # line 50
            self.remove(0)  # line 51
        for slot in range(SLOTS):  # line 53
            self.left[slot] = int32(self.left[slot] - 1)  # line 54
            if self.left[slot] == 0:  # line 55
                self.queueMisses = int32(self.queueMisses + 1)  # line 56
                self.remove(slot)  # line 57
        self.checkQueue(after=1)  # line 60

    @message_server
    def update(self, missed: bool) -> None:
        # yarn_fifo2.rebeca, line 64
        self.queueMisses = 0  # line 65
        self.runMisses = 1 if missed else 0  # line 66
        self.completions = 0 if missed else 1  # line 67
        if self.sender is self.am1:  # line 68
            self.free1 = True  # line 69
        if self.sender is self.am2:  # line 71
            self.free2 = True  # line 72

    def remove(self, slot: int) -> None:
        # yarn_fifo2.rebeca, line 77
        for each in range(slot, SLOTS - 1):  # line 78
            self.left[element(each, 3, 79)] = self.left[element(each + 1, 3, 79)]  # line 79
        self.left[SLOTS - 1] = DEADLINE  # line 81


class AppMaster(Rebec, queue_size=5):
    """Reactive class of line 85."""

    manager: ResourceManager = known_rebec()

    done: int = state_variable(Int)

    @message_server
    def runJob(self, timeLeft: int) -> None:
        # yarn_fifo2.rebeca, line 93
        if timeLeft < LENGTH:  # line 94
            self.manager.update(True, after=timeLeft)  # line 95
        else:
            self.manager.update(False, after=LENGTH)  # line 97
            self.done = int32(self.done + 1)  # line 98
            if self.done > 5:  # line 99
                self.done = 1  # line 100


model = Model(
    "yarn_fifo2",
    (
        Instance("manager", ResourceManager, knows=["am1", "am2"]),
        Instance("am1", AppMaster, knows=["manager"]),
        Instance("am2", AppMaster, knows=["manager"]),
    ),
)
