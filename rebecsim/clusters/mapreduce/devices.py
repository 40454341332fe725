"""Devices as rebecs: they are told demands, and tell a TaskTracker when one of its is done.

A TaskTracker numbers its demands; with its number, a demand is known to all devices. One that is
dropped may not have arrived yet, as reading from another node takes a latency.

A device sends itself a message for when its next demand will be done. Such a message cannot be
taken back: one that comes too early, since demands have arrived meanwhile, changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from rebecsim.actors import Rebec, Unordered, message_server
from rebecsim.clusters.mapreduce.network import FlowNetwork, RackTopology
from rebecsim.clusters.mapreduce.shared_server import SharedServer

if TYPE_CHECKING:
    from rebecsim.clusters.mapreduce.tasktracker import TaskTracker

UNBOUNDED = 2**31 - 1


def first_of_all(handler: Callable[..., None]) -> Callable[..., None]:
    """Make a message server that is served before anything else of its time."""
    return message_server(priority=1, global_priority=1)(handler)


def at_once(handler: Callable[..., None]) -> Callable[..., None]:
    """Make a message server that is served before the network finds its rates anew."""
    return message_server(priority=2, global_priority=2)(handler)


NumberedDemand = tuple["TaskTracker", int]
"""Who waits for it, and the number by which they know it."""


class Device(Rebec, queue_size=UNBOUNDED):
    """The processors of a node, or its disks: equal shares for all demands."""

    def __init__(self, servers: int, rate: float) -> None:
        """`rate` is that of one processor, or disk (units per microsecond)."""
        self.server: SharedServer[NumberedDemand] = SharedServer(servers, rate)
        self._works = True
        self._due: int | None = None
        self._dropped: Unordered[NumberedDemand, bool] = Unordered()

    @at_once
    def serve(self, client: TaskTracker, number: int, size: float) -> None:
        """Begin to serve a demand, unless it has been dropped meanwhile."""
        demand = client, number
        if self._dropped and self._dropped.pop(demand, False):
            return
        if not self._works:
            client.refused(number)
            return
        self.server.add(demand, size, self._now)
        self._plan()

    @at_once
    def tick(self) -> None:
        """Tell who waits what is done."""
        now = self._now
        if now != self._due:
            return
        self._due = None
        for client, number in self.server.advance(now):
            client.served(number)
        self._plan()

    @at_once
    def drop(self, client: TaskTracker, number: int) -> None:
        """Serve a demand no more."""
        if not self.server.remove((client, number), self._now):
            self._dropped[client, number] = True
        self._plan()

    @first_of_all
    def fail(self) -> None:
        """Lose all demands; who waits for one is told."""
        self._works = False
        for client, number in self.server.clear(self._now):
            client.refused(number)

    @first_of_all
    def recover(self) -> None:
        """Serve again."""
        self._works = True

    def _plan(self) -> None:
        """Come back when something is done, unless a message for that is under way."""
        coming = self.server.next_completion()
        if coming is not None and (self._due is None or coming < self._due):
            self._due = coming
            self.tick(after=coming - self._now)


class Switch(Rebec, queue_size=UNBOUNDED):
    """The network: what begins and ends at one time changes rates once.

    It tells TaskTrackers where the disks of all nodes are, and when a node fails or recovers.
    """

    def __init__(self, topology: RackTopology, *rebecs: Any) -> None:
        """Take the links, and the TaskTracker and the disk of each node in turn."""
        self.topology = topology
        self.network: FlowNetwork[NumberedDemand] = FlowNetwork(topology.capacities)
        self._trackers: Sequence[TaskTracker] = rebecs[::2]
        self._down: Unordered[int, bool] = Unordered()
        self._due: int | None = None
        self._settles = False
        self._dropped: Unordered[NumberedDemand, bool] = Unordered()
        for tracker in self._trackers:
            tracker.meet(rebecs[1::2])

    @at_once
    def transfer(
        self, client: TaskTracker, number: int, source: int, target: int, size: float
    ) -> None:
        """Begin to send bytes from one node to another, unless that has been dropped meanwhile."""
        demand = client, number
        if self._dropped and self._dropped.pop(demand, False):
            return
        if self._down and (source in self._down or target in self._down):
            client.refused(number)
            return
        self.network.start(demand, self.topology.path(source, target), size, self._now)
        self._settle_later()

    @at_once
    def tick(self) -> None:
        """Look what has arrived."""
        if self._now == self._due:
            self._due = None
            self._settle_later()

    @message_server
    def settle(self) -> None:
        """Tell who waits what has arrived, and find when more will."""
        self._settles = False
        now = self._now
        for client, number in self.network.advance(now):
            client.served(number)
        coming = self.network.next_completion()
        if coming is not None and (self._due is None or coming < self._due):
            self._due = coming
            self.tick(after=coming - now)

    @at_once
    def drop(self, client: TaskTracker, number: int) -> None:
        """Send nothing more of a demand."""
        if not self.network.remove((client, number), self._now):
            self._dropped[client, number] = True
        self._settle_later()

    @first_of_all
    def fail(self, node: int, outages: int) -> None:
        """Cut a node off that has failed so often; who waits for something from it is told."""
        self._down[node] = True
        for tracker in self._trackers:
            tracker.node_failed(node, outages)
        for client, number in self.network.cut(self.topology.links_of(node), self._now):
            client.refused(number)
        self._settle_later()

    @first_of_all
    def recover(self, node: int) -> None:
        """Connect a node again."""
        del self._down[node]
        for tracker in self._trackers:
            tracker.node_recovered(node)

    def _settle_later(self) -> None:
        """Find rates when everything of this time has begun or ended."""
        if not self._settles:
            self._settles = True
            self.settle()
