"""Devices as rebecs: they serve demands of TaskTrackers, and report when each is done.

A TaskTracker numbers its demands, and devices know a demand by both numbers. A demand may be
dropped before it arrives, because reading from another node takes a latency.

A device sends itself a message for the completion of its next demand. The message cannot be
withdrawn: if new demands have delayed the completion, it has no effect.
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
    """Make a message server that comes before all others at equal times."""
    return message_server(priority=1, global_priority=1)(handler)


def at_once(handler: Callable[..., None]) -> Callable[..., None]:
    """Make a message server that comes before the network updates its rates."""
    return message_server(priority=2, global_priority=2)(handler)


NumberedDemand = tuple["TaskTracker", int]
"""The TaskTracker that waits for a demand, and its number there."""


class Device(Rebec, queue_size=UNBOUNDED):
    """The processors or disks of a node, shared equally by all demands."""

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
        """Report completed demands."""
        now = self._now
        if now != self._due:
            return
        self._due = None
        for client, number in self.server.advance(now):
            client.served(number)
        self._plan()

    @at_once
    def drop(self, client: TaskTracker, number: int) -> None:
        """Drop a demand."""
        if not self.server.remove((client, number), self._now):
            self._dropped[client, number] = True
        self._plan()

    @first_of_all
    def fail(self) -> None:
        """Lose all demands, and tell their TaskTrackers."""
        self._works = False
        for client, number in self.server.clear(self._now):
            client.refused(number)

    @first_of_all
    def recover(self) -> None:
        """Serve again."""
        self._works = True

    def _plan(self) -> None:
        """Schedule the next completion, unless a message for it is under way."""
        coming = self.server.next_completion()
        if coming is not None and (self._due is None or coming < self._due):
            self._due = coming
            self.tick(after=coming - self._now)


class Switch(Rebec, queue_size=UNBOUNDED):
    """The network. All flows that begin or end at one time change rates once.

    It tells TaskTrackers the disks of all nodes, and when a node fails or recovers.
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
        """Start a flow from one node to another, unless it was dropped meanwhile."""
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
        """Check for completed flows."""
        if self._now == self._due:
            self._due = None
            self._settle_later()

    @message_server
    def settle(self) -> None:
        """Report completed flows, and schedule the next completion."""
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
        """Drop a flow."""
        if not self.network.remove((client, number), self._now):
            self._dropped[client, number] = True
        self._settle_later()

    @first_of_all
    def fail(self, node: int, outages: int) -> None:
        """Disconnect a failed node, and tell the TaskTrackers that wait for its data."""
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
        """Update rates after all flows of this time have begun or ended."""
        if not self._settles:
            self._settles = True
            self.settle()
