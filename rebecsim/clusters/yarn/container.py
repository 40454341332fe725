"""Containers: resources of a node that a task of an application runs in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from rebecsim.clusters.yarn.application import Application, Task
    from rebecsim.clusters.yarn.node import ClusterNode


Locality = Literal["node", "rack", "any"]
"""On the node where a task would rather run, in the rack of that, or elsewhere."""


class Killed(NamedTuple):
    """A container that a scheduler has killed.

    Attributes:
        chosen: when it was chosen (ms).
        killed: when it was killed (ms).
        reason: for whom: queues, users, or reservations.
    """

    container: Container
    chosen: int
    killed: int
    reason: str


class Container:
    """Memory and cores of a node, for one task.

    Attributes:
        number: its place among those of its application, from 1 on; the AppMaster has the first.
        memory: MB that it was given.
        is_elastic: whether that is not all that would be right; see `Quirks.full_is_ideal`.
        duration: how long the task takes in it, but for errors of durations (ms).
        lengthened: how much of that comes from errors of memory and bump (ms).
        scheduled: when it was allocated (ms).
        launched: when its task began (ms), or None.
        finished: when its task ended (ms), or None.
        locality: how near its node is to where the task would rather run; None: nobody asked.
        killed: whether it was ended so that someone else has its place.
    """

    __slots__ = (
        "application",
        "duration",
        "finished",
        "is_elastic",
        "killed",
        "launched",
        "lengthened",
        "locality",
        "memory",
        "node",
        "number",
        "scheduled",
        "task",
    )

    def __init__(
        self,
        application: Application,
        task: Task,
        node: ClusterNode,
        memory: int,
        is_elastic: bool = False,
    ) -> None:
        self.application = application
        self.task = task
        self.node = node
        self.memory = memory
        self.is_elastic = is_elastic
        self.number = len(application.containers) + 1
        self.duration = task.duration
        self.lengthened = 0
        self.scheduled = 0
        self.launched: int | None = None
        self.finished: int | None = None
        self.locality: Locality | None = None
        self.killed = False

    def expected_end(self, heartbeat: int) -> int:
        """Give when the task should end; one that waits starts a heartbeat after allocation."""
        start = self.scheduled + heartbeat if self.launched is None else self.launched
        return start + self.duration

    def copied(self, application: Application | None, node: ClusterNode) -> Container:
        """Give another of an application like this one's, on a node like this one's."""
        copy = object.__new__(Container)
        copy.application = self.application if application is None else application
        copy.task = self.task
        copy.node = node
        copy.memory = self.memory
        copy.is_elastic = self.is_elastic
        copy.number = self.number
        copy.duration = self.duration
        copy.lengthened = self.lengthened
        copy.scheduled = self.scheduled
        copy.launched = self.launched
        copy.finished = self.finished
        copy.locality = self.locality
        copy.killed = self.killed
        return copy
