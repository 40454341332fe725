"""The Capacity Scheduler of Hadoop 3, as its file says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from rebecsim.clusters.yarn.configuration import YarnConfiguration
from rebecsim.clusters.yarn.containers import Application, ClusterNode, Container
from rebecsim.clusters.yarn.placement import Hosts
from rebecsim.clusters.yarn.queue_files.capacity_settings import CapacitySettings
from rebecsim.clusters.yarn.queue_files.resources import NONE
from rebecsim.clusters.yarn.queues.asks import Asks
from rebecsim.clusters.yarn.queues.capacity.activation import (
    Activation,
    most_applications,
    most_of_user,
    put_out,
)
from rebecsim.clusters.yarn.queues.capacity.assigning import Assigning
from rebecsim.clusters.yarn.queues.capacity.cluster import CapacityCluster, label_of
from rebecsim.clusters.yarn.queues.capacity.monitor import CapacityMonitor
from rebecsim.clusters.yarn.queues.capacity.state import (
    ApplicationState,
    CapacityAsk,
    LeafState,
    QueueState,
)
from rebecsim.clusters.yarn.queues.resting import Resting
from rebecsim.clusters.yarn.records import PARALLEL, TURN, WaitLog
from rebecsim.clusters.yarn.schedulers.scheduler import ContainerScheduler, Grants, QueueShare


class CapacityScheduler(ContainerScheduler):
    """Shares a cluster between nested queues by their capacities.

    Attributes:
        cluster: queues, users and applications.
    """

    rouses = True

    def __init__(
        self, configuration: YarnConfiguration, nodes: Sequence[ClusterNode], grants: Grants
    ) -> None:
        super().__init__(configuration, nodes, grants)
        settings = configuration.queues
        assert isinstance(settings, CapacitySettings)
        self.settings = settings
        self.cluster = CapacityCluster(settings, nodes, configuration.master_heartbeat)
        self._hosts = Hosts(node.size for node in nodes)
        self._leaves = {leaf.settings.path: leaf for leaf in self.cluster.leaves}
        if configuration.explains:
            self.wait_log = self.cluster.wait_log = WaitLog()
        self._activation = Activation(self.cluster)
        self._assigning = Assigning(self.cluster, grants)
        self._by_user: Counter[tuple[str, str]] = Counter()  # applications by leaf and user
        self._parallel: Counter[str] = Counter()  # those that run, by user
        self._held: dict[ApplicationState, None] = {}
        self._resting = Resting(grants, configuration.node_heartbeat)
        self._monitor: CapacityMonitor | None = None
        if settings.preemption is not None:
            self._monitor = CapacityMonitor(
                settings.preemption, self.cluster, self._assigning.placing
            )

    @property
    def first(self) -> Application | None:
        """Some application that waits for containers, or keeps a node."""
        for each in self.cluster.asking:
            return each.application
        for each in self.cluster.keepers.values():
            return each.application
        return None

    def waiting(self) -> Iterable[Application]:
        """Give those that ask for containers."""
        return (each.application for each in self.cluster.asking)

    def refusal(self, application: Application) -> str:
        """Say why an application is not let in: its queue is stopped, or has too many."""
        leaf = self._leaf(application)
        queue = leaf.settings
        if queue.stopped:
            return "stopped"
        most = most_applications(self.settings, queue, self._share(leaf))
        if leaf.applications >= most:
            return "applications"
        of_user = self._by_user[leaf.settings.path, application.job.user]
        return "applications of user" if of_user >= most_of_user(queue, most) else ""

    def queue_of(self, application: Application) -> str:
        """Give the path of its leaf."""
        return self._leaf(application).settings.path

    def queue_shares(self) -> list[QueueShare]:
        """Give capacities and maxima over nodes of all labels."""
        return [_share_of(queue) for queue in self.cluster.root.below()]

    def _share(self, leaf: LeafState) -> float:
        return max(found.share for found in leaf.limits.values())

    def _leaf(self, application: Application) -> LeafState:
        queue = self.settings.leaf(application.job.queue)
        assert queue is not None, application.job.queue  # see `requirements`
        return self._leaves[queue.path]

    def submitted(self, application: Application) -> None:
        """Take an application in; its AppMaster may have to wait."""
        leaf, now = self._leaf(application), application.start
        order = len(self.cluster.states)
        asks = Asks(application, self._hosts, CapacityAsk)
        each = ApplicationState(application, leaf, order, asks)
        self.cluster.states[application] = each
        leaf.applications += 1
        self._by_user[leaf.settings.path, each.user.name] += 1
        self._held[each] = None
        self._let_run(now)
        self._asks(each, now)
        self._changed()

    def _asks(self, each: ApplicationState, now: int) -> None:
        """Read what an application asks for, which may be more than before."""
        each.asks.read()
        self.cluster.refresh(each, now)
        each.leaf.has_changed(each, demand=True)
        if each.wants:
            if self.wait_log is not None and not each.is_served and not each.runs:
                self.wait_log.note(each.application, now, PARALLEL)
            elif self.wait_log is not None and each.is_served:
                self.wait_log.note(each.application, now, TURN)
            version = each.leaf.users.version
            each.leaf.users.asks(each)
            if version != each.leaf.users.version:
                each.leaf.changed_at = now
        if each.looked_at and not each.leaf.users.is_computed:
            each.leaf.users.count_waiting()  # what asks is answered with its limit

    def _let_run(self, now: int) -> None:
        """Let those run who may, in the order of submission."""
        for each in list(self._held):
            name = each.user.name
            own = self.settings.parallel_of.get(name, self.settings.user_parallel)
            if own is not None and self._parallel[name] >= own:
                continue
            if any(_is_full(queue) for queue in each.leaf.path):
                continue
            del self._held[each]
            self._count_running(each, 1)
            self._queue_up(each, now)
            self._let_in(each.leaf, now)

    def _count_running(self, each: ApplicationState, more: int) -> None:
        each.runs = more > 0
        self._parallel[each.user.name] += more
        for queue in each.leaf.path:
            queue.parallel += more

    def _queue_up(self, each: ApplicationState, now: int) -> None:
        leaf = each.leaf
        self.cluster.catch_up(leaf, now)
        each.user = leaf.users.named(each.user.name)
        leaf.waiting.append(each)
        leaf.waiting.sort(key=lambda other: other.order)
        leaf.users.move(each.user, waiting=1)

    def _let_in(self, leaf: LeafState, now: int) -> None:
        self.cluster.catch_up(leaf, now)
        for each in self._activation.let_in(leaf, now):
            if self.wait_log is not None:
                self.wait_log.note(each.application, now, TURN)
            self.cluster.refresh(each, now)

    def freed(self, application: Application) -> None:
        """Do nothing: containers count one by one; see `released`."""

    def released(self, container: Container) -> None:
        """Count a container no more."""
        each, now = self.cluster.states[container.application], container.node.beat
        each.charge(label_of(container.node), NONE.minus(container.size), now)
        each.leaf.has_changed(each)
        if self._monitor is not None:
            self._monitor.released(container)
        self._changed()

    def began(self, application: Application) -> None:
        """Let it ask for containers of tasks."""
        self._asks(self.cluster.states[application], application.beat)
        self._changed()

    def asks_again(self, application: Application) -> None:
        """Let it ask for what was killed, or had to wait."""
        self._asks(self.cluster.states[application], application.beat)
        self._changed()

    def starts_over(self, application: Application) -> None:
        """Let its next AppMaster wait until it is let in."""
        each, now = self.cluster.states[application], application.beat
        self._put_out(each, now)
        self._queue_up(each, now)
        self._let_in(each.leaf, now)
        self._asks(each, now)
        self._changed()

    def left(self, application: Application) -> None:
        """Count an application no more, and let others in."""
        each, now = self.cluster.states[application], application.beat
        self._put_out(each, now)
        leaf, user = each.leaf, each.user
        if not user.let_in and not user.waiting:
            leaf.users.forget(user)
        self._let_in(leaf, now)
        leaf.applications -= 1
        self._by_user[leaf.settings.path, user.name] -= 1
        self._count_running(each, -1)
        self._let_run(now)
        self._changed()

    def _put_out(self, each: ApplicationState, now: int) -> None:
        """Take an application out of its leaf, with all that it has reserved or asks for."""
        self.cluster.catch_up(each.leaf, now)
        for node in list(each.kept):
            self._assigning.placing.unreserve(node)
        each.asks.clear()
        put_out(each)
        self.cluster.refresh(each, now)

    def _changed(self) -> None:
        """Look again at nodes with room, as limits and orders may be others now."""
        self._assigning.look_anew()
        self._resting.rouse()

    def schedule(self, node: ClusterNode, now: int) -> bool:
        """Give what the node has free."""
        self._resting.came(node)
        has_changed = self._assigning.serve(node, now)
        if has_changed:
            self._changed()
        has_room = self.cluster.calculator.fits(self.cluster.step, node.free)
        if not has_room and node.reservation is None:
            return False  # until a container on it ends
        matters = has_changed or (self._assigning.placing.has_counted and self.grants.hopes())
        if matters and (self.cluster.asking or self.cluster.keepers):
            return True
        if has_room:
            self._resting.rest(node)
        return False

    @property
    def patience(self) -> int | None:
        """After how long at most something is killed if nothing else happens (ms)."""
        return None if self._monitor is None else self._monitor.patience

    def to_kill(self, now: int) -> list[Container]:
        """Give the containers whose time has come."""
        if self._monitor is None:
            return []
        found = self._monitor.round(now)
        self.killed += found
        return [each.container for each in found]


def _share_of(queue: QueueState) -> QueueShare:
    limits = queue.limits.values()
    return QueueShare(
        queue.settings.path,
        not queue.children,
        sum(each.minimum.memory for each in limits),
        sum(each.maximum.memory for each in limits),
        sum(each.memory for each in queue.used.values()),
        sum(queue.asking.values()),
    )


def _is_full(queue: QueueState) -> bool:
    most = queue.settings.most_parallel
    return most is not None and queue.parallel >= most
