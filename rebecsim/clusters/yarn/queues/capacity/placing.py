"""A node and an application: whether it gets a container there, or reserves the node for one."""

from __future__ import annotations

from typing import Literal, NamedTuple

from rebecsim.actors import StatePart
from rebecsim.arithmetic import float32
from rebecsim.clusters.yarn import records
from rebecsim.clusters.yarn.containers import ClusterNode, Locality, NodeSize
from rebecsim.clusters.yarn.queue_files.resources import NONE, Resources
from rebecsim.clusters.yarn.queues.capacity.cluster import CapacityCluster, label_of
from rebecsim.clusters.yarn.queues.capacity.state import ApplicationState, CapacityAsk
from rebecsim.clusters.yarn.schedulers.scheduler import Grants


class Visit:
    """A visit of a node to queues.

    Attributes:
        label: of the node.
        total: of all nodes of the label.
        free: what the node has free.
        borrowed: whether it lends what its own applications leave.
        wanted: the label of the nodes that those ask for who may be given something.
        headroom: what the leaf that is visited may still grow by.
        user_limit: what a user of weight 1 may have of it.
    """

    __slots__ = (
        "borrowed",
        "free",
        "headroom",
        "label",
        "node",
        "total",
        "user_limit",
        "wanted",
    )

    def __init__(
        self,
        node: ClusterNode,
        label: str,
        total: Resources,
        free: Resources,
        *,
        borrowed: bool = False,
    ) -> None:
        self.node = node
        self.label = label
        self.total = total
        self.free = free
        self.borrowed = borrowed
        self.wanted = "" if borrowed else label
        self.headroom = self.user_limit = NONE


class Assignment(NamedTuple):
    """What came of a visit to an application, a leaf, or a queue and all below it.

    Attributes:
        given: what a container, or a reservation, takes; chosen, though it may have been refused.
        far: whether that is not near to where the task would rather run.
        reserved: whether it is a reservation.
        blocked: what is kept from siblings, as the limit of a queue stopped who was visited; None:
            that was not so.
    """

    given: Resources = NONE
    far: bool = False
    reserved: bool = False
    blocked: Resources | None = None


NOTHING = Assignment()

_Found = tuple[Literal["give", "reserve"], ClusterNode | None]
"""What to do on a node, and which reserved node to give back first."""


