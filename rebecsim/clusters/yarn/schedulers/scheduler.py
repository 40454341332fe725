"""What a scheduler is asked, and what it may do."""

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
    Killed,
    Reservation,
)
from rebecsim.clusters.yarn.placement import Placement

if TYPE_CHECKING:
    from rebecsim.clusters.yarn.records import WaitLog


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
        """Keep a node for nobody any more."""

    def wake(self, node: ClusterNode) -> None:
        """Let a node send its next heartbeat."""

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
