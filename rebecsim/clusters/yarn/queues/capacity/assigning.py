"""A heartbeat of a node: down the queues to the application that gets a container, if one does.

One walk down gives one container, or reserves the node for one. Queues and users stop at their
limits, applications wait for nodes that are nearer; who is stopped by the limit of the queue keeps
what that leaves from its siblings.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from rebecsim.clusters.yarn.container import Locality
from rebecsim.clusters.yarn.node import ClusterNode, NodeSize
from rebecsim.clusters.yarn.placement.hosts import Hosts
from rebecsim.clusters.yarn.queue_files.resources import NONE, Resources
from rebecsim.clusters.yarn.queues.capacity.book import Book, label_of
from rebecsim.clusters.yarn.queues.capacity.state import (
    ApplicationState,
    LeafState,
    QueueState,
    amount,
    minus,
)
from rebecsim.clusters.yarn.queues.wishes import Requests
from rebecsim.clusters.yarn.schedulers.scheduler import Grants

Stop = Literal["", "queue", "application"]


class Walk(NamedTuple):
    """What came of a walk down from a queue.

    Attributes:
        given: what a container, or a reservation, takes.
        far: whether that is not near to where the task would rather run.
        reserved: whether it is a reservation.
        stop: why nothing was given, if others may go on.
        blocked: what is kept from siblings of who was stopped by the limit of a queue.
    """

    given: Resources = NONE
    far: bool = False
    reserved: bool = False
    stop: Stop = ""
    blocked: Resources = NONE


NOTHING = Walk()
_SKIPPED = Walk(stop="application")


class _Visit(NamedTuple):
    """A visit to an application.

    Attributes:
        label: of the node.
        borrowed: whether it lends what its own applications leave.
        headroom: what the leaf may still grow by.
        release: what the user has to give back of his reservations first.
    """

    node: ClusterNode
    label: str
    borrowed: bool
    headroom: Resources
    release: Resources


class Assigning:
    """Gives what nodes have free.

    Attributes:
        let_pass: whether somebody let the node pass at this heartbeat, who may take it later.
    """

    def __init__(self, book: Book, grants: Grants) -> None:
        self._book = book
        self._grants = grants
        self._calculator = book.calculator
        self._looks_on = book.settings.looks_on
        self._requests = Requests(Hosts(node.size for node in book.nodes))
        self.let_pass = False

    def serve(self, node: ClusterNode) -> bool:
        """Give what a node has free; whether anything was given or reserved."""
        settings = self._book.settings
        given = far = 0
        self.let_pass = False
        while True:
            found = self._once(node)
            given += found.given != NONE
            far += found.far
            if found.given == NONE or found.reserved or not settings.multiple:
                break
            if far >= settings.most_far or 0 <= settings.most_containers <= given:
                break
        return given > 0

    def _once(self, node: ClusterNode) -> Walk:
        book = self._book
        if node.reservation is not None:
            self._serve_reserved(node)
            return NOTHING
        if not self._calculator.fits(book.step, _free(node)):
            return NOTHING
        label = label_of(node)
        found = self._down(book.root, node, label, book.total(label), borrowed=False)
        if found.given == NONE and label and not node.size.labels[0].exclusive:
            found = self._down(book.root, node, label, book.total(label), borrowed=True)
        return found

    def _down(
        self, queue: QueueState, node: ClusterNode, label: str, limit: Resources, *, borrowed: bool
    ) -> Walk:
        """Walk down a queue; `limit` is what it may have at most."""
        if not borrowed and not queue.settings.may_use(label):
            return NOTHING
        if isinstance(queue, LeafState):
            return self._leaf(queue, node, label, limit, borrowed=borrowed)
        if not queue.asking.get("" if borrowed else label):
            return NOTHING
        most = self._most(queue, label, limit, borrowed=borrowed)
        if not self._may_grow(queue, label, most, amount(queue.reserved, label)):
            return NOTHING
        used, blocked = amount(queue.used, label), NONE
        stop: Stop = ""
        for child in self._ordered(queue.children, label):
            room = most.minus(blocked).minus(used).plus(amount(child.used, label))
            room = self._calculator.down(room.not_negative(), self._book.step)
            found = self._down(child, node, label, room, borrowed=borrowed)
            if found.given != NONE:
                return found
            if found.stop == "queue":
                stop = "queue"
                blocked = blocked.plus(found.blocked.not_negative())
        return Walk(stop=stop, blocked=blocked)

    def _most(
        self, queue: QueueState, label: str, limit: Resources, *, borrowed: bool
    ) -> Resources:
        total = self._book.total(label)
        if borrowed:
            return total
        return self._calculator.lesser(total, queue.limits[label].maximum, limit)

    def _may_grow(
        self, queue: QueueState, label: str, most: Resources, reserved: Resources
    ) -> bool:
        """Whether a queue has not all that it may have, or would not without its reservations."""
        total, used = self._book.total(label), amount(queue.used, label)
        if self._calculator.less(total, used, most):
            return True
        if not self._looks_on or label or reserved == NONE:
            return False
        return self._calculator.less(total, used.minus(reserved), most)

    def _ordered(self, children: Sequence[QueueState], label: str) -> list[QueueState]:
        """Give children in the order in which they are served: who has least goes first."""
        parent = children[0].parent
        by_priority = parent is not None and parent.settings.parent_order != "utilization"
        return sorted(children, key=lambda child: self._rank(child, label, by_priority))

    def _rank(self, child: QueueState, label: str, by_priority: bool) -> tuple[float, ...]:
        limits, calculator = child.limits[label], self._calculator
        total, used = self._book.total(label), amount(child.used, label)
        can_use = 0 if child.settings.may_use(label) else 1
        should = calculator.greater(total, limits.minimum, self._book.step)
        ratio = calculator.divided(total, used, should)
        size = -float(limits.configured.memory), -limits.share
        if limits.share <= 0:
            return can_use, 1, calculator.key(total, used)[0]
        if not by_priority:
            return can_use, 0, ratio, *size
        return can_use, 0, ratio >= 1, -child.settings.priority, ratio, *size

    def _leaf(
        self, leaf: LeafState, node: ClusterNode, label: str, limit: Resources, *, borrowed: bool
    ) -> Walk:
        """Walk through the applications of a leaf."""
        if not label:
            leaf.limit_now = limit
        wanted = "" if borrowed else label
        if not leaf.asking.get(wanted):
            return NOTHING
        most = self._most(leaf, label, limit, borrowed=borrowed)
        of_one = self._book.limit_of_users(leaf, label, borrowed=borrowed)
        for each in leaf.ordered():
            if not self._may_grow(leaf, label, most, amount(each.reserved, label)):
                return NOTHING
            if each.label != wanted:
                continue
            release = self._to_release(each, label, of_one)
            if release is None:
                each.application.decisions.total += 1
                each.application.decisions.rejected += 1
                continue
            headroom = most.minus(amount(leaf.used, label))
            visit = _Visit(node, label, borrowed, headroom, release)
            found = self._application(each, visit)
            if found.given != NONE:
                return found
            each.application.decisions.rejected += 1
            if found.stop != "application":
                return found
        return NOTHING

    def _to_release(
        self, each: ApplicationState, label: str, of_one: Resources
    ) -> Resources | None:
        """Give what a user has to give back of his reservations first; None: he has too much."""
        book = self._book
        limit = book.limit_of_user(each.user, each.leaf, label, of_one)
        used, total = amount(each.user.used, label), book.total(label)
        if not self._calculator.less(total, limit, used):
            return NONE
        if not self._looks_on or label:
            return None
        if self._calculator.less(total, limit, used.minus(amount(each.reserved, label))):
            return None
        return used.minus(limit)

    def _application(self, each: ApplicationState, visit: _Visit) -> Walk:
        """Look at what an application asks for next."""
        application, label = each.application, visit.label
        application.decisions.total += 1
        request = self._request(each)
        if not self._looks_on and not self._may_reserve(each, request):
            return _SKIPPED
        room = visit.headroom
        if self._looks_on and not label:
            room = room.plus(amount(each.reserved, label))
        if self._calculator.less(self._book.total(label), room, request):
            return Walk(stop="queue", blocked=visit.headroom)
        task = application.head
        assert task is not None
        if visit.borrowed and not self._takes_lent(each, is_master=task.is_master):
            return _SKIPPED
        near = self._near(each, visit.node.size)
        if near is None:
            self.let_pass = True
            return NOTHING
        return self._place(each, request, visit, near)

    def _request(self, each: ApplicationState) -> Resources:
        """Give what it asks for; what counts of an earlier request does not for another."""
        task = each.application.head
        assert task is not None
        request = each.request
        if each.wanted != (request, task.kind):
            each.wanted = request, task.kind
            each.missed = each.missed_lent = each.retried = 0
        return request

    def _takes_lent(self, each: ApplicationState, *, is_master: bool) -> bool:
        """Whether it has waited long enough for a node without a label."""
        if is_master:
            return False
        each.missed_lent += 1
        if each.missed_lent >= len(self._book.nodes):
            return True
        self.let_pass = True
        return False

    def _near(self, each: ApplicationState, size: NodeSize) -> Locality | None:
        """Say how near a node is to where a task would rather run; None: it lets it pass."""
        settings, count = self._book.settings, len(self._book.nodes)
        wishes = self._requests.of(each.application)
        each.missed += 1
        if not wishes.racks:
            return "any"
        near = wishes.nearest(size)
        if near == "node":
            return near
        if near == "rack":
            return near if each.missed > min(count, settings.node_delay) else None
        if settings.rack_delay >= 0:
            waits = float(min(count, settings.node_delay + settings.rack_delay))
        else:
            waits = min(float(count), wishes.count * min(1.0, (wishes.locations - 1) / count))
        return near if each.missed > waits else None

    def _may_reserve(self, each: ApplicationState, request: Resources) -> bool:
        """Whether an application has fewer reservations than it asks for containers.

        It may have more if it has looked at its nodes in vain for long; sooner for small ones.
        """
        reserved, starved = len(each.kept), 0
        if reserved:
            step, most = self._book.step, self._book.most
            size = min(
                self._calculator.ratio(request, most),
                self._calculator.ratio(most.minus(step), most),
            )
            starved = int(each.retried / reserved * (1 - size))
        waiting = sum(count for _, count in each.application.alike())
        return waiting + starved - reserved > 0

    def _place(
        self, each: ApplicationState, request: Resources, visit: _Visit, near: Locality
    ) -> Walk:
        """Give a container on a node, or reserve it."""
        calculator, node, label = self._calculator, visit.node, visit.label
        if not calculator.fits(request, Resources(node.size.memory, node.size.cores)):
            return NOTHING
        may_reserve = self._may_reserve(each, request)
        need = request.minus(visit.headroom).most(visit.release).not_negative()
        short = calculator.less(self._book.total(label), NONE, need)
        gives_back = self._looks_on and not label
        if calculator.fits(request, _free(node)):
            back: ClusterNode | None = None
            if gives_back and (not may_reserve or short):
                back = self._reservation(each, need if short else request)
                if back is None:
                    return NOTHING
            if not self._is_allowed(each, request, visit, back):
                return NOTHING
            if back is not None:
                self.unreserve(back)
            return self._give(each, request, visit, near)
        if not may_reserve or (gives_back and short):
            return NOTHING
        if not self._is_allowed(each, request, visit, None):
            return NOTHING
        each.charge(label, request)
        each.keep(label, request)
        each.kept[node] = request
        self._book.keepers[node] = each
        each.application.decisions.reserved += 1
        self._grants.reserve(each.application, node)
        return Walk(request, reserved=True)

    def _reservation(self, each: ApplicationState, least: Resources) -> ClusterNode | None:
        """Find a node that an application has reserved something on that is large enough."""
        for node, kept in each.kept.items():
            if self._calculator.fits(least, kept) and not label_of(node):
                return node
        return None

    def _is_allowed(
        self, each: ApplicationState, request: Resources, visit: _Visit, back: ClusterNode | None
    ) -> bool:
        """Whether all queues, and the user, stay within their limits."""
        if visit.borrowed:
            return True
        label, released = visit.label, NONE if back is None else each.kept[back]
        for queue in each.leaf:
            after = amount(queue.used, label).plus(request).minus(released)
            if not self._calculator.fits(after, queue.limits[label].maximum):
                return False
        limit = self._book.limit_of_user(each.user, each.leaf, label)
        had = amount(each.user.used, label).minus(released)
        return not self._calculator.less(self._book.total(label), limit, had)

    def _give(
        self, each: ApplicationState, request: Resources, visit: _Visit, near: Locality
    ) -> Walk:
        each.charge(visit.label, request)
        self._allocate(each, visit.node, near)
        return Walk(request, far=near == "any")

    def _allocate(self, each: ApplicationState, node: ClusterNode, near: Locality) -> None:
        """Give what has been counted already."""
        application = each.application
        wishes = self._requests.of(application)
        asked_where = bool(wishes.racks)
        self._requests.bring_forward(application, node.size, near)
        application.decisions.accepted += 1
        assert application.head is not None
        self._grants.allocate(application, node, application.head.memory)
        if asked_where:
            application.containers[-1].locality = near
        if near == "node" or (near == "rack" and self._book.settings.rack_reset):
            each.missed = 0
        self._book.refresh(each)

    def _serve_reserved(self, node: ClusterNode) -> None:
        """Give a node to whom it is kept for, or for nobody any more if he has no use for it."""
        reservation = node.reservation
        assert reservation is not None
        each = self._book.keepers[node]
        task = reservation.application.head
        request = each.kept[node]
        if not each.asks or task is None or each.request != request:
            self.unreserve(node)
            return
        each.application.decisions.total += 1
        if not self._calculator.fits(request, _free(node)):
            each.retried += 1
            each.application.decisions.rejected += 1
            return
        label = label_of(node)
        each.keep(label, minus(request))
        del each.kept[node], self._book.keepers[node]
        self._grants.give_up(node, reservation)
        near = self._requests.of(each.application).nearest(node.size)
        self._allocate(each, node, near)

    def unreserve(self, node: ClusterNode) -> None:
        """Keep a node for nobody any more."""
        reservation = node.reservation
        assert reservation is not None
        each, label = self._book.keepers.pop(node), label_of(node)
        request = each.kept.pop(node)
        each.charge(label, minus(request))
        each.keep(label, minus(request))
        self._grants.give_up(node, reservation)
        self._grants.wake(node)


def _free(node: ClusterNode) -> Resources:
    return Resources(node.memory, node.cores)