class Placing(StatePart):
    """Gives containers of nodes to applications, and reserves nodes for them.

    Attributes:
        now: the time (ms).
        has_changed: whether this heartbeat has changed anything that others may see.
        has_counted: whether it has counted something that may matter later.
        has_come: whether anybody came so far that it matters which node this is.
    """

    def __init__(self, cluster: CapacityCluster, grants: Grants) -> None:
        self._cluster = cluster
        self._grants = grants
        self._calculator = cluster.calculator
        self._looks_on = cluster.settings.looks_on
        self._lends = len(cluster.totals) > 1
        step, most = cluster.step, cluster.most
        self._least_part = cluster.calculator.ratio(most.minus(step), most)
        self.now = 0
        self.has_changed = self.has_counted = self.has_come = False

    def begin(self, now: int) -> None:
        """Begin a heartbeat."""
        self.now = now
        self.has_changed = self.has_counted = self.has_come = False

    def place(self, each: ApplicationState, visit: Visit, release: Resources) -> Assignment:
        """Give an application a container on a node, or reserve that, if it may have one.

        `release` is what its user has to give back of his reservations first.
        """
        calculator, label = self._calculator, visit.label
        for ask in each.asks.all:
            if not ask.count:
                continue
            if visit.borrowed and ask.is_master:
                return NOTHING
            if not self._looks_on and not self._may_reserve(ask):
                self.note(each, visit.node, records.RESERVATIONS)
                continue
            room = visit.headroom
            if self._looks_on and not label:
                room = room.plus(each.reserved[label])
            if not calculator.fits(ask.size, room):
                wait_log = self._cluster.wait_log
                if wait_log is not None and wait_log.is_new(each.application, records.HEADROOM):
                    text = self._cluster.text
                    detail = f"it asks for {text(ask.size)} of {text(room)}"
                    self.note(each, visit.node, records.HEADROOM, detail)
                return Assignment(blocked=visit.headroom)
            if self._lends and not each.label:
                ask.missed_lent += 1
                self.has_counted = self.has_come = True
            if visit.borrowed and ask.missed_lent < len(self._cluster.nodes):
                self.note(each, visit.node, records.PARTITION)
                return NOTHING
            return self._on_node(each, ask, visit, release)
        return NOTHING

    def _on_node(
        self, each: ApplicationState, ask: CapacityAsk, visit: Visit, release: Resources
    ) -> Assignment:
        self.has_come = True
        near = self._near(each, ask, visit.node.size)
        if near is None:
            self.note(each, visit.node, records.LOCALITY)
            return NOTHING
        found = self._possible(ask, visit, release)
        if isinstance(found, str):
            self.note(each, visit.node, found)
            return NOTHING
        what, back = found
        if near == "node" or (near == "rack" and self._cluster.settings.rack_reset):
            ask.missed = 0
        if not visit.label:
            ask.missed_lent = 0
        if self._is_allowed(each, ask, visit, back):
            if back is not None:
                self.unreserve(back)
            each.charge(visit.label, ask.size, self.now)
            if what == "give":
                self._allocate(each, ask, visit.node, near)
            else:
                self._reserve(each, ask, visit.node)
            each.leaf.has_changed(each)
            self.has_changed = True
        else:
            self.note(each, visit.node, records.REFUSED)
        return Assignment(ask.size, near == "any", what == "reserve")

    def note(
        self, each: ApplicationState, node: ClusterNode, reason: str, detail: str = ""
    ) -> None:
        """Note, if anybody wants to know, why an application gets nothing, or that it does."""
        if self._cluster.wait_log is not None:
            if reason == records.NO_ROOM and each.kept:
                reason = records.RESERVED
            self._cluster.wait_log.note(each.application, self.now, reason, node, detail)

    def _near(
        self, each: ApplicationState, ask: CapacityAsk, size: NodeSize, *, is_reserved: bool = False
    ) -> Locality | None:
        """Say as how near a node counts that an application looks at; None: it lets it pass."""
        each.asks.correct(ask, self.now, self._cluster.period)
        if not ask.racks:
            ask.missed += 1
            return "any"
        ask.missed += 1
        self.has_counted = True
        settings, count = self._cluster.settings, len(self._cluster.nodes)
        near = ask.nearest(size)
        if near == "node":
            return near
        if near == "rack" and ask.missed > min(count, settings.node_delay):
            return near
        if is_reserved:
            return "any"
        if settings.rack_delay >= 0:
            waits = float(min(count, settings.node_delay + settings.rack_delay))
        else:
            part = min(float32((ask.names - 1) / count), 1.0)
            waits = min(float(count), float32(ask.count * part))
        return "any" if ask.missed > waits else None

    def _may_reserve(self, ask: CapacityAsk) -> bool:
        """Whether an application has fewer reservations than it asks for containers.

        It may have more if it has looked at its nodes in vain for long; sooner for small ones.
        """
        reserved = len(ask.kept)
        if not reserved or not ask.retried:
            return ask.count > reserved
        part = min(self._calculator.ratio(ask.size, self._cluster.most), self._least_part)
        starved = float32(float32(ask.retried / reserved) * float32(1 - part))
        return ask.count + int(starved) - reserved > 0

    def _possible(self, ask: CapacityAsk, visit: Visit, release: Resources) -> _Found | str:
        """Say what an application can do with a node that it would take, or why nothing."""
        calculator = self._calculator
        if not calculator.fits(ask.size, visit.node.total):
            return records.TOO_SMALL
        may_reserve = self._may_reserve(ask)
        need = calculator.greater(visit.total, ask.size.minus(visit.headroom), release)
        is_short = calculator.is_some(need)
        if calculator.fits(ask.size, visit.free):
            if not self._looks_on or visit.label or (may_reserve and not is_short):
                return "give", None
            back = self._reservation(ask, need if is_short else ask.size)
            return records.NOTHING_BACK if back is None else ("give", back)
        if not may_reserve or (self._looks_on and is_short):
            return records.NO_ROOM
        return "reserve", None

    def _reservation(self, ask: CapacityAsk, least: Resources) -> ClusterNode | None:
        """Find a node on which something is reserved for an ask that is large enough."""
        for node, kept in ask.kept.items():
            if self._calculator.fits(least, kept):
                return node
        return None

    def _is_allowed(
        self, each: ApplicationState, ask: CapacityAsk, visit: Visit, back: ClusterNode | None
    ) -> bool:
        """Whether the user, and all queues, stay within their limits."""
        label, total, calculator = visit.label, visit.total, self._calculator
        had, more = each.user.used[label], ask.size
        if back is not None:
            had, more = had.minus(ask.kept[back]), more.minus(ask.kept[back])
        if calculator.less(total, self.user_limit(each, visit), had):
            return False
        for queue in each.leaf.path:
            most = total if visit.borrowed else queue.limits[label].maximum
            if not calculator.fits(queue.used[label].plus(more), most):
                return False
        return True

    def user_limit(self, each: ApplicationState, visit: Visit) -> Resources:
        """Give what the user of an application may have of the leaf that is visited."""
        if each.user.weight == 1:
            return visit.user_limit
        return each.leaf.users.limit_of(each.user, visit.label, borrowed=visit.borrowed)

    def _reserve(self, each: ApplicationState, ask: CapacityAsk, node: ClusterNode) -> None:
        each.keep(label_of(node), ask.size)
        ask.retried = 0
        ask.kept[node] = ask.size
        each.kept[node] = ask
        self._cluster.keepers[node] = each
        each.application.decisions.reserved += 1
        self._grants.reserve(each.application, node)
        self.note(each, node, records.RESERVED)

    def _allocate(
        self, each: ApplicationState, ask: CapacityAsk, node: ClusterNode, near: Locality
    ) -> None:
        """Give what has been counted already."""
        application, size = each.application, node.size
        application.decisions.accepted += 1
        self.note(each, node, records.GIVEN)
        task = each.asks.bring_forward(ask, size, near)
        self._grants.allocate(application, node, task.memory)
        application.containers[-1].locality = each.asks.locality(size, task)
        ask.give(size, near, self.now)
        self._cluster.refresh(each, self.now)

    def serve_reserved(self, node: ClusterNode) -> None:
        """Serve the reservation of a node, or release it if it is not needed."""
        self.has_come = True
        each = self._cluster.keepers[node]
        ask = each.kept[node]
        self._cluster.see(each.leaf, self._cluster.totals[""])
        if not ask.count:
            self.unreserve(node)
            self.has_changed = True
            return
        near = self._near(each, ask, node.size, is_reserved=True)
        assert near is not None
        each.application.decisions.total += 1
        if not self._calculator.fits(ask.size, node.free):
            might = self._may_reserve(ask)
            ask.retried += 1
            self.has_counted = True
            self.has_changed |= might != self._may_reserve(ask)
            each.application.decisions.rejected += 1
            return
        self._forget_reservation(node)
        self._allocate(each, ask, node, near)
        self.has_changed = True

    def unreserve(self, node: ClusterNode) -> None:
        """Release the reservation of a node."""
        each, size = self._forget_reservation(node)
        each.charge(label_of(node), NONE.minus(size), self.now)
        each.leaf.has_changed(each)
        self._grants.wake(node)

    def _forget_reservation(self, node: ClusterNode) -> tuple[ApplicationState, Resources]:
        reservation = node.reservation
        assert reservation is not None
        each = self._cluster.keepers.pop(node)
        ask = each.kept.pop(node)
        size = ask.kept.pop(node)
        ask.retried = 0
        each.keep(label_of(node), NONE.minus(size))
        self._grants.give_up(node, reservation)
        return each, size
