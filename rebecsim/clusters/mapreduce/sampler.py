"""Sampling the use of devices at fixed intervals."""

from __future__ import annotations

from rebecsim.actors import Rebec, known_rebec
from rebecsim.clusters.mapreduce.devices import UNBOUNDED, Switch, at_once
from rebecsim.clusters.mapreduce.records import DeviceUse
from rebecsim.clusters.mapreduce.running import MapReduceCluster


class DeviceSampler(Rebec, queue_size=UNBOUNDED):
    """Looks at all devices at regular times."""

    switch: Switch = known_rebec()

    def __init__(self, cluster: MapReduceCluster, interval: int, uses: list[DeviceUse]) -> None:
        self._cluster = cluster
        self._interval = interval
        self._uses = uses
        self.look()

    @at_once
    def look(self) -> None:
        """Write down what has been used, and come back."""
        self._uses.append(uses_until(self._now, self._cluster, self.switch))
        self.look(after=self._interval)


def uses_until(now: int, cluster: MapReduceCluster, switch: Switch) -> DeviceUse:
    """Give how much devices have been used up to a time."""
    return DeviceUse(
        now,
        tuple(node.processor.server.busy_until(now) for node in cluster.nodes),
        tuple(node.disk.server.busy_until(now) for node in cluster.nodes),
        switch.network.carried(now),
    )
