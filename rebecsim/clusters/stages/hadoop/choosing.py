"""Choosing tasks for a TaskTracker with free slots."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from math import ceil

from rebecsim.clusters.stages.hadoop.settings import HadoopSettings
from rebecsim.clusters.stages.job import StageJob, TaskKey, TaskKind
from rebecsim.clusters.stages.locality import Locality
from rebecsim.clusters.stages.schedule import Assignment


class JobInProgress:
    """A job of which tasks are to be given away.

    Attributes:
        job: what it is.
        maps: of it.
        maps_left: how many have not ended.
        left: how many tasks have not ended.
        pending: the tasks that nobody has, by kind, in the order of their numbers.
    """

    def __init__(self, job: StageJob) -> None:
        self.job = job
        numbers = {
            kind: [task.number for task in job.real_tasks if task.kind is kind]
            for kind in (TaskKind.MAP, TaskKind.REDUCE)
        }
        self.pending = {kind: dict.fromkeys(each) for kind, each in numbers.items()}
        self.maps = self.maps_left = len(numbers[TaskKind.MAP])
        self.left = len(job.real_tasks)


class TaskChoice(ABC):
    """Says which tasks run next.

    Attributes:
        jobs: in progress, by number.
    """

    def __init__(self) -> None:
        self.jobs: dict[int, JobInProgress] = {}

    @abstractmethod
    def next(self, kind: TaskKind, resource: int, now: int) -> TaskKey | None:
        """Give the next task of a kind for a resource; None: there is none now."""

    @abstractmethod
    def most(self, kind: TaskKind, free: int) -> int:
        """Give how many tasks a resource with so many free slots may be given at a heartbeat."""


class JobQueue(TaskChoice):
    """As Hadoop does: the first job in some order that has a task, maps where their data are
    first. Its reduces take slots when some maps have ended, one at a heartbeat.
    """

    def __init__(
        self, place: Callable[[StageJob], int], settings: HadoopSettings, locality: Locality
    ) -> None:
        super().__init__()
        self._place, self._settings, self._locality = place, settings, locality

    def next(self, kind: TaskKind, resource: int, now: int) -> TaskKey | None:
        """Take the first job in the order."""
        for each in sorted(self.jobs.values(), key=self._key):
            pending = each.pending[kind]
            if not pending or each.job.start > now:
                continue
            if kind is TaskKind.REDUCE:
                ended = each.maps - each.maps_left
                if ended < ceil(self._settings.slow_start * each.maps):
                    continue
                return TaskKey(each.job.number, next(iter(pending)))
            keys = [TaskKey(each.job.number, number) for number in pending]
            local = (key for key in keys if resource in self._locality.local(key))
            return next(local, keys[0])
        return None

    def most(self, kind: TaskKind, free: int) -> int:
        """One reduce, and a map for each slot."""
        return min(free, 1) if kind is TaskKind.REDUCE else free

    def _key(self, each: JobInProgress) -> tuple[int, int]:
        return self._place(each.job), each.job.number


class PlannedOrder(TaskChoice):
    """What a resource manager has planned for a resource, in the order of the planned starts.

    A reduce is given away when all maps of its job have ended.
    """

    def __init__(self, scheduled: Mapping[TaskKey, Assignment]) -> None:
        super().__init__()
        self._scheduled = scheduled

    def next(self, kind: TaskKind, resource: int, now: int) -> TaskKey | None:
        """Take the task that was to start first."""
        planned = min(self._ready(kind, resource, now), default=None)
        return None if planned is None else planned[1]

    def most(self, kind: TaskKind, free: int) -> int:
        """A task for each slot."""
        return free

    def _ready(self, kind: TaskKind, resource: int, now: int) -> Iterator[tuple[int, TaskKey]]:
        for key, each in self._scheduled.items():
            progress = self.jobs[key.job]
            if (
                each.resource == resource
                and progress.job.tasks[key.task].kind is kind
                and progress.job.start <= now
                and (kind is TaskKind.MAP or progress.maps_left == 0)
            ):
                yield each.start, key
