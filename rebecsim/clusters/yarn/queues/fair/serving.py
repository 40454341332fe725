"""How the Fair Scheduler gives what a node has free."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from rebecsim.clusters.yarn.container import Locality
from rebecsim.clusters.yarn.node import ClusterNode
from rebecsim.clusters.yarn.queue_files.resources import NONE, Resources
from rebecsim.clusters.yarn.queues.fair.asks import ANY, RACK, FairAsk
from rebecsim.clusters.yarn.queues.fair.book import FairBook
from rebecsim.clusters.yarn.queues.fair.line import Request
from rebecsim.clusters.yarn.queues.fair.policies import calculator_of, in_order, is_below
from rebecsim.clusters.yarn.queues.fair.starving import Starving
from rebecsim.clusters.yarn.queues.fair.state import FairApplicationState, FairQueueState
from rebecsim.clusters.yarn.schedulers.scheduler import Grants


class FairServing:
    """Gives containers of nodes, queue by queue, application by application.

    Attributes:
        has_counted: whether somebody has counted a look at the node, for his wait for nearer ones.
    """

    def __init__(
        self,
        book: FairBook,
        nodes: Sequence[ClusterNode],
        grants: Grants,
        period: int,
        starving: Starving | None,
    ) -> None:
        self._book = book
        self._settings = settings = book.settings
        self._nodes = nodes
        self._nodes_of = Counter(node.size.rack for node in nodes)
        self._grants = grants
        self._period = period
        self._starving = starving
        thresholds = settings.node_threshold, settings.rack_threshold
        self._waits = min(thresholds) >= 0
        self._passes = tuple(len(nodes) * each for each in thresholds)
        self._now = 0
        self.has_counted = False

    def serve(self, node: ClusterNode, now: int) -> bool:
        """Give what a node has free; give whether that, or a reservation, came of it."""
        settings, count = self._settings, 0
        self._now, self.has_counted = now, False
        if self._starving is not None:
            for each, pending in self._starving.first_on(node):
                left = pending
                while left != NONE and each.wants:
                    got = self._application(each, node)
                    if got is None:
                        break
                    count += 1
                    left = left.minus(got).not_negative()
        if node.reservation is not None:
            served = self._serve_reserved(node)
            if served is not None:
                return served or count > 0
        half = Resources(node.memory // 2, node.cores // 2)
        given = NONE
        while node.reservation is None:
            got = self._queue(self._book.root, node)
            if got is None:
                break
            count += 1
            given = given.plus(got)
            if not settings.multiple:
                break
            if settings.half and not given.within(half):
                break
            if not settings.half and 0 < settings.most_containers <= count:
                break
        return count > 0

    def _serve_reserved(self, node: ClusterNode) -> bool | None:
        """Give a node to whom it is kept for; None: nobody needs it any more."""
        each = self._book.keepers[node]
        ask = each.kept[node]
        if not (each.wants and ask.count and self._may_run(each.leaf, ask.request, node)):
            self._book.unreserve(node)
            return None
        near = self._near(each, ask, node) if ask.size.within(_free(node)) else None
        if near is None:
            each.application.decisions.reject()
            return False
        self._book.unreserve(node)
        self._give(each, ask, node, near)
        return True

    def _may_run(self, leaf: FairQueueState, request: Request, node: ClusterNode) -> bool:
        """Whether a node is large enough for a request, and its queues have room."""
        whole = Resources(node.size.memory, node.size.cores)
        return request.size.within(whole) and self._has_room(leaf, request)

    def _has_room(self, leaf: FairQueueState, request: Request) -> bool:
        """Whether the queues, and the limit of AppMasters, have room for what is asked for."""
        for queue in leaf:
            if not queue.used.plus(request.size).within(queue.maximum):
                self._book.blocked.add(queue)
                return False
        if request.is_master and not self._lets_master_in(leaf, request.size):
            self._book.blocked |= {leaf, self._book.root}
            return False
        return True

    def _lets_master_in(self, leaf: FairQueueState, size: Resources) -> bool:
        """Whether the AppMasters of a leaf leave room for another one.

        Without a share of a resource, they may have a part of what is free of it. A share under the
        policy fair has no cores.
        """
        if leaf.settings.master_share == -1:
            return True
        share, free = leaf.share, self._book.free.least(leaf.maximum)
        of = Resources(share.memory or free.memory, share.cores or free.cores)
        limit = Resources(*(math.ceil(leaf.settings.master_share * have) for have in of))
        return leaf.masters.plus(size).within(limit)

    def _queue(self, queue: FairQueueState, node: ClusterNode) -> Resources | None:
        """Give a container to someone of a queue; give its size."""
        if not queue.asking:
            return None
        if not queue.settings.is_parent:
            return self._leaf(queue, node)
        for child in in_order(queue.settings.policy, queue.children, self._book.total):
            found = self._queue(child, node)
            if found is not None:
                return found
        return None

    def _leaf(self, leaf: FairQueueState, node: ClusterNode) -> Resources | None:
        """Give a container to the first in the line of a leaf who can have one; give its size."""
        hopeful = {
            requests
            for requests in leaf.line.requests
            if any(self._is_hopeful(leaf, each, node) for each in requests)
        }
        if not hopeful:
            leaf.line.refuse_all()
            return None
        for each, requests in leaf.line.with_requests():
            if requests not in hopeful:
                each.application.decisions.reject()
            elif (found := self._application(each, node)) is not None:
                return found
        return None

    def _is_hopeful(self, leaf: FairQueueState, request: Request, node: ClusterNode) -> bool:
        """Whether a node may be given, or kept, to some of a leaf that ask for the same."""
        size = request.size
        fits = size.within(_free(node)) or self._waits or self._is_large(leaf, size)
        return fits and self._may_run(leaf, request, node)

    def _application(self, each: FairApplicationState, node: ClusterNode) -> Resources | None:
        """Give an application a container, or reserve the node for it; give its size.

        Of what it asks for and may run on the node, the first counts whose tasks are near enough.
        """
        decisions = each.application.decisions
        for ask in each.asks.all:
            if not ask.count or not self._may_run(each.leaf, ask.request, node):
                continue
            near = self._near(each, ask, node)
            if near is None:
                continue
            if ask.size.within(_free(node)):
                decisions.total += 1
                self._give(each, ask, node, near)
                return ask.size
            if self._may_reserve(each, ask, near, node):
                decisions.total += 1
                self._reserve(each, ask, node)
                return ask.size
            break
        decisions.reject()
        return None

    def _near(self, each: FairApplicationState, ask: FairAsk, node: ClusterNode) -> Locality | None:
        """Say how near a node is to where a task would rather run; None: it lets it pass."""
        each.asks.correct(ask, self._now, self._period)
        farthest = ask.farthest(*self._passes) if self._waits else ANY
        if not ask.racks:
            return "any"
        self.has_counted = self._waits
        near = ask.nearest(node.size)
        if near == "node" or (near == "rack" and farthest >= RACK) or farthest == ANY:
            return near
        return None

    def _may_reserve(
        self, each: FairApplicationState, ask: FairAsk, near: Locality, node: ClusterNode
    ) -> bool:
        """Whether an application keeps a node: it has too little, and asks for much."""
        if not self._is_large(each.leaf, ask.size):
            return False
        if self._starving is not None and self._starving.is_first_on(node, each):
            return False  # room is made for it there
        if self._is_starved(each) and (near == "node" or self._may_keep_more(each, near, node)):
            return True
        self._book.blocked.add(each)
        return False

    def _is_starved(self, each: FairApplicationState) -> bool:
        if self._starving is not None:
            return self._starving.is_starved(each)
        return is_below(each.leaf.settings.policy, each.used, each.share, self._book.total)

    def _may_keep_more(self, each: FairApplicationState, near: Locality, node: ClusterNode) -> bool:
        """Whether an application has reserved few nodes, of a rack or of all."""
        if near == "rack":
            rack = node.size.rack
            among = self._nodes_of[rack]
            kept = sum(other.size.rack == rack for other in each.kept)
        else:
            among, kept = len(self._nodes), len(each.kept)
        return kept < math.ceil(among * self._settings.reservable)

    def _is_large(self, leaf: FairQueueState, size: Resources) -> bool:
        """Whether a container is so large that nodes are kept for it."""
        step = self._settings.allocations.step
        calculator = calculator_of(leaf.settings.policy)
        return not calculator.less(self._book.total, size, step.plus(step))

    def _reserve(self, each: FairApplicationState, ask: FairAsk, node: ClusterNode) -> None:
        each.kept[node] = ask
        self._book.keepers[node] = each
        each.application.decisions.reserved += 1
        self._grants.reserve(each.application, node)

    def _give(
        self, each: FairApplicationState, ask: FairAsk, node: ClusterNode, near: Locality
    ) -> None:
        application, size = each.application, node.size
        application.decisions.accepted += 1
        task = each.asks.bring_forward(ask, size, near)
        if ask.is_master:
            self._book.count_master(each, 1)
        self._grants.allocate(application, node, task.memory)
        container = application.containers[-1]
        container.locality = each.asks.locality(size, task)
        ask.ran(near)
        ask.give(size, near, self._now)
        each.count(container, 1)
        if self._starving is not None:
            self._starving.given(each, node, ask.size)
        self._book.refresh(each)


def _free(node: ClusterNode) -> Resources:
    return Resources(node.memory, node.cores)
