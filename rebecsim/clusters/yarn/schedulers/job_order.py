"""Schedulers that serve one job first: the one submitted first, or the one with least work left."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rebecsim.clusters.yarn.configuration import YarnConfiguration
from rebecsim.clusters.yarn.containers import Application, ClusterNode
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
