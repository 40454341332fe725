"""What an application asks for: so many alike containers of a priority, and where they should be.

The scheduler counts for each host and each rack how many containers are asked for there. A
container that is given elsewhere goes to the task that waits first, wherever that would rather run.
Then these counts are wrong until the next heartbeat of the AppMaster, which says them anew.
"""

from __future__ import annotations

from collections import Counter
from typing import Generic, TypeVar

from rebecsim.actors import StatePart
from rebecsim.clusters.yarn.containers import Application, Locality, NodeSize, Task
from rebecsim.clusters.yarn.placement import Hosts
from rebecsim.clusters.yarn.queue_files.resources import Resources


class Ask(StatePart):
    """Containers of one size and priority.

    Attributes:
        size: of each.
        is_master: whether it is the container of the AppMaster.
        count: how many are asked for.
        hosts, racks: how many of them there.
        wrong_since: when the counts of hosts and racks became wrong (ms); None: they are right.
    """

    __slots__ = ("count", "hosts", "is_master", "racks", "size", "wrong_since")

    def __init__(self, task: Task) -> None:
        self.size = Resources(task.memory, task.cores)
        self.is_master = task.is_master
        self.count = 0
        self.hosts: Counter[str] = Counter()
        self.racks: Counter[str] = Counter()
        self.wrong_since: int | None = None

    @property
    def names(self) -> int:
        """How many names are asked for: hosts, racks and anywhere."""
        return len(self.hosts) + len(self.racks) + 1

    def nearest(self, size: NodeSize) -> Locality:
        """Say how near a node is to where some container is asked for."""
        if size.rack not in self.racks:
            return "any"
        return "node" if size.name in self.hosts else "rack"

    def give(self, size: NodeSize, near: Locality, now: int) -> None:
        """Count a container that is given on a node."""
        self.count -= 1
        if near != "any":
            _less(self.racks, size.rack)
        if near == "node":
            _less(self.hosts, size.name)
        elif self.racks or self.hosts:
            self.wrong_since = now


def _less(counts: Counter[str], name: str) -> None:
    counts[name] -= 1
    if not counts[name]:
        del counts[name]


_Ask = TypeVar("_Ask", bound=Ask)


class Asks(StatePart, Generic[_Ask]):
    """All that an application asks for, what is given first before the rest."""

    __slots__ = ("_application", "_hosts", "_of", "all")

    def __init__(self, application: Application, hosts: Hosts, kind: type[_Ask]) -> None:
        self._application = application
        self._hosts = hosts
        found: dict[tuple[object, ...], _Ask] = {}
        self._of: dict[Task, _Ask] = {}
        for task, _ in application.tasks:
            alike = task.is_master, task.priority, task.kind, task.memory, task.cores
            if alike not in found:
                found[alike] = kind(task)
            self._of[task] = found[alike]
        self.all = tuple(found.values())

    @property
    def pending(self) -> Resources:
        """All that is asked for."""
        memory = cores = 0
        for ask in self.all:
            memory += ask.count * ask.size.memory
            cores += ask.count * ask.size.cores
        return Resources(memory, cores)

    def correct(self, ask: _Ask, now: int, period: int) -> None:
        """Count wrong counts anew, if the AppMaster has sent a heartbeat since.

        `period` is that of its heartbeats (ms).
        """
        if ask.wrong_since is None:
            return
        start = self._application.start
        if start + (now - start) // period * period > ask.wrong_since:
            self.read(ask)

    def read(self, only: _Ask | None = None) -> None:
        """Count anew what the AppMaster asks for, of one kind or of all."""
        for ask in self.all if only is None else (only,):
            ask.count = 0
            ask.hosts.clear()
            ask.racks.clear()
            ask.wrong_since = None
        application = self._application
        for task, count in application.left:
            if not task.is_master and not application.launched:
                break
            ask = self._of[task]
            if only is not None and ask is not only:
                continue
            ask.count += count
            preferred = self._hosts.preference(task.host) if task.host else None
            if preferred is not None:
                ask.racks[preferred.rack] += count
                if preferred.node is not None:
                    ask.hosts[preferred.node] += count

    def clear(self) -> None:
        """Ask for nothing any more."""
        for ask in self.all:
            ask.count = 0

    def bring_forward(self, ask: _Ask, size: NodeSize, near: Locality) -> Task:
        """Let that task be next which takes a container of an ask; give it.

        It is one that would rather run on the node if the container is for such a one, and the
        first one that waits otherwise.
        """
        application = self._application
        first = application.head
        if first is None or self._of[first] is not ask or not self._suits(first, size, near):
            of_ask = [
                (place, task)
                for place, (task, _) in enumerate(application.left)
                if self._of[task] is ask
            ]
            suiting = (item for item in of_ask if self._suits(item[1], size, near))
            place, first = next(suiting, of_ask[0])
            application.bring_forward(place)
        return first

    def _suits(self, task: Task, size: NodeSize, near: Locality) -> bool:
        return near != "node" or self.locality(size, task) == "node"

    def locality(self, size: NodeSize, task: Task) -> Locality | None:
        """Say how near a node is to where a task would rather run; None: it does not say."""
        return self._hosts.locality(size, task.host) if task.host else None
