"""First in, first out: who was submitted first is served first, with all that fits on a node."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rebecsim.clusters.yarn.application import Application
from rebecsim.clusters.yarn.configuration import YarnConfiguration
from rebecsim.clusters.yarn.node import ClusterNode
from rebecsim.clusters.yarn.schedulers.scheduler import ContainerScheduler, Grants, fits


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
