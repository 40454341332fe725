"""What schedulers of queue files promise, asked while a cluster that was cut small is explored.

The answers are found from what queues have, and not by the code that serves them. They leave out
whatever lets a scheduler pass a queue over: limits of its users, tasks that wait for a nearer node,
nodes that are reserved, AppMasters that have to wait.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from rebecsim.clusters.yarn.containers import Application, ClusterNode, Container
from rebecsim.clusters.yarn.queue_files.resources import NONE, Resources
from rebecsim.clusters.yarn.queues.asks import Ask
from rebecsim.clusters.yarn.queues.capacity.cluster import label_of
from rebecsim.clusters.yarn.queues.capacity.monitor import BALANCING, BETWEEN
from rebecsim.clusters.yarn.queues.capacity.scheduler import CapacityScheduler
from rebecsim.clusters.yarn.queues.capacity.state import ApplicationState, LeafState, QueueState
from rebecsim.clusters.yarn.queues.capacity.user_limits import user_limit, weighted
from rebecsim.clusters.yarn.queues.fair.policies import needs_minimum
from rebecsim.clusters.yarn.queues.fair.scheduler import HadoopFairScheduler
from rebecsim.clusters.yarn.queues.fair.state import FairQueueState
from rebecsim.clusters.yarn.schedulers.scheduler import ContainerScheduler

QUEUE_PROMISES = (
    "no queue has more than its maximum",
    "no container goes to a queue that has its guarantee, and no node is kept for it, if one below "
    "its own, which asks, could have it",
)
OF_CAPACITY = (
    "no user is given a container who has more than the user limit",
    "no container is killed, for other queues, of a queue that has no more than its guarantee",
)
OF_FAIR = ("no container is killed of a queue that may not be preempted",)


def promises_of(scheduler: type[ContainerScheduler]) -> tuple[str, ...]:
    """Give what a scheduler promises of queues, a sentence each; nothing if it has none."""
    if issubclass(scheduler, CapacityScheduler):
        return QUEUE_PROMISES + OF_CAPACITY
    return QUEUE_PROMISES + OF_FAIR if issubclass(scheduler, HadoopFairScheduler) else ()


class QueueWatch(Protocol):
    """Says what is wrong; an empty text: nothing."""

    def exceeded(self) -> str:
        """Say which queue has more than it may."""

    def passed_over(
        self, application: Application, node: ClusterNode, size: Resources, room: Resources
    ) -> str:
        """Say who should have had what an application is given: a container, or a reservation.

        `room` is what the node has for others.
        """

    def wrongly_killed(self, container: Container) -> str:
        """Say why a container that is killed should not be."""


def watch_of(scheduler: ContainerScheduler) -> QueueWatch | None:
    """Give what watches a scheduler; None: it has no queues of a file."""
    if isinstance(scheduler, CapacityScheduler):
        return _CapacityWatch(scheduler)
    return _FairWatch(scheduler) if isinstance(scheduler, HadoopFairScheduler) else None


def _first(asks: Sequence[Ask]) -> Ask | None:
    """Give what is asked for first, unless it waits for some node."""
    first = next((ask for ask in asks if ask.count), None)
    return None if first is None or first.racks else first


def _instead(one: str, had: Resources, should: Resources, other: str, its: Resources) -> str:
    return (
        f"{one} has {had.memory} MB, {should.memory} MB of them guaranteed, and is served "
        f"before {other}, which asks, and has {its.memory} MB"
    )


def _next(leaf: LeafState) -> list[ApplicationState]:
    """Give who may be the first that is served: in a fair order, anybody who asks."""
    asking = sorted((each for each in leaf.active if each.is_served), key=lambda each: each.order)
    return asking if leaf.settings.leaf_order == "fair" else asking[:1]


class _CapacityWatch:
    def __init__(self, scheduler: CapacityScheduler) -> None:
        self._scheduler = scheduler
        self._cluster = scheduler.cluster
        self._calculator = scheduler.cluster.calculator

    def exceeded(self) -> str:
        for queue in self._cluster.root.below():
            for label, limits in queue.limits.items():
                if not self._calculator.fits(queue.used[label], limits.maximum):
                    text = self._cluster.text
                    used, most = text(queue.used[label]), text(limits.maximum)
                    return f"{queue.settings.path} has {used}, and may have {most}"
        return ""

    def passed_over(
        self, application: Application, node: ClusterNode, size: Resources, room: Resources
    ) -> str:
        """See `QueueWatch`; what is given counts already."""
        each, label = self._cluster.states[application], label_of(node)
        if each.label != label:
            return ""  # the node is lent
        less, total = self._calculator.less, self._cluster.total(label)
        user, limit = each.user, self._user_limit(each, label)
        had = user.used[label].minus(size)
        if less(total, limit, had):
            text = self._cluster.text
            return f"{user.name} has {text(had)}, may have {text(limit)}, and is given a container"
        others = (leaf for leaf in self._cluster.leaves if leaf is not each.leaf)
        if any(self._is_stopped(other, label) for leaf in others for other in _next(leaf)):
            return ""  # which keeps from others what it may still have
        for queue in each.leaf.path[:-1]:
            should, had = queue.limits[label].minimum, queue.used[label].minus(size)
            assert queue.parent is not None
            if less(total, had, should):
                continue
            for other in queue.parent.children:
                its, least = other.used[label], other.limits[label].minimum
                if (
                    other is not queue
                    and less(total, its, least)
                    and self._could(other, label, room)
                ):
                    paths = queue.settings.path, other.settings.path
                    return _instead(paths[0], had, should, paths[1], its)
        return ""

    def _could(self, queue: QueueState, label: str, room: Resources) -> bool:
        """Whether a queue could have it."""
        next_of_leaves = map(_next, queue.leaves())
        return any(
            found and all(self._fits(each, label, room) for each in found)
            for found in next_of_leaves
        )

    def _fits(self, each: ApplicationState, label: str, room: Resources) -> bool:
        calculator = self._calculator
        ask, user, total = _first(each.asks.all), each.user, self._cluster.total(label)
        if ask is None or each.label != label or each.leaf.reserved[label] != NONE:
            return False
        if calculator.less(total, self._user_limit(each, label), user.used[label]):
            return False
        return calculator.fits(ask.size, room) and all(
            queue.settings.may_use(label)
            and calculator.fits(queue.used[label].plus(ask.size), queue.limits[label].minimum)
            for queue in each.leaf.path[:-1]
        )

    def _is_stopped(self, each: ApplicationState, label: str) -> bool:
        """Whether the maximum of a queue stops an application."""
        ask = _first(each.asks.all)
        return ask is None or not all(
            self._calculator.fits(queue.used[label].plus(ask.size), queue.limits[label].maximum)
            for queue in each.leaf.path
        )

    def _user_limit(self, each: ApplicationState, label: str) -> Resources:
        """Give what a user may have; what has just been given makes it no less."""
        rules, shares = each.leaf.users.limited_by(label)
        return weighted(rules, user_limit(rules, shares), each.user.weight)

    def wrongly_killed(self, container: Container) -> str:
        killed = self._scheduler.killed
        (place,) = (at for at, each in enumerate(killed) if each.container is container)
        if killed[place].reason not in (BETWEEN, BALANCING):
            return ""
        label, leaf = label_of(container.node), self._cluster.states[container.application].leaf
        had, should = leaf.used[label], leaf.limits[label].minimum
        for each in killed[:place]:
            of = self._cluster.states[each.container.application].leaf
            counts = each.container.finished is None or each.container in each.container.node.done
            if of is leaf and counts and label_of(each.container.node) == label:
                had = had.minus(each.container.size)
        if self._calculator.less(self._cluster.total(label), should, had):
            return ""
        text, path = self._cluster.text, leaf.settings.path
        return f"{path} has {text(had)} of {text(should)}, and a container of it is killed"


class _FairWatch:
    def __init__(self, scheduler: HadoopFairScheduler) -> None:
        self._cluster = scheduler.cluster
        settings = scheduler.cluster.settings
        self._kills = settings.preemption is not None
        self._waits = min(settings.node_threshold, settings.rack_threshold) >= 0

    def exceeded(self) -> str:
        for queue in self._cluster.root.below():
            most = queue.maximum.least(self._cluster.total)
            if not queue.used.within(most):
                return f"{queue.settings.path} has {queue.used}, and may have {most}"
        return ""

    def passed_over(
        self, application: Application, node: ClusterNode, size: Resources, room: Resources
    ) -> str:
        """See `QueueWatch`; who is killed for goes first on a node, so then no queue is asked."""
        if self._kills or self._waits or room != node.free:
            return ""  # nodes are kept for those only who have too little
        total = self._cluster.total
        for queue in self._cluster.states[application].leaf.path[:-1]:
            assert queue.parent is not None
            policy = queue.parent.settings.policy
            if needs_minimum(policy, queue, queue.used, total):
                continue
            for other in queue.parent.children:
                needs = other is not queue and needs_minimum(policy, other, other.used, total)
                if needs and self._could(other, node):
                    paths = queue.settings.path, other.settings.path
                    return _instead(paths[0], queue.used, queue.minimum, paths[1], other.used)
        return ""

    def _could(self, queue: FairQueueState, node: ClusterNode) -> bool:
        """Whether an application in a line of a queue could have a container of a node."""
        for leaf in queue.below():
            for each in leaf.line:
                ask = _first(each.asks.all)
                if (
                    ask is not None
                    and not ask.is_master
                    and ask.size.within(node.free)
                    and all(one.used.plus(ask.size).within(one.maximum) for one in leaf.path)
                ):
                    return True
        return False

    def wrongly_killed(self, container: Container) -> str:
        leaf = self._cluster.states[container.application].leaf
        path = leaf.settings.path
        return "" if leaf.is_preemptable else f"a container of {path} is killed, which is protected"
