"""Hadoop 1's scheduler without queues: first in, first out, by priority."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

from rebecsim.clusters.mapreduce.job import JobInProgress, Locality, SlotKind, TrackerSlots
from rebecsim.clusters.mapreduce.schedulers.scheduler import (
    Assignment,
    OfferingJobs,
    TaskScheduler,
    map_of,
    reduce_of,
)

_PADDING = 0.01  # of the tasks that jobs want: so many slots are kept for failures and backups
_SMALL_CLUSTER = 3  # nodes; up to so many, nothing is kept


class JobQueueTaskScheduler(TaskScheduler):
    """Hadoop 1's `JobQueueTaskScheduler`: by priority, then by submission.

    Tasks are spread: a node fills its slots only as far as an equally filled cluster would. A
    heartbeat assigns local maps until one is not local, and one reduce. In a nearly full cluster,
    it assigns one map only, and asks only the first job for a reduce.
    """

    def __init__(self, trackers: Sequence[TrackerSlots]) -> None:
        super().__init__(trackers)
        self._offering = [OfferingJobs(kind, by_priority=True) for kind in SlotKind]
        self._running = [0, 0]
        self._wanted = [0, 0]  # tasks of jobs that have reduces
        self._load = [0, 0]  # tasks that have not ended, of reduces only those that may begin
        self._loads: dict[JobInProgress, tuple[int, int]] = {}
        self.trackers_changed()

    def submit(self, job: JobInProgress, now: int) -> str | None:
        """Take a job; none is rejected."""
        self._loads[job] = 0, 0
        self._review(job)
        self._want(job, 1)
        return None

    def assign(self, tracker: TrackerSlots, now: int) -> Sequence[Assignment]:
        """Give maps, then a reduce."""
        self.withheld = False
        given: list[Assignment] = []
        free = self._to_be_filled(tracker, SlotKind.MAP)
        if free > 0:
            self._give_maps(tracker, free, now, given)
        if self._to_be_filled(tracker, SlotKind.REDUCE) > 0:
            self._give_reduce(tracker, now, given)
        for each in given:
            self._running[each.kind] += 1
            self._review(each.job)
        return given

    def ended(self, job: JobInProgress, kind: SlotKind, number: int) -> None:
        """Count the slot as free."""
        self._running[kind] -= 1
        self._review(job)

    def waits_again(self, job: JobInProgress, kind: SlotKind, number: int) -> None:
        """Update the counts after a task waits again."""
        self._review(job)

    def completed(self, job: JobInProgress) -> None:
        """Forget a job."""
        self._want(job, -1)
        for kind, load in enumerate(self._loads.pop(job)):
            self._load[kind] -= load
            self._offering[kind].remove(job)

    def trackers_changed(self) -> None:
        """Count the slots of the nodes that are alive."""
        alive = [tracker.slots for tracker in self.trackers if tracker.alive]
        self._nodes = len(alive)
        self._slots = [sum(slots[kind] for slots in alive) for kind in SlotKind]
        self._largest = [max((slots[kind] for slots in alive), default=0) for kind in SlotKind]

    def asking(self, kind: SlotKind) -> Sequence[JobInProgress]:
        """Return the jobs with tasks to run, in their order."""
        return self._offering[kind].jobs

    def _want(self, job: JobInProgress, times: int) -> None:
        if job.job.reduces:
            self._wanted[SlotKind.MAP] += times * job.job.maps
            self._wanted[SlotKind.REDUCE] += times * job.job.reduces

    def _review(self, job: JobInProgress) -> None:
        """Update the remaining tasks of a job, and whether it has tasks to run."""
        if job not in self._loads:
            return
        maps = job.job.maps - job.finished[SlotKind.MAP]
        begun = job.running[SlotKind.REDUCE] or job.offers_reduce()
        reduces = job.job.reduces - job.finished[SlotKind.REDUCE] if begun else 0
        before = self._loads[job]
        self._loads[job] = maps, reduces
        self._load[SlotKind.MAP] += maps - before[SlotKind.MAP]
        self._load[SlotKind.REDUCE] += reduces - before[SlotKind.REDUCE]
        for offering in self._offering:
            offering.review(job)

    def _to_be_filled(self, tracker: TrackerSlots, kind: SlotKind) -> int:
        """Return how many free slots of a node may be filled."""
        slots = tracker.slots[kind]
        if not self._load[kind] or not slots:
            return 0
        share = ceil(self._load[kind] * slots / self._slots[kind])
        return min(share, slots) - tracker.busy[kind]

    def _is_nearly_full(self, kind: SlotKind) -> bool:
        """Whether hardly more slots are free than are kept for failures and backups."""
        kept = 0
        if self._nodes > _SMALL_CLUSTER:
            kept = min(self._largest[kind], int(self._wanted[kind] * _PADDING))
        return self._running[kind] + kept >= self._slots[kind]

    def _give_maps(
        self, tracker: TrackerSlots, free: int, now: int, given: list[Assignment]
    ) -> None:
        most = 1 if self._is_nearly_full(SlotKind.MAP) else free
        for _ in range(most):
            found = self._find_map(tracker, now)
            if found is None:
                return
            given.append(found)
            if found.is_far:
                return

    def _find_map(self, tracker: TrackerSlots, now: int) -> Assignment | None:
        for job in self._offering[SlotKind.MAP].jobs:
            found = map_of(job, tracker, Locality.OFF_SWITCH, now)
            if found is not None:
                return found
            self.withheld = True  # there may be something to back up later
        return None

    def _give_reduce(self, tracker: TrackerSlots, now: int, given: list[Assignment]) -> None:
        first_only = self._is_nearly_full(SlotKind.REDUCE)
        for job in self._offering[SlotKind.REDUCE].jobs:
            found = reduce_of(job, tracker, now)
            if found is not None:
                given.append(found)
                return
            self.withheld = True
            if first_only:
                return
