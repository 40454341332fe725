"""What the Fair Scheduler knows of queues and applications while it runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import log, log1p

from rebecsim.arithmetic import float32
from rebecsim.clusters.kit.hadoop import UNLIMITED, Claim, fair_shares
from rebecsim.clusters.yarn.containers import Application, ClusterNode, Container
from rebecsim.clusters.yarn.queue_files.fair_settings import FairQueueSettings
from rebecsim.clusters.yarn.queue_files.resources import NONE, Resources
from rebecsim.clusters.yarn.queues.asks import Asks
from rebecsim.clusters.yarn.queues.fair.line import FairAsk, Requests, ServiceLine
from rebecsim.clusters.yarn.queues.fair.policies import FairShared, in_order

_NO_MAXIMUM = Resources(UNLIMITED, UNLIMITED)


class FairQueueState(FairShared):
    """A queue at work.

    Attributes:
        settings: what the file says of it.
        parent: above it, None for root.
        path: the queue and those above it.
        children: below it.
        applications: of a leaf, those that run.
        line: of a leaf, those of them that ask for containers.
        limited: the queue and those above it, as far as they have a maximum.
        large: whether a node is reserved for containers of a size; see `FairServing`.
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
        self.path: list[FairQueueState] = [self, *(parent.path if parent else ())]
        self.minimum = settings.minimum
        self.maximum = settings.maximum_of(total)
        self.weight = settings.weight
        self.children: list[FairQueueState] = []
        self.limited = [queue for queue in self.path if queue.maximum != _NO_MAXIMUM]
        self.large: dict[Resources, bool] = {}
        self.applications: dict[FairApplicationState, None] = {}
        self.line = ServiceLine(settings.policy, total)
        self.running = self.asking = 0
        self.masters = self.steady = NONE
        self.at_minimum = 0
        self._wanted = NONE  # what is asked for below, whatever the maximum is
        self._shared: object = None  # what the shares of members were found from
        self._others = 0  # how often it has had other members, or other weights
        self._total = total
        self._served: list[FairQueueState] | None = None  # children in their order, if it is right
        for child in settings.children:
            self.add_child(child)

    def add_child(self, settings: FairQueueSettings) -> FairQueueState:
        """Make a queue below it."""
        child = FairQueueState(settings, self, self._total)
        self.children.append(child)
        self._served = None
        return child

    def in_service_order(self) -> list[FairQueueState]:
        """Give the children in the order in which they are served."""
        if self._served is None:
            self._served = in_order(self.settings.policy, self.children, self._total)
        return self._served

    def below(self) -> Iterator[FairQueueState]:
        """Give the queue and all below it, parents first."""
        yield self
        for child in self.children:
            yield from child.below()

    @property
    def is_preemptable(self) -> bool:
        """Whether its containers may be killed."""
        return self.settings.preemptable

    def add_demand(self, more: Resources) -> None:
        """Take note of what is asked for below, more or less than before."""
        self._wanted = self._wanted.plus(more)
        before, self.demand = self.demand, self._wanted.least(self.maximum)
        if self.parent is not None and self.demand != before:
            self.parent._served = None
            self.parent.add_demand(self.demand.minus(before))

    def count(self, size: Resources) -> None:
        """Count what is used in it, and so in those above it; less if negative."""
        for queue in self.path:
            queue.used = queue.used.plus(size)
            queue._served = None

    def members_changed(self) -> None:
        """Take note that shares are to be found anew: members are others, or their weights."""
        self._others += 1

    def update_shares(self) -> bool:
        """Share what it should have between those in it, unless they have that already.

        Gives whether shares were found anew.
        """
        at_work = tuple(each.running > 0 for each in self.children)
        found_from = (self.share, at_work, self._others)
        anew = found_from != self._shared
        if anew:
            self._shared = found_from
            self._share_out(at_work)
        for child in self.children:
            anew |= child.update_shares()
        return anew

    def _share_out(self, at_work: Sequence[bool]) -> None:
        if self.children:
            members = zip(self.children, at_work, strict=True)
            claims = [each if works else None for each, works in members]
            for child, part in zip(self.children, self._shares(claims, self.share), strict=True):
                child.share = part
        elif self.settings.policy == "fifo":
            first = min(self.applications, key=_start, default=None)
            if first is not None:  # the others keep what they had
                first.share = self.share
        else:
            mine = list(self.applications)
            for each, share in zip(mine, self._shares(mine, self.share), strict=True):
                each.share = share
        self.line.compare_all()

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


def _start(each: FairApplicationState) -> int:
    return each.start


class FairApplicationState(FairShared):
    """An application in a leaf.

    Attributes:
        runs: whether it may run.
        wants: whether it asks for containers, and may run.
        has_left: whether it has ended.
        asks: what it asks for.
        kept: for what it has reserved nodes.
        at_share: when it had the part of its share that it should have at least (ms).
        not_before: when it is looked at again whether it has too little (ms).
        lacks: what it is to get as its leaf has had less than its minimum for too long.
        has_master: whether its AppMaster counts among those of its queue.
    """

    def __init__(
        self, application: Application, leaf: FairQueueState, now: int, asks: Asks[FairAsk]
    ) -> None:
        super().__init__("", now)
        self.application = application
        self.name = application.number
        self.leaf = leaf
        self.user = application.job.user
        self.runs = self.wants = self.has_master = self.has_left = False
        self.asks = asks
        self.kept: dict[ClusterNode, FairAsk] = {}
        self.at_share = now
        self.not_before = 0
        self.lacks = NONE

    @property
    def requests(self) -> Requests:
        """What it asks for, in order."""
        return tuple(ask.request for ask in self.asks.all if ask.count)

    def update_demand(self, *, by_size: bool) -> None:
        """Take note of what it has and asks for."""
        before = self.demand
        self.demand = NONE if self.has_left else self.used.plus(self.asks.pending)
        if self.demand == before:
            return
        self.leaf.add_demand(self.demand.minus(before))
        weight = float32(log1p(self.demand.memory) / log(2)) if by_size else 1.0
        if weight != self.weight:
            self.weight = weight
            self.leaf.members_changed()

    def count(self, container: Container, sign: int) -> None:
        """Count a container that it has got, or no more."""
        size = container.size if sign > 0 else NONE.minus(container.size)
        self.used = self.used.plus(size)
        self.leaf.count(size)
