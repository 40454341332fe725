"""When a reserved node will be needed: until then others may use what is free on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rebecsim.clusters.yarn.application import Application
from rebecsim.clusters.yarn.container import Container
from rebecsim.clusters.yarn.node import ClusterNode

if TYPE_CHECKING:
    from rebecsim.clusters.yarn.schedulers.regular import Regular

NEVER = 2**62
"""A time that does not come (ms)."""

GONE = -1
"""A time that has been (ms)."""


def release_time(
    scheduler: Regular, node: ClusterNode, application: Application, now: int
) -> int | None:
    """Give when the next task of an application should fit on a node (ms).

    The containers of the node end in the order in which they should. None: that is not
    known, as what ends next is not.
    """
    task = application.head
    assert task is not None
    ends = [(_end(scheduler, each), each) for each in (*node.running, *node.booked)]
    ends.sort(key=lambda item: item[0])
    emptier = ClusterNode(node.size)
    emptier.memory, emptier.cores = node.memory, node.cores
    memory_first = scheduler.configuration.quirks.memory_first
    latest = GONE
    for end, container in ends:
        latest = end
        if end >= NEVER:
            break
        emptier.memory += container.memory
        emptier.cores += container.task.cores
        if scheduler.could_offer(emptier, application, now):
            break
        if memory_first and (emptier.memory, emptier.cores) >= (task.memory, task.cores):
            break
    return None if latest == GONE else latest


def _end(scheduler: Regular, container: Container) -> int:
    if container.task.is_master:
        return scheduler.master_end(container.application)
    return container.expected_end(scheduler.configuration.node_heartbeat)
