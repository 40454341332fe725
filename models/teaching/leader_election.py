"""leader_election.rebeca as Python: written by rebecsim, not by hand.

Calling a message server sends a message; everything else happens at once. The comments name the
lines of the Rebeca text.
"""

from __future__ import annotations

from rebecsim.actors import (
    Instance,
    Int,
    Model,
    Rebec,
    int32,
    known_rebec,
    message_server,
    state_variable,
)


class Node(Rebec, queue_size=6):
    """Reactive class of line 7."""

    next: Node = known_rebec()

    id: int = state_variable(Int)
    leader: int = state_variable(Int)
    sent: int = state_variable(Int)

    def __init__(self, number: int) -> None:
        # leader_election.rebeca, line 17
        self.id = number  # line 18
        self.wake()  # line 19

    @message_server
    def wake(self) -> None:
        # leader_election.rebeca, line 22
        self.propose(self.id)  # line 23

    @message_server
    def proposal(self, candidate: int) -> None:
        # leader_election.rebeca, line 26
        if candidate > self.id:  # line 27
            self.propose(candidate)  # line 28
        elif candidate == self.id:  # line 29
            self.announce(self.id)  # line 30

    @message_server
    def elected(self, winner: int) -> None:
        # leader_election.rebeca, line 35
        if self.leader == 0:  # line 36
            self.announce(winner)  # line 37

    def propose(self, candidate: int) -> None:
        # leader_election.rebeca, line 41
        self.sent = int32(self.sent + 1)  # line 42
        self.next.proposal(candidate)  # line 43

    def announce(self, winner: int) -> None:
        # leader_election.rebeca, line 46
        self.leader = winner  # line 47
        self.sent = int32(self.sent + 1)  # line 48
        self.next.elected(winner)  # line 49


model = Model(
    "leader_election",
    (
        Instance("n4", Node, knows=["n3"], arguments=[4]),
        Instance("n3", Node, knows=["n2"], arguments=[3]),
        Instance("n2", Node, knows=["n1"], arguments=[2]),
        Instance("n1", Node, knows=["n4"], arguments=[1]),
    ),
    core=True,
)
