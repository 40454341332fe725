"""A schedule: which task runs on which resource, and when."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from rebecsim.clusters.stages.job import TaskKey


class Assignment(NamedTuple):
    """A task on a resource from `start` until before `end` (ms). Dummies have none."""

    key: TaskKey
    resource: int
    start: int
    end: int


class Schedule:
    """What runs and what is to run.

    Attributes:
        scheduled: the tasks that have not started, read-only; later changes appear in it.
        running: those that have started and not ended, read-only. Their end is the expected one.
        done: those that have ended, as they ran, read-only.
    """

    def __init__(self) -> None:
        self._scheduled: dict[TaskKey, Assignment] = {}
        self._running: dict[TaskKey, Assignment] = {}
        self._done: dict[TaskKey, Assignment] = {}
        self.scheduled: Mapping[TaskKey, Assignment] = MappingProxyType(self._scheduled)
        self.running: Mapping[TaskKey, Assignment] = MappingProxyType(self._running)
        self.done: Mapping[TaskKey, Assignment] = MappingProxyType(self._done)

    def plan(self, assignment: Assignment) -> None:
        """Schedule a task, anew if it was scheduled before."""
        self._scheduled[assignment.key] = assignment

    def begin(self, assignment: Assignment) -> None:
        """Let a scheduled task start."""
        del self._scheduled[assignment.key]
        self._running[assignment.key] = assignment

    def extend(self, assignment: Assignment) -> None:
        """Expect a task that runs to end at another time."""
        self._running[assignment.key] = assignment

    def end(self, assignment: Assignment, now: int) -> Assignment:
        """Let a task end that was running; give it as it ran."""
        del self._running[assignment.key]
        ran = assignment if assignment.end == now else assignment._replace(end=now)
        self._done[assignment.key] = ran
        return ran
