"""What a scheduler of slots is asked."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar, NamedTuple

from rebecsim.clusters.mapreduce.job import SlotKind
from rebecsim.clusters.mapreduce.progress import JobInProgress, Locality
from rebecsim.clusters.mapreduce.tracker import TrackerSlots


class Assignment(NamedTuple):
    """A task that is given a slot; `locality` is of maps only."""

    job: JobInProgress
    kind: SlotKind
    number: int
    locality: Locality | None
    speculative: bool = False


class TaskScheduler(ABC):
    """Gives free slots to tasks, whenever a TaskTracker sends a heartbeat.

    It takes the tasks it gives from their jobs (`JobInProgress.start_map`, `start_reduce`) and
    counts them as running in its own accounts; the JobTracker launches them, fills the slots of
    the tracker, and says later that they have ended.

    Attributes:
        poll_interval: how often `poll` is called (microseconds); None: never.
    """

    poll_interval: ClassVar[int | None] = None

    @abstractmethod
    def submit(self, job: JobInProgress, now: int) -> str | None:
        """Take a job; or say in words why it is rejected."""

    @abstractmethod
    def assign(self, tracker: TrackerSlots, now: int) -> Sequence[Assignment]:
        """Give free slots of the node to tasks, in the order in which they are to be launched."""

    @abstractmethod
    def ended(self, job: JobInProgress, kind: SlotKind) -> None:
        """Take note that an attempt of a job holds its slot no more, however it ended."""

    @abstractmethod
    def completed(self, job: JobInProgress) -> None:
        """Take note that all tasks of a job have ended."""

    def poll(self, now: int) -> None:  # noqa: B027 - most have nothing to poll for
        """Do what is done every `poll_interval`."""
