"""Mapping jobs to resources, and remapping other jobs if one would be late.

All times are ms.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from rebecsim.clusters.stages.job import TaskKey
from rebecsim.clusters.stages.managers.wfbb.mapped_job import MappedJob, by_deadline, by_laxity
from rebecsim.clusters.stages.resources import StageResource
from rebecsim.clusters.stages.schedule import Assignment
from rebecsim.clusters.stages.timelines import Timelines

_Sorting = Callable[[MappedJob], tuple[float, ...]]

_NEVER = 2**62

MOST_ATTEMPTS = 1000
"""Remappings that a decision tries, at most; then the job is mapped late."""


@dataclass(frozen=True, slots=True)
class _Remapping:
    """Jobs that are mapped anew: those to be in time, the next one last, and those late already."""

    left: list[MappedJob]
    late: list[MappedJob]


class JobMapper:
    """Knows where tasks are to run, and finds places for those of a job.

    Attributes:
        timelines: the slots that are taken.
        touched: jobs whose tasks may have been moved by the last decision, by number.
    """

    def __init__(self, resources: Iterable[StageResource]) -> None:
        from rebecsim.clusters.stages.managers.wfbb import mapping_loops

        self._loops = mapping_loops
        self._all = tuple(resources)
        self.timelines = Timelines(self._all)
        self.touched: dict[int, MappedJob] = {}
        self._now = 0
        self._decision = 0
        self._mapped: dict[int, MappedJob] = {}
        self._attempts: set[tuple[int, ...]] = set()
        self._late_as_possible = False
        self._found = np.zeros(1, np.int64)

    def map_job(self, job: MappedJob, now: int, *, late_as_possible: bool) -> bool:
        """Place a job, and others anew if it would be late; give whether it will be in time.

        With `late_as_possible` its tasks end just before their sub-deadlines where they can,
        otherwise as early as they can. Those of jobs that are mapped anew always do that, and so do
        those of a job that cannot be in time.
        """
        self._now = now
        self._decision += 1
        if self._decision % 16 == 0:
            self._forget_past()
        self.touched = {}
        self._attempts = set()
        self._late_as_possible = late_as_possible
        if self._place(job, job.deadline):
            return True
        self._late_as_possible = False
        mapped = dict(self._mapped)
        for sorting in (by_deadline, by_laxity):
            self._take_out(job)
            if self._remap(job, sorting):
                return True
            self._put_back(mapped)
        self._place(job, _NEVER)
        return False

    def corrected(
        self,
        now: int,
        running: Mapping[TaskKey, Assignment],
        scheduled: Mapping[TaskKey, Assignment],
    ) -> None:
        """Take over where tasks are that have run, or are to run, other than it has mapped them."""
        self.timelines = Timelines(self._all)
        for each in self._mapped.values():
            places = each.places
            for times in (places.starts, places.ends):  # where nothing else is said, it has ended
                times[times > now] = now
            for task in each.job.real_tasks:
                key = TaskKey(each.number, task.number)
                at = running.get(key) or scheduled.get(key)
                if at is not None:
                    line = self.timelines.line_of(task.kind, at.resource)
                    places.starts[task.number], places.ends[task.number] = at.start, at.end
                    places.lines[task.number] = line
                    self.timelines.add(task.kind, at.resource, at.start, at.end)
            each.settle_dummies()
            each.settle()

    def _remap(self, job: MappedJob, sorting: _Sorting) -> bool:
        """Map a job and those around it anew, in an order. If one of them would then be late, map
        those around it anew too, and so on. Give whether all are in time that can be.
        """
        remappings = [self._remapping(job, sorting)]
        while remappings:
            current = remappings[-1]
            if current is None:
                return False
            if current.left:
                each = current.left.pop()
                if not self._place(each, each.deadline):
                    self._take_out(each)
                    remappings.append(self._remapping(each, sorting))
            else:
                for each in current.late:
                    self._place(each, _NEVER)
                remappings.pop()
        return True

    def _remapping(self, job: MappedJob, sorting: _Sorting) -> _Remapping | None:
        """Take a job and those around it from their places; None: that has been tried."""
        jobs = sorted([*self._around(job), job], key=sorting)
        attempt = tuple(each.number for each in jobs)
        if attempt in self._attempts or len(self._attempts) == MOST_ATTEMPTS:
            return None
        self._attempts.add(attempt)
        late = [each for each in jobs if each.last > each.deadline and each is not job]
        for each in jobs:
            self._take_out(each)
        return _Remapping([each for each in reversed(jobs) if each not in late], late)

    def _place(self, job: MappedJob, deadline: int) -> bool:
        """Place the tasks of a job; stop at the first that would end after a deadline."""
        self._touch(job)
        assert job.tasks is not None
        self.timelines.require_room(len(job.movable))
        base = max(self._now, job.job.start)
        in_time = self._loops.place(
            *(self.timelines.lines, job.tasks, job.places, job.movable.copy()),
            *(base, deadline, self._late_as_possible, self._found),
        )
        if in_time:
            job.settle()
            self._mapped[job.number] = job
        return bool(in_time)

    def _around(self, job: MappedJob) -> Iterable[MappedJob]:
        """Give the mapped jobs that can be moved, and are there while the job may run.

        Algorithm 7.8 names those that start or end then. Others, that begin before and end after
        it, are in its way as well, and more so the later tasks are placed.
        """
        first, last = job.job.start, job.deadline
        for each in self._mapped.values():
            if each.first <= last and each.last >= first:
                touched = each.decision == self._decision
                if each.last_start > self._now or (touched and len(each.movable)):
                    yield each

    def _touch(self, job: MappedJob) -> None:
        job.touch(self._decision, self._now, self.timelines)
        self.touched[job.number] = job

    def _take_out(self, job: MappedJob) -> None:
        """Take all tasks that have not started from their places."""
        self._touch(job)
        self._mapped.pop(job.number, None)
        self.timelines.require_room(len(job.movable))
        self._loops.take_out(self.timelines.lines, job.places, job.movable)

    def _put_back(self, mapped: dict[int, MappedJob]) -> None:
        """Undo all changes of this decision, and settle the jobs that were mapped before."""
        for each in self.touched.values():
            self._take_out(each)
        for each in self.touched.values():
            self.timelines.require_room(len(each.movable))
            self._loops.put_back(self.timelines.lines, each.places, each.saved, each.movable)
        self._mapped = dict(mapped)
        for number in self.touched.keys() & mapped.keys():
            mapped[number].settle()

    def _forget_past(self) -> None:
        self.timelines.forget(self._now)
        for number in [each.number for each in self._mapped.values() if each.last <= self._now]:
            del self._mapped[number]
