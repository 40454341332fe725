"""YARN's schedulers: fair by memory, where a task gets what it asks for or waits; and pools.

The Fair Scheduler has pools, in which applications share what the pool has. Pools, or applications,
below their minimum share come before all others, the one with the smallest part of that minimum
first. Then they come by what they have, divided by their weights. What counts is memory, or the
dominant resource: that of which someone has the largest part of the cluster (Ghodsi and others,
Dominant Resource Fairness, NSDI 2011)."""

from __future__ import annotations

import math
from bisect import bisect_left, insort
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from operator import itemgetter
from typing import Any, ClassVar, Protocol

from rebecsim.actors import Constant, StatePart
from rebecsim.clusters.yarn.configuration import PoolTable, YarnConfiguration
from rebecsim.clusters.yarn.containers import Application, ClusterNode, Container, Reservation, Task
from rebecsim.clusters.yarn.schedulers.scheduler import ContainerScheduler, Grants, Offer
from rebecsim.studies.scenario import settings_of
from rebecsim.workloads.container_jobs import ContainerJob

Rank = tuple[Any, int, int, Application]
"""What applications are sorted by: what they have, their start, their number; and who it is."""


class Queue(Protocol):
    """Applications that wait for containers, in the order in which they are served."""

    def __iter__(self) -> Iterator[Application]: ...

    @property
    def first(self) -> Application | None:
        """The one that comes first."""

    def add(self, application: Application) -> None:
        """Put an application in its place."""

    def update(self, application: Application) -> None:
        """Move one that has more or less than before; take it out when it has all its tasks."""


class FairQueue(StatePart):
    """Applications that wait for containers, by memory consumed, then start, then number.

    Attributes:
        ranks: what they are sorted by, with the application itself as the last field.
    """

    __slots__ = ("ranks",)

    def __init__(self) -> None:
        self.ranks: list[Rank] = []

    def __len__(self) -> int:
        return len(self.ranks)

    def __iter__(self) -> Iterator[Application]:
        return map(itemgetter(3), self.ranks)

    @property
    def first(self) -> Application | None:
        """The application that has the least."""
        return self.ranks[0][3] if self.ranks else None

    def add(self, application: Application) -> None:
        """Put an application in its place."""
        number = application.job.number
        rank = (application.consumption, application.start, number, application)
        application.rank = rank
        insort(self.ranks, rank)

    def update(self, application: Application) -> None:
        """Move an application whose consumption has changed; take it out when it has all."""
        rank = application.rank
        if rank is None:
            return
        del self.ranks[bisect_left(self.ranks, rank)]
        if application.head is None:
            application.rank = None
        else:
            self.add(application)


NEVER = 2**62
"""A time that does not come (ms)."""

GONE = -1
"""A time that has been (ms)."""


def release_time(
    scheduler: Regular, node: ClusterNode, application: Application, now: int
) -> int | None:
    """Give when the next task of an application should fit on a node (ms).

    The containers of the node end in the order in which they should. None: that is not
    known, as what ends next is not.
    """
    task = application.head
    assert task is not None
    ends = [(_end(scheduler, each), each) for each in (*node.running, *node.booked)]
    ends.sort(key=lambda item: item[0])
    emptier = ClusterNode(node.size)
    emptier.memory, emptier.cores = node.memory, node.cores
    memory_first = scheduler.configuration.quirks.memory_first
    latest = GONE
    for end, container in ends:
        latest = end
        if end >= NEVER:
            break
        emptier.memory += container.memory
        emptier.cores += container.task.cores
        if scheduler.could_offer(emptier, application, now):
            break
        if memory_first and (emptier.memory, emptier.cores) >= (task.memory, task.cores):
            break
    return None if latest == GONE else latest


def _end(scheduler: Regular, container: Container) -> int:
    if container.task.is_master:
        return scheduler.master_end(container.application)
    return container.expected_end(scheduler.configuration.node_heartbeat)


