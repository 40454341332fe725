"""What all parts of the Capacity Scheduler look things up in."""

from __future__ import annotations

from collections.abc import Sequence

from rebecsim.clusters.yarn.application import Application
from rebecsim.clusters.yarn.node import ClusterNode
from rebecsim.clusters.yarn.queue_files.capacity_settings import CapacitySettings
from rebecsim.clusters.yarn.queue_files.resources import DOMINANT, MEMORY, NONE, Resources
from rebecsim.clusters.yarn.queues.capacity.effective import effective
from rebecsim.clusters.yarn.queues.capacity.state import (
    ApplicationState,
    LeafState,
    QueueState,
    UserState,
    amount,
)
from rebecsim.clusters.yarn.queues.capacity.user_limits import (
    UserRules,
    UserShare,
    user_limit,
    weighted,
)


def label_of(node: ClusterNode) -> str:
    """Give the label of a node, empty if it has none."""
    labels = node.size.labels
    return labels[0].name if labels else ""


class Book:
    """The cluster and its queues.

    Attributes:
        settings: what the file says.
        calculator: compares resources.
        step: containers are multiples of it.
        most: what a container has at most.
        nodes: all of them.
        totals: of the nodes of each label.
        root: the queues.
        leaves: those that have applications.
        states: applications that have been submitted.
        asking: those that ask for containers, in no order that matters.
        keepers: for whom nodes are kept.
    """

    def __init__(self, settings: CapacitySettings, nodes: Sequence[ClusterNode]) -> None:
        self.settings = settings
        self.calculator = DOMINANT if settings.dominant else MEMORY
        self.step = settings.allocations.minimum
        self.nodes = nodes
        self.totals: dict[str, Resources] = {"": NONE}
        for node in nodes:
            label, size = label_of(node), node.size
            found = self.totals.get(label, NONE)
            self.totals[label] = found.plus(Resources(size.memory, size.cores))
        largest = Resources(
            max(node.size.memory for node in nodes), max(node.size.cores for node in nodes)
        )
        self.most = settings.allocations.maximum or largest
        limits = {
            label: effective(settings.root, label, total, legacy=settings.legacy)
            for label, total in self.totals.items()
        }
        self.root = QueueState(settings.root, None, limits)
        self.leaves = tuple(self.root.leaves())
        self.states: dict[Application, ApplicationState] = {}
        self.asking: dict[ApplicationState, None] = {}
        self.keepers: dict[ClusterNode, ApplicationState] = {}
        self._rules: dict[tuple[str, str], UserRules] = {}

    def total(self, label: str) -> Resources:
        """Give what the nodes of a label have."""
        return self.totals.get(label, NONE)

    def rules(self, leaf: LeafState, label: str) -> UserRules:
        """Give what limits of users of a leaf depend on."""
        key = (leaf.settings.path, label)
        if key not in self._rules:
            limits = leaf.limits[label]
            self._rules[key] = UserRules(
                self.calculator,
                self.total(label),
                self.step,
                limits.minimum,
                limits.maximum,
                leaf.settings.user_percent,
                leaf.settings.user_factor,
            )
        return self._rules[key]

    def limit_of_users(
        self, leaf: LeafState, label: str, *, borrowed: bool = False, everybody: bool = False
    ) -> Resources:
        """Give what a user of weight 1 may have of a leaf on nodes of a label."""
        shares = shares_of(leaf, label)
        return user_limit(self.rules(leaf, label), shares, borrowed=borrowed, everybody=everybody)

    def limit_of_user(
        self, user: UserState, leaf: LeafState, label: str, of_one: Resources | None = None
    ) -> Resources:
        """Give what a user may have; `of_one` is what one of weight 1 may."""
        limit = self.limit_of_users(leaf, label) if of_one is None else of_one
        return weighted(self.rules(leaf, label), limit, user.weight)

    def refresh(self, each: ApplicationState) -> bool:
        """Take note of whether an application asks for containers; whether that has changed."""
        application, leaf = each.application, each.leaf
        head = application.head
        may_ask = each in leaf.active and head is not None
        asks = may_ask and head is not None and (head.is_master or application.launched)
        if asks == each.asks:
            return False
        each.asks = asks
        more = 1 if asks else -1
        each.user.asking += more
        for queue in leaf:
            queue.asking[each.label] = queue.asking.get(each.label, 0) + more
        if asks:
            self.asking[each] = None
            leaf.ask(each)
        else:
            del self.asking[each]
            leaf.stop_asking(each)
        return True


def shares_of(leaf: LeafState, label: str) -> list[UserShare]:
    """Give what the users of a leaf have of the nodes of a label."""
    return [
        UserShare(amount(each.used, label), each.weight, each.asking > 0)
        for each in leaf.users.values()
    ]
