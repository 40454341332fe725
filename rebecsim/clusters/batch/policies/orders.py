"""In which order the jobs wait: the first half of a policy.

An order gives each job a key when it is submitted; the smallest key is the head of the queue, and
of equal keys the job that was submitted first. An order of your own is a subclass with the one
method `key`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from rebecsim.clusters.batch.job import Job
from rebecsim.clusters.batch.policies.settings import PolicySettings
from rebecsim.clusters.batch.policies.usage import Usage


class QueueOrder(ABC):
    """The order of the waiting jobs; made anew for every run.

    An order whose keys change gives a `refresh` in seconds: all waiting jobs get new keys at the
    multiples of it on the scheduler's clock.
    """

    refresh: int | None = None

    def __init__(self, settings: PolicySettings) -> None:
        self.settings = settings

    @abstractmethod
    def key(self, job: Job, now: int) -> Any:
        """Give what the job is sorted by, from the time `now` (seconds) on."""

    def begins(self, now: int) -> None:  # noqa: B027 - most orders have nothing to note
        """Take note of when the scheduler's clock began; seconds, perhaps negative."""

    def started(self, job: Job, now: int) -> None:  # noqa: B027
        """Take note of a job that starts."""

    def finished(self, job: Job, now: int) -> None:  # noqa: B027
        """Take note of a job that has ended."""


class BySubmission(QueueOrder):
    """First come first."""

    def key(self, job: Job, now: int) -> int:
        """All alike."""
        return 0


class ShortestJob(QueueOrder):
    """The shortest estimate first."""

    def key(self, job: Job, now: int) -> int:
        """Give the estimate; seconds."""
        return job.estimate


class LongestJob(QueueOrder):
    """The longest estimate first."""

    def key(self, job: Job, now: int) -> int:
        """Give the estimate, negated."""
        return -job.estimate


class SmallestArea(QueueOrder):
    """The fewest processor seconds first, by the estimate."""

    def key(self, job: Job, now: int) -> int:
        """Give processors times estimate."""
        return job.area


class LargestArea(QueueOrder):
    """The most processor seconds first, by the estimate."""

    def key(self, job: Job, now: int) -> int:
        """Give processors times estimate, negated."""
        return -job.area


class QueuePriority(QueueOrder):
    """By the priority of the queue that a job was submitted to."""

    def key(self, job: Job, now: int) -> int:
        """Give the rank of its queue."""
        return self.settings.queue_priorities.get(job.queue, job.queue)


class Fairshare(QueueOrder):
    """The job of the user first who has used the machine least.

    Usage is in processor seconds, with the half-life and the window of the settings. It accrues
    while jobs run, or counts when they have ended (`PolicySettings.usage`). A job's key is as old
    as its submission or the last refresh, whichever is later.
    """

    def __init__(self, settings: PolicySettings) -> None:
        super().__init__(settings)
        self.refresh = settings.refresh
        self._usage = Usage(settings.half_life, settings.window)
        self._accrues = settings.usage == "running"

    def begins(self, now: int) -> None:
        """Count the half-lives from here."""
        self._usage.origin = now

    def key(self, job: Job, now: int) -> float:
        """Give the usage of the job's user."""
        return self._usage.of(job.user, now)

    def started(self, job: Job, now: int) -> None:
        """Let the user's usage grow from now on."""
        if self._accrues:
            self._usage.hold(job.user, job.processors, now)

    def finished(self, job: Job, now: int) -> None:
        """Let it grow no longer, or charge the whole job."""
        if self._accrues:
            self._usage.hold(job.user, -job.processors, now)
        else:
            self._usage.charge(job.user, job.processors * job.run, now)
