"""Fair start times: when a job would start if no later job arrived.

G. Sabin, G. Kochhar and P. Sadayappan, "Job fairness in non-preemptive job scheduling" (ICPP 2004):
no job should be delayed by one that is submitted later. The fair start of a job is its start in
the schedule that the same policy makes of it and of what was submitted before. A job that starts
later than that has been treated unfairly.
"""

from __future__ import annotations

from copy import deepcopy
from heapq import heapify, heappop, heappush
from typing import Any

from rebecsim.clusters.batch.job import Job
from rebecsim.clusters.batch.policies.backfilling import Backfilling

_END, _REFRESH, _WAKE = range(3)
"""What comes first at one time: the order of the messages of the resource manager."""


class Foresight:
    """Looks ahead, on a copy of what a resource manager knows, from the submission of each job.

    Attributes:
        starts: fair starts by the index of the job, seconds.
    """

    def __init__(self, jobs: int) -> None:
        self.starts = [-1] * jobs
        self._ends: dict[int, tuple[int, int, int, Job]] = {}
        self._started = 0

    def note_start(self, job: Job, now: int) -> None:
        """Take note of a job that starts."""
        self._ends[job.index] = (now + job.run, _END, self._started, job)
        self._started += 1

    def note_end(self, job: Job) -> None:
        """Take note of a job that has ended."""
        del self._ends[job.index]

    def look(self, job: Job, now: int, backfilling: Backfilling, refresh: int, wake: int) -> None:
        """Note the fair start of a job that has just been submitted.

        The next refresh and the next wake are at these times, or there is none if they are over.
        """
        if job.index in self._ends:
            self.starts[job.index] = now
            return
        memo: dict[int, Any] = {id(backfilling.machine): backfilling.machine}
        scheduler, events = deepcopy((backfilling, list(self._ends.values())), memo)
        for time, kind in ((refresh, _REFRESH), (wake, _WAKE)):
            if time >= now:
                events.append((time, kind, self._started, job))
        heapify(events)
        self.starts[job.index] = _start_of(job.index, scheduler, events, self._started, wake)


def _start_of(
    wanted: int,
    scheduler: Backfilling,
    events: list[tuple[int, int, int, Job]],
    number: int,
    wake_at: int,
) -> int:
    """Go on until a job starts; give the time. Events have numbers up to this one."""
    order = scheduler.order
    while events:
        now, kind, _, job = heappop(events)
        if kind == _END:
            started = scheduler.finished(job, now)
        elif kind == _WAKE:
            started = scheduler.woken(now)
        else:
            started = scheduler.refreshed(now)
            if order.refresh is not None:
                number += 1
                heappush(events, (now + order.refresh, _REFRESH, number, job))
        for each in started:
            if each.index == wanted:
                return now
            order.started(each, now)
            number += 1
            heappush(events, (now + each.run, _END, number, each))
        wake = scheduler.wake
        if wake is not None and not now < wake_at <= wake:
            number += 1
            heappush(events, (wake, _WAKE, number, job))
            wake_at = wake
    raise RuntimeError("the policy never starts a job that nobody comes after")
