"""The Fair Scheduler of Hadoop 3, as its file says."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence

from rebecsim.clusters.yarn.application import Application
from rebecsim.clusters.yarn.configuration import YarnConfiguration
from rebecsim.clusters.yarn.container import Container, Locality
from rebecsim.clusters.yarn.node import ClusterNode
from rebecsim.clusters.yarn.placement.hosts import Hosts
from rebecsim.clusters.yarn.queue_files.fair_settings import FairSettings
from rebecsim.clusters.yarn.queue_files.resources import NONE, Resources, total_of
from rebecsim.clusters.yarn.queues.fair.line import Request
from rebecsim.clusters.yarn.queues.fair.nearness import ANY, RACK
from rebecsim.clusters.yarn.queues.fair.policies import calculator_of, in_order, is_below
from rebecsim.clusters.yarn.queues.fair.starving import Starving
from rebecsim.clusters.yarn.queues.fair.state import FairApplicationState, FairQueueState
from rebecsim.clusters.yarn.queues.resting import Resting
from rebecsim.clusters.yarn.queues.wishes import Requests
from rebecsim.clusters.yarn.schedulers.scheduler import ContainerScheduler, Grants, QueueShare


class HadoopFairScheduler(ContainerScheduler):
    """Shares a cluster between nested queues by weights, and within them by their policies.

    Attributes:
        settings: what the file says.
        root: the queues.
        total: what all nodes have.
        states: applications that have been submitted.
    """

    rouses = True

    def __init__(
        self, configuration: YarnConfiguration, nodes: Sequence[ClusterNode], grants: Grants
    ) -> None:
        super().__init__(configuration, nodes, grants)
        settings = configuration.queues
        assert isinstance(settings, FairSettings)
        self.settings = settings
        self.total = total_of(Resources(node.size.memory, node.size.cores) for node in nodes)
        self.root = FairQueueState(settings.root, None, self.total)
        self.root.share = self.root.steady = self.total
        self._queues = {queue.settings.path: queue for queue in self.root.below()}
        self.states: dict[Application, FairApplicationState] = {}
        self._asking: dict[FairApplicationState, None] = {}
        self._held: dict[FairApplicationState, None] = {}
        self._keepers: dict[ClusterNode, FairApplicationState] = {}
        self._running: Counter[str] = Counter()
        thresholds = settings.node_threshold, settings.rack_threshold
        self._delays = min(thresholds) >= 0
        self._passes = tuple(len(nodes) * each for each in thresholds)
        self._nodes_of = Counter(node.size.rack for node in nodes)
        self._requests = Requests(Hosts(node.size for node in nodes))
        self._resting = Resting(grants)
        self._updated: int | None = None
        self._stale = True
        self._free = self.total
        self._touched: dict[FairApplicationState, None] = {}
        self._let_pass = False
        self._starving: Starving | None = None
        if settings.preemption is not None:
            self._starving = Starving(settings.preemption, self.root, self.states, nodes)
        self.root.update_steady()

    @property
    def first(self) -> Application | None:
        """Some application that waits for containers, or keeps a node."""
        for each in self._asking:
            return each.application
        for each in self._keepers.values():
            return each.application
        return None

    def waiting(self) -> Iterable[Application]:
        """Give those that ask for containers."""
        return (each.application for each in self._asking)

    def refusal(self, application: Application) -> str:
        """Say why an application is not let in: no rule has a queue for it."""
        return "" if self.settings.queue_for(application.job) else "no queue"

    def queue_of(self, application: Application) -> str:
        """Give the path of its leaf."""
        found = self.settings.queue_for(application.job)
        return application.job.queue if found is None else found.path

    def queue_shares(self) -> list[QueueShare]:
        """Give steady fair shares, and maxima."""
        return [
            QueueShare(
                queue.settings.path,
                not queue.settings.is_parent,
                queue.steady.memory,
                min(queue.maximum.memory, self.total.memory),
            )
            for queue in self.root.below()
        ]

    def submitted(self, application: Application) -> None:
        """Take an application in, which runs as soon as it may."""
        leaf = self._leaf(application)
        each = FairApplicationState(application, leaf, application.start)
        self.states[application] = each
        self._held[each] = None
        self._refresh(each)
        self._let_run()

    def _leaf(self, application: Application) -> FairQueueState:
        """Give the leaf of an application, which may have to be made, with its parents."""
        found = self.settings.queue_for(application.job)
        assert found is not None
        if found.path not in self._queues:
            above = found.path.rpartition(".")[0]
            self._make(above).children.append(
                FairQueueState(found, self._queues[above], self.total)
            )
            self._queues[found.path] = self._queues[above].children[-1]
            self.root.update_steady()
        return self._queues[found.path]

    def _make(self, path: str) -> FairQueueState:
        if path not in self._queues:
            parent = self._make(path.rpartition(".")[0])
            made = FairQueueState(self.settings.above(path), parent, self.total)
            parent.children.append(made)
            self._queues[path] = made
        return self._queues[path]

    def _let_run(self) -> None:
        """Let those run who may, in the order of their start."""
        for each in list(self._held):
            most = self.settings.most_by_user.get(each.user, self.settings.most_of_user)
            if most is not None and self._running[each.user] >= most:
                continue
            if any(_is_full(queue) for queue in each.leaf):
                continue
            del self._held[each]
            each.runs = True
            each.leaf.applications[each] = None
            each.leaf.members_changed()
            self._running[each.user] += 1
            for queue in each.leaf:
                queue.running += 1
            self._refresh(each)
        self._changed()

    def _refresh(self, each: FairApplicationState) -> None:
        """Take note of whether an application asks for containers, and of what it has and asks."""
        head = each.application.head
        asks = each.runs and head is not None and (head.is_master or each.application.launched)
        self._stale = True
        self._touched[each] = None
        before, each.asks = each.asks, asks
        each.place()
        if asks == before:
            return
        for queue in each.leaf:
            queue.asking += 1 if asks else -1
        if asks:
            self._asking[each] = None
        else:
            del self._asking[each]

    def freed(self, application: Application) -> None:
        """Do nothing: containers count one by one; see `released`."""

    def released(self, container: Container) -> None:
        """Count a container no more."""
        each = self.states[container.application]
        each.count(container, -1)
        self._refresh(each)
        if self._starving is not None:
            self._starving.released(container)
        self._changed()

    def began(self, application: Application) -> None:
        """Let it ask for containers of tasks."""
        self._refresh(self.states[application])
        self._changed()

    def asks_again(self, application: Application) -> None:
        """Let it ask for what was killed."""
        self._refresh(self.states[application])
        self._changed()

    def starts_over(self, application: Application) -> None:
        """Let it ask for an AppMaster again."""
        each = self.states[application]
        self._let_go(each)
        self._count_master(each, -1)
        self._refresh(each)
        self._changed()

    def left(self, application: Application) -> None:
        """Count an application no more, and let others run."""
        each = self.states[application]
        self._let_go(each)
        self._count_master(each, -1)
        each.runs, each.has_left = False, True
        self._refresh(each)
        del each.leaf.applications[each]
        each.leaf.members_changed()
        self._running[each.user] -= 1
        for queue in each.leaf:
            queue.running -= 1
        self._let_run()

    def _count_master(self, each: FairApplicationState, sign: int) -> None:
        if each.has_master == (sign > 0):
            return
        each.has_master = sign > 0
        master = each.application.tasks[0][0]
        size = Resources(sign * master.memory, sign * master.cores)
        each.leaf.masters = each.leaf.masters.plus(size)

    def _let_go(self, each: FairApplicationState) -> None:
        for node in list(each.kept):
            self._unreserve(node)

    def _unreserve(self, node: ClusterNode) -> None:
        reservation = node.reservation
        assert reservation is not None
        each = self._keepers.pop(node)
        del each.kept[node]
        self.grants.give_up(node, reservation)
        self.grants.wake(node)

    def _changed(self) -> None:
        """Look again at all nodes, as limits and orders may be others now."""
        self._stale = True
        self._resting.rouse()

    def update(self, now: int) -> None:
        """Compute demands and shares at the first heartbeat of each interval, as Hadoop's thread."""
        interval = now // self.settings.update
        if self._stale and interval != self._updated:
            self._stale, self._updated = False, interval
            for each in self._touched:
                each.update_demand(by_size=self.settings.by_size)
                each.place()
            self._touched.clear()
            self.root.update_shares()
            self._note_free()

    def _note_free(self) -> None:
        """Note what the cluster has free, for limits of AppMasters.

        Shares are updated and heartbeats end with that. So what a heartbeat gives counts at the
        next one.
        """
        self._free = self.total.minus(self.root.used)

    def schedule(self, node: ClusterNode, now: int) -> bool:
        """Give what the node has free."""
        self._resting.came(node)
        self.update(now)
        self._let_pass = False
        given = self._serve(node)
        self._note_free()
        if given:
            self._resting.rouse()
            return True
        counts = self._let_pass or node.reservation is not None
        if (self._asking and self._stale) or (counts and self.grants.hopes()):
            return True
        self._resting.rest(node)
        return False

    def _serve(self, node: ClusterNode) -> bool:
        settings, count = self.settings, 0
        if self._starving is not None:
            for each in self._starving.first_on(node):
                while each.asks and self._application(each, node, reserves=False):
                    count += 1
        if node.reservation is not None:
            served = self._serve_reserved(node)
            if served is not None:
                return served or count > 0
        half = Resources(node.memory // 2, node.cores // 2)
        given = NONE
        while node.reservation is None:
            got = self._queue(self.root, node)
            if got is None:
                break
            count += 1
            given = given.plus(got)
            if not settings.multiple or node.reservation is not None:
                break
            if settings.half and not given.within(half):
                break
            if not settings.half and 0 < settings.most_containers <= count:
                break
        return count > 0

    def _serve_reserved(self, node: ClusterNode) -> bool | None:
        """Give a node to whom it is kept for; None: nobody needs it any more."""
        each = self._keepers[node]
        request = each.kept[node]
        wanted = each.asks and request in each.requests
        if not (wanted and self._may_run(each.leaf, request, node)):
            self._unreserve(node)
            return None
        near = self._near(each, request, node) if request.size.within(_free(node)) else None
        if near is None:
            each.application.decisions.reject()
            return False
        self._unreserve(node)
        self._give(each, request, node, near)
        return True

    def _may_run(self, leaf: FairQueueState, request: Request, node: ClusterNode) -> bool:
        """Whether a node is large enough for a request, and its queues have room."""
        whole = Resources(node.size.memory, node.size.cores)
        return request.size.within(whole) and self._has_room(leaf, request)

    def _has_room(self, leaf: FairQueueState, request: Request) -> bool:
        """Whether the queues, and the limit of AppMasters, have room for what is asked for."""
        if any(not queue.used.plus(request.size).within(queue.maximum) for queue in leaf):
            return False
        return not request.is_master or self._lets_master_in(leaf, request.size)

    def _lets_master_in(self, leaf: FairQueueState, size: Resources) -> bool:
        """Whether the AppMasters of a leaf leave room for another one.

        Without a share of a resource, they may have a part of what is free of it. A share under the
        policy fair has no cores.
        """
        if leaf.settings.master_share == -1:
            return True
        share, free = leaf.share, self._free.least(leaf.maximum)
        of = Resources(share.memory or free.memory, share.cores or free.cores)
        limit = Resources(*(math.ceil(leaf.settings.master_share * have) for have in of))
        return leaf.masters.plus(size).within(limit)

    def _queue(self, queue: FairQueueState, node: ClusterNode) -> Resources | None:
        """Give a container to someone of a queue; give its size."""
        if not queue.asking or not queue.used.within(queue.maximum):
            return None
        if not queue.settings.is_parent:
            return self._leaf_line(queue, node)
        for child in in_order(queue.settings.policy, queue.children, self.total):
            found = self._queue(child, node)
            if found is not None:
                return found
        return None

    def _leaf_line(self, leaf: FairQueueState, node: ClusterNode) -> Resources | None:
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
        fits = size.within(_free(node)) or self._delays or self._is_large(leaf, size)
        return fits and self._may_run(leaf, request, node)

    def _application(
        self, each: FairApplicationState, node: ClusterNode, *, reserves: bool = True
    ) -> Resources | None:
        """Give an application a container, or reserve the node for it; give its size.

        Of its requests that may run on the node, the first one counts whose tasks are near enough.
        """
        decisions = each.application.decisions
        for request in each.requests:
            if not self._may_run(each.leaf, request, node):
                continue
            near = self._near(each, request, node)
            if near is None:
                continue
            if request.size.within(_free(node)):
                decisions.total += 1
                self._give(each, request, node, near)
                return request.size
            if reserves and self._may_reserve(each, request, near, node):
                each.kept[node] = request
                self._keepers[node] = each
                decisions.total += 1
                decisions.reserved += 1
                self.grants.reserve(each.application, node)
                return request.size
            break
        decisions.reject()
        return None

    def _near(
        self, each: FairApplicationState, request: Request, node: ClusterNode
    ) -> Locality | None:
        """Say how near a node is to where a task would rather run; None: it lets it pass."""
        wishes = self._requests.of(each.application, each.requests[request])
        farthest = ANY
        if self._delays:
            farthest = each.nearness[request].farthest(*self._passes)
        if not wishes.racks:
            return "any"
        self._let_pass = self._delays
        near = wishes.nearest(node.size)
        if near == "node" or (near == "rack" and farthest >= RACK) or farthest == ANY:
            return near
        return None

    def _may_reserve(
        self, each: FairApplicationState, request: Request, near: Locality, node: ClusterNode
    ) -> bool:
        """Whether an application keeps a node: it has too little, and asks for much."""
        if not is_below(each.leaf.settings.policy, each.used, each.share, self.total):
            return False
        if not self._is_large(each.leaf, request.size):
            return False
        if near == "node":
            return True
        if near == "rack":
            rack = node.size.rack
            among = self._nodes_of[rack]
            kept = sum(other.size.rack == rack for other in each.kept)
        else:
            among, kept = len(self.nodes), len(each.kept)
        return kept < math.ceil(among * self.settings.reservable)

    def _is_large(self, leaf: FairQueueState, size: Resources) -> bool:
        """Whether a container is so large that nodes are kept for it."""
        step = self.settings.allocations.step
        calculator = calculator_of(leaf.settings.policy)
        return not calculator.less(self.total, size, step.plus(step))

    def _give(
        self, each: FairApplicationState, request: Request, node: ClusterNode, near: Locality
    ) -> None:
        application, size = each.application, request.size
        like = each.requests[request]
        asked_where = bool(self._requests.of(application, like).racks)
        self._requests.bring_forward(application, node.size, near if asked_where else None, like)
        application.decisions.accepted += 1
        if request.is_master:
            self._count_master(each, 1)
        if self._delays:
            each.nearness[request].ran(near)
        self.grants.allocate(application, node, size.memory)
        container = application.containers[-1]
        if asked_where:
            container.locality = near
        each.count(container, 1)
        if self._starving is not None:
            self._starving.given(each, node, size)
        self._refresh(each)

    @property
    def patience(self) -> int | None:
        """After how long at most something is killed if nothing else happens (ms)."""
        return None if self._starving is None else self._starving.patience

    def to_kill(self, now: int) -> list[Container]:
        """Give the containers whose time has come."""
        if self._starving is None:
            return []
        self.update(now)
        found = self._starving.round(now)
        self.killed += found
        return [each.container for each in found]


def _is_full(queue: FairQueueState) -> bool:
    most = queue.settings.most_running
    return most is not None and queue.running >= most


def _free(node: ClusterNode) -> Resources:
    return Resources(node.memory, node.cores)
