"""How the Fair Scheduler gives what a node has free."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence, Set
from typing import Literal

from rebecsim.actors import StatePart
from rebecsim.clusters.yarn import records
from rebecsim.clusters.yarn.containers import ClusterNode, Locality
from rebecsim.clusters.yarn.queue_files.resources import NONE, Resources
from rebecsim.clusters.yarn.queues.fair.cluster import FairCluster
from rebecsim.clusters.yarn.queues.fair.line import ANY, RACK, FairAsk, Request, Requests
from rebecsim.clusters.yarn.queues.fair.policies import calculator_of, is_below
from rebecsim.clusters.yarn.queues.fair.reasons import FairReasons
from rebecsim.clusters.yarn.queues.fair.starving import Starving
from rebecsim.clusters.yarn.queues.fair.state import FairApplicationState, FairQueueState
from rebecsim.clusters.yarn.schedulers.scheduler import Grants


class FairServing(StatePart):
    """Gives containers of nodes, queue by queue, application by application.

    Attributes:
        has_counted: whether somebody has counted a look at the node, for his wait for nearer ones.
        reasons: records why applications wait, if asked for.
    """

    def __init__(
        self,
        cluster: FairCluster,
        nodes: Sequence[ClusterNode],
        grants: Grants,
        period: int,
        starving: Starving | None,
    ) -> None:
        self._cluster = cluster
        self._settings = settings = cluster.settings
        self._nodes = nodes
        self._nodes_of = Counter(node.size.rack for node in nodes)
        self._grants = grants
        self._period = period
        self._starving = starving
        thresholds = settings.node_threshold, settings.rack_threshold
        self._waits = min(thresholds) >= 0
        self._passes = tuple(len(nodes) * each for each in thresholds)
        step = settings.allocations.step
        self._large = step.plus(step)
        self._now = 0
        self.has_counted = False
        self.reasons: FairReasons | None = None
        if cluster.wait_log is not None:
            self.reasons = FairReasons(cluster, cluster.wait_log)

    def serve(self, node: ClusterNode, now: int) -> bool:
        """Give what a node has free; give whether that, or a reservation, came of it."""
        self._now, self.has_counted = now, False
        if self.reasons is None:
            return self._serve(node)
        self.reasons.begin(node, now)
        served = self._serve(node)
        self.reasons.end()
        return served

    def _serve(self, node: ClusterNode) -> bool:
        settings, count = self._settings, 0
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
        half = node.free.times(0.5)
        given = NONE
        while node.reservation is None:
            got = self._queue(self._cluster.root, node)
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
        """Serve the reservation of a node; None if it is not needed any more."""
        each = self._cluster.keepers[node]
        ask = each.kept[node]
        if not (each.wants and ask.count and self._may_run(each.leaf, ask.request, node)):
            self._cluster.unreserve(node)
            return None
        fits = ask.size.within(node.free)
        near = self._near(each, ask, node) if fits else None
        if near is None:
            if self.reasons is not None:
                self.reasons.refuse(each, records.LOCALITY if fits else records.NO_ROOM)
            each.application.decisions.reject()
            return False
        self._cluster.unreserve(node)
        self._give(each, ask, node, near)
        return True

    def _may_run(self, leaf: FairQueueState, request: Request, node: ClusterNode) -> bool:
        """Whether a node is large enough for a request, and its queues have room."""
        return request.size.within(node.total) and self._has_room(leaf, request)

    def _has_room(self, leaf: FairQueueState, request: Request) -> bool:
        """Whether the queues, and the limit of AppMasters, have room for what is asked for."""
        for queue in leaf.limited:
            if not queue.used.plus(request.size).within(queue.maximum):
                self._cluster.blocked[queue] = None
                return False
        limit = self._master_limit(leaf) if request.is_master else None
        if limit is not None and not leaf.masters.plus(request.size).within(limit):
            self._cluster.blocked |= {leaf: None, self._cluster.root: None}
            return False
        return True

    def _master_limit(self, leaf: FairQueueState) -> Resources | None:
        """Give what the AppMasters of a leaf may have; None: no limit.

        Without a share of a resource, they may have a part of what is free of it. A share under the
        policy fair has no cores.
        """
        if leaf.settings.master_share == -1:
            return None
        share, free = leaf.share, self._cluster.free.least(leaf.maximum)
        of = Resources(share.memory or free.memory, share.cores or free.cores)
        return Resources(*(math.ceil(leaf.settings.master_share * have) for have in of))

    def _queue(self, queue: FairQueueState, node: ClusterNode) -> Resources | None:
        """Give a container to someone of a queue; give its size."""
        if not queue.asking:
            return None
        if not queue.settings.is_parent:
            return self._leaf(queue, node)
        for child in queue.in_service_order():
            found = self._queue(child, node)
            if found is not None:
                return found
        return None

    def _leaf(self, leaf: FairQueueState, node: ClusterNode) -> Resources | None:
        """Give a container to the first in the line of a leaf who can have one; give its size."""
        gives: set[Requests] = set()
        keeps: set[Requests] = set()
        free = node.free
        for requests in leaf.line.requests:
            found = "give" if self.reasons is not None else self._hope(leaf, requests, node, free)
            if found is not None:
                (gives if found == "give" else keeps).add(requests)
        if not gives:
            return self._reserve_of(leaf, keeps, node)
        for each, requests in leaf.line.with_requests():
            if requests in gives or (requests in keeps and leaf.line.is_starved(each)):
                if (got := self._application(each, node)) is not None:
                    return got
            else:
                self._pass_over(each, requests, keeps)
        return None

    def _reserve_of(
        self, leaf: FairQueueState, keeps: Set[Requests], node: ClusterNode
    ) -> Resources | None:
        """Reserve a node, that is too full, for someone of a leaf who may; give the size.

        Only who has less than the share may, so others need not be looked at.
        """
        line = leaf.line
        if not keeps:
            line.refuse_all()
            return None
        for each, requests in line.starved():
            if requests not in keeps or (got := self._offered(each, node)) is None:
                continue
            for other, its in line.with_requests():
                if other is each:
                    break
                self._pass_over(other, its, keeps)
            return got
        line.refuse_all()
        self._cluster.blocked |= dict.fromkeys((leaf, requests) for requests in keeps)
        return None

    def _pass_over(
        self, each: FairApplicationState, requests: Requests, keeps: Set[Requests]
    ) -> None:
        """Take note that an application gets nothing, though it might reserve the node later."""
        each.application.decisions.reject()
        if requests in keeps:
            self._cluster.blocked[each] = None

    def _hope(
        self, leaf: FairQueueState, requests: Requests, node: ClusterNode, free: Resources
    ) -> Literal["give", "keep"] | None:
        """Say what those of a leaf that ask for the same can hope for on a node, if anything.

        Who waits for nearer nodes, or for whom containers are killed, has to be asked.
        """
        asks_all = self._waits or self._starving is not None
        for place, each in enumerate(requests):
            fits = each.size.within(free)
            is_possible = fits or self._waits or self._is_large(leaf, each.size)
            if is_possible and self._may_run(leaf, each, node):
                if asks_all:
                    return "give"
                for other in requests[:place]:
                    if not other.size.within(free) and self._may_run(leaf, other, node):
                        return None  # which comes first, and gets nothing
                return "give" if fits else "keep"
        return None

    def _application(self, each: FairApplicationState, node: ClusterNode) -> Resources | None:
        """Give an application a container, or reserve the node for it; give its size."""
        got = self._offered(each, node)
        if got is None:
            each.application.decisions.reject()
        return got

    def _offered(self, each: FairApplicationState, node: ClusterNode) -> Resources | None:
        """Do so without counting that it gets nothing.

        Of what it asks for and may run on the node, the first counts whose tasks are near enough.
        """
        decisions, reasons = each.application.decisions, self.reasons
        for ask in each.asks.all:
            if not ask.count:
                continue
            if not self._may_run(each.leaf, ask.request, node):
                if reasons is not None:
                    reasons.refuse_by_limits(each, ask.size, self._master_limit(each.leaf))
                continue
            near = self._near(each, ask, node)
            if near is None:
                if reasons is not None:
                    reasons.refuse(each, records.LOCALITY)
                continue
            if ask.size.within(node.free):
                decisions.total += 1
                self._give(each, ask, node, near)
                return ask.size
            why_not = self._not_reserved(each, ask, near, node)
            if not why_not:
                decisions.total += 1
                self._reserve(each, ask, node)
                return ask.size
            if reasons is not None:
                reasons.refuse(each, records.NO_ROOM, why_not)
            break
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

    def _not_reserved(
        self, each: FairApplicationState, ask: FairAsk, near: Locality, node: ClusterNode
    ) -> str:
        """Say why an application does not keep a node; empty: it does.

        It has too little, and asks for much.
        """
        if not self._is_large(each.leaf, ask.size):
            return "it is not reserved for less than twice the increment"
        if self._starving is not None and self._starving.is_first_on(node, each):
            return "containers are killed for it there"
        if not self._is_starved(each):
            self._cluster.blocked[each] = None
            return "it is not reserved for a job that has its fair share"
        if near == "node" or self._may_keep_more(each, near, node):
            return ""
        self._cluster.blocked[each] = None
        return "the job has reserved as many as it may"

    def _is_starved(self, each: FairApplicationState) -> bool:
        if self._starving is not None:
            return self._starving.is_starved(each)
        return is_below(each.leaf.settings.policy, each.used, each.share, self._cluster.total)

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
        found = leaf.large.get(size)
        if found is None:
            calculator = calculator_of(leaf.settings.policy)
            found = leaf.large[size] = not calculator.less(self._cluster.total, size, self._large)
        return found

    def _reserve(self, each: FairApplicationState, ask: FairAsk, node: ClusterNode) -> None:
        if self.reasons is not None:
            self.reasons.serve(each, records.RESERVED)
        each.kept[node] = ask
        self._cluster.keepers[node] = each
        each.application.decisions.reserved += 1
        self._grants.reserve(each.application, node)

    def _give(
        self, each: FairApplicationState, ask: FairAsk, node: ClusterNode, near: Locality
    ) -> None:
        if self.reasons is not None:
            self.reasons.serve(each, records.GIVEN)
        application, size = each.application, node.size
        application.decisions.accepted += 1
        task = each.asks.bring_forward(ask, size, near)
        if ask.is_master:
            self._cluster.count_master(each, 1)
        self._grants.allocate(application, node, task.memory)
        container = application.containers[-1]
        container.locality = each.asks.locality(size, task)
        ask.ran(near)
        ask.give(size, near, self._now)
        each.count(container, 1)
        if self._starving is not None:
            self._starving.given(each, node, ask.size)
        self._cluster.refresh(each)
