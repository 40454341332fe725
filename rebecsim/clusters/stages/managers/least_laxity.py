"""Minimum laxity first: the job that can wait the least comes first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rebecsim.clusters.stages.job import StageJob, TaskKey
from rebecsim.clusters.stages.managers.dispatching import ActiveJob, DispatchingManager
from rebecsim.clusters.stages.resources import StageResource
from rebecsim.clusters.stages.schedule import Assignment


class MinimumLaxityFirst(DispatchingManager):
    """The job comes first that has the least time left beside what it takes at the very least.

    That is its longest chain of tasks that have not been started. Now is the same for all jobs, so
    that the order is that of the latest times at which these chains could begin.
    """

    def __init__(self, resources: Sequence[StageResource]) -> None:
        super().__init__(resources)
        self._tails: dict[int, tuple[int, ...]] = {}

    def plan(
        self,
        now: int,
        arrived: Sequence[StageJob],
        running: Mapping[TaskKey, Assignment],
        scheduled: Mapping[TaskKey, Assignment],
    ) -> Sequence[Assignment]:
        """Take down how much follows each task of the jobs that have arrived."""
        for job in arrived:
            self._tails[job.number] = longest_chains(job)
        return super().plan(now, arrived, running, scheduled)

    def ended(self, job: StageJob, assignment: Assignment) -> None:
        """Forget a job that has ended."""
        super().ended(job, assignment)
        if job.number not in self._active:
            del self._tails[job.number]

    def place(self, active: ActiveJob) -> tuple[int, ...]:
        """Order by the latest times at which what is ready could begin."""
        tails = self._tails[active.job.number]
        ready = [tails[number] for tasks in active.ready.values() for _, number in tasks]
        return active.job.deadline - max(ready, default=0), active.job.number


def longest_chains(job: StageJob) -> tuple[int, ...]:
    """Give for each task how long it and what follows it take at the very least (ms)."""
    tails = [0] * len(job.tasks)
    for number in reversed(job.order):
        after = max((tails[child] for child in job.children[number]), default=0)
        tails[number] = job.expected[number] + after
    return tuple(tails)
