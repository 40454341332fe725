"""The cluster as the Capacity Scheduler knows it: nodes, queues, and who asks for containers."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from rebecsim.actors import StatePart
from rebecsim.arithmetic import float32
from rebecsim.clusters.yarn.containers import Application, ClusterNode
from rebecsim.clusters.yarn.queue_files.capacity_settings import CapacitySettings
from rebecsim.clusters.yarn.queue_files.resources import DOMINANT, MEMORY, NONE, Resources
from rebecsim.clusters.yarn.queues.capacity.effective import effective
from rebecsim.clusters.yarn.queues.capacity.state import ApplicationState, LeafState, QueueState
from rebecsim.clusters.yarn.queues.capacity.user_limits import UserRules
from rebecsim.clusters.yarn.records import WaitLog


def label_of(node: ClusterNode) -> str:
    """Give the label of a node, empty if it has none."""
    labels = node.size.labels
    return labels[0].name if labels else ""


class CapacityCluster(StatePart):
    """The cluster and its queues.

    Attributes:
        settings: what the file says.
        calculator: compares resources.
        step: containers are multiples of it.
        most: what a container has at most.
        nodes: all of them.
        period: of the heartbeats of AppMasters (ms).
        totals: of the nodes of each label.
        root: the queues.
        leaves: those that have applications.
        states: applications that have been submitted.
        asking: those that ask for containers, be they let in or not, in no order that matters.
        keepers: for whom nodes are kept.
        wait_log: why applications wait; None: that is not noted.
    """

    def __init__(
        self, settings: CapacitySettings, nodes: Sequence[ClusterNode], period: int
    ) -> None:
        self.settings = settings
        self.calculator = DOMINANT if settings.dominant else MEMORY
        self.step = settings.allocations.minimum
        self.nodes = nodes
        self.period = period
        self.totals: dict[str, Resources] = {"": NONE}
        for node in nodes:
            label = label_of(node)
            self.totals[label] = self.totals.get(label, NONE).plus(node.total)
        largest = reduce(Resources.most, (node.total for node in nodes))
        self.most = settings.allocations.maximum or largest
        limits = {
            label: effective(settings.root, label, total, legacy=settings.legacy)
            for label, total in self.totals.items()
        }
        self.root = QueueState(settings.root, None, limits, self._rules_of)
        self.leaves = tuple(self.root.leaves())
        for leaf in self.leaves:
            leaf.most_seen = self.calculator.down(leaf.limits[""].maximum, self.step)
            self.see(leaf, self.totals[""])
            leaf.limit_now = leaf.limit_seen
        self.states: dict[Application, ApplicationState] = {}
        self.asking: dict[ApplicationState, None] = {}
        self.keepers: dict[ClusterNode, ApplicationState] = {}
        self.wait_log: WaitLog | None = None

    def text(self, some: Resources) -> str:
        """Show what counts of some resources."""
        cores = f" and {some.cores} cores" if self.settings.dominant else ""
        return f"{some.memory} MB{cores}"

    def total(self, label: str) -> Resources:
        """Give what the nodes of a label have."""
        return self.totals.get(label, NONE)

    def _rules_of(self, leaf: LeafState, label: str) -> UserRules:
        """Give what limits of users of a leaf depend on."""
        limits = leaf.limits[label]
        return UserRules(
            self.calculator,
            self.total(label),
            self.step,
            limits.minimum,
            limits.maximum,
            float32(leaf.settings.user_percent),
            float32(leaf.settings.user_factor),
        )

    def see(self, leaf: LeafState, limit: Resources) -> None:
        """Take note of what a leaf could grow to, at most, as it is looked at."""
        leaf.limit_seen = self.calculator.lesser(self.totals[""], leaf.most_seen, limit)

    def catch_up(self, leaf: LeafState, now: int) -> None:
        """Count users who only wait, if an AppMaster's heartbeat has asked for its limit since.

        To be called before it changes how many applications of a user wait, or have been let in.
        """
        if leaf.users.is_computed:
            return
        period = self.period
        for each in leaf.active:
            start = each.application.start
            last = start + (now - 1 - start) // period * period
            if each.looked_at and last > leaf.changed_at:
                leaf.users.count_waiting()
                return

    def refresh(self, each: ApplicationState, now: int) -> None:
        """Take note of whether an application asks for containers, and whether it may get some."""
        leaf = each.leaf
        wants = any(ask.count for ask in each.asks.all)
        if wants != each.wants:
            each.wants = wants
            more = 1 if wants else -1
            for queue in leaf.path:
                queue.asking[each.label] = queue.asking.get(each.label, 0) + more
            if wants:
                self.asking[each] = None
            else:
                del self.asking[each]
                if self.wait_log is not None:
                    self.wait_log.has_all(each.application, now)
                leaf.users.asks_no_more(each)
                leaf.changed_at = now
        is_served = wants and each in leaf.active
        if is_served != each.is_served:
            each.is_served = is_served
            if is_served:
                leaf.ask(each)
            else:
                leaf.stop_asking(each)
