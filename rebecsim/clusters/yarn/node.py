"""Nodes: how large they are, and what the resource manager has booked on them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rebecsim.workloads.topology import NodeLabel

if TYPE_CHECKING:
    from rebecsim.clusters.yarn.application import Application, Task
    from rebecsim.clusters.yarn.container import Container
    from rebecsim.clusters.yarn.rebecs import NodeManager

ANY_CORES = 2**40
"""What a node has where cores do not count."""


@dataclass(frozen=True, slots=True)
class NodeSize:
    """A node: its name, its place among all from 1 on, MB and cores, its rack and labels."""

    name: str
    number: int
    memory: int
    cores: int
    rack: str = "default-rack"
    labels: tuple[NodeLabel, ...] = ()


class Reservation:
    """A node is kept for the next task of an application. Times are milliseconds."""

    __slots__ = ("application", "end", "start", "task")

    def __init__(self, application: Application, task: Task, start: int) -> None:
        self.application = application
        self.task = task
        self.start = start
        self.end: int | None = None


class ClusterNode:
    """What is known of a node: its resources, its containers, and when its heartbeats are.

    Attributes:
        memory: MB that are free.
        cores: that are free.
        booked: containers that are allocated and not launched, in the order of allocation.
        running: containers that have been launched.
        done: containers that have finished since the last heartbeat.
        awake: whether a heartbeat is under way.
        beat: when the last one was, which fixes when others may be.
        last_head: the number of the job that was first in the queue at the last heartbeat that was
            only followed by another to look at the queue again.
    """

    __slots__ = (
        "awake",
        "beat",
        "booked",
        "cores",
        "done",
        "last_head",
        "manager",
        "memory",
        "reservation",
        "reservations",
        "running",
        "size",
    )

    def __init__(self, size: NodeSize) -> None:
        self.size = size
        self.memory = size.memory
        self.cores = size.cores
        self.booked: dict[Container, None] = {}
        self.running: dict[Container, None] = {}
        self.done: list[Container] = []
        self.awake = False
        self.beat = 0
        self.last_head: int | None = None
        self.reservation: Reservation | None = None
        self.reservations: list[Reservation] = []
        self.manager: NodeManager
