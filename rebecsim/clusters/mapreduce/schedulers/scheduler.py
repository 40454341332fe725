"""The interface of schedulers of slots, and how they ask jobs for tasks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import insort
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from rebecsim.actors import StatePart
from rebecsim.clusters.mapreduce.job import (
    JobInProgress,
    JobPriority,
    Locality,
    SlotKind,
    TrackerSlots,
)
from rebecsim.errors import UserError
from rebecsim.wording import suggestion


class Assignment(NamedTuple):
    """A task assigned to a slot; `locality` is known for maps except backups."""

    job: JobInProgress
    kind: SlotKind
    number: int
    locality: Locality | None
    speculative: bool = False

    @property
    def is_far(self) -> bool:
        """Whether it is a map from another rack, or a backup, which may be anywhere."""
        return self.speculative or self.locality is Locality.OFF_SWITCH


class Preemption(NamedTuple):
    """A running task whose youngest attempt is to be killed to free its slot."""

    job: JobInProgress
    kind: SlotKind
    number: int


class TaskScheduler(StatePart, ABC):
    """Gives free slots to tasks, whenever a TaskTracker sends a heartbeat.

    It takes the tasks it gives from their jobs (`JobInProgress.start_map`, `start_reduce`,
    `start_backup`) and counts them as running in its own accounts; the JobTracker launches them,
    fills the slots of the tracker, and says later that they have ended. It is part of the
    JobTracker's state: its attributes are as those of any `StatePart`.

    A node that got no task is not offered again until something happens: an attempt ends, a task
    waits again, a job is submitted, a node changes, or `poll` has been called.

    Attributes:
        trackers: all nodes, dead ones too.
        poll_interval: how often `poll` is called (microseconds), first when it has passed once;
            None: never.
        withheld: whether what `assign` was last asked may be answered otherwise at a later
            heartbeat though nothing happens until then, as time alone, or having been refused,
            counts.
    """

    poll_interval: int | None = None
    withheld: bool = True

    def __init__(self, trackers: Sequence[TrackerSlots]) -> None:
        self.trackers = trackers

    @abstractmethod
    def submit(self, job: JobInProgress, now: int) -> str | None:
        """Accept a job, or return why it is rejected."""

    @abstractmethod
    def assign(self, tracker: TrackerSlots, now: int) -> Sequence[Assignment]:
        """Assign tasks to free slots of a node, in the order of their launch."""

    @abstractmethod
    def ended(self, job: JobInProgress, kind: SlotKind, number: int) -> None:
        """Learn that an attempt has freed its slot, with any outcome.

        The counts of the job are already up to date.
        """

    @abstractmethod
    def completed(self, job: JobInProgress) -> None:
        """Learn that all tasks of a job have ended, after its attempts."""

    def waits_again(self, job: JobInProgress, kind: SlotKind, number: int) -> None:
        """Learn that a task must run again, because it failed or its output is lost.

        The counts of the job are already up to date. `ended` is also called for a failed attempt.
        """

    def trackers_changed(self) -> None:
        """Learn that a node has died or recovered."""

    def poll(self, now: int) -> Sequence[Preemption]:
        """Do the periodic work; return the tasks to kill."""
        return ()

    @classmethod
    def with_parameters(cls, parameters: Mapping[str, object]) -> SchedulerSetup:
        """Make a setup from parameters. Raises UserError for invalid ones."""
        if parameters:
            raise UserError(f"{next(iter(parameters))}: {cls.__name__} has no parameters")
        return SchedulerSetup(cls)

    @classmethod
    def from_file(cls, path: Path, name: str = "") -> SchedulerSetup:
        """Make a setup from a file of Hadoop; `name` is its name in messages.

        Raises UserError for invalid settings, and OSError.
        """
        raise UserError(f"{name or path}: {cls.__name__} takes no file")

    def change(self, parameters: Mapping[str, object], now: int) -> None:
        """Change parameters. Raises UserError for an unknown parameter or an invalid value."""
        raise UserError(f"{type(self).__name__} has no parameters that change while it runs")


SchedulerFactory = Callable[[Sequence[TrackerSlots]], TaskScheduler]
"""Makes a scheduler for the nodes of a cluster, as scheduler classes do."""


@dataclass(frozen=True, slots=True)
class SchedulerSetup:
    """A scheduler with its parameters.

    Attributes:
        build: makes it; raises UserError when the cluster is too small for the parameters.
        queues: that jobs may name; None: any.
        without_effect: what was read and changes nothing here, in words.
        source: what errors call the place of the parameters.
    """

    build: SchedulerFactory
    queues: Collection[str] | None = None
    without_effect: tuple[str, ...] = ()
    source: str = "scheduler"

    def require_queues(self, names: Iterable[str]) -> None:
        """Raise UserError for undefined queues that jobs name."""
        if self.queues is None:
            return
        for name in names:
            if name not in self.queues:
                raise UserError(
                    f"{self.source}: jobs name the queue {name!r}, which is not defined; "
                    f"{suggestion(name, self.queues)}"
                )


Order = Callable[[JobInProgress], tuple[int, int, int]]


def by_submission(job: JobInProgress) -> tuple[int, int, int]:
    """Sort key of jobs without priorities."""
    return 0, job.job.submit, job.job.number


def by_priority(job: JobInProgress) -> tuple[int, int, int]:
    """Sort key of jobs with priorities."""
    return JobPriority.VERY_HIGH - job.job.priority, job.job.submit, job.job.number


def order_of(heeds_priority: bool) -> Order:
    """Return the sort key of jobs, with or without priorities."""
    return by_priority if heeds_priority else by_submission


class OfferingJobs(StatePart):
    """Jobs with tasks that may start, or that may want backups.

    Attributes:
        jobs: the jobs, in their order.
    """

    __slots__ = ("_members", "by_priority", "jobs", "kind")

    def __init__(self, kind: SlotKind, *, by_priority: bool) -> None:
        self.kind = kind
        self.jobs: list[JobInProgress] = []
        self._members: dict[JobInProgress, None] = {}
        self.by_priority = by_priority

    def review(self, job: JobInProgress) -> bool:
        """Update whether a job offers tasks; return whether that has changed."""
        offers = job.speculator is not None or (
            job.waiting(SlotKind.MAP) > 0 if self.kind is SlotKind.MAP else job.offers_reduce()
        )
        if offers == (job in self._members):
            return False
        if offers:
            self._members[job] = None
            insort(self.jobs, job, key=order_of(self.by_priority))
        else:
            self.remove(job)
        return True

    def remove(self, job: JobInProgress) -> None:
        """Remove a job, if present."""
        if job in self._members:
            del self._members[job]
            self.jobs.remove(job)

    def sort(self, by_priority: bool) -> None:
        """Change the order of jobs."""
        self.by_priority = by_priority
        self.jobs.sort(key=order_of(by_priority))


def map_of(
    job: JobInProgress, tracker: TrackerSlots, furthest: Locality, now: int
) -> Assignment | None:
    """Take a map from a job, no further from its split than this; backups may run anywhere only."""
    found = job.map_for(tracker, furthest)
    if found is not None:
        number, locality = found
        job.start_map(number)
        return Assignment(job, SlotKind.MAP, number, locality)
    if furthest is not Locality.OFF_SWITCH or job.speculator is None:
        return None
    backup = job.backup_for(SlotKind.MAP, tracker, now)
    if backup is None:
        return None
    job.start_backup(SlotKind.MAP)
    return Assignment(job, SlotKind.MAP, backup, None, True)


def reduce_of(job: JobInProgress, tracker: TrackerSlots, now: int) -> Assignment | None:
    """Take a reduce from a job, if it has one that may begin."""
    if job.offers_reduce():
        return Assignment(job, SlotKind.REDUCE, job.start_reduce(), None)
    if job.speculator is None:
        return None
    backup = job.backup_for(SlotKind.REDUCE, tracker, now)
    if backup is None:
        return None
    job.start_backup(SlotKind.REDUCE)
    return Assignment(job, SlotKind.REDUCE, backup, None, True)
