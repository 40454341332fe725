"""The Fair Scheduler of Hadoop 3, as its file says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from rebecsim.clusters.yarn.configuration import YarnConfiguration
from rebecsim.clusters.yarn.containers import Application, ClusterNode, Container
from rebecsim.clusters.yarn.placement import Hosts
from rebecsim.clusters.yarn.queue_files.fair_settings import FairSettings
from rebecsim.clusters.yarn.queues.asks import Asks
from rebecsim.clusters.yarn.queues.fair.cluster import FairCluster
from rebecsim.clusters.yarn.queues.fair.line import FairAsk
from rebecsim.clusters.yarn.queues.fair.serving import FairServing
from rebecsim.clusters.yarn.queues.fair.starving import Starving
from rebecsim.clusters.yarn.queues.fair.state import FairApplicationState, FairQueueState
from rebecsim.clusters.yarn.queues.resting import Resting
from rebecsim.clusters.yarn.records import PARALLEL, WaitLog
from rebecsim.clusters.yarn.schedulers.scheduler import ContainerScheduler, Grants, QueueShare


class HadoopFairScheduler(ContainerScheduler):
    """Shares a cluster between nested queues by weights, and within them by their policies.

    Attributes:
        cluster: queues and applications.
    """

    rouses = True

    def __init__(
        self, configuration: YarnConfiguration, nodes: Sequence[ClusterNode], grants: Grants
    ) -> None:
        super().__init__(configuration, nodes, grants)
        settings = configuration.queues
        assert isinstance(settings, FairSettings)
        self._settings = settings
        self.cluster = cluster = FairCluster(settings, nodes, grants)
        if configuration.explains:
            self.wait_log = cluster.wait_log = WaitLog()
        self._queues = {queue.settings.path: queue for queue in cluster.root.below()}
        self._held: dict[FairApplicationState, None] = {}
        self._running: Counter[str] = Counter()
        self._hosts = Hosts(node.size for node in nodes)
        self._resting = Resting(grants, configuration.node_heartbeat)
        self._starving: Starving | None = None
        if settings.preemption is not None:
            self._starving = Starving(settings.preemption, cluster, nodes)
        period = configuration.master_heartbeat
        self._serving = FairServing(cluster, nodes, grants, period, self._starving)

    @property
    def first(self) -> Application | None:
        """Some application that waits for containers, or keeps a node."""
        for each in (*self.cluster.wanting, *self.cluster.keepers.values()):
            return each.application
        return None

    def waiting(self) -> Iterable[Application]:
        """Give those that ask for containers."""
        return (each.application for each in self.cluster.wanting)

    def refusal(self, application: Application) -> str:
        """Say why an application is not let in: no rule has a queue for it."""
        return "" if self._settings.queue_for(application.job) else "no queue"

    def queue_of(self, application: Application) -> str:
        """Give the path of its leaf."""
        found = self._settings.queue_for(application.job)
        return application.job.queue if found is None else found.path

    def queue_shares(self) -> list[QueueShare]:
        """Give steady fair shares, and maxima."""
        return [
            QueueShare(
                queue.settings.path,
                not queue.settings.is_parent,
                queue.steady.memory,
                min(queue.maximum.memory, self.cluster.total.memory),
                queue.used.memory,
                queue.asking,
            )
            for queue in self.cluster.root.below()
        ]

    def submitted(self, application: Application) -> None:
        """Take an application in, which runs as soon as it may."""
        leaf = self._leaf(application)
        asks = Asks(application, self._hosts, FairAsk)
        each = FairApplicationState(application, leaf, application.start, asks)
        self.cluster.states[application] = each
        self._held[each] = None
        self._asks(each)
        self._let_run()
        if self.wait_log is not None and not each.runs:
            self.wait_log.note(application, application.start, PARALLEL)

    def _leaf(self, application: Application) -> FairQueueState:
        """Give the leaf of an application, which may have to be made, with its parents."""
        found = self._settings.queue_for(application.job)
        assert found is not None
        if found.path not in self._queues:
            above = self._make(found.path.rpartition(".")[0])
            self._queues[found.path] = above.add_child(found)
            self.cluster.root.update_steady()
        return self._queues[found.path]

    def _make(self, path: str) -> FairQueueState:
        if path not in self._queues:
            parent = self._make(path.rpartition(".")[0])
            self._queues[path] = parent.add_child(self._settings.above(path))
        return self._queues[path]

    def _let_run(self) -> None:
        """Let those run who may, in the order of their start."""
        for each in list(self._held):
            most = self._settings.most_by_user.get(each.user, self._settings.most_of_user)
            if most is not None and self._running[each.user] >= most:
                continue
            if any(_is_full(queue) for queue in each.leaf.path):
                continue
            del self._held[each]
            each.runs = True
            each.leaf.applications[each] = None
            each.leaf.members_changed()
            self._running[each.user] += 1
            for queue in each.leaf.path:
                queue.running += 1
            self.cluster.refresh(each)
        self._look_on()

    def _asks(self, each: FairApplicationState) -> None:
        """Read what an application asks for."""
        each.asks.read()
        self.cluster.refresh(each)
        self._look_on()

    def freed(self, application: Application) -> None:
        """Do nothing: containers count one by one; see `released`."""

    def released(self, container: Container) -> None:
        """Count a container no more."""
        self.cluster.released(container)
        if self._starving is not None:
            self._starving.released(container)
        self._look_on()

    def began(self, application: Application) -> None:
        """Let it ask for containers of tasks."""
        self._asks(self.cluster.states[application])

    def asks_again(self, application: Application) -> None:
        """Let it ask for what was killed, or had to wait."""
        self._asks(self.cluster.states[application])

    def starts_over(self, application: Application) -> None:
        """Let it ask for an AppMaster again."""
        each = self.cluster.states[application]
        self.cluster.let_go(each)
        self.cluster.count_master(each, -1)
        self._asks(each)

    def left(self, application: Application) -> None:
        """Count an application no more, and let others run."""
        each = self.cluster.states[application]
        self.cluster.let_go(each)
        self.cluster.count_master(each, -1)
        each.runs, each.has_left = False, True
        each.asks.clear()
        self.cluster.refresh(each)
        del each.leaf.applications[each]
        each.leaf.members_changed()
        self._running[each.user] -= 1
        for queue in each.leaf.path:
            queue.running -= 1
        self._let_run()

    def schedule(self, node: ClusterNode, now: int) -> bool:
        """Give what the node has free."""
        cluster, serving = self.cluster, self._serving
        self._resting.came(node)
        cluster.update(now)
        self._look_on()
        given = serving.serve(node, now)
        cluster.note_free()
        counts = serving.has_counted or node.reservation is not None
        goes_on = given or (counts and self.grants.hopes())
        if not goes_on:
            self._resting.rest(node)
        self._look_on()
        return goes_on

    def _look_on(self) -> None:
        """Let nodes send heartbeats that something may come of.

        If there are news, all do. If shares may be others at the next update, one does.
        """
        cluster = self.cluster
        if cluster.has_news:
            cluster.has_news = False
            cluster.blocked.clear()
            self._resting.rouse()
        if not cluster.wanting:
            self._resting.calm()
        if cluster.is_stale:
            self._resting.wake_at(cluster.next_update)

    @property
    def patience(self) -> int | None:
        """After how long at most something is killed if nothing else happens (ms)."""
        return None if self._starving is None else self._starving.patience

    def to_kill(self, now: int) -> list[Container]:
        """Give the containers whose time has come."""
        if self._starving is None:
            return []
        self.cluster.update(now)
        found = self._starving.round(now)
        self.cluster.has_news |= self._starving.has_changed and bool(self.cluster.blocked)
        self.killed += found
        self._look_on()
        return [each.container for each in found]


def _is_full(queue: FairQueueState) -> bool:
    most = queue.settings.most_running
    return most is not None and queue.running >= most
