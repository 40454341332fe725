"""Records the inputs and decisions of the Capacity Scheduler, for later checks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rebecsim.clusters.mapreduce.job import JobInProgress, SlotKind, TrackerSlots
from rebecsim.clusters.mapreduce.schedulers.capacity import CapacityTaskScheduler
from rebecsim.clusters.mapreduce.schedulers.capacity_settings import CapacitySettings
from rebecsim.clusters.mapreduce.schedulers.scheduler import (
    Assignment,
    Preemption,
    TaskScheduler,
)


@dataclass(frozen=True, slots=True)
class Configured:
    """From now on these settings count, and so many nodes are alive, with so many slots."""

    settings: CapacitySettings
    nodes: int
    slots: tuple[int, int]
    racks: tuple[int, ...]
    """Of all nodes, dead ones too."""


@dataclass(frozen=True, slots=True)
class Submitted:
    """A job came; `reason` says why it was rejected."""

    job: JobInProgress
    reason: str | None


@dataclass(frozen=True, slots=True)
class Polled:
    """The poller went round, and initialised these jobs, queue by queue."""

    jobs: tuple[JobInProgress, ...]


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """A node sent a heartbeat with so many free slots, of maps and of reduces."""

    now: int
    node: int
    free: tuple[int, int]
    given: tuple[Assignment, ...]


@dataclass(frozen=True, slots=True)
class AttemptEnded:
    """A slot was given back; so many maps of the job had ended then."""

    job: JobInProgress
    kind: SlotKind
    number: int
    finished_maps: int


@dataclass(frozen=True, slots=True)
class WaitsAgain:
    """A task waits once more; so many maps of the job had ended then."""

    job: JobInProgress
    kind: SlotKind
    number: int
    finished_maps: int


@dataclass(frozen=True, slots=True)
class Completed:
    """All tasks of a job have ended."""

    job: JobInProgress


Decision = Configured | Submitted | Polled | Heartbeat | AttemptEnded | WaitsAgain | Completed


class RecordedScheduler(TaskScheduler):
    """Stands between a JobTracker and a Capacity Scheduler, and writes down what passes.

    Attributes:
        decisions: all that was told and decided, in its order.
    """

    def __init__(self, scheduler: CapacityTaskScheduler) -> None:
        super().__init__(scheduler.trackers)
        self.decisions: list[Decision] = []
        self._scheduler = scheduler
        self._initialised: set[JobInProgress] = set()
        self._configured()

    def submit(self, job: JobInProgress, now: int) -> str | None:
        """Pass a job on."""
        reason = self._scheduler.submit(job, now)
        self.decisions.append(Submitted(job, reason))
        return reason

    def assign(self, tracker: TrackerSlots, now: int) -> Sequence[Assignment]:
        """Pass a heartbeat on."""
        free = tracker.free(SlotKind.MAP), tracker.free(SlotKind.REDUCE)
        given = self._scheduler.assign(tracker, now)
        self.withheld = self._scheduler.withheld
        self.decisions.append(Heartbeat(now, tracker.number, free, tuple(given)))
        return given

    def ended(self, job: JobInProgress, kind: SlotKind, number: int) -> None:
        """Pass on that a slot is free."""
        self._scheduler.ended(job, kind, number)
        self.decisions.append(AttemptEnded(job, kind, number, job.finished[SlotKind.MAP]))

    def waits_again(self, job: JobInProgress, kind: SlotKind, number: int) -> None:
        """Pass on that a task waits."""
        self._scheduler.waits_again(job, kind, number)
        self.decisions.append(WaitsAgain(job, kind, number, job.finished[SlotKind.MAP]))

    def completed(self, job: JobInProgress) -> None:
        """Pass on that a job has ended."""
        self._scheduler.completed(job)
        self.decisions.append(Completed(job))

    def poll(self, now: int) -> Sequence[Preemption]:
        """Pass on that it is time to initialise jobs."""
        self._scheduler.poll(now)
        queues = self._scheduler.queues.values()
        jobs = [job for queue in queues for job in queue.initialised]
        fresh = tuple(job for job in jobs if job not in self._initialised)
        self._initialised.update(fresh)
        self.decisions.append(Polled(fresh))
        return ()

    def trackers_changed(self) -> None:
        """Pass on that a node has died or come back."""
        self._scheduler.trackers_changed()
        self._configured()

    def change(self, parameters: Mapping[str, object], now: int) -> None:
        """Pass other parameters on."""
        self._scheduler.change(parameters, now)
        self._configured()

    def _configured(self) -> None:
        self.poll_interval = self._scheduler.poll_interval
        alive = [tracker.slots for tracker in self.trackers if tracker.alive]
        slots = sum(maps for maps, _ in alive), sum(reduces for _, reduces in alive)
        racks = tuple(tracker.rack for tracker in self.trackers)
        self.decisions.append(Configured(self._scheduler.settings, len(alive), slots, racks))
