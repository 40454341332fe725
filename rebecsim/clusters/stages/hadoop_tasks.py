"""Which tasks a TaskTracker of Hadoop gets, its setup and cleanup tasks, and what that costs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from math import ceil
from typing import Literal, NamedTuple

from rebecsim.actors import Constant, StatePart
from rebecsim.clusters.stages.job import StageJob, TaskKey, TaskKind
from rebecsim.clusters.stages.resources import Assignment, Locality


@dataclass(frozen=True, slots=True)
class HadoopSettings(Constant):
    """What a cluster takes its time for. All times are ms.

    Attributes:
        heartbeat: how often a TaskTracker says what has ended, and asks for tasks.
        overhead: how much longer a task takes than its own time. With 12 s and 3.25 reduces a job
            slots are as much busier than by their work alone as was measured, by 45 s a job.
        transfer: how long a map takes longer where its data are not.
        replicas: how many resources have what a map reads.
        job_task: how long the task takes that sets a job up, before all others of it, and that
            which cleans up behind them; 0: there are none. The thesis has 5 s for the setup of a
            task.
        slow_start: the part of a job's maps that must have ended before its reduces take slots,
            where jobs are taken by their order; plans let reduces wait for all maps.
    """

    heartbeat: int = 3000
    overhead: int = 12_000
    transfer: int = 5000
    replicas: int = 3
    job_task: int = 5000
    slow_start: float = 0.05


class JobInProgress(StatePart):
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


JobOrder = Literal["arrival", "deadline"]


class TaskChoice(StatePart, ABC):
    """Says which tasks run next.

    Attributes:
        jobs: in progress, by number.
    """

    def __init__(self) -> None:
        self.jobs: dict[int, JobInProgress] = {}

    @abstractmethod
    def next(
        self, kind: TaskKind, resource: int, now: int, scheduled: Mapping[TaskKey, Assignment]
    ) -> TaskKey | None:
        """Give the next task of a kind for a resource; None: there is none now.

        `scheduled` is where and when tasks are planned to run that have not started.
        """

    @abstractmethod
    def most(self, kind: TaskKind, free: int) -> int:
        """Give how many tasks a resource with so many free slots may be given at a heartbeat."""


class JobQueue(TaskChoice):
    """As Hadoop does: the first job in some order that has a task, maps where their data are
    first. Its reduces take slots when some maps have ended, one at a heartbeat.

    The order is that of an attribute of jobs.
    """

    def __init__(self, order: JobOrder, settings: HadoopSettings, locality: Locality) -> None:
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


class PlannedOrder(TaskChoice):
    """What a resource manager has planned for a resource, in the order of the planned starts.

    A reduce is given away when all maps of its job have ended.
    """

    def next(
        self, kind: TaskKind, resource: int, now: int, scheduled: Mapping[TaskKey, Assignment]
    ) -> TaskKey | None:
        """Take the task that was to start first."""
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
    """One of these tasks.

    Attributes:
        job: the number of its job.
        sets_up: before all maps; otherwise it cleans up when all tasks have ended.
    """

    job: int
    sets_up: bool


class HeldSlot(NamedTuple):
    """A slot that such a task has from `start` until before `end` (ms).

    Attributes:
        task: which one.
        resource: whose slot.
        kind: of the slot; these tasks take either.
        start: when it was given away.
        end: when the JobTracker heard that the task had ended; until then as expected.
    """

    task: JobTask
    resource: int
    kind: TaskKind
    start: int
    end: int


class JobTaskQueue(StatePart):
    """Those that nobody has, in the order in which they came; those that clean up are first."""

    def __init__(self) -> None:
        self._queues: dict[bool, deque[JobTask]] = {False: deque(), True: deque()}

    def add(self, task: JobTask) -> None:
        """Let a task wait for a slot."""
        self._queues[task.sets_up].append(task)

    def next(self, is_free: Callable[[TaskKind], bool]) -> tuple[JobTask, TaskKind] | None:
        """Take the next task with a slot for it, one for maps if that is free; None: not now."""
        queue = next((each for each in self._queues.values() if each), None)
        kind = next((kind for kind in (TaskKind.MAP, TaskKind.REDUCE) if is_free(kind)), None)
        return None if queue is None or kind is None else (queue.popleft(), kind)
