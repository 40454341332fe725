"""Choice of the next task for a TaskTracker, job setup and cleanup tasks, and their overheads."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from math import ceil
from typing import Annotated, Literal, NamedTuple

from pydantic import Field

from rebecsim.actors import Constant, StatePart
from rebecsim.clusters.stages.job import StageJob, TaskKey, TaskKind
from rebecsim.clusters.stages.resources import Assignment, Locality
from rebecsim.studies.scenario import Table, within


class HadoopTable(Table, Constant):
    """Hadoop 1, where TaskTrackers ask for tasks by heartbeats."""

    heartbeat: Annotated[float, within(0.001, 10**4, "seconds")] = Field(
        3.0, description="period of a TaskTracker's heartbeats"
    )
    # with 3.25 reduces a job, 12 s keep slots busy for 45 s more a job, as was measured
    overhead: Annotated[float, within(0, 10**6, "seconds")] = Field(
        12.0, description="extra time of each task"
    )
    transfer: Annotated[float, within(0, 10**6, "seconds")] = Field(
        5.0, description="extra time of a map task without local data"
    )
    replicas: Annotated[int, within(1, 10**5)] = Field(
        3, description="replicas of each input block"
    )
    # the thesis gives 5 s for the setup of a task
    job_task: Annotated[float, within(0, 10**6, "seconds")] = Field(
        5.0,
        description="time of a job's setup task, and of its cleanup task; 0: no such tasks",
    )
    slow_start: Annotated[float, within(0, 1)] = Field(
        0.05,
        description="EDF and FIFO: share of a job's maps that must end before its reduces take "
        "slots; planned reduces wait for all maps",
    )


class JobInProgress(StatePart):
    """A job with unfinished tasks.

    Attributes:
        job: the job.
        maps: number of its map tasks.
        maps_left: number of unfinished map tasks.
        left: number of unfinished tasks.
        pending: unassigned tasks, by kind, in the order of their numbers.
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


JobOrder = Literal["arrival", "deadline"]


class TaskSelector(StatePart, ABC):
    """Chooses the tasks that run next.

    Attributes:
        jobs: jobs in progress, by number.
    """

    def __init__(self) -> None:
        self.jobs: dict[int, JobInProgress] = {}

    @abstractmethod
    def next(
        self, kind: TaskKind, resource: int, now: int, scheduled: Mapping[TaskKey, Assignment]
    ) -> TaskKey | None:
        """Return the next task of a kind for a resource, or None.

        `scheduled` has the planned places of tasks that have not started.
        """

    @abstractmethod
    def most(self, kind: TaskKind, free: int) -> int:
        """Return how many tasks a heartbeat with this many free slots may get."""


class JobQueue(TaskSelector):
    """Hadoop's rule: the first job in some order that has a task, with local maps first.

    Reduces take slots after the slow start, one each heartbeat. The order is an attribute of jobs.
    """

    def __init__(self, order: JobOrder, settings: HadoopTable, locality: Locality) -> None:
        super().__init__()
        self._order, self._settings, self._locality = order, settings, locality

    def next(
        self, kind: TaskKind, resource: int, now: int, scheduled: Mapping[TaskKey, Assignment]
    ) -> TaskKey | None:
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
        return getattr(each.job, self._order), each.job.number


class PlannedOrder(TaskSelector):
    """The planned tasks of a resource, in the order of their starts.

    A reduce is assigned when all maps of its job have ended.
    """

    def next(
        self, kind: TaskKind, resource: int, now: int, scheduled: Mapping[TaskKey, Assignment]
    ) -> TaskKey | None:
        """Return the task with the earliest planned start."""
        planned = min(self._ready(kind, resource, now, scheduled), default=None)
        return None if planned is None else planned[1]

    def most(self, kind: TaskKind, free: int) -> int:
        """A task for each slot."""
        return free

    def _ready(
        self, kind: TaskKind, resource: int, now: int, scheduled: Mapping[TaskKey, Assignment]
    ) -> Iterator[tuple[int, TaskKey]]:
        for key, each in scheduled.items():
            progress = self.jobs[key.job]
            if (
                each.resource == resource
                and progress.job.tasks[key.task].kind is kind
                and progress.job.start <= now
                and (kind is TaskKind.MAP or progress.maps_left == 0)
            ):
                yield each.start, key


class JobTask(NamedTuple):
    """A job setup or cleanup task.

    Attributes:
        job: number of its job.
        sets_up: True for the setup task, which runs before all maps.
    """

    job: int
    sets_up: bool


class HeldSlot(NamedTuple):
    """A slot that a job setup or cleanup task holds during [start, end) (ms).

    Attributes:
        task: the task.
        resource: the resource with the slot.
        kind: kind of the slot; these tasks take either.
        start: when the task was assigned.
        end: when a heartbeat reported its end; until then the expected end.
    """

    task: JobTask
    resource: int
    kind: TaskKind
    start: int
    end: int


class JobTaskQueue(StatePart):
    """Unassigned job setup and cleanup tasks in order of arrival, cleanup tasks first."""

    def __init__(self) -> None:
        self._queues: dict[bool, deque[JobTask]] = {False: deque(), True: deque()}

    def add(self, task: JobTask) -> None:
        """Add a task that waits for a slot."""
        self._queues[task.sets_up].append(task)

    def next(self, is_free: Callable[[TaskKind], bool]) -> tuple[JobTask, TaskKind] | None:
        """Return the next task and a slot for it, a map slot if one is free, or None."""
        queue = next((each for each in self._queues.values() if each), None)
        kind = next((kind for kind in (TaskKind.MAP, TaskKind.REDUCE) if is_free(kind)), None)
        return None if queue is None or kind is None else (queue.popleft(), kind)
