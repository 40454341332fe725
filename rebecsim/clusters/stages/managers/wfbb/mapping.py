"""Mapping jobs to resources, and others anew where one would be late.

All times are ms.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from rebecsim.clusters.stages.managers.wfbb.mapped_job import (
    NOWHERE,
    MappedJob,
    by_deadline,
    by_laxity,
)
from rebecsim.clusters.stages.resources import StageResource
from rebecsim.clusters.stages.timelines import Timelines

_Change = tuple[MappedJob, int, int, int, int]
"""A task and where it was: start, end, resource."""

_Sorting = Callable[[MappedJob], tuple[float, ...]]


class JobMapper:
    """Knows where tasks are to run, and finds places for those of a job.

    Attributes:
        timelines: the slots that are taken.
        touched: jobs whose tasks may have been moved by the last decision, by number.
    """

    def __init__(self, resources: Sequence[StageResource]) -> None:
        self.timelines = Timelines(resources)
        self.touched: dict[int, MappedJob] = {}
        self._now = 0
        self._decision = 0
        self._mapped: dict[int, MappedJob] = {}
        self._attempts: set[tuple[int, ...]] = set()
        self._changes: list[_Change] = []
        self._sorting: _Sorting = by_deadline
        self._late_as_possible = False

    def map_job(self, job: MappedJob, now: int, *, late_as_possible: bool) -> bool:
        """Place a job, and others anew if it would be late; give whether it will be in time.

        With `late_as_possible` its tasks end just before their sub-deadlines where they can,
        otherwise as early as they can.
        """
        self._now = now
        self._decision += 1
        if self._decision % 16 == 0:
            self._forget_past()
        self.touched = {}
        self._attempts = set()
        self._changes = []
        self._sorting = by_deadline
        self._late_as_possible = late_as_possible
        if self._map(job, is_root=True):
            return True
        self._place(job, heed_deadline=False)
        return False

    def _map(self, job: MappedJob, *, is_root: bool) -> bool:
        """Place a job in time, or remap it with others; otherwise it is placed nowhere."""
        if self._place(job, heed_deadline=True):
            return True
        self._take_out(job)
        return self._remap(job, is_root=is_root)

    def _place(self, job: MappedJob, *, heed_deadline: bool) -> bool:
        """Place the tasks of a job; stop at the first that would end after the deadline."""
        self._touch(job)
        tasks, expected, ends = job.job.tasks, job.job.expected, job.ends
        base = max(self._now, job.job.start)
        left: Sequence[int] = job.movable
        while left:
            waiting = []
            for number in left:
                ready = base
                for parent in tasks[number].parents:
                    end = ends[parent]
                    if end == NOWHERE:
                        waiting.append(number)
                        break
                    ready = max(ready, end)
                else:
                    duration = expected[number]
                    if duration == 0:
                        self._put(job, number, NOWHERE, ready, ready)
                        continue
                    resource, start = self._find(job, number, ready)
                    if heed_deadline and start + duration > job.deadline:
                        return False
                    self._put(job, number, resource, start, start + duration)
            left = waiting
        job.settle()
        self._mapped[job.number] = job
        return True

    def _find(self, job: MappedJob, number: int, ready: int) -> tuple[int, int]:
        """Give resource and time for a task that may start from `ready` on."""
        kind, duration = job.job.tasks[number].kind, job.job.expected[number]
        if self._late_as_possible:
            last = job.budget.sub_deadlines[number] - duration
            if last > ready:
                found = self.timelines.latest(kind, ready, last, duration)
                if found is not None:
                    return found
        return self.timelines.earliest(kind, ready, duration)

    def _remap(self, job: MappedJob, *, is_root: bool) -> bool:
        self._late_as_possible = False
        if self._remap_with_others(job, is_root=is_root):
            return True
        if not is_root:
            return False
        self._sorting = by_laxity
        return self._remap_with_others(job, is_root=True)

    def _remap_with_others(self, job: MappedJob, *, is_root: bool) -> bool:
        """Map a job and those around it anew, in their order; all or nothing for the root."""
        jobs = sorted([*self._around(job), job], key=self._sorting)
        attempt = tuple(each.number for each in jobs)
        if attempt in self._attempts:
            return False
        self._attempts.add(attempt)
        saved = dict(self._mapped) if is_root else {}
        late = [each for each in jobs if each.last > each.deadline and each is not job]
        for each in jobs:
            self._take_out(each)
        in_time = [each for each in jobs if each not in late]
        if all(self._map(each, is_root=False) for each in in_time):
            for each in late:
                self._place(each, heed_deadline=False)
            return True
        if is_root:
            self._put_back(saved)
        return False

    def _around(self, job: MappedJob) -> Iterable[MappedJob]:
        """Give the mapped jobs that can be moved, and start or end while the job may run."""
        first, last = job.job.start, job.deadline
        for each in self._mapped.values():
            if first <= each.first <= last or first <= each.last <= last:
                movable = each.movable if each.decision == self._decision else ()
                if each.last_start > self._now or movable:
                    yield each

    def _touch(self, job: MappedJob) -> None:
        job.touch(self._decision, self._now)
        self.touched[job.number] = job

    def _put(self, job: MappedJob, number: int, resource: int, start: int, end: int) -> None:
        self._changes.append((job, number, NOWHERE, NOWHERE, NOWHERE))
        job.starts[number] = start
        job.ends[number] = end
        if resource != NOWHERE:
            job.resources[number] = resource
            self.timelines.add(job.job.tasks[number].kind, resource, start, end)

    def _take_out(self, job: MappedJob) -> None:
        """Take all tasks that have not started from their places."""
        self._touch(job)
        self._mapped.pop(job.number, None)
        starts, ends, resources = job.starts, job.ends, job.resources
        for number in job.movable:
            if ends[number] != NOWHERE:
                where = starts[number], ends[number], resources[number]
                self._changes.append((job, number, *where))
                self._move(job, number, NOWHERE, NOWHERE, NOWHERE)

    def _put_back(self, mapped: dict[int, MappedJob]) -> None:
        """Undo all changes of this decision, and settle the jobs that were mapped before."""
        for change in reversed(self._changes):
            self._move(*change)
        self._changes.clear()
        self._mapped = mapped
        for number in self.touched:
            if number in mapped:
                mapped[number].settle()

    def _move(self, job: MappedJob, number: int, start: int, end: int, resource: int) -> None:
        """Move a task from where it is, which may be nowhere, to another place, likewise."""
        kind, before = job.job.tasks[number].kind, job.resources[number]
        if before != NOWHERE:
            self.timelines.remove(kind, before, job.starts[number], job.ends[number])
        job.starts[number], job.ends[number], job.resources[number] = start, end, resource
        if resource != NOWHERE:
            self.timelines.add(kind, resource, start, end)

    def _forget_past(self) -> None:
        self.timelines.forget(self._now)
        for number in [each.number for each in self._mapped.values() if each.last <= self._now]:
            del self._mapped[number]
