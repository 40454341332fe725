"""Schedulers that give a task less memory than it asks for, if that is all there is."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from functools import lru_cache

from rebecsim.clusters.yarn.application import LEAST_MEMORY, Application, Task
from rebecsim.clusters.yarn.configuration import YarnConfiguration
from rebecsim.clusters.yarn.node import ClusterNode
from rebecsim.clusters.yarn.schedulers.regular import Regular
from rebecsim.clusters.yarn.schedulers.scheduler import Grants, Offer


class Elastic(Regular):
    """As REGULAR, but a task that does not fit may be given less memory: a tenth at least."""

    elastic = True

    def __init__(
        self, configuration: YarnConfiguration, nodes: Sequence[ClusterNode], grants: Grants
    ) -> None:
        super().__init__(configuration, nodes, grants)
        percent = configuration.elasticity.elastic_percent
        races = configuration.scheduler == "RACE_LOCKSTEP"
        everywhere = percent is None or (races and configuration.quirks.elastic_everywhere)
        self._last_elastic = math.inf if everywhere else len(nodes) * (percent or 0) // 100
        self._assumed = configuration.elasticity.assumed_overestimate

    def offer(self, node: ClusterNode, application: Application, now: int) -> Offer | None:
        """Offer what is asked for, or else less if that is allowed."""
        regular = super().offer(node, application, now)
        if regular is not None:
            return regular
        task = application.head
        assert task is not None
        if (
            task.penalty is None
            or task.cores > node.cores
            or node.memory < task.least
            or not self.may_shrink(node, application)
        ):
            return None
        return self.shrunk(task, node.memory)

    def has_room(self, node: ClusterNode, application: Application) -> bool:
        """Whether the next task could be given a container, in less memory if need be."""
        task = application.head
        assert task is not None
        return self.least_memory(task) <= node.memory and task.cores <= node.cores

    def least_memory(self, task: Task) -> int:
        """Give the least memory that a task may be given (MB)."""
        return task.memory if task.penalty is None else min(task.least, task.memory)

    def may_shrink(self, node: ClusterNode, application: Application) -> bool:
        """Whether this node may give this application less memory than it asks for."""
        return node.size.number <= self._last_elastic

    @abstractmethod
    def shrunk(self, task: Task, free: int) -> Offer:
        """Say which memory a task is given of what is free (MB), which is less than it asks for."""

    def duration(self, task: Task, memory: int) -> int:
        """Give how long a task should take in a memory (MB), for all that is known (ms)."""
        if task.penalty is None or memory > task.memory / self._assumed:
            return task.duration
        return task.penalty.duration(task.memory, memory, task.duration)


class Greedy(Elastic):
    """A task is given all memory that the node has left."""

    def shrunk(self, task: Task, free: int) -> Offer:
        """Offer all."""
        return Offer(free, self.duration(task, free))


class SmartGreedy(Elastic):
    """A task is given the least memory in which it takes the shortest time."""

    def __init__(
        self, configuration: YarnConfiguration, nodes: Sequence[ClusterNode], grants: Grants
    ) -> None:
        super().__init__(configuration, nodes, grants)
        self._remembered = lru_cache(2**16)(self._best)

    def shrunk(self, task: Task, free: int) -> Offer:
        """Offer the best of what is free, and of multiples of 100 MB below."""
        return self._remembered(task, free)

    def _best(self, task: Task, free: int) -> Offer:
        lowest = max(LEAST_MEMORY, task.least)
        amounts = (*range(lowest, free, LEAST_MEMORY), free)
        offers = [Offer(amount, self.duration(task, amount)) for amount in amounts]
        return min(offers, key=lambda offer: (offer.duration, offer.memory))
