"""YARN's Fair Scheduler: pools, in which applications share what the pool has.

Pools, or applications, below their minimum share come before all others, the one with the smallest
part of that minimum first. Then they come by what they have, divided by their weights. What counts
is memory, or the dominant resource: that of which someone has the largest part of the cluster
(Ghodsi and others, Dominant Resource Fairness, NSDI 2011).
"""

from __future__ import annotations

import math
from bisect import bisect_left, insort
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from operator import itemgetter
from typing import ClassVar, Protocol

from rebecsim.actors import Constant, StatePart
from rebecsim.clusters.yarn.configuration import PoolTable
from rebecsim.clusters.yarn.containers import Application, ClusterNode
from rebecsim.clusters.yarn.schedulers.regular import FairQueue, Regular
from rebecsim.studies.scenario import settings_of
from rebecsim.workloads.container_jobs import ContainerJob

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
            pool.name: _Members(pool.name, settings_of(Claim, pool, {}), shares) for pool in pools
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
