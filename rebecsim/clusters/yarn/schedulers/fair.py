"""YARN's Fair Scheduler: pools, in which applications share what the pool has."""

from __future__ import annotations

from typing import ClassVar

from rebecsim.clusters.yarn.schedulers.pools import PoolQueue
from rebecsim.clusters.yarn.schedulers.regular import Regular
from rebecsim.clusters.yarn.schedulers.shares import DominantShares, MemoryShares, Shares


class Fair(Regular):
    """As REGULAR, but between pools first: each queue has one, or each user where none is named.

    Attributes:
        shares: what counts, for pools and within them.
    """

    shares: ClassVar[type[Shares]] = MemoryShares

    def make_queue(self) -> PoolQueue:
        """Make the queue of pools."""
        return PoolQueue(self.shares(self.nodes), self.configuration.pools)


class DominantFair(Fair):
    """Fair by the resource of which someone has the largest part of the cluster."""

    shares = DominantShares
