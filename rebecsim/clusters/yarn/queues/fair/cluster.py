"""What the Fair Scheduler keeps up to date of queues and applications."""

from __future__ import annotations

from collections.abc import Sequence

from rebecsim.actors import StatePart
from rebecsim.clusters.yarn.containers import Application, ClusterNode, Container
from rebecsim.clusters.yarn.queue_files.fair_settings import FairSettings
from rebecsim.clusters.yarn.queue_files.resources import Resources, total_of
from rebecsim.clusters.yarn.queues.fair.line import Requests
from rebecsim.clusters.yarn.queues.fair.policies import FairShared
from rebecsim.clusters.yarn.queues.fair.state import FairApplicationState, FairQueueState
from rebecsim.clusters.yarn.records import TURN, WaitLog
from rebecsim.clusters.yarn.schedulers.scheduler import Grants


class FairCluster(StatePart):
    """Queues and applications, what they have and what they ask for.

    Attributes:
        settings: what the file says.
        total: what all nodes have.
        root: the queues.
        states: applications that have been submitted.
        wanting: those that ask for containers.
        keepers: for whom nodes are reserved.
        free: of the cluster, as the limits of AppMasters know it.
        is_stale: whether shares may be others when they are updated.
        next_update: from when on a heartbeat updates them (ms).
        blocked: who kept a node from being given, but for its size: a queue at its maximum, or an
            application that may not reserve it; if all of a leaf that ask for the same may not,
            the leaf and what they ask for. If they may, the node is worth another look.
        has_news: whether all nodes are worth one.
        wait_log: why applications wait; None: that is not noted.
    """

    def __init__(
        self, settings: FairSettings, nodes: Sequence[ClusterNode], grants: Grants
    ) -> None:
        self.settings = settings
        self.total = total_of(node.total for node in nodes)
        self.root = FairQueueState(settings.root, None, self.total)
        self.root.share = self.root.steady = self.total
        self.root.update_steady()
        self.states: dict[Application, FairApplicationState] = {}
        self.wanting: dict[FairApplicationState, None] = {}
        self.keepers: dict[ClusterNode, FairApplicationState] = {}
        self.free = self.total
        self.is_stale = True
        self.next_update = 0
        self.blocked: dict[FairShared | tuple[FairQueueState, Requests], None] = {}
        self.has_news = False
        self.wait_log: WaitLog | None = None
        self._grants = grants
        self._touched: dict[FairApplicationState, None] = {}
        self._noted: Resources | None = None  # what was used when free resources were noted

    def refresh(self, each: FairApplicationState) -> None:
        """Take note of whether an application asks for containers, and of what it has and asks."""
        wants = each.runs and any(ask.count for ask in each.asks.all)
        self.is_stale = True
        self._touched[each] = None
        before, each.wants = each.wants, wants
        self._place(each)
        if wants == before:
            return
        for queue in each.leaf.path:
            queue.asking += 1 if wants else -1
        if wants:
            self.wanting[each] = None
        else:
            del self.wanting[each]
        if self.wait_log is not None and wants:
            self.wait_log.note(each.application, self._grants.clock, TURN)
        elif self.wait_log is not None:
            self.wait_log.has_all(each.application, self._grants.clock)

    def _place(self, each: FairApplicationState) -> None:
        """Put it in the line of its leaf if it asks for containers, and did at the last update."""
        line = each.leaf.line
        if each.wants and each.demand != each.used:
            self.has_news |= line.enter(each)
            return
        requests = line.leave(each)
        if requests is not None and (each.leaf, requests) in self.blocked:
            self.blocked[each] = None

    def _is_blocked(self, each: FairApplicationState) -> bool:
        """Whether it may be of use if the application may reserve nodes again."""
        blocked, leaf = self.blocked, each.leaf
        return each in blocked or (leaf, leaf.line.requests_of(each)) in blocked

    def released(self, container: Container) -> None:
        """Count a container no more."""
        each = self.states[container.application]
        each.count(container, -1)
        self.refresh(each)
        self.has_news |= self._is_blocked(each) or any(
            queue in self.blocked for queue in each.leaf.path
        )

    def count_master(self, each: FairApplicationState, sign: int) -> None:
        """Count the AppMaster of an application among those of its leaf, or no more."""
        if each.has_master == (sign > 0):
            return
        each.has_master = sign > 0
        size = each.asks.all[0].size
        each.leaf.masters = each.leaf.masters.plus(Resources(sign * size.memory, sign * size.cores))
        self.has_news |= sign < 0 and each.leaf in self.blocked

    def let_go(self, each: FairApplicationState) -> None:
        """Keep no nodes for an application any more."""
        for node in list(each.kept):
            self.unreserve(node)

    def unreserve(self, node: ClusterNode) -> None:
        """Release the reservation of a node."""
        reservation = node.reservation
        assert reservation is not None
        each = self.keepers.pop(node)
        del each.kept[node]
        self._grants.give_up(node, reservation)
        self._grants.wake(node)
        self.has_news |= self._is_blocked(each)

    def update(self, now: int) -> None:
        """Compute demands and shares, at the first heartbeat of each interval.

        Hadoop has a thread that does so with this period.
        """
        if not self.is_stale or now < self.next_update:
            return
        self.is_stale = False
        self.next_update = (now // self.settings.update + 1) * self.settings.update
        for each in self._touched:
            each.update_demand(by_size=self.settings.by_size)
            self._place(each)
        self._touched.clear()
        if self.root.update_shares():
            self.has_news |= bool(self.blocked)
        self.note_free()

    def note_free(self) -> None:
        """Note what the cluster has free, for limits of AppMasters.

        Updates of shares and heartbeats end with that. So what a heartbeat gives counts at the next
        one.
        """
        if self._noted is self.root.used:
            return
        self._noted = self.root.used
        before, self.free = self.free, self.total.minus(self._noted)
        self.has_news |= self.root in self.blocked and not self.free.within(before)
