"""Hadoop's setup and cleanup tasks of a job."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import NamedTuple

from rebecsim.clusters.stages.job import TaskKind


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


class JobTaskQueue:
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
