"""Where containers may run: labels, spreading over nodes, and waiting for a node that is near.

Delay scheduling is that of YARN's Capacity Scheduler (Zaharia and others, Delay Scheduling, EuroSys
2010): an application lets nodes pass that are far from where its tasks would rather run. After some
missed opportunities it takes a node in the same rack, after some more any node. A container on the
preferred node or in its rack begins the count anew.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import NamedTuple, Protocol

from rebecsim.actors import Constant, StatePart
from rebecsim.clusters.yarn.configuration import PlacementRules
from rebecsim.clusters.yarn.containers import (
    Application,
    ClusterNode,
    Container,
    Locality,
    NodeSize,
)


class Preference(NamedTuple):
    """A preferred node, None if the cluster has it not, and the rack in which it is."""

    node: str | None
    rack: str


class Hosts(Constant):
    """The nodes of a cluster by name, and their racks."""

    def __init__(self, sizes: Iterable[NodeSize]) -> None:
        self._racks = {size.name: size.rack for size in sizes}
        self._rack_names = set(self._racks.values())
        self._known: dict[str, Preference | None] = {}

    def __repr__(self) -> str:
        return f"Hosts({', '.join(self._racks)})"

    def preference(self, host: str) -> Preference | None:
        """Read where tasks would rather run: `/rack/node` or `node`.

        None: anywhere, as nothing is said, or neither the node nor the rack is there.
        """
        if host not in self._known:
            self._known[host] = self._found(host)
        return self._known[host]

    def _found(self, host: str) -> Preference | None:
        rack, _, node = host.strip("/").rpartition("/")
        if node in self._racks:
            return Preference(node, self._racks[node])
        return Preference(None, rack) if rack in self._rack_names else None

    def locality(self, size: NodeSize, host: str) -> Locality | None:
        """Say how near a node is; None if there is no preference."""
        preferred = self.preference(host)
        if preferred is None:
            return None
        if size.name == preferred.node:
            return "node"
        return "rack" if size.rack == preferred.rack else "any"


def may_use(size: NodeSize, label: str) -> bool:
    """Whether jobs of a label, or of none, may ever use a node.

    Those with a label use nodes that have it. Those without use nodes without, and nodes of labels
    that are not exclusive, as long as no request waits for these; see `lent`.
    """
    if label:
        return any(each.name == label for each in size.labels)
    return not any(each.exclusive for each in size.labels)


def lent(size: NodeSize, waiting: Iterable[str]) -> bool:
    """Whether a node may be used by jobs without a label, if jobs of these labels wait."""
    names = {each.name for each in size.labels}
    return not names or names.isdisjoint(waiting)


class Sharing(Protocol):
    """What is asked of a scheduler."""

    def waiting(self) -> Iterable[Application]:
        """Give the applications that wait for containers."""

    def has_room(self, node: ClusterNode, application: Application) -> bool:
        """Whether the application's next task could be given a container on a node."""


class Placement(StatePart):
    """Says where tasks may run.

    An opportunity is missed when a node with room is let pass at a heartbeat. Such a node sends its
    next heartbeat, as it may be taken then.
    """

    def __init__(
        self, rules: PlacementRules, nodes: Sequence[ClusterNode], scheduler: Sharing
    ) -> None:
        self._scheduler = scheduler
        self._hosts = Hosts(node.size for node in nodes)
        self._most_per_node = rules.most_per_node
        near = _at_most(rules.node_delay, len(nodes))
        far = None if near is None else _at_most(rules.rack_delay, len(nodes) - near)
        self._node_delay = near
        self._rack_delay = _at_most(rules.rack_delay, len(nodes))
        self._both_delays = None if near is None or far is None else near + far
        self._passed: tuple[int, int] | None = None

    def may_place(self, node: ClusterNode, application: Application) -> bool:
        """Whether the application's next task may be given a container on a node, if it fits."""
        return (
            self._may_use(node, application)
            and self._spreads(node, application)
            and self._is_near(node, application)
        )

    def lets_pass(self, node: ClusterNode) -> bool:
        """Whether the node was let pass at this heartbeat, for an application that waits."""
        return self._passed == (node.size.number, node.beat)

    def placed(self, container: Container) -> None:
        """Take note of a container that its application has got."""
        application = container.application
        near = container.locality = self._hosts.locality(container.node.size, container.task.host)
        if near != "any" or application.head is not container.task:
            application.missed = 0

    def _may_use(self, node: ClusterNode, application: Application) -> bool:
        label, size = application.job.label, node.size
        if not size.labels:
            return not label
        if not may_use(size, label):
            return False
        if label:
            return True
        return lent(size, (each.job.label for each in self._scheduler.waiting()))

    def _spreads(self, node: ClusterNode, application: Application) -> bool:
        """Whether the node may hold another task of this application; its AppMaster is none."""
        most, task = self._most_per_node, application.head
        if most is None or (task is not None and task.is_master):
            return True
        held = sum(
            container.application.number == application.number and not container.task.is_master
            for container in chain(node.booked, node.running)
        )
        return held < most

    def _is_near(self, node: ClusterNode, application: Application) -> bool:
        task = application.head
        assert task is not None
        locality = self._hosts.locality(node.size, task.host)
        if locality is None or locality == "node":
            return True
        delay = self._delay(locality, task.host)
        if delay is None:
            return False
        if application.missed >= delay:
            return True
        if self._scheduler.has_room(node, application):
            self._let_pass(node, application)
        return False

    def _delay(self, locality: Locality, host: str) -> int | None:
        """Give how many opportunities are missed until such a node is taken; None: it never is."""
        preferred = self._hosts.preference(host)
        if preferred is not None and preferred.node is None:  # there is only a rack to wait for
            return 0 if locality == "rack" else self._rack_delay
        return self._node_delay if locality == "rack" else self._both_delays

    def _let_pass(self, node: ClusterNode, application: Application) -> None:
        self._passed = node.size.number, node.beat
        if application.missed_at != self._passed:  # once at a heartbeat, however often it is asked
            application.missed_at = self._passed
            application.missed += 1


def _at_most(delay: int | None, most: int) -> int | None:
    return None if delay is None else min(delay, most)
