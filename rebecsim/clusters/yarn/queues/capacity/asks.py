"""What the Capacity Scheduler counts for each kind of containers that an application asks for."""

from __future__ import annotations

from rebecsim.clusters.yarn.application import Task
from rebecsim.clusters.yarn.node import ClusterNode
from rebecsim.clusters.yarn.queue_files.resources import Resources
from rebecsim.clusters.yarn.queues.asks import Ask


class CapacityAsk(Ask):
    """Containers of one size and priority.

    Attributes:
        missed: opportunities since the last container near to where they would rather run.
        missed_lent: those on nodes that others lend.
        retried: how often reserved nodes were looked at in vain.
        kept: the nodes that are reserved for it, and what is reserved there.
    """

    __slots__ = ("kept", "missed", "missed_lent", "retried")

    def __init__(self, task: Task) -> None:
        super().__init__(task)
        self.missed = self.missed_lent = self.retried = 0
        self.kept: dict[ClusterNode, Resources] = {}
