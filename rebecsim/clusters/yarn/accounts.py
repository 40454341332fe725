"""Accounts of memory: how much was used, and how much was reserved."""

from __future__ import annotations

from rebecsim.clusters.yarn.container import Container
from rebecsim.clusters.yarn.node import ClusterNode


class Accounts:
    """Sums over a run, in MB * ms.

    Attributes:
        utilised: memory of containers that nodes have reported to have finished.
        kept: memory in use on reserved nodes when their reservations ended, for their time.
        kept_usable: that of nodes that had a core free then.
    """

    __slots__ = ("kept", "kept_usable", "utilised")

    def __init__(self) -> None:
        self.utilised = self.kept = self.kept_usable = 0

    def used(self, container: Container) -> None:
        """Add the memory of a container."""
        if container.finished is not None and container.launched is not None:
            self.utilised += (container.finished - container.launched) * container.memory

    def reserved(self, node: ClusterNode, time: int) -> None:
        """Add what a reservation has kept for a time (ms)."""
        amount = time * (node.size.memory - node.memory)
        self.kept += amount
        if node.cores:
            self.kept_usable += amount
