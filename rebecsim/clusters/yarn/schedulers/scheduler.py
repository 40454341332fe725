"""What a scheduler is asked, what it may do; and two that serve one job first."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, ClassVar, NamedTuple, Protocol

from rebecsim.actors import StatePart
from rebecsim.clusters.yarn.configuration import YarnConfiguration
from rebecsim.clusters.yarn.containers import (
    Application,
    ClusterNode,
    Container,
    Reservation,
)
from rebecsim.clusters.yarn.placement import Placement

if TYPE_CHECKING:
    from rebecsim.clusters.yarn.foresight import Foresight
    from rebecsim.clusters.yarn.records import Killed, WaitLog


class Offer(NamedTuple):
    """What a task could be given on a node: MB, and how long it should take then (ms)."""

    memory: int
    duration: int


class QueueShare(NamedTuple):
    """What a queue should have, may have, and has; MB.

    Attributes:
        path: from root on, with dots.
        is_leaf: whether it has applications, and no queues.
        asking: how many applications in it ask for containers.
    """

    path: str
    is_leaf: bool
    guaranteed: int
    maximum: int
    used: int
    asking: int


class Grants(Protocol):
    """What the resource manager does for a scheduler.

    Attributes:
        clock: the time of what it has heard last (ms).
    """

    clock: int

    def allocate(self, application: Application, node: ClusterNode, memory: int) -> None:
        """Give the application's next task a container of this memory (MB) on a node."""

    def reserve(self, application: Application, node: ClusterNode) -> None:
        """Keep a node for the application's next task."""

    def give_up(self, node: ClusterNode, reservation: Reservation) -> None:
        """Release the reservation of a node."""

    def wake(self, node: ClusterNode) -> None:
        """Let a node send its next heartbeat."""

    def look_with(self, application: Application, node: ClusterNode, memory: int) -> Foresight:
        """Look ahead with one more container of this memory (MB)."""

    def hopes(self) -> bool:
        """Whether a heartbeat in vain is worth another one, as it may count for something."""


class ContainerScheduler(StatePart, ABC):
    """Shares the resources of a cluster between applications, whenever a node sends a heartbeat.

    Attributes:
        elastic: whether it may give a task less memory than it asks for.
        rouses: whether it wakes nodes itself when there may be something for them; otherwise all
            nodes are woken when applications ask for more.
        placement: says where tasks may run; None: wherever they fit.
        killed: what it has chosen, and was killed.
        wait_log: why applications wait; None: that is not noted.
    """

    elastic: ClassVar[bool] = False
    rouses: ClassVar[bool] = False

    def __init__(
        self, configuration: YarnConfiguration, nodes: Sequence[ClusterNode], grants: Grants
    ) -> None:
        self.configuration = configuration
        self.nodes = nodes
        self.grants = grants
        self.killed: list[Killed] = []
        self.wait_log: WaitLog | None = None
        rules = configuration.placement
        self.placement = Placement(rules, nodes, self) if rules is not None else None

    @property
    def patience(self) -> int | None:
        """After how long at most it kills something if nothing else happens (ms); None: never."""
        return None

    @property
    @abstractmethod
    def first(self) -> Application | None:
        """The first application in the queue."""

    @abstractmethod
    def waiting(self) -> Iterable[Application]:
        """Give the applications that wait for containers, in the order of the queue."""

    def refusal(self, application: Application) -> str:
        """Say why an application is not let in, and never runs; empty: it is."""
        return ""

    @abstractmethod
    def submitted(self, application: Application) -> None:
        """Take an application into the queue."""

    @abstractmethod
    def freed(self, application: Application) -> None:
        """Take note that an application consumes less."""

    def released(self, container: Container) -> None:
        """Take note of a container that has ended."""
        self.freed(container.application)

    def began(self, application: Application) -> None:
        """Take note that an AppMaster is launched, and asks for containers of tasks."""

    def left(self, application: Application) -> None:
        """Take note that an application has ended."""

    def asks_again(self, application: Application) -> None:
        """Take note that an application asks for what was killed."""

    def queue_of(self, application: Application) -> str:
        """Give the queue of an application."""
        return application.job.queue

    def queue_shares(self) -> Sequence[QueueShare]:
        """Give what queues should have."""
        return ()

    def to_kill(self, now: int) -> Sequence[Container]:
        """Give the containers that are to be killed now; asked with a period, if at all."""
        return ()

    def starts_over(self, application: Application) -> None:
        """Take note that an AppMaster is killed, and asks for a container of its own again."""

    @abstractmethod
    def schedule(self, node: ClusterNode, now: int) -> bool:
        """Give containers of a node, and say whether its next heartbeat is of interest."""

    def has_room(self, node: ClusterNode, application: Application) -> bool:
        """Whether the application's next task could be given a container on a node."""
        return fits(node, application)

    def may_place(self, node: ClusterNode, application: Application) -> bool:
        """Whether the application's next task may run on a node, if it fits."""
        return self.placement is None or self.placement.may_place(node, application)

    def lets_pass(self, node: ClusterNode) -> bool:
        """Whether an application lets the node pass at this heartbeat, but may take it later."""
        return self.placement is not None and self.placement.lets_pass(node)