class Regular(ContainerScheduler):
    """Fair by memory, with reservations, gaps and several containers at a heartbeat if asked for.

    The node that sends the heartbeat is looked at, and of each application its next task only.
    """

    def __init__(
        self, configuration: YarnConfiguration, nodes: Sequence[ClusterNode], grants: Grants
    ) -> None:
        super().__init__(configuration, nodes, grants)
        self.queue = self.make_queue()
        self._offers_plainly = type(self).offer is Regular.offer
        self._least: tuple[int, int] | None = None  # MB and cores that a next task has to have
        self._refusals = 0  # how often all in the queue were refused, for want of that
        self._refusals_before: dict[Application, int] = {}
        self._looks_for_gaps = configuration.gaps
        self._reserves = configuration.reservations
        self._gives_several = configuration.assign_multiple

    def make_queue(self) -> Queue:
        """Make the queue in whose order applications are looked at."""
        return FairQueue()

    @property
    def first(self) -> Application | None:
        """The application that comes first in the queue."""
        return self.queue.first

    def waiting(self) -> Iterable[Application]:
        """Give the applications in the order of the queue."""
        return self.queue

    def submitted(self, application: Application) -> None:
        """Take an application into the queue."""
        self.queue.add(application)
        self._refusals_before[application] = self._refusals
        self._least = None

    def freed(self, application: Application) -> None:
        """Move an application forward in the queue."""
        self.queue.update(application)

    def offer(self, node: ClusterNode, application: Application, now: int) -> Offer | None:
        """Say what a node has for the application's next task; None: nothing."""
        task = application.head
        assert task is not None
        if task.memory <= node.memory and task.cores <= node.cores:
            return Offer(task.memory, task.duration)
        return None

    def least_memory(self, task: Task) -> int:
        """Give the least memory that a task may be given (MB)."""
        return task.memory

    def could_offer(self, node: ClusterNode, application: Application, now: int) -> bool:
        """Whether a node would have something if it were as this one is, which is none of them."""
        return self.offer(node, application, now) is not None

    def master_end(self, application: Application) -> int:
        """Return when an AppMaster leaves: unknown."""
        return NEVER

    def expected_scheduled(self, application: Application) -> int | None:
        """Give when an application should have all its containers, where that is known."""
        return None

    def schedule(self, node: ClusterNode, now: int) -> bool:
        """Serve who the node is kept for, then the others in the order of the queue."""
        reservation = node.reservation
        if reservation is None and not self._reserves and self._is_too_small(node):
            self._refusals += 1
            return bool(node.booked) or self.lets_pass(node)
        kept: Application | None = None
        until: int | None = None
        if reservation is not None:
            kept = reservation.application
            if kept.head is not reservation.task and not self._is_wanted(node, reservation):
                self.grants.give_up(node, reservation)
                kept = None
            else:
                kept.decisions.total += 1
                offer = self.offer(node, kept, now)
                if offer is not None:
                    self.grants.give_up(node, reservation)
                    self._accept(node, kept, offer.memory)
                    kept = None
                    if not self._gives_several:
                        return True
                else:
                    if self._looks_for_gaps:
                        until = self._gap(node, reservation, now)
                    if until is None:
                        kept.decisions.rejected += 1
                        return False
        if kept is not None and until is not None:
            given = self._fill(node, now, kept, until)
        else:
            given = self._scan(node, now)
        return given or bool(node.booked) or self.lets_pass(node)

    def _is_wanted(self, node: ClusterNode, reservation: Reservation) -> bool:
        """Whether its application waits for another container of that kind, on this node, too."""
        application = reservation.application
        task = application.head
        if task is None or task.kind != reservation.task.kind:
            return False
        return self.may_place(node, application)

    def _scan(self, node: ClusterNode, now: int) -> bool:
        """Look at the queue; say whether the heartbeat is over with a container given."""
        if not self._gives_several:
            return self._gives(node, now)
        while self._gives(node, now):
            pass
        return False

    def _gives(self, node: ClusterNode, now: int) -> bool:
        """Give a container to the first in the queue who can have one; say whether one could."""
        plainly, placement = self._offers_plainly, self.placement
        reserves = self._reserves
        for application in self.queue:
            decisions, task = application.decisions, application.head
            assert task is not None
            decisions.total += 1
            if not (application.launched or task.is_master):
                decisions.rejected += 1
                continue
            if placement is not None and not placement.may_place(node, application):
                decisions.rejected += 1
                continue
            given: int | None = None
            if not plainly:
                offer = self.offer(node, application, now)
                given = None if offer is None else offer.memory
            elif task.memory <= node.memory and task.cores <= node.cores:
                given = task.memory
            if given is not None:
                self._accept(node, application, given)
                return True
            if reserves:
                decisions.reserved += 1
                self.grants.reserve(application, node)
                return False
            decisions.rejected += 1
        return False

    def _is_too_small(self, node: ClusterNode) -> bool:
        """Whether no next task in the queue can be given what is free on a node."""
        least = self._least
        if least is None:
            least = self._least = self._least_of_all()
        return node.memory < least[0] or node.cores < least[1]

    def _least_of_all(self) -> tuple[int, int]:
        """Give the least MB and the least cores that a next task in the queue has to have."""
        tasks = [each.head for each in self.queue if each.head is not None]
        if not (tasks and (self._offers_plainly or self.elastic)):
            return 0, 0
        return min(map(self.least_memory, tasks)), min(task.cores for task in tasks)

    def _fill(self, node: ClusterNode, now: int, kept: Application, until: int) -> bool:
        """Give what ends before the node is needed; as `_scan`."""
        multiple = self._gives_several
        masters = self.configuration.gaps_for_masters
        latest = until - self.configuration.node_heartbeat - now
        looking = iter(self.queue)
        while (application := next(looking, None)) is not None:
            if application is kept:
                continue
            decisions, task = application.decisions, application.head
            decisions.total += 1
            offer = None
            may_have_any = application.launched or (masters and task is not None and task.is_master)
            if may_have_any and self.may_place(node, application):
                offer = self.offer(node, application, now)
            if offer is not None and offer.duration <= latest:
                self._accept(node, application, offer.memory)
                if not multiple:
                    return True
                looking = iter(self.queue)
            else:
                decisions.rejected += 1
        return False

    def _accept(self, node: ClusterNode, application: Application, memory: int) -> None:
        application.decisions.accepted += 1
        self.give(application, node, memory)

    def give(self, application: Application, node: ClusterNode, memory: int) -> None:
        """Give the application's next task a container of this memory (MB), and move it."""
        task = application.head
        self.grants.allocate(application, node, memory)
        self.queue.update(application)
        if application.head is task:
            return
        self._least = None
        if application.head is None:
            refusals = self._refusals - self._refusals_before.pop(application)
            application.decisions.total += refusals
            application.decisions.rejected += refusals

    def _gap(self, node: ClusterNode, reservation: Reservation, now: int) -> int | None:
        """Give until when a reserved node has room for others; None: that is not known."""
        found = release_time(self, node, reservation.application, now)
        scheduled = self.expected_scheduled(reservation.application)
        return found if scheduled is None or found is None else min(found, scheduled)


