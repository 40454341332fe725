"""Nodes that send no heartbeats, as those would come to nothing until something changes.

In Hadoop nodes always send heartbeats. Those that change nothing can be left out: the next one that
matters comes at the time it would have come. So who calls `rest` must have found nothing to give
and nothing to count, and whatever changes must `rouse`.
"""

from __future__ import annotations

from rebecsim.clusters.yarn.node import ClusterNode
from rebecsim.clusters.yarn.schedulers.scheduler import Grants


class Resting:
    """Nodes that rest, and are worth another look as soon as something changes."""

    def __init__(self, grants: Grants) -> None:
        self._grants = grants
        self._nodes: dict[ClusterNode, None] = {}

    def rest(self, node: ClusterNode) -> None:
        """Let a node be woken when something changes."""
        self._nodes[node] = None

    def came(self, node: ClusterNode) -> None:
        """Take note of a heartbeat of a node, which may have been woken by something else."""
        self._nodes.pop(node, None)

    def rouse(self) -> None:
        """Let all of them send their next heartbeats, as something has changed."""
        if self._nodes:
            nodes, self._nodes = self._nodes, {}
            for node in nodes:
                self._grants.wake(node)
