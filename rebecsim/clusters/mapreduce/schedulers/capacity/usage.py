"""Counts of the slots that the jobs of a queue hold and want, for maps or for reduces."""

from __future__ import annotations

from collections import Counter

from rebecsim.clusters.mapreduce.job import SlotKind
from rebecsim.clusters.mapreduce.progress import JobInProgress
from rebecsim.clusters.mapreduce.schedulers.capacity.limits import SlotLimits
from rebecsim.clusters.mapreduce.schedulers.offering import OfferingJobs, Order


class SlotUsage:
    """What a queue has of the slots of a kind.

    Attributes:
        limits: how many it may have.
        occupied: slots that its tasks hold.
        by_user: the same of each user; nobody with none.
        backlog: tasks that wait for a slot, reduces also before they may begin.
        offering: jobs that have something to run, in the order in which they are asked.
        stuck: no job can be given any slot on any node before something changes.
    """

    __slots__ = (
        "_active",
        "_waiting",
        "backlog",
        "by_user",
        "kind",
        "limits",
        "occupied",
        "offering",
        "stuck",
    )

    def __init__(self, kind: SlotKind, limits: SlotLimits, order: Order) -> None:
        self.kind = kind
        self.limits = limits
        self.occupied = 0
        self.by_user: Counter[str] = Counter()
        self.offering = OfferingJobs(kind, order)
        self.stuck = False
        self.backlog = 0
        self._waiting: dict[JobInProgress, int] = {}
        self._active: Counter[str] = Counter()

    def ratio(self) -> float:
        """Give the part of its capacity that the queue has."""
        return self.occupied / self.limits.capacity if self.limits.capacity else 1.0

    def user_limit(self) -> int:
        """Give how many slots one user can have now."""
        return self.limits.user_limit(self.occupied, len(self._active))

    def is_full(self) -> bool:
        """Whether the queue may have no slot more."""
        return self.occupied >= self.limits.maximum

    def started(self, job: JobInProgress) -> None:
        """Count a task that was given a slot."""
        self.occupied += 1
        self.by_user[job.job.user] += 1
        self.stuck = False
        self.review(job)

    def ended(self, job: JobInProgress) -> None:
        """Count a slot that was given back."""
        user = job.job.user
        self.occupied -= 1
        self.by_user[user] -= 1
        if not self.by_user[user]:
            del self.by_user[user]
        self.stuck = False
        self.review(job)

    def review(self, job: JobInProgress) -> None:
        """See anew what a job that is initialised has to run."""
        self._set_waiting(job, job.waiting(self.kind))
        if self.offering.review(job):
            self.stuck = False

    def remove(self, job: JobInProgress) -> None:
        """Forget a job of which nothing runs."""
        self._set_waiting(job, 0)
        self.offering.remove(job)

    def change(self, limits: SlotLimits, order: Order) -> None:
        """Go on with other limits, and maybe in another order."""
        self.limits = limits
        self.offering.sort(order)
        self.stuck = False

    def _set_waiting(self, job: JobInProgress, tasks: int) -> None:
        before = self._waiting.get(job, 0)
        self.backlog += tasks - before
        if tasks:
            self._waiting[job] = tasks
        elif before:
            del self._waiting[job]
        if bool(tasks) == bool(before):
            return
        user = job.job.user
        self.stuck = False
        if tasks:
            self._active[user] += 1
            return
        self._active[user] -= 1
        if not self._active[user]:
            del self._active[user]
