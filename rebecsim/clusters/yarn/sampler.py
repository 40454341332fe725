"""The rebec that writes down how much of a cluster is in use."""

from __future__ import annotations

from typing import NamedTuple

from rebecsim.actors import Rebec, known_rebec, message_server
from rebecsim.clusters.yarn.rebecs import ResourceManager


class Occupancy(NamedTuple):
    """What was in use at a time (ms): booked MB and cores, and containers that were running."""

    time: int
    memory: int
    cores: int
    containers: int
    elastic: int


class Sampler(Rebec, queue_size=2):
    """Writes the occupancy down with a period; with a period of 0, once."""

    manager: ResourceManager = known_rebec()

    def __init__(self, period: int, samples: list[Occupancy]) -> None:
        self.period = period
        self.samples = samples
        self.sample()

    @message_server
    def sample(self) -> None:
        """Write down what is in use, unless that is nothing."""
        if self.manager.closed:
            return
        self.manager.require_progress()
        nodes = self.manager.nodes
        memory = sum(node.size.memory - node.memory for node in nodes)
        cores = sum(node.size.cores - node.cores for node in nodes)
        if memory and cores:
            running = [container for node in nodes for container in node.running]
            elastic = sum(container.is_elastic for container in running)
            self.samples.append(Occupancy(self._now, memory, cores, len(running), elastic))
        if self.period:
            self.sample(after=self.period)