Share = tuple[float, ...]
"""What is compared: 0 for whoever has less than promised and 1 for others, then the ratios."""

_NEEDY, _SERVED = 0, 1


@dataclass(frozen=True, slots=True)
class Claim(Constant):
    """What a pool should have: keys of `cluster.pools`, which are read for each container."""

    weight: float = 1.0
    least_memory: int = 0
    least_cores: int = 0


class Shares(Protocol):
    """Says how much someone has of what he should have; less goes first."""

    def __init__(self, nodes: Sequence[ClusterNode]) -> None:
        """Take a look at the cluster that is shared."""

    def of(self, memory: int, cores: int, pool: Claim) -> Share:
        """Give the share of who has this memory (MB) and these cores, by the rules of a pool."""


class MemoryShares(StatePart):
    """Memory alone counts."""

    def __init__(self, nodes: Sequence[ClusterNode]) -> None:
        pass

    def of(self, memory: int, cores: int, pool: Claim) -> Share:
        """Give the share by memory."""
        if memory < pool.least_memory:
            return _NEEDY, memory / pool.least_memory
        return _SERVED, memory / pool.weight


class DominantShares(StatePart):
    """The dominant resource counts, and where that is the same for two, the other one."""

    def __init__(self, nodes: Sequence[ClusterNode]) -> None:
        self._memory = sum(node.size.memory for node in nodes)
        self._cores = sum(node.size.cores for node in nodes)

    def of(self, memory: int, cores: int, pool: Claim) -> Share:
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


