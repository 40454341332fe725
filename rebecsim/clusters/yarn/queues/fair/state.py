"""What the Fair Scheduler knows of queues and applications while it runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import log2

from rebecsim.clusters.common.fair_shares import Claim, fair_shares
from rebecsim.clusters.yarn.application import Application
from rebecsim.clusters.yarn.container import Container
from rebecsim.clusters.yarn.node import ClusterNode
from rebecsim.clusters.yarn.queue_files.fair_settings import FairQueueSettings
from rebecsim.clusters.yarn.queue_files.resources import NONE, Resources, total_of


class FairShared:
    """Who has a share: a queue or an application.

    Attributes:
        used: what its containers have.
        demand: that, and what it asks for; as old as shares are.
        share: what it should have now, of those that are at work.
        minimum: what it should have in any case.
        weight: how much it should have, compared to others of its parent.
        name: by which those are ordered that are alike in all else.
        start: of an application, by which those are ordered first; 0 for queues.
    """

    def __init__(self, name: str, start: int = 0) -> None:
        self.used = self.demand = self.share = self.minimum = NONE
        self.weight = 1.0
        self.name: str | int = name
        self.start = start


class FairQueueState(FairShared):
    """A queue at work.

    Attributes:
        settings: what the file says of it.
        parent: above it, None for root.
        children: below it.
        applications: of a leaf, those that run, by their numbers.
        waiting: those that may not run yet.
        running: how many run in it and below it.
        asking: how many of these ask for containers.
        masters: what AppMasters have.
        steady: what it should have if all queues were at work.
        at_minimum: when it had its minimum last (ms).
    """

    def __init__(
        self, settings: FairQueueSettings, parent: FairQueueState | None, total: Resources
    ) -> None:
        super().__init__(settings.path)
        self.settings = settings
        self.parent = parent
        self.minimum = settings.minimum
        self.maximum = settings.maximum_of(total)
        self.weight = settings.weight
        self.children: list[FairQueueState] = []
        self.applications: dict[FairApplicationState, None] = {}
        self.running = self.asking = 0
        self.masters = self.steady = NONE
        self.at_minimum = 0
        for child in settings.children:
            self.children.append(FairQueueState(child, self, total))

    def __iter__(self) -> Iterator[FairQueueState]:
        """Give the queue and those above it."""
        queue: FairQueueState | None = self
        while queue is not None:
            yield queue
            queue = queue.parent

    def below(self) -> Iterator[FairQueueState]:
        """Give the queue and all below it, parents first."""
        yield self
        for child in self.children:
            yield from child.below()

    @property
    def is_preemptable(self) -> bool:
        """Whether its containers may be killed."""
        return self.settings.preemptable

    def update_demand(self, *, by_size: bool) -> None:
        """Take note of what is asked for, here and below."""
        found = []
        for each in self.applications:
            each.update_demand(by_size=by_size)
            found.append(each.demand)
        for child in self.children:
            child.update_demand(by_size=by_size)
            found.append(child.demand)
        self.demand = total_of(found).least(self.maximum)

    def update_shares(self) -> None:
        """Share what it should have between those in it."""
        if self.children:
            claims = [each if each.running else None for each in self.children]
            for child, part in zip(self.children, self._shares(claims, self.share), strict=True):
                child.share = part
                child.update_shares()
        elif self.settings.policy == "fifo":
            first = min(self.applications, key=_order, default=None)
            for each in self.applications:
                each.share = self.share if each is first else NONE
        else:
            mine = list(self.applications)
            for each, share in zip(mine, self._shares(mine, self.share), strict=True):
                each.share = share

    def update_steady(self) -> None:
        """Share what it should have between all queues below, at work or not."""
        shares = self._shares(self.children, self.steady)
        for each, share in zip(self.children, shares, strict=True):
            each.steady = share
            each.update_steady()

    def _shares(self, members: Sequence[FairShared | None], total: Resources) -> list[Resources]:
        memory = fair_shares(total.memory, [_claim(each, 0) for each in members])
        if self.settings.policy != "drf":
            return [Resources(each, 0) for each in memory]
        cores = fair_shares(total.cores, [_claim(each, 1) for each in members])
        return [Resources(*each) for each in zip(memory, cores, strict=True)]


def _claim(each: FairShared | None, place: int) -> Claim:
    if each is None:
        return Claim(most=0)
    if isinstance(each, FairQueueState):
        return Claim(each.weight, each.minimum[place], each.maximum[place])
    return Claim(each.weight)


def _order(each: FairApplicationState) -> tuple[int, int]:
    return each.start, each.application.number


class FairApplicationState(FairShared):
    """An application in a leaf.

    Attributes:
        runs: whether it may run.
        asks: whether it asks for containers.
        kept: what it has reserved on nodes.
        missed: opportunities since it has changed how near nodes should be.
        level: how far from where tasks would rather run it takes nodes: 0, 1 or 2.
        at_share: when it had the part of its share that it should have at least (ms).
        not_before: when it is looked at again whether it has too little (ms).
        has_master: whether its AppMaster counts among those of its queue.
        taken_for: containers that will be killed for it, and where.
    """

    def __init__(self, application: Application, leaf: FairQueueState, now: int) -> None:
        super().__init__("", now)
        self.application = application
        self.name = application.number
        self.leaf = leaf
        self.user = application.job.user
        self.runs = self.asks = self.has_master = False
        self.kept: dict[ClusterNode, Resources] = {}
        self.missed = self.level = 0
        self.at_share = now
        self.not_before = 0

    @property
    def request(self) -> Resources:
        """What it asks for next."""
        task = self.application.head
        assert task is not None
        return Resources(task.memory, task.cores)

    @property
    def pending(self) -> Resources:
        """All that it asks for."""
        if not self.asks:
            return NONE
        memory = cores = 0
        for task, count in self.application.left:
            memory += task.memory * count
            cores += task.cores * count
            if task.is_master:
                break
        return Resources(memory, cores)

    def update_demand(self, *, by_size: bool) -> None:
        """Take note of what it has and asks for."""
        self.demand = self.used.plus(self.pending)
        self.weight = log2(1 + self.demand.memory) if by_size and self.demand.memory else 1.0

    def count(self, container: Container, sign: int) -> None:
        """Count a container that it has got, or no more."""
        size = Resources(sign * container.memory, sign * container.task.cores)
        self.used = self.used.plus(size)
        for queue in self.leaf:
            queue.used = queue.used.plus(size)
