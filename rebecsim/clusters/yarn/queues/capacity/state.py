"""What the Capacity Scheduler knows of queues and applications while it runs."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import log2

from rebecsim.clusters.yarn.containers import Application, ClusterNode, Task
from rebecsim.clusters.yarn.queue_files.capacity_settings import CapacityQueue
from rebecsim.clusters.yarn.queue_files.resources import NONE, Resources
from rebecsim.clusters.yarn.queues.asks import Ask, Asks
from rebecsim.clusters.yarn.queues.capacity.amounts import Label, Unchanging, UsedByLabel
from rebecsim.clusters.yarn.queues.capacity.effective import Effective
from rebecsim.clusters.yarn.queues.capacity.user_limits import UserRules
from rebecsim.clusters.yarn.queues.capacity.users import Users

Rank = tuple[float, ...]

MakeRules = Callable[["LeafState", Label], UserRules]


class QueueState(UsedByLabel):
    """A queue at work.

    Attributes:
        settings: what the file says of it.
        parent: above it, None for root.
        path: the queue and those above it.
        children: below it, in the order of the file.
        limits: what it should have, and may, by label.
        asking: how many applications in it ask for containers, by the label of their nodes; those
            that wait to be let in ask for their AppMasters.
        parallel: how many applications run in it.
        ranks: by what it is sorted among its siblings, by label, as long as that is right.
        orders: its children in the order in which they are served, by label, as long as it is.
    """

    __slots__ = (
        "asking",
        "children",
        "limits",
        "orders",
        "parallel",
        "parent",
        "path",
        "ranks",
        "settings",
    )

    def __init__(
        self,
        settings: CapacityQueue,
        parent: QueueState | None,
        limits: Mapping[Label, Mapping[str, Effective]],
        rules: MakeRules,
    ) -> None:
        super().__init__()
        self.settings = settings
        self.parent = parent
        self.path: list[QueueState] = [self, *(parent.path if parent else ())]
        self.limits = Unchanging((label, found[settings.path]) for label, found in limits.items())
        self.asking: dict[Label, int] = {}
        self.parallel = 0
        self.ranks: dict[Label, Rank] = {}
        self.orders: dict[Label, list[QueueState]] = {}
        self.children = [
            (QueueState if child.children else LeafState)(child, self, limits, rules)
            for child in settings.children
        ]

    def below(self) -> Iterator[QueueState]:
        """Give the queue and all below it, parents first."""
        yield self
        for child in self.children:
            yield from child.below()

    def leaves(self) -> Iterator[LeafState]:
        """Give the leaves below it."""
        for child in self.children:
            yield from child.leaves()


class LeafState(QueueState):
    """A queue that has applications.

    Attributes:
        users: of it.
        waiting: applications that may run, and whose AppMasters wait to be let in.
        active: those that have been let in, in the order of submission.
        most_seen: what it may have, rounded down.
        limit_seen: what it could have grown to when it was last looked at, no more than this.
        limit_now: the same when an application in it was last looked at.
        applications: that have been submitted and have not left.
        changed_at: when something changed last that limits of users depend on (ms).
    """

    __slots__ = (
        "_asking",
        "_ordered",
        "_to_note",
        "active",
        "applications",
        "changed_at",
        "limit_now",
        "limit_seen",
        "most_seen",
        "users",
        "waiting",
    )

    def __init__(
        self,
        settings: CapacityQueue,
        parent: QueueState | None,
        limits: Mapping[Label, Mapping[str, Effective]],
        rules: MakeRules,
    ) -> None:
        super().__init__(settings, parent, limits, rules)
        self.users = Users(settings, Unchanging((label, rules(self, label)) for label in limits))
        self.waiting: list[ApplicationState] = []
        self.active: dict[ApplicationState, None] = {}
        self._asking: list[ApplicationState] = []
        self._ordered: list[ApplicationState] | None = None
        self._to_note: dict[ApplicationState, None] = {}
        self.most_seen = self.limit_seen = self.limit_now = NONE
        self.applications = 0
        self.changed_at = 0

    def leaves(self) -> Iterator[LeafState]:
        """Give itself."""
        yield self

    def ordered(self) -> Sequence[ApplicationState]:
        """Give the applications that ask for containers, in the order in which they are served."""
        if self.settings.leaf_order != "fair":
            return self._asking
        self._note()
        if self._ordered is None:
            self._ordered = sorted(self._asking, key=_fair_key)  # stable: first come is first
        return self._ordered

    def in_service_order(self) -> list[ApplicationState]:
        """Give all that have been let in, in the order in which they are served."""
        found = sorted(self.active, key=_order)
        if self.settings.leaf_order == "fair":
            self._note()
            found.sort(key=_fair_key)
        return found

    def _note(self) -> None:
        """Note what applications have that were given something, or gave it back."""
        for each in self._to_note:
            each.note(by_size=self.settings.by_size)
        if self._to_note:
            self._to_note.clear()
            self._ordered = None

    def has_changed(self, each: ApplicationState, *, demand: bool = False) -> None:
        """Say that what an application has is to be noted, for a fair order.

        Of its demand that is only so if it counts, too.
        """
        if self.settings.leaf_order == "fair" and (self.settings.by_size or not demand):
            self._to_note[each] = None

    def ask(self, each: ApplicationState) -> None:
        """Put an application among those that ask."""
        insort(self._asking, each, key=_order)
        self._ordered = None

    def stop_asking(self, each: ApplicationState) -> None:
        """Take an application out of them."""
        del self._asking[bisect_left(self._asking, each.order, key=_order)]
        self._ordered = None


class CapacityAsk(Ask):
    """Containers of one size and priority.

    Attributes:
        missed: opportunities since the last container near to where they would rather run.
        missed_lent: those on nodes that others lend.
        retried: how often reserved nodes were looked at in vain.
        kept: the nodes that are reserved for it, and what is reserved there.
    """

    __slots__ = ("kept", "missed", "missed_lent", "retried")

    def __init__(self, task: Task) -> None:
        super().__init__(task)
        self.missed = self.missed_lent = self.retried = 0
        self.kept: dict[ClusterNode, Resources] = {}


class ApplicationState(UsedByLabel):
    """An application in a leaf.

    Attributes:
        order: its place by submission.
        label: of the nodes that it asks for.
        master: what its AppMaster takes.
        asks: what it asks for.
        runs: whether it counts among those that run in parallel.
        wants: whether it asks for containers.
        is_served: whether it does, and has been let in.
        looked_at: whether that has been tried; from then on its heartbeats ask for its limit.
        kept: what it has reserved on nodes, and for what.
    """

    __slots__ = (
        "_noted",
        "application",
        "asks",
        "is_served",
        "kept",
        "label",
        "leaf",
        "looked_at",
        "master",
        "order",
        "runs",
        "user",
        "wants",
    )

    def __init__(
        self, application: Application, leaf: LeafState, order: int, asks: Asks[CapacityAsk]
    ) -> None:
        super().__init__()
        self.application = application
        self.leaf = leaf
        self.order = order
        self.user = leaf.users.named(application.job.user)
        self.label = application.job.label or leaf.settings.default_label
        self.master = asks.all[0].size
        self.asks = asks
        self.runs = self.wants = self.is_served = self.looked_at = False
        self.kept: dict[ClusterNode, CapacityAsk] = {}
        self._noted = 0.0

    def note(self, *, by_size: bool) -> None:
        """Note by what it is sorted in a fair order: its containers, reservations apart."""
        used = sum(have.memory for have in self.used.values())
        used -= sum(have.memory for have in self.reserved.values())
        demand = used + self.asks.pending.memory if by_size else 0
        self._noted = used / log2(1 + demand) if demand else float(used)

    def charge(self, label: Label, more: Resources, now: int) -> None:
        """Count something that it has, for its user and its queues, too."""
        self.used.add(label, more)
        self.leaf.users.charge(self.user, label, more)
        self.leaf.changed_at = now
        for queue in self.leaf.path:
            queue.used.add(label, more)
            queue.ranks.pop(label, None)
            queue.orders.pop(label, None)

    def keep(self, label: Label, more: Resources) -> None:
        """Count what it has reserved."""
        self.reserved.add(label, more)
        self.user.reserved.add(label, more)
        for queue in self.leaf.path:
            queue.reserved.add(label, more)


def _order(each: ApplicationState) -> int:
    return each.order


def _fair_key(each: ApplicationState) -> float:
    return each._noted
