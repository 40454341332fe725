"""What an application asks for next: where its tasks would rather run, and how many there are.

Tasks of one kind that ask for the same are one request, as in YARN, even if each has a host of its
own: a node gives a container to the one that would rather run there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from rebecsim.clusters.yarn.application import Application, Task
from rebecsim.clusters.yarn.container import Locality
from rebecsim.clusters.yarn.node import NodeSize
from rebecsim.clusters.yarn.placement.hosts import Hosts


class Wishes:
    """Where the tasks of one request would rather run.

    Attributes:
        hosts, racks: how many tasks would rather run there.
        count: how many tasks there are.
        locations: how many names are asked for: hosts, racks and anywhere.
    """

    __slots__ = ("count", "hosts", "locations", "racks")

    def __init__(self, waiting: Iterable[tuple[Task, int]], hosts: Hosts) -> None:
        self.hosts: Counter[str] = Counter()
        self.racks: Counter[str] = Counter()
        self.count = 0
        for task, count in waiting:
            self.count += count
            preferred = hosts.preference(task.host)
            if preferred is not None:
                self.racks[preferred.rack] += count
                if preferred.node is not None:
                    self.hosts[preferred.node] += count
        self.locations = len(self.hosts) + len(self.racks) + 1

    def nearest(self, size: NodeSize) -> Locality:
        """Say how near a node is to where some task would rather run."""
        if self.hosts.get(size.name):
            return "node"
        return "rack" if self.racks.get(size.rack) else "any"


class Requests:
    """Reads what applications ask for; what has not changed since is not read again."""

    def __init__(self, hosts: Hosts) -> None:
        self._hosts = hosts
        self._known: dict[Application, tuple[int, dict[Task, Wishes]]] = {}

    def of(self, application: Application, like: Task | None = None) -> Wishes:
        """Give where those would rather run that ask for the same as a task, or as the head."""
        like = like or application.head
        assert like is not None
        known = self._known.get(application)
        if known is None or known[0] != application.requests:
            known = self._known[application] = application.requests, {}
        if like not in known[1]:
            known[1][like] = Wishes(application.alike(like), self._hosts)
        return known[1][like]

    def bring_forward(
        self,
        application: Application,
        size: NodeSize,
        near: Locality | None,
        like: Task | None = None,
    ) -> None:
        """Let that of some tasks be next which would rather run on a node, or in its rack.

        If no node is near (None, or "any"), it is the first of those like a task, or the head.
        """
        for place, task, _ in application.places(like):
            if near in (None, "any") or self._hosts.locality(size, task.host) == near:
                application.bring_forward(place)
                return
