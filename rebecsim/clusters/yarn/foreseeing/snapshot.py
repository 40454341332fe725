"""Snapshots of the state of a cluster that a look ahead may change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rebecsim.clusters.yarn.application import Application
from rebecsim.clusters.yarn.container import Container
from rebecsim.clusters.yarn.node import ClusterNode, Reservation
from rebecsim.clusters.yarn.rebecs import ResourceManager


@dataclass(frozen=True, slots=True)
class NodeThen:
    """A node as it was. Containers that ran have messages that say when they end.

    Attributes:
        copy: without containers.
        booked: those, and what they were like.
        done: those, which do not change.
        reservation: of which nothing changes but that it ends.
    """

    copy: ClusterNode
    booked: Mapping[Container, Container]
    done: Sequence[Container]
    reservation: Reservation | None


@dataclass(frozen=True, slots=True)
class ApplicationThen:
    """An application as it was.

    Attributes:
        copy: without containers.
        containers: how many it had been given.
        master_runs: whether its AppMaster did.
    """

    copy: Application
    containers: int
    master_runs: bool
    allocated: Sequence[Container]
    acquired: Sequence[Container]
    released: Sequence[Container]
    finished: Sequence[Container]


class Snapshot:
    """A cluster as it was; what does not change of it is not copied."""

    def __init__(self, manager: ResourceManager) -> None:
        self.configuration = manager.configuration
        self.applications = {each: _application_then(each) for each in manager.running.values()}
        self.nodes = {node: _node_then(node) for node in manager.nodes}
        self.tasks = manager.tasks
        self.queue = list(manager.scheduler.waiting())
        self.messages = list(manager.messages())


def _application_then(application: Application) -> ApplicationThen:
    containers = application.containers
    return ApplicationThen(
        application.copied(),
        len(containers),
        application.launched and containers[0].finished is None,
        tuple(application.allocated),
        tuple(application.acquired),
        tuple(application.released),
        tuple(application.finished),
    )


def _node_then(node: ClusterNode) -> NodeThen:
    copy = ClusterNode(node.size)
    copy.memory, copy.cores = node.memory, node.cores
    copy.awake, copy.beat, copy.last_head = node.awake, node.beat, node.last_head
    booked = {each: each.copied(None, node) for each in node.booked}
    return NodeThen(copy, booked, tuple(node.done), node.reservation)
