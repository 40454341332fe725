"""Nodes that fail and are repaired."""

from __future__ import annotations

from random import Random

from rebecsim.actors import Rebec
from rebecsim.clusters.mapreduce.configuration import Outage
from rebecsim.clusters.mapreduce.devices import UNBOUNDED, at_once
from rebecsim.clusters.mapreduce.running import MapReduceCluster, WorkerNode


class Fate(Rebec, queue_size=UNBOUNDED):
    """Lets nodes fail, and work again. A node that has failed does not fail again before.

    What is drawn of a node depends on no other, nor on what runs.
    """

    def __init__(self, cluster: MapReduceCluster) -> None:
        failures = cluster.configuration.failures
        self._cluster = cluster
        self._mean = failures.mean_time_between
        self._repair = failures.repair
        self._down: set[WorkerNode] = set()
        self._draws: dict[WorkerNode, Random] = {}
        for outage in failures.outages:
            repair = None if outage.end is None else outage.end - outage.start
            self.strike(cluster.nodes[outage.node], repair, after=outage.start)
        if self._mean is not None:
            for node in cluster.nodes:
                self._draws[node] = Random(f"{cluster.seed} {node.number} failures")
                self._draw(node)

    @at_once
    def strike(self, node: WorkerNode, repair: int | None) -> None:
        """Let a node fail that works, and work again after some time; None: never."""
        if node in self._down:
            return
        now, cluster = self._now, self._cluster
        self._down.add(node)
        end = None if repair is None else now + repair
        cluster.outages.append(Outage(node.number, now, end))
        node.tracker.fail()
        if repair is not None:
            cluster.repairs += 1
            self.mend(node, after=repair)

    @at_once
    def strike_at_random(self, node: WorkerNode) -> None:
        """Let a node fail whose time has come, unless it has failed already."""
        if node in self._down:
            self._draw(node)
        else:
            self.strike(node, self._repair)

    @at_once
    def mend(self, node: WorkerNode) -> None:
        """Let a node work again."""
        self._down.remove(node)
        self._cluster.repairs -= 1
        node.tracker.recover()
        if self._mean is not None:
            self._draw(node)

    def _draw(self, node: WorkerNode) -> None:
        """Draw when a node fails that works now."""
        assert self._mean is not None
        after = self._draws[node].expovariate(1.0 / self._mean)
        self.strike_at_random(node, after=max(round(after), 1))
