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
        self._known: dict[Application, tuple[int, Wishes]] = {}

    def of(self, application: Application) -> Wishes:
        """Give where the next tasks of an application would rather run."""
        known = self._known.get(application)
        if known is not None and known[0] == application.requests:
            return known[1]
        found = Wishes(application.alike(), self._hosts)
        self._known[application] = application.requests, found
        return found

    def bring_forward(self, application: Application, size: NodeSize, near: Locality) -> None:
        """Let that task be next which would rather run on a node, or in its rack."""
        if near == "any":
            return
        for place, (task, _) in enumerate(application.alike()):
            if self._hosts.locality(size, task.host) == near:
                application.bring_forward(place)
                return
