"""Schedulers that give a task less memory than it asks for: greedily, or by looking ahead."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import accumulate

from rebecsim.actors import Unordered
from rebecsim.clusters.yarn.configuration import YarnConfiguration
from rebecsim.clusters.yarn.containers import (
    LEAST_MEMORY,
    Application,
    ClusterNode,
    Task,
)
from rebecsim.clusters.yarn.foresight import Foresight, Held
from rebecsim.clusters.yarn.schedulers.fair import GONE, NEVER, Regular
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
        return _duration(task, memory, self._assumed)


class Greedy(Elastic):
    """A task is given all memory that the node has left."""

    def shrunk(self, task: Task, free: int) -> Offer:
        """Offer all."""
        return Offer(free, self.duration(task, free))


class SmartGreedy(Elastic):
    """A task is given the least memory in which it takes the shortest time."""

    def shrunk(self, task: Task, free: int) -> Offer:
        """Offer the best of what is free, and of multiples of 100 MB below."""
        return _best(task, free, self._assumed)


@lru_cache(2**16)
def _best(task: Task, free: int, assumed: float) -> Offer:
    """Find the offer of at most this memory (MB) that takes the shortest time."""
    lowest = max(LEAST_MEMORY, task.least)
    amounts = (*range(lowest, free, LEAST_MEMORY), free)
    offers = [Offer(amount, _duration(task, amount, assumed)) for amount in amounts]
    return min(offers, key=lambda offer: (offer.duration, offer.memory))


def _duration(task: Task, memory: int, assumed: float) -> int:
    """Give how long a task should take in a memory (MB) if it asks for this many times more."""
    if task.penalty is None or memory > task.memory / assumed:
        return task.duration
    return task.penalty.duration(task.memory, memory, task.duration)


_BY_TIMELINE = "TIMELINE_CHECK_CURRENT_JOB"

Agrees = Callable[[ClusterNode, Application, Offer, int], bool]
"""Says whether an application may get less memory on a node at a time."""


class Peek(SmartGreedy):
    """A task gets less memory if it then ends before its job would end without such tasks.

    When that is comes from looking ahead: from a cluster like this one that goes on without giving
    less memory. An application of which nothing has been foreseen yet is given what it asks for.

    Attributes:
        foresight: what the last look ahead has shown; None: there was none.
        as_foreseen: whether nothing has been decided since that it has not shown.
        considered: numbers of jobs that were in the queue when it was taken.
    """

    def __init__(
        self, configuration: YarnConfiguration, nodes: Sequence[ClusterNode], grants: Grants
    ) -> None:
        super().__init__(configuration, nodes, grants)
        self.foresight: Foresight | None = None
        self.as_foreseen = False
        self.considered: Unordered[int, None] = Unordered()
        self._unforeseen = GONE if configuration.quirks.unforeseen_gone else NEVER

    @property
    def _agrees(self) -> Agrees:
        push_back = self.configuration.push_back
        if push_back is None:
            return self._always
        return self._leaves_room if push_back == _BY_TIMELINE else self._delays_nothing

    def foresee(self, foresight: Foresight) -> None:
        """Take what a look ahead has shown."""
        self.foresight = foresight
        self.as_foreseen = True
        self._consider()

    def _consider(self) -> None:
        self.considered.update(dict.fromkeys(each.number for each in self.queue))

    def submitted(self, application: Application) -> None:
        """Take an application into the queue, which no look ahead knows of."""
        super().submitted(application)
        self.as_foreseen = False

    def may_shrink(self, node: ClusterNode, application: Application) -> bool:
        """Whether the application was in the queue at some look ahead."""
        return application.number in self.considered

    def offer(self, node: ClusterNode, application: Application, now: int) -> Offer | None:
        """Offer less only if that ends in time."""
        return self._agreed(self._agrees, node, application, now)

    def could_offer(self, node: ClusterNode, application: Application, now: int) -> bool:
        """As in `offer`, but no look ahead is taken with a container on a node that is none.

        As DSS has it one is taken, in a cluster in which the real node has what this one has, and
        its containers, too.
        """
        agrees = self._agrees
        if agrees == self._delays_nothing:
            agrees = self._on_itself if self.configuration.quirks.gaps_weighed else self._always
        return self._agreed(agrees, node, application, now) is not None

    def _agreed(
        self, agrees: Agrees, node: ClusterNode, application: Application, now: int
    ) -> Offer | None:
        found = super().offer(node, application, now)
        task = application.head
        if found is None or task is None or found.memory == task.memory:
            return found
        assert self.foresight is not None
        if self.foresight.finishes_before(application, now + found.duration):
            return None
        if not agrees(node, application, found, now):
            return None
        self.as_foreseen = False
        return found

    def master_end(self, application: Application) -> int:
        """Give when an AppMaster leaves, as foreseen."""
        end = None if self.foresight is None else self.foresight.end(application)
        return self._unforeseen if end is None else end

    def expected_scheduled(self, application: Application) -> int | None:
        """Give when the application has all its containers, as foreseen."""
        return None if self.foresight is None else self.foresight.scheduled(application)

    def _always(self, node: ClusterNode, application: Application, offer: Offer, now: int) -> bool:
        return True

    def _leaves_room(
        self, node: ClusterNode, application: Application, offer: Offer, now: int
    ) -> bool:
        """Whether the containers foreseen on this node for the same job still fit beside it.

        They do if the job is not foreseen to end.
        """
        assert self.foresight is not None
        foreseen = self.foresight.held(application, node.size.number)
        task = application.head
        if foreseen is None or task is None:
            return True
        there = [each for each in foreseen if now <= each.scheduled < now + offer.duration]
        quirks = self.configuration.quirks
        used = _last_used(there) if quirks.last_timeline else _most_used(there)
        if not quirks.memory_first and used[1] + task.cores > node.size.cores:
            return False
        return _sum(used, (offer.memory, task.cores)) <= (node.size.memory, node.size.cores)

    def _delays_nothing(
        self, node: ClusterNode, application: Application, offer: Offer, now: int
    ) -> bool:
        """Whether the job still ends in time with this container, if it is foreseen to end."""
        assert self.foresight is not None
        limit = self.foresight.last_finish(application)
        if limit is None:
            return True
        self._consider()
        return self.grants.look_with(application, node, offer.memory).finishes_before(
            application, limit + 1
        )

    def _on_itself(
        self, emptier: ClusterNode, application: Application, offer: Offer, now: int
    ) -> bool:
        """As `_delays_nothing`, on the node that another one is like, with what that one has."""
        node = next(each for each in self.nodes if each.size is emptier.size)
        had = node.memory, node.cores
        node.memory, node.cores = emptier.memory, emptier.cores
        try:
            return self._delays_nothing(node, application, offer, now)
        finally:
            node.memory, node.cores = had


def _most_used(containers: Sequence[Held]) -> tuple[int, int]:
    """Give the most MB, and the most cores, that containers have at a time."""
    steps: list[tuple[int, int, int]] = []
    for each in containers:
        steps.append((each.scheduled, each.memory, each.cores))
        steps.append((each.finished, -each.memory, -each.cores))
    steps.sort()
    used = list(accumulate(((m, c) for _, m, c in steps), _sum, initial=(0, 0)))
    return max(memory for memory, _ in used), max(cores for _, cores in used)


def _last_used(containers: Sequence[Held]) -> tuple[int, int]:
    """Give the MB and the cores that containers have when the last of them is scheduled."""
    last = max((each.scheduled for each in containers), default=0)
    alive = [each for each in containers if each.finished >= last]
    return sum(each.memory for each in alive), sum(each.cores for each in alive)


def _sum(first: tuple[int, int], second: tuple[int, int]) -> tuple[int, int]:
    return first[0] + second[0], first[1] + second[1]


class RaceInLockstep(SmartGreedy):
    """As SMARTG while that is the winner of the last race, and as REGULAR otherwise.

    Attributes:
        shrinks: whether SMARTG has won.
    """

    def __init__(
        self, configuration: YarnConfiguration, nodes: Sequence[ClusterNode], grants: Grants
    ) -> None:
        super().__init__(configuration, nodes, grants)
        self.shrinks = False

    def may_shrink(self, node: ClusterNode, application: Application) -> bool:
        """Whether SMARTG has won, and may."""
        return self.shrinks and super().may_shrink(node, application)
