"""What the Capacity Scheduler knows of queues, users and applications while it runs."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterator, Mapping
from math import log2

from rebecsim.clusters.yarn.application import Application
from rebecsim.clusters.yarn.node import ClusterNode
from rebecsim.clusters.yarn.queue_files.capacity_settings import CapacityQueue
from rebecsim.clusters.yarn.queue_files.resources import NONE, Resources
from rebecsim.clusters.yarn.queues.capacity.effective import Effective

Label = str
Amounts = dict[Label, Resources]


class UsedByLabel:
    """What somebody has of the nodes of each label.

    Attributes:
        used: containers and reservations.
        reserved: these alone.
        masters: what AppMasters may take, of those that have been let in.
    """

    __slots__ = ("masters", "reserved", "used")

    def __init__(self) -> None:
        self.used: Amounts = {}
        self.reserved: Amounts = {}
        self.masters: Amounts = {}


def amount(amounts: Amounts, label: Label) -> Resources:
    """Give what there is of a label."""
    return amounts.get(label, NONE)


def add(amounts: Amounts, label: Label, more: Resources) -> None:
    """Add something to what there is of a label."""
    amounts[label] = amounts.get(label, NONE).plus(more)


class QueueState(UsedByLabel):
    """A queue at work.

    Attributes:
        settings: what the file says of it.
        parent: above it, None for root.
        children: below it, in the order of the file.
        limits: what it should have, and may, by label.
        asking: how many applications in it ask for containers, by the label of their nodes.
        parallel: how many applications run in it.
    """

    __slots__ = ("asking", "children", "limits", "parallel", "parent", "settings")

    def __init__(
        self,
        settings: CapacityQueue,
        parent: QueueState | None,
        limits: Mapping[Label, Mapping[str, Effective]],
    ) -> None:
        super().__init__()
        self.settings = settings
        self.parent = parent
        self.limits = {label: found[settings.path] for label, found in limits.items()}
        self.asking: dict[Label, int] = {}
        self.parallel = 0
        self.children = [
            QueueState(child, self, limits) if child.children else LeafState(child, self, limits)
            for child in settings.children
        ]

    def __iter__(self) -> Iterator[QueueState]:
        """Give the queue and those above it."""
        queue: QueueState | None = self
        while queue is not None:
            yield queue
            queue = queue.parent

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
        users: of it, by name.
        waiting: applications that may run, and whose AppMasters wait to be let in.
        active: those that have been let in, in the order of submission.
        limit_now: what it could have grown to when it was last looked at.
        applications: that have been submitted and have not left.
    """

    __slots__ = ("_asking", "active", "applications", "limit_now", "users", "waiting")

    def __init__(
        self,
        settings: CapacityQueue,
        parent: QueueState | None,
        limits: Mapping[Label, Mapping[str, Effective]],
    ) -> None:
        super().__init__(settings, parent, limits)
        self.users: dict[str, UserState] = {}
        self.waiting: list[ApplicationState] = []
        self.active: dict[ApplicationState, None] = {}
        self._asking: list[tuple[int, ApplicationState]] = []
        self.limit_now = self.limits[""].maximum
        self.applications = 0

    def leaves(self) -> Iterator[LeafState]:
        """Give itself."""
        yield self

    def user(self, name: str) -> UserState:
        """Give a user, who may be new."""
        if name not in self.users:
            self.users[name] = UserState(name, self.settings.user_weights.get(name, 1.0))
        return self.users[name]

    def ordered(self) -> list[ApplicationState]:
        """Give the applications that ask for containers, in the order in which they are served."""
        asking = [each for _, each in self._asking]
        if self.settings.leaf_order == "fair":
            asking.sort(key=self._fair_key)  # a stable one, so first come counts then
        return asking

    def in_service_order(self) -> list[ApplicationState]:
        """Give all that have been let in, in the order in which they are served."""
        found = sorted(self.active, key=lambda each: each.order)
        if self.settings.leaf_order == "fair":
            found.sort(key=self._fair_key)
        return found

    def _fair_key(self, each: ApplicationState) -> float:
        used = sum(have.memory for have in each.used.values())
        if not self.settings.by_size:
            return used
        demand = used + each.pending.memory
        return used / log2(1 + demand) if demand else 0.0

    def ask(self, each: ApplicationState) -> None:
        """Put an application among those that ask."""
        insort(self._asking, (each.order, each), key=lambda item: item[0])

    def stop_asking(self, each: ApplicationState) -> None:
        """Take an application out of them."""
        del self._asking[bisect_left(self._asking, each.order, key=lambda item: item[0])]


class UserState(UsedByLabel):
    """A user of a leaf.

    Attributes:
        asking: how many of his applications ask for containers.
        waiting: how many wait to be let in.
    """

    __slots__ = ("asking", "name", "waiting", "weight")

    def __init__(self, name: str, weight: float) -> None:
        super().__init__()
        self.name = name
        self.weight = weight
        self.asking = self.waiting = 0


class ApplicationState(UsedByLabel):
    """An application in a leaf.

    Attributes:
        order: its place by submission.
        label: of the nodes that it asks for.
        master: what its AppMaster takes.
        runs: whether it counts among those that run in parallel.
        asks: whether it asks for containers.
        kept: what it has reserved on nodes.
        missed: opportunities since its last container near to where it would rather run.
        missed_lent: those on nodes that others lend.
        retried: how often reserved nodes were looked at in vain.
        wanted: the size and the kind of the containers that it asked for last.
    """

    __slots__ = (
        "application",
        "asks",
        "kept",
        "label",
        "leaf",
        "master",
        "missed",
        "missed_lent",
        "order",
        "retried",
        "runs",
        "user",
        "wanted",
    )

    def __init__(
        self, application: Application, leaf: LeafState, order: int, master: Resources
    ) -> None:
        super().__init__()
        self.application = application
        self.leaf = leaf
        self.order = order
        self.user = leaf.user(application.job.user)
        self.label = application.job.label or leaf.settings.default_label
        self.master = master
        self.runs = self.asks = False
        self.kept: dict[ClusterNode, Resources] = {}
        self.missed = self.missed_lent = self.retried = 0
        self.wanted: tuple[Resources, str] | None = None

    @property
    def request(self) -> Resources:
        """What it asks for next."""
        task = self.application.head
        assert task is not None
        return Resources(task.memory, task.cores)

    @property
    def pending(self) -> Resources:
        """All that it asks for."""
        if not self.asks:
            return NONE
        found = NONE
        for task, count in self.application.left:
            found = found.plus(Resources(task.memory * count, task.cores * count))
            if task.is_master:
                break
        return found

    def charge(self, label: Label, more: Resources) -> None:
        """Count something that it has, for its user and its queues, too."""
        add(self.used, label, more)
        add(self.user.used, label, more)
        for queue in self.leaf:
            add(queue.used, label, more)

    def keep(self, label: Label, more: Resources) -> None:
        """Count what it has reserved."""
        add(self.reserved, label, more)
        add(self.user.reserved, label, more)
        for queue in self.leaf:
            add(queue.reserved, label, more)


def minus(some: Resources) -> Resources:
    """Give what takes something away when it is added."""
    return Resources(-some.memory, -some.cores)
