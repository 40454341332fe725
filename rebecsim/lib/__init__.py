"""Rebecs ready to use for queueing models: sources, servers, links, stores and clocks.

Take a class as it is, or extend it and give its constants other values:

    class Counter(lib.Server):
        service = rs.exponential(80)
        servers = 2

A rebec that receives customers has the message server `arrive` (`Station`). Customers are not told
apart; a server counts those that wait in `waiting` and those that it serves in `busy`, which is
what `rs.measure` looks at.
"""

from __future__ import annotations

from rebecsim.actors import (
    Boolean,
    Double,
    Int,
    Interface,
    Rebec,
    Reference,
    double_quotient,
    known_rebec,
    message_server,
    state_variable,
)
from rebecsim.distributions import exponential, uniform

__all__ = [
    "Balancer",
    "Client",
    "Clock",
    "LifoServer",
    "Link",
    "Listener",
    "PriorityServer",
    "Replay",
    "Server",
    "SharingServer",
    "Sink",
    "Source",
    "Stage",
    "Station",
    "Store",
    "Timeout",
]


class Station(Interface):
    """Where customers arrive: a server, a link, a balancer or a sink."""

    @message_server
    def arrive(self) -> None:
        """Receive a customer."""
        raise NotImplementedError


class Source(Rebec, queue_size=2):
    """Sends customers to a station, one each `gap`, at most `customers` of them (0: no limit)."""

    gap = exponential(10)
    customers = 0
    station: Station = known_rebec()
    sent: int = state_variable(Int)

    def __init__(self) -> None:
        self.begin()

    @message_server
    def begin(self) -> None:
        """Wait for the first customer."""
        self.emit(after=self.choose(self.gap, site=1))

    @message_server
    def emit(self) -> None:
        """Send a customer, and wait for the next one."""
        self.station.arrive()
        if self.customers > 0:
            self.sent += 1
        if self.sent < self.customers or self.customers == 0:
            self.emit(after=self.choose(self.gap, site=1))


class Replay(Rebec, queue_size=2):
    """Sends customers to a station at the `times` of a trace, which are in order."""

    times: tuple[int, ...] = (0,)
    station: Station = known_rebec()
    sent: int = state_variable(Int)

    def __init__(self) -> None:
        self.begin()

    @message_server
    def begin(self) -> None:
        """Wait for the first customer."""
        self.emit(after=self.times[0])

    @message_server
    def emit(self) -> None:
        """Send a customer, and wait for the next one."""
        self.station.arrive()
        self.sent += 1
        if self.sent < len(self.times):
            self.emit(after=self.times[self.sent] - self.times[self.sent - 1])


class Sink(Rebec, Station, queue_size=100):
    """Where customers leave."""

    @message_server
    def arrive(self) -> None:
        """Let a customer go."""


class Server(Rebec, Station, queue_size=100):
    """Serves customers, `servers` at a time, each for `service`; others wait, at most `room`.

    `leave` is called when one is done, and `refuse` when one finds no room.
    """

    service = exponential(8)
    servers = 1
    room = 1_000_000
    waiting: int = state_variable(Int)
    busy: int = state_variable(Int)

    @message_server
    def arrive(self) -> None:
        """Serve a customer, or let it wait."""
        if self.busy < self.servers:
            self.busy += 1
            self.done(after=self.choose(self.service, site=1))
        elif self.waiting < self.room:
            self.waiting += 1
        else:
            self.refuse()

    @message_server
    def done(self) -> None:
        """Let a customer go, and serve the next one."""
        self.leave()
        if self.waiting > 0:
            self.waiting -= 1
            self.done(after=self.choose(self.service, site=1))
        else:
            self.busy -= 1

    def leave(self) -> None:
        """Do nothing more for a customer."""

    def refuse(self) -> None:
        """Turn a customer away."""


class Stage(Server):
    """A server whose customers go on to the next station."""

    onward: Station = known_rebec()

    def leave(self) -> None:
        """Send the customer on."""
        self.onward.arrive()


