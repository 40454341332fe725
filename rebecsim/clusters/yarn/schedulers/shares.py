"""Who has least for what he should have: the orders of YARN's Fair Scheduler.

Whoever has less than the least that was promised to him comes before all others, and of those who
has the smallest part of that. Then they come by what they have, divided by their weights. What
counts is memory, or the dominant resource: that of which someone has the largest part of the
cluster (Ghodsi and others, Dominant Resource Fairness, NSDI 2011).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Protocol

from rebecsim.clusters.yarn.configuration import FairPool
from rebecsim.clusters.yarn.node import ClusterNode

Share = tuple[float, ...]
"""What is compared: 0 for whoever has less than promised and 1 for others, then the ratios."""

_NEEDY, _SERVED = 0, 1


class Shares(Protocol):
    """Says how much someone has of what he should have; less goes first."""

    def __init__(self, nodes: Sequence[ClusterNode]) -> None:
        """Take a look at the cluster that is shared."""

    def of(self, memory: int, cores: int, pool: FairPool) -> Share:
        """Give the share of who has this memory (MB) and these cores, by the rules of a pool."""


class MemoryShares:
    """Memory alone counts."""

    def __init__(self, nodes: Sequence[ClusterNode]) -> None:
        pass

    def of(self, memory: int, cores: int, pool: FairPool) -> Share:
        """Give the share by memory."""
        if memory < pool.least_memory:
            return _NEEDY, memory / pool.least_memory
        return _SERVED, memory / pool.weight


class DominantShares:
    """The dominant resource counts, and where that is the same for two, the other one."""

    def __init__(self, nodes: Sequence[ClusterNode]) -> None:
        self._memory = sum(node.size.memory for node in nodes)
        self._cores = sum(node.size.cores for node in nodes)

    def of(self, memory: int, cores: int, pool: FairPool) -> Share:
        """Give the share by the dominant resource."""
        # parts of the cluster over their common denominator: whole numbers, so that equal is equal
        parts = memory * self._cores, cores * self._memory
        dominant = 0 if parts[0] > parts[1] else 1
        least = pool.least_memory, pool.least_cores
        had = memory, cores
        if had[dominant] < least[dominant]:
            other = 1 - dominant
            ratio = had[other] / least[other] if least[other] else math.inf
            return _NEEDY, had[dominant] / least[dominant], ratio
        return _SERVED, parts[dominant] / pool.weight, parts[1 - dominant] / pool.weight
