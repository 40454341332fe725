"""A queue of pools: the cluster is shared between pools, and a pool between its applications."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable, Iterator
from itertools import chain
from operator import itemgetter

from rebecsim.clusters.yarn.application import Application
from rebecsim.clusters.yarn.configuration import FairPool
from rebecsim.clusters.yarn.schedulers.fair_queue import FairQueue
from rebecsim.clusters.yarn.schedulers.shares import Share, Shares
from rebecsim.workloads.container_jobs import ContainerJob

_ALIKE = FairPool("")
"""What all applications of a pool are to each other."""

_DEFAULT = "default"


def pool_of(job: ContainerJob) -> str:
    """Give the pool of a job: the queue that it names, or else that of its user."""
    return job.user if job.queue == _DEFAULT else job.queue


class _Members(FairQueue):
    """The applications of a pool that wait, and what all of its applications have."""

    __slots__ = ("_shares", "cores", "memory", "place", "pool")

    def __init__(self, pool: FairPool, shares: Shares) -> None:
        super().__init__()
        self._shares = shares
        self.pool = pool
        self.memory = self.cores = 0
        self.place: tuple[Share, str, _Members] | None = None

    def add(self, application: Application) -> None:
        """Put an application in its place by its share."""
        share = self._shares.of(application.consumption, application.consumed_cores, _ALIKE)
        rank = (share, application.start, application.number, application)
        application.rank = rank
        insort(self.ranks, rank)


class PoolQueue:
    """Pools by their shares, then names; in a pool applications by theirs, start, then number."""

    def __init__(self, shares: Shares, pools: Iterable[FairPool]) -> None:
        self._shares = shares
        self._members = {pool.name: _Members(pool, shares) for pool in pools}
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
            found = self._members[name] = _Members(FairPool(name), self._shares)
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
            members.place = share, members.pool.name, members
            insort(self._order, members.place)
