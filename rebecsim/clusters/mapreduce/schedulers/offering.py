"""Jobs that have something to run, in the order in which they are asked."""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable

from rebecsim.clusters.mapreduce.job import JobPriority, SlotKind
from rebecsim.clusters.mapreduce.progress import JobInProgress

Order = Callable[[JobInProgress], tuple[int, int, int]]


def by_submission(job: JobInProgress) -> tuple[int, int, int]:
    """Give the place of a job where priorities do not count."""
    return 0, job.job.submit, job.job.number


def by_priority(job: JobInProgress) -> tuple[int, int, int]:
    """Give the place of a job where priorities count."""
    return JobPriority.VERY_HIGH - job.job.priority, job.job.submit, job.job.number


class OfferingJobs:
    """Jobs of which a task waits that may begin, or that may want backups.

    Attributes:
        jobs: these, in their order.
    """

    __slots__ = ("_members", "_order", "jobs", "kind")

    def __init__(self, kind: SlotKind, order: Order) -> None:
        self.kind = kind
        self.jobs: list[JobInProgress] = []
        self._members: set[JobInProgress] = set()
        self._order = order

    def review(self, job: JobInProgress) -> bool:
        """See anew whether a job offers something; say whether that has changed."""
        offers = job.speculator is not None or (
            job.waiting(SlotKind.MAP) > 0 if self.kind is SlotKind.MAP else job.offers_reduce()
        )
        if offers == (job in self._members):
            return False
        if offers:
            self._members.add(job)
            insort(self.jobs, job, key=self._order)
        else:
            self.remove(job)
        return True

    def remove(self, job: JobInProgress) -> None:
        """Leave out a job, if it is there."""
        if job in self._members:
            self._members.remove(job)
            self.jobs.remove(job)

    def sort(self, order: Order) -> None:
        """Ask in another order from now on."""
        self._order = order
        self.jobs.sort(key=order)
