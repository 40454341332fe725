"""A ticket office with customers, written by hand: the same model as ticket_service.rebeca.

A customer asks for a ticket, which takes the office one or two time units to print, and must be
answered within twelve units of asking. Who gets a ticket comes back after three or five units;
who is refused tries again two units later. The office is refilled every seven units.
"""

from __future__ import annotations

from rebecsim.actors import (
    Boolean,
    Instance,
    Int,
    Model,
    Rebec,
    known_rebec,
    message_server,
    state_variable,
)


class Office(Rebec, queue_size=8):
    """Sells the tickets of one shelf."""

    left: int = state_variable(Int)

    def __init__(self) -> None:
        self.left = 2
        self.refill(after=7)

    @message_server
    def buy(self, customer: Customer) -> None:
        """Print a ticket while there are any."""
        self.delay(self.choose(1, 2, site=1))
        if self.left > 0:
            self.left -= 1
            customer.ticket(True)
        else:
            customer.ticket(False)

    @message_server
    def refill(self) -> None:
        """Fill the shelf, every seven time units."""
        self.left = 2
        self.refill(after=7)


class Customer(Rebec, queue_size=5):
    """Wants tickets, again and again."""

    office: Office = known_rebec()
    tickets: int = state_variable(Int)
    asking: bool = state_variable(Boolean)

    def __init__(self, start: int) -> None:
        self.think(after=start)

    @message_server
    def think(self) -> None:
        """Ask for a ticket; the office must take up the request in time."""
        self.asking = True
        self.office.buy(self, after=1, deadline=12)

    @message_server
    def ticket(self, sold: bool) -> None:
        """Take the answer; the number of tickets is counted modulo three."""
        self.asking = False
        if sold:
            self.tickets = (self.tickets + 1) % 3
            self.think(after=self.choose(3, 5, site=1))
        else:
            self.think(after=2)


model = Model(
    "ticket_service",
    (
        Instance("office", Office),
        Instance("ann", Customer, knows=["office"], arguments=[0]),
        Instance("bob", Customer, knows=["office"], arguments=[1]),
    ),
)