_ALIKE = Claim()
"""A pool of which nothing is said; what all applications of a pool are to each other."""

_DEFAULT = "default"


def pool_of(job: ContainerJob) -> str:
    """Give the pool of a job: the queue that it names, or else that of its user."""
    return job.user if job.queue == _DEFAULT else job.queue


class _Members(FairQueue):
    """The applications of a pool that wait, and what all of its applications have."""

    __slots__ = ("_shares", "cores", "memory", "name", "place", "pool")

    def __init__(self, name: str, pool: Claim, shares: Shares) -> None:
        super().__init__()
        self._shares = shares
        self.name = name
        self.pool = pool
        self.memory = self.cores = 0
        self.place: tuple[Share, str, _Members] | None = None

    def add(self, application: Application) -> None:
        """Put an application in its place by its share."""
        share = self._shares.of(application.consumption, application.consumed_cores, _ALIKE)
        rank = (share, application.start, application.number, application)
        application.rank = rank
        insort(self.ranks, rank)


class PoolQueue(StatePart):
    """Pools by their shares, then names; in a pool applications by theirs, start, then number."""

    def __init__(self, shares: Shares, pools: Iterable[PoolTable]) -> None:
        self._shares = shares
        self._members = {
            pool.name: _Members(pool.name, settings_of(Claim, pool), shares) for pool in pools
        }
        self._known: dict[Application, tuple[int, int]] = {}
        self._order: list[tuple[Share, str, _Members]] = []

    def __iter__(self) -> Iterator[Application]:
        return chain.from_iterable(map(itemgetter(2), self._order))

    @property
    def first(self) -> Application | None:
        """The application that comes first, of the pool that does."""
        return self._order[0][2].first if self._order else None

    def add(self, application: Application) -> None:
        """Put an application, and its pool with it, in its place."""
        members = self._of(application)
        members.add(application)
        self._count(application, members)

    def update(self, application: Application) -> None:
        """Move an application that has more or less than before, and its pool with it."""
        members = self._of(application)
        members.update(application)
        self._count(application, members)

    def _of(self, application: Application) -> _Members:
        name = pool_of(application.job)
        found = self._members.get(name)
        if found is None:
            found = self._members[name] = _Members(name, _ALIKE, self._shares)
        return found

    def _count(self, application: Application, members: _Members) -> None:
        """Add what an application has to its pool, and move that; none waits in it: it is out."""
        memory, cores = self._known.get(application, (0, 0))
        has = self._known[application] = application.consumption, application.consumed_cores
        members.memory += has[0] - memory
        members.cores += has[1] - cores
        if members.place is not None:
            del self._order[bisect_left(self._order, members.place)]
            members.place = None
        if members.ranks:
            share = self._shares.of(members.memory, members.cores, members.pool)
            members.place = share, members.name, members
            insort(self._order, members.place)


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