class PriorityServer(Rebec, Station, queue_size=100):
    """Serves customers of the lowest level first, 0 to 3, without interrupting others.

    One that only arrives is of level 0.
    """

    service = exponential(8)
    servers = 1
    waiting: int = state_variable(Int)
    busy: int = state_variable(Int)
    levels: list[int] = state_variable(Int[4])

    @message_server
    def arrive(self) -> None:
        """Receive a customer of the first level."""
        self.arrive_at(0)

    @message_server
    def arrive_at(self, level: int) -> None:
        """Serve a customer of a level, or let it wait."""
        if self.busy < self.servers:
            self.busy += 1
            self.done(after=self.choose(self.service, site=1))
        else:
            self.waiting += 1
            self.levels[level] += 1

    @message_server
    def done(self) -> None:
        """Let a customer go, and serve the next one of the lowest level."""
        self.leave()
        if self.waiting > 0:
            level = 0
            while self.levels[level] == 0:
                level += 1
            self.levels[level] -= 1
            self.waiting -= 1
            self.done(after=self.choose(self.service, site=1))
        else:
            self.busy -= 1

    def leave(self) -> None:
        """Do nothing more for a customer."""


class SharingServer(Rebec, Station, queue_size=100):
    """Serves up to 64 customers at once, each at an equal share of its speed (processor sharing).

    `busy` is 1 if there are any, `waiting` counts the others. Services end at whole times, rounded
    up. More than 64 customers are turned away.
    """

    service = exponential(8)
    waiting: int = state_variable(Int)
    busy: int = state_variable(Int)
    left: list[float] = state_variable(Double[64])
    since: int = state_variable(Int)
    number: int = state_variable(Int)

    @message_server
    def arrive(self) -> None:
        """Serve one more customer."""
        self.go_on()
        if self.waiting < 63:
            self.left[self.waiting + self.busy] = float(self.choose(self.service, site=1))
            self.waiting += self.busy
            self.busy = 1
        self.plan()

    @message_server
    def done(self, number: int) -> None:
        """Let those go whose service has ended, unless one has come since this was planned."""
        if number == self.number:
            self.go_on()
            kept = 0
            for place in range(self.waiting + self.busy):
                left = self.left[place]
                self.left[place] = 0.0
                if left > 1e-6:
                    self.left[kept] = left
                    kept += 1
                else:
                    self.leave()
            self.busy = 1 if kept > 0 else 0
            self.waiting = kept - self.busy
            self.plan()

    def go_on(self) -> None:
        """Serve all until now."""
        present = self.waiting + self.busy
        for place in range(present):
            self.left[place] -= double_quotient(float(self.now - self.since), float(present))
        self.since = self.now

    def plan(self) -> None:
        """Say when the next service ends."""
        self.number = (self.number + 1) % 1000
        if self.busy > 0:
            least = self.left[0]
            for place in range(1, self.waiting + 1):
                if self.left[place] < least:
                    least = self.left[place]
            after = max(int(least * (self.waiting + 1)), 0)
            if after < least * (self.waiting + 1) - 1e-6:
                after += 1
            self.done(self.number, after=after)

    def leave(self) -> None:
        """Do nothing more for a customer."""


class LifoServer(Rebec, Station, queue_size=100):
    """Serves the last of up to 64 customers; the one interrupted for it goes on later (preemptive).

    More than 64 customers are turned away. Without interruptions, `Server` counts the same whether
    the first or the last goes first.
    """

    service = exponential(8)
    waiting: int = state_variable(Int)
    busy: int = state_variable(Int)
    left: list[int] = state_variable(Int[64])
    since: int = state_variable(Int)
    number: int = state_variable(Int)

    @message_server
    def arrive(self) -> None:
        """Serve a customer at once."""
        if self.waiting < 63:
            if self.busy > 0:
                self.left[self.waiting] -= self.now - self.since
                self.waiting += 1
            self.busy = 1
            self.left[self.waiting] = self.choose(self.service, site=1)
            self.go_on()

    @message_server
    def done(self, number: int) -> None:
        """Let the customer go, unless it was interrupted, and go on with the one before."""
        if number == self.number:
            self.leave()
            self.left[self.waiting] = 0
            if self.waiting > 0:
                self.waiting -= 1
                self.go_on()
            else:
                self.busy = 0

    def go_on(self) -> None:
        """Serve the last customer from now on."""
        self.since = self.now
        self.number = (self.number + 1) % 1000
        self.done(self.number, after=self.left[self.waiting])

    def leave(self) -> None:
        """Do nothing more for a customer."""


