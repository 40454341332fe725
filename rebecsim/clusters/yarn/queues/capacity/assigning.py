"""A heartbeat of a node: down the queues to the application that gets a container, if one does.

One walk down chooses one container, or a reservation of the node for one. Queues and users stop at
their limits, applications wait for nodes that are nearer; who is stopped by the limit of the queue
keeps what that leaves from its siblings. A choice is checked once more before it holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rebecsim.actors import StatePart
from rebecsim.clusters.yarn.containers import ClusterNode
from rebecsim.clusters.yarn.queue_files.resources import NONE, Resources
from rebecsim.clusters.yarn.queues.capacity.cluster import CapacityCluster, label_of
from rebecsim.clusters.yarn.queues.capacity.placing import NOTHING, Assignment, Placing, Visit
from rebecsim.clusters.yarn.queues.capacity.state import (
    ApplicationState,
    LeafState,
    QueueState,
    Rank,
)
from rebecsim.clusters.yarn.records import ORDER, QUEUE, USER
from rebecsim.clusters.yarn.schedulers.scheduler import Grants

_MOST_WALKS = 1000
"""At a heartbeat without any limit: choices that are refused could be made for ever."""


class Assigning(StatePart):
    """Gives what nodes have free.

    Attributes:
        placing: gives containers of nodes to applications, and reserves nodes.
    """

    def __init__(self, cluster: CapacityCluster, grants: Grants) -> None:
        self._cluster = cluster
        self._calculator = cluster.calculator
        self._looks_on = cluster.settings.looks_on
        self.placing = Placing(cluster, grants)
        self._in_vain: dict[str, None] = {}  # labels of nodes of which none can be given to anybody

    def look_anew(self) -> None:
        """Forget what was found to be in vain, as something has changed."""
        self._in_vain.clear()

    def serve(self, node: ClusterNode, now: int) -> bool:
        """Give what a node has free; whether anything has changed for others."""
        settings, placing = self._cluster.settings, self.placing
        placing.begin(now)
        if node.reservation is not None:
            placing.serve_reserved(node)
            return placing.has_changed
        given = far = 0
        label = label_of(node)
        while given < _MOST_WALKS:
            found = self._once(node, label)
            if found is NOTHING or found.given == NONE:
                break
            given += 1
            far += found.far
            if found.reserved or not settings.multiple or far >= settings.most_far:
                break
            if 0 <= settings.most_containers <= given:
                break
        if not given and not placing.has_come:
            self._in_vain[label] = None
        return placing.has_changed

    def _once(self, node: ClusterNode, label: str) -> Assignment:
        cluster, free = self._cluster, node.free
        if not cluster.asking or not self._calculator.fits(cluster.step, free):
            self.placing.has_come = True
            return NOTHING
        if label in self._in_vain:
            return NOTHING
        total = cluster.total(label)
        found = self._down(cluster.root, Visit(node, label, total, free), total)
        if found.given == NONE and label and not node.size.labels[0].exclusive:
            found = self._down(cluster.root, Visit(node, label, total, free, borrowed=True), total)
        return found

    def _down(self, queue: QueueState, visit: Visit, limit: Resources) -> Assignment:
        """Walk down a queue; `limit` is what it may have at most."""
        if isinstance(queue, LeafState):
            return self._leaf(queue, visit, limit)
        label, total = visit.label, visit.total
        if not visit.borrowed and not queue.settings.may_use(label):
            return NOTHING
        if not queue.asking.get(visit.wanted):
            return NOTHING
        calculator, step = self._calculator, self._cluster.step
        limit = calculator.lesser(total, limit, queue.limits[label].maximum)
        most = total if visit.borrowed else limit
        if not self._may_grow(queue, visit, most, queue.reserved[label]):
            self._note_full(queue, queue.leaves(), most, visit.node)
            return NOTHING
        left = limit.minus(queue.used[label])
        blocked: Resources | None = None
        for child in queue.orders.get(label) or self._ordered(queue, label):
            room = left if blocked is None else left.minus(blocked)
            room = calculator.down(room.plus(child.used[label]), step)
            found = self._down(child, visit, room)
            if found is NOTHING:
                continue
            if found.blocked is None:
                return found
            more = calculator.greater(total, found.blocked, NONE)
            blocked = more if blocked is None else blocked.plus(more)
        return NOTHING if blocked is None else Assignment(blocked=blocked)

    def _may_grow(
        self, queue: QueueState, visit: Visit, most: Resources, reserved: Resources
    ) -> bool:
        """Whether a queue has not all that it may have, or would not without its reservations."""
        total, used = visit.total, queue.used[visit.label]
        if self._calculator.less(total, used, most):
            return True
        if not self._looks_on or visit.label or reserved == NONE:
            return False
        return self._calculator.less(total, used.minus(reserved), most)

    def _ordered(self, queue: QueueState, label: str) -> Sequence[QueueState]:
        """Give children in the order in which they are served: who has least goes first."""
        found = queue.orders[label] = sorted(
            queue.children, key=lambda child: child.ranks.get(label) or self._rank(child, label)
        )
        return found

    def _rank(self, child: QueueState, label: str) -> Rank:
        limits, calculator, parent = child.limits[label], self._calculator, child.parent
        by_priority = parent is not None and parent.settings.parent_order != "utilization"
        total, used = self._cluster.total(label), child.used[label]
        can_use = 0 if child.settings.may_use(label) else 1
        has_share = limits.share > 0
        should = total
        if has_share:
            should = calculator.greater(total, limits.minimum, self._cluster.step)
        ratio = calculator.divided(total, used, should)
        size = -float(limits.configured.memory), -limits.share
        first: tuple[float, ...] = (ratio,)
        if by_priority:
            first = ratio >= 1, -child.settings.priority, ratio
        rank = child.ranks[label] = (can_use, 0 if has_share else 1, *first, *size)
        return rank

    def _leaf(self, leaf: LeafState, visit: Visit, limit: Resources) -> Assignment:
        """Walk through the applications of a leaf."""
        cluster, label, wanted, total = self._cluster, visit.label, visit.wanted, visit.total
        cluster.see(leaf, limit)
        if not visit.borrowed and not leaf.settings.may_use(label):
            return NOTHING
        if not leaf.asking.get(wanted) or not leaf.active:
            return NOTHING
        most = total
        if not visit.borrowed:
            most = self._calculator.lesser(total, leaf.limits[label].maximum, limit)
        used = leaf.used[label]
        among: Sequence[ApplicationState] = leaf.ordered()
        if not self._calculator.less(total, used, most):
            among = self._with_reservations(leaf, visit, most)
            self._note_full(leaf, (leaf,), most, visit.node, spared=among)
            if not among:
                return NOTHING
        visit.user_limit = leaf.users.limit(label, borrowed=visit.borrowed)
        if leaf.limit_now != leaf.limit_seen:
            leaf.limit_now = leaf.limit_seen
            self.placing.has_changed = True
        visit.headroom = most.minus(used)
        for each in among:
            each.looked_at = True
            if not each.is_served or each.label != wanted:
                continue
            decisions = each.application.decisions
            decisions.total += 1
            release = self._to_release(each, visit)
            if release is None:
                decisions.rejected += 1
                continue
            found = self.placing.place(each, visit, release)
            if found is NOTHING:
                decisions.rejected += 1
                continue
            if found.blocked is not None:
                decisions.rejected += 1
            elif leaf.settings.leaf_order == "fair" and cluster.wait_log is not None:
                self._note_order(each, among, visit)
            return found
        return NOTHING

    def _with_reservations(
        self, leaf: LeafState, visit: Visit, most: Resources
    ) -> list[ApplicationState]:
        """Give who may go on in a full leaf: the first ones, if giving back makes room for them.

        In their order applications are tested, be they in need of containers or not; the first one
        without reservations is the last.
        """
        found: list[ApplicationState] = []
        if leaf.reserved[visit.label] == NONE:
            return found
        for each in leaf.in_service_order():
            if not self._may_grow(leaf, visit, most, each.reserved[visit.label]):
                break
            found.append(each)
        return found

    def _note_full(
        self,
        queue: QueueState,
        leaves: Iterable[LeafState],
        most: Resources,
        node: ClusterNode,
        spared: Sequence[ApplicationState] = (),
    ) -> None:
        """Note, if anybody wants to know, that a queue has all that it may have."""
        wait_log, text = self._cluster.wait_log, self._cluster.text
        if wait_log is not None:
            used = queue.used[label_of(node)]
            detail = ""
            for leaf in leaves:
                for each in leaf.ordered():
                    if each not in spared and wait_log.is_new(each.application, QUEUE):
                        detail = detail or (
                            f"{queue.settings.path} has {text(used)}, and may have {text(most)} now"
                        )
                        wait_log.note(each.application, self.placing.now, QUEUE, node, detail)

    def _note_order(
        self, first: ApplicationState, among: Sequence[ApplicationState], visit: Visit
    ) -> None:
        """Note for those who come after an application that it goes first in a fair order."""
        for each in among[among.index(first) + 1 :]:
            if each.is_served and each.label == first.label:
                detail = f"{first.application.job.name} does"
                self.placing.note(each, visit.node, ORDER, detail)

    def _to_release(self, each: ApplicationState, visit: Visit) -> Resources | None:
        """Return the reserved resources that a user must release first, None if over the limit."""
        label, user, total = visit.label, each.user, visit.total
        limit, used = self.placing.user_limit(each, visit), user.used[label]
        if not self._calculator.less(total, limit, used):
            return NONE
        kept = each.reserved[label]
        gives_back = self._looks_on and not label
        if gives_back and not self._calculator.less(total, limit, used.minus(kept)):
            return used.minus(limit)
        wait_log = self._cluster.wait_log
        if wait_log is not None and wait_log.is_new(each.application, USER):
            text = self._cluster.text
            detail = f"{user.name} has {text(used)}, and may have {text(limit)}"
            self.placing.note(each, visit.node, USER, detail)
        return None