def fits(node: ClusterNode, application: Application) -> bool:
    """Whether the application's next task fits on a node as it asks for."""
    task = application.head
    assert task is not None
    return task.memory <= node.memory and task.cores <= node.cores


class FirstInFirstOut(ContainerScheduler):
    """Applications in the order of submission; each gets all that fits, then the next one.

    So a later one overtakes where the next task of an earlier one does not fit. As in YARN's FIFO
    scheduler nothing is reserved, and a node is given as many containers as fit at a heartbeat.
    """

    def __init__(
        self, configuration: YarnConfiguration, nodes: Sequence[ClusterNode], grants: Grants
    ) -> None:
        super().__init__(configuration, nodes, grants)
        self._queue: dict[Application, None] = {}

    @property
    def first(self) -> Application | None:
        """The application that was submitted first of those that wait."""
        return next(iter(self._queue), None)

    def waiting(self) -> Iterable[Application]:
        """Give the applications in the order of submission."""
        return self._queue

    def submitted(self, application: Application) -> None:
        """Take an application into the queue, as the last one."""
        self._queue[application] = None

    def freed(self, application: Application) -> None:
        """Do nothing: what has been consumed does not count."""

    def schedule(self, node: ClusterNode, now: int) -> bool:
        """Give what fits to one application after the other, until the node is full."""
        for application in tuple(self._queue):
            if not node.memory:
                break
            self._serve(node, application)
        return bool(node.booked) or self.lets_pass(node)

    def _serve(self, node: ClusterNode, application: Application) -> None:
        """Give an application all that fits on a node."""
        decisions = application.decisions
        while (task := application.head) is not None:
            decisions.total += 1
            if not (
                (application.launched or task.is_master)
                and fits(node, application)
                and self.may_place(node, application)
            ):
                decisions.rejected += 1
                return
            decisions.accepted += 1
            self.grants.allocate(application, node, task.memory)
        del self._queue[application]


class ShortestRemaining(ContainerScheduler):
    """The application whose waiting tasks have the least durations in sum goes first.

    A node is given as many containers as fit; nothing is reserved.
    """

    def __init__(
        self, configuration: YarnConfiguration, nodes: Sequence[ClusterNode], grants: Grants
    ) -> None:
        super().__init__(configuration, nodes, grants)
        self._queue: list[Application] = []
        self._silent = configuration.quirks.silent

    @property
    def first(self) -> Application | None:
        """The first application as the queue was last sorted."""
        return self._queue[0] if self._queue else None

    def waiting(self) -> Iterable[Application]:
        """Give the applications as they were last sorted."""
        return self._queue

    def submitted(self, application: Application) -> None:
        """Take an application into the queue, behind those with as much to do."""
        self._queue.append(application)

    def freed(self, application: Application) -> None:
        """Do nothing: what has been consumed does not count."""

    def schedule(self, node: ClusterNode, now: int) -> bool:
        """Give containers until nothing fits."""
        while self._gave(node):
            pass
        return bool(node.booked) or self.lets_pass(node)

    def _gave(self, node: ClusterNode) -> bool:
        """Give the first task that fits; say whether others are to be looked at."""
        queue = self._queue
        queue.sort(key=self.remaining)
        for place, application in enumerate(queue):
            decisions, task = application.decisions, application.head
            assert task is not None
            decisions.total += 1
            if not (application.launched or task.is_master) or not self.may_place(
                node, application
            ):
                decisions.rejected += 1
            elif fits(node, application):
                decisions.accepted += 1
                self.grants.allocate(application, node, task.memory)
                if application.head is None:
                    del queue[place]
                return place < len(queue) or not self._silent
            elif not self._silent:
                decisions.rejected += 1
        return False

    def remaining(self, application: Application) -> int:
        """Give how much work of an application waits for containers (ms)."""
        return sum(task.duration * count for task, count in application.left)