class Link(Rebec, Station, queue_size=100):
    """Brings customers or packets to a station, one each `sending`, `latency` later, or loses them.

    `loss` is how many of 1,000 are lost.
    """

    latency = uniform(5, 5)
    sending = uniform(1, 1)
    loss = 0
    onward: Station = known_rebec()
    lost: int = state_variable(Int)

    @message_server
    def arrive(self) -> None:
        """Send a packet; others wait until it is sent."""
        self.delay(self.choose(self.sending, site=1))
        if self.choose(uniform(1, 1000), site=2) > self.loss:
            self.onward.arrive(after=self.choose(self.latency, site=3))


class Balancer(Rebec, Station, queue_size=100):
    """Sends customers to two stations in turn."""

    first: Station = known_rebec()
    second: Station = known_rebec()
    turn: bool = state_variable(Boolean)

    @message_server
    def arrive(self) -> None:
        """Send a customer on."""
        if self.turn:
            self.second.arrive()
        else:
            self.first.arrive()
        self.turn = not self.turn


class Client(Interface):
    """Who asks a store for a unit."""

    @message_server
    def granted(self) -> None:
        """Receive a unit."""
        raise NotImplementedError


class Store(Rebec, queue_size=100):
    """Holds up to `capacity` units, `first` of them at the start.

    `get` is answered by `granted` when there is a unit, in the order of asking; at most 8 wait. A
    unit for which there is no room is lost.
    """

    capacity = 10
    first = 0
    level: int = state_variable(Int)
    waiting: int = state_variable(Int)
    asking: list[Client | None] = state_variable(Reference[8])

    def __init__(self) -> None:
        self.level = self.first

    @message_server
    def put(self) -> None:
        """Add a unit, or give it to who waits."""
        if self.waiting > 0:
            customer = self.asking[0]
            if customer is not None:
                customer.granted()
            self.waiting -= 1
            for place in range(7):
                self.asking[place] = self.asking[place + 1]
            self.asking[7] = None
        elif self.level < self.capacity:
            self.level += 1

    @message_server
    def get(self, customer: Client) -> None:
        """Give a unit, now or when there is one."""
        if self.level > 0:
            self.level -= 1
            customer.granted()
        else:
            self.asking[self.waiting] = customer
            self.waiting += 1


class Listener(Interface):
    """Who is told of time."""

    @message_server
    def tick(self) -> None:
        """Notice that time has passed."""
        raise NotImplementedError


class Clock(Rebec, queue_size=2):
    """Sends `tick` to a listener, each `period`."""

    period = uniform(10, 10)
    listener: Listener = known_rebec()

    def __init__(self) -> None:
        self.begin()

    @message_server
    def begin(self) -> None:
        """Wait for the first time."""
        self.ring(after=self.choose(self.period, site=1))

    @message_server
    def ring(self) -> None:
        """Tell the listener, and wait for the next time."""
        self.listener.tick()
        self.ring(after=self.choose(self.period, site=1))


class Timeout(Rebec, queue_size=20):
    """Sends `tick` to a listener `span` after `start`, unless `start` or `stop` comes before."""

    span = uniform(10, 10)
    listener: Listener = known_rebec()
    number: int = state_variable(Int)

    @message_server
    def start(self) -> None:
        """Begin anew."""
        self.number = (self.number + 1) % 1000
        self.ring(self.number, after=self.choose(self.span, site=1))

    @message_server
    def stop(self) -> None:
        """Forget the last start."""
        self.number = (self.number + 1) % 1000

    @message_server
    def ring(self, number: int) -> None:
        """Tell the listener, if nothing has come between."""
        if number == self.number:
            self.listener.tick()
