"""Devices as rebecs: they are told demands, and tell a TaskTracker when one of its is done.

A device sends itself a message for when its next demand will be done. Such a message cannot be
taken back: one that comes too early, since demands have arrived meanwhile, changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

from rebecsim.actors import Rebec, message_server
from rebecsim.clusters.mapreduce.executions import Demand
from rebecsim.clusters.mapreduce.network import FlowNetwork, RackTopology
from rebecsim.clusters.mapreduce.shared_server import SharedServer

if TYPE_CHECKING:
    from rebecsim.clusters.mapreduce.cluster_state import WorkerNode

UNBOUNDED = 2**31 - 1


def first_of_all(handler: Callable[..., None]) -> Callable[..., None]:
    """Make a message server that is served before anything else of its time."""
    return message_server(priority=1, global_priority=1)(handler)


def at_once(handler: Callable[..., None]) -> Callable[..., None]:
    """Make a message server that is served before the network finds its rates anew."""
    return message_server(priority=2, global_priority=2)(handler)


class Device(Rebec, queue_size=UNBOUNDED):
    """The processors of a node, or its disks: equal shares for all demands."""

    def __init__(
        self, node: WorkerNode, server: SharedServer[Demand], role: Literal["processor", "disk"]
    ) -> None:
        setattr(node, role, self)
        self.node = node
        self.server = server
        self._due: int | None = None

    @at_once
    def serve(self, demand: Demand, size: float) -> None:
        """Begin to serve a demand, for which somebody should still wait."""
        if demand.over:
            return
        if not self.node.works:
            demand.owner.tracker.refused(demand)
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
        for demand in self.server.advance(now):
            demand.owner.tracker.served(demand)
        self._plan()

    @at_once
    def drop(self, demand: Demand) -> None:
        """Serve a demand no more."""
        self.server.remove(demand, self._now)
        self._plan()

    @at_once
    def fail(self) -> None:
        """Lose all demands; who waits for one from another node is told."""
        for demand in self.server.clear(self._now):
            if not demand.over:
                demand.owner.tracker.refused(demand)

    def _plan(self) -> None:
        """Come back when something is done, unless a message for that is under way."""
        coming = self.server.next_completion()
        if coming is not None and (self._due is None or coming < self._due):
            self._due = coming
            self.tick(after=coming - self._now)


class Switch(Rebec, queue_size=UNBOUNDED):
    """The network: what begins and ends at one time changes rates once."""

    def __init__(self, topology: RackTopology, network: FlowNetwork[Demand]) -> None:
        self.topology = topology
        self.network = network
        self._due: int | None = None
        self._settles = False

    @at_once
    def transfer(self, demand: Demand, source: WorkerNode, target: WorkerNode, size: float) -> None:
        """Begin to send bytes from one node to another, to the tracker of who waits for them."""
        if demand.over:
            return
        if not (source.works and target.works):
            demand.owner.tracker.refused(demand)
            return
        path = self.topology.path(source.number, target.number)
        self.network.start(demand, path, size, self._now)
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
        for demand in self.network.advance(now):
            demand.owner.tracker.served(demand)
        coming = self.network.next_completion()
        if coming is not None and (self._due is None or coming < self._due):
            self._due = coming
            self.tick(after=coming - now)

    @at_once
    def drop(self, demand: Demand) -> None:
        """Send nothing more of a demand."""
        self.network.remove(demand, self._now)
        self._settle_later()

    @at_once
    def fail(self, node: WorkerNode) -> None:
        """Cut a node off; who waits for something from it on another node is told."""
        links = self.topology.links_of(node.number)
        for demand in self.network.cut(links, self._now):
            if not demand.over:
                demand.owner.tracker.refused(demand)
        self._settle_later()

    def _settle_later(self) -> None:
        """Find rates when everything of this time has begun or ended."""
        if not self._settles:
            self._settles = True
            self.settle()
