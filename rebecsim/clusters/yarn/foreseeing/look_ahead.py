"""Looking ahead: a copy of a cluster at work goes on, with what schedulers can know."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from rebecsim.actors import Instance, Model
from rebecsim.actors.rebec import Rebec
from rebecsim.clusters.common.queued import QueuedSystem, Waiting, serve
from rebecsim.clusters.yarn.accounts import Accounts
from rebecsim.clusters.yarn.application import Application
from rebecsim.clusters.yarn.configuration import InjectedError
from rebecsim.clusters.yarn.container import Container
from rebecsim.clusters.yarn.foreseeing.foresight import Foresight
from rebecsim.clusters.yarn.node import ClusterNode, Reservation
from rebecsim.clusters.yarn.rebecs import AppMaster, NodeManager, ResourceManager
from rebecsim.clusters.yarn.schedulers.regular import Regular

Placement = tuple[Application, ClusterNode, int]
"""A container to be given before the copy goes on: to whom, where, and how much memory (MB)."""


def look_ahead(
    manager: ResourceManager, now: int, until: int, placement: Placement | None = None
) -> Foresight:
    """Let a copy of a cluster go on from now to a time (ms), or until its applications have ended.

    It has the applications that run, and its scheduler is REGULAR, without gaps. Errors of memory,
    of bumps, and those of containers that run already are none that it knows of. The copy is made
    now, and goes on when somebody asks what is foreseen.
    """
    snapshot = _Snapshot(manager)

    def gone_on() -> dict[int, Application]:
        copy = _Copy(snapshot, Regular, gaps=False)
        copy.take_messages(now, closes=True)
        if placement is not None:
            copy.place(placement, now)
        copied = copy.manager
        copy.system.actor = copied
        copied._now = now
        copied.close(after=until - now)
        return copy.gone_on()

    return Foresight(gone_on)


def play_out(manager: ResourceManager, now: int, scheduler: type[Regular]) -> Foresight:
    """Let a copy of a cluster go on under a scheduler until the applications that run have ended.

    What it knows is as in `look_ahead`. Raises StuckError when they never end.
    """
    copy = _Copy(_Snapshot(manager), scheduler, gaps=manager.configuration.gaps)
    copy.take_messages(now, closes=False)
    found = copy.gone_on()
    return Foresight(lambda: found)


@dataclass(frozen=True, slots=True)
class _NodeThen:
    """A node as it was.

    Attributes:
        copy: without containers.
        booked: those, and what they were like.
        running: those; of them nothing changes but that they end.
        done: those, which do not change.
        reservation: of which nothing changes but that it ends.
    """

    copy: ClusterNode
    booked: Mapping[Container, Container]
    running: Sequence[Container]
    done: Sequence[Container]
    reservation: Reservation | None


@dataclass(frozen=True, slots=True)
class _ApplicationThen:
    """An application as it was, and its lists of containers."""

    copy: Application
    containers: Sequence[Container]
    allocated: Sequence[Container]
    acquired: Sequence[Container]
    released: Sequence[Container]
    finished: Sequence[Container]


class _Snapshot:
    """What changes of a cluster that goes on, as it is now; of the rest it is a reference."""

    def __init__(self, manager: ResourceManager) -> None:
        self.configuration = manager.configuration
        self.applications = {each: _application_then(each) for each in manager.running.values()}
        self.nodes = {node: _node_then(node) for node in manager.nodes}
        self.queue = list(manager.scheduler.waiting())
        self.messages = list(manager.messages())


def _application_then(application: Application) -> _ApplicationThen:
    return _ApplicationThen(
        application.copied(),
        tuple(application.containers),
        tuple(application.allocated),
        tuple(application.acquired),
        tuple(application.released),
        tuple(application.finished),
    )


def _node_then(node: ClusterNode) -> _NodeThen:
    copy = ClusterNode(node.size)
    copy.memory, copy.cores = node.memory, node.cores
    copy.awake, copy.beat, copy.last_head = node.awake, node.beat, node.last_head
    booked = {each: each.copied(None, node) for each in node.booked}
    return _NodeThen(copy, booked, tuple(node.running), tuple(node.done), node.reservation)


class _Copy:
    """A cluster like another one, with rebecs, nodes, applications and containers of its own."""

    def __init__(self, snapshot: _Snapshot, scheduler: type[Regular], gaps: bool) -> None:
        self._original = snapshot
        self._applications = {each: then.copy for each, then in snapshot.applications.items()}
        self._nodes = {node: then.copy for node, then in snapshot.nodes.items()}
        self._containers: dict[Container, Container] = {}
        for node in snapshot.nodes.values():
            self._copy_containers(node)
        for application in snapshot.applications.values():
            self._copy_lists(application)
        self.system = QueuedSystem(self._model(scheduler, gaps))
        found = self.system.rebecs[0]
        assert isinstance(found, ResourceManager)
        self.manager = found

    def _copy_containers(self, then: _NodeThen) -> None:
        copy = then.copy
        for original, booked in then.booked.items():
            own = self._container(original, booked, copy)
            own.lengthened = 0
            copy.booked[own] = None
        for each in then.running:
            own = self._container(each, each, copy)
            own.finished = None
            copy.running[own] = None
        copy.done = [self._container(each, each, copy) for each in then.done]
        kept = then.reservation
        if kept is not None:
            whose = self._applications.get(kept.application, kept.application)
            copy.reservation = Reservation(whose, kept.task, kept.start)

    def _container(self, original: Container, then: Container, node: ClusterNode) -> Container:
        copy = then.copied(self._applications.get(original.application), node)
        self._containers[original] = copy
        return copy

    def _copy_lists(self, then: _ApplicationThen) -> None:
        known, copy = self._containers, then.copy
        copy.containers = [known.get(each, each) for each in then.containers]
        copy.allocated = [known.get(each, each) for each in then.allocated]
        copy.acquired = [known.get(each, each) for each in then.acquired]
        copy.released = list(then.released)
        copy.finished = list(then.finished)

    def _model(self, scheduler: type[Regular], gaps: bool) -> Model:
        original = self._original
        drawn = original.configuration.elasticity
        as_dss = original.configuration.quirks.errors_foreseen
        configuration = replace(
            original.configuration,
            gaps=gaps,
            push_back=None,
            elasticity=replace(
                drawn,
                memory_error=InjectedError(),
                bump_error=InjectedError(),
                duration_error=drawn.duration_error if as_dss else InjectedError(),
            ),
        )
        arguments = (configuration, tuple(self._nodes.values()), scheduler, Accounts())
        instances = [Instance("manager", ResourceManager, (), arguments)]
        for node in self._nodes.values():
            name = f"node_{node.size.number}"
            instances.append(Instance(name, NodeManager, ("manager",), (node,)))
        for application in self._applications.values():
            name = f"master_{application.number}"
            period = configuration.master_heartbeat
            instances.append(Instance(name, AppMaster, ("manager",), (application, period)))
        return Model("foreseen", tuple(instances))

    def take_messages(self, now: int, closes: bool) -> None:
        """Copy the messages that are under way, and who is in the queue."""
        manager = self.manager
        queue = [self._applications[each] for each in self._original.queue]
        manager.resume(self._applications.values(), queue, closes)
        found = [
            copy
            for message in self._original.messages
            if (copy := self._message(message)) is not None
        ]
        found.sort(key=lambda message: message[:3])
        self.system.sequence = len(found)
        self.system.waiting[:] = [
            (max(now, arrival), priority, number, receiver, server, arguments)
            for number, (arrival, priority, _, receiver, server, arguments) in enumerate(
                found, start=1
            )
        ]

    def _message(self, message: Waiting) -> Waiting | None:
        """Copy a message; a task ends when its duration says. None: it is not taken along."""
        arrival, priority, number, receiver, server, arguments = message
        own: Rebec
        if isinstance(receiver, NodeManager):
            (container,) = arguments
            copy = self._containers[container]
            own = copy.node.manager
            assert copy.launched is not None
            arrival = copy.launched + copy.duration
            arguments = (copy,)
        elif isinstance(receiver, AppMaster):
            application = self._applications.get(receiver.application)
            if application is None:
                return None
            own = application.master
        elif isinstance(receiver, ResourceManager) and server.name != "submit":
            own = self.manager
            (about,) = arguments
            arguments = (
                self._nodes[about] if isinstance(about, ClusterNode) else self._applications[about],
            )
        else:
            return None
        return arrival, priority, number, own, server, arguments

    def place(self, placement: Placement, now: int) -> None:
        """Give a container."""
        application, node, memory = placement
        own = self._applications[application]
        self.system.actor = self.manager
        self.manager._now = now
        self.manager.allocate(own, self._nodes[node], memory)
        self.manager.scheduler.freed(own)

    def gone_on(self) -> dict[int, Application]:
        """Let it go on to its end; give the applications by the numbers of their jobs."""
        serve(self.system, self.manager)
        return {copy.number: copy for copy in self._applications.values()}
