"""Looking ahead: a copy of a cluster at work goes on, with what schedulers can know."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from rebecsim.actors import Model
from rebecsim.actors.rebec import LOWEST_PRIORITY
from rebecsim.clusters.kit.queued import QueuedSystem, Waiting, serve
from rebecsim.clusters.yarn.configuration import Errors, InjectedError, YarnConfiguration
from rebecsim.clusters.yarn.containers import (
    Application,
    ClusterNode,
    Container,
    Reservation,
    launch_of,
)
from rebecsim.clusters.yarn.foresight import Foresight, LastFinishes
from rebecsim.clusters.yarn.launching import Accounts, instances_of
from rebecsim.clusters.yarn.rebecs import ResourceManager
from rebecsim.clusters.yarn.schedulers.fair import Regular

_FINISHED = ResourceManager.finished.__name__
"""The message server that hears of the end of a task."""


@dataclass(frozen=True, slots=True)
class NodeThen:
    """A node as it was. Containers that ran have messages that say when they end.

    Attributes:
        copy: without containers.
        booked: those, and what they were like.
        done: those, which do not change.
        reservation: of which nothing changes but that it ends.
    """

    copy: ClusterNode
    booked: Mapping[Container, Container]
    done: Sequence[Container]
    reservation: Reservation | None


@dataclass(frozen=True, slots=True)
class ApplicationThen:
    """An application as it was.

    Attributes:
        copy: without containers.
        containers: how many it had been given.
        master_runs: whether its AppMaster did.
        counts: of containers that have ended, told and not, and that its AppMaster has been given;
            and whether that holds tasks back.
    """

    copy: Application
    containers: int
    master_runs: bool
    allocated: Sequence[Container]
    acquired: Sequence[Container]
    counts: tuple[int, int, int, bool]


class Snapshot:
    """A cluster as it was; what does not change of it is not copied."""

    def __init__(self, manager: ResourceManager) -> None:
        self.configuration = manager.configuration
        self.applications = {each: _application_then(each) for each in manager.running.values()}
        self.nodes = {node: _node_then(node) for node in manager.nodes}
        self.tasks = manager.tasks
        self.queue = list(manager.scheduler.waiting())
        self.messages = list(manager.messages())


def _application_then(application: Application) -> ApplicationThen:
    containers, launched = application.containers, application.launched
    taken = application.taken - len(application.allocated) if launched else 0
    return ApplicationThen(
        application.copied(),
        len(containers),
        launched and containers[0].finished is None,
        tuple(application.allocated),
        tuple(application.acquired),
        (application.gone, application.released, taken, launched and application.holds_back),
    )


def _node_then(node: ClusterNode) -> NodeThen:
    copy = ClusterNode(node.size)
    copy.memory, copy.cores = node.memory, node.cores
    copy.awake, copy.beat, copy.last_head = node.awake, node.beat, node.last_head
    booked = {each: each.copied(None, node) for each in node.booked}
    return NodeThen(copy, booked, tuple(node.done), node.reservation)


class CopiedCluster:
    """A cluster as it was, which can go on under a scheduler, with what schedulers can know.

    Messages have to be taken along before it goes on to their arrivals; tasks that ran are on
    their nodes when the messages that they end have been.

    Attributes:
        applications: by the numbers of their jobs.
    """

    def __init__(
        self, original: Snapshot, now: int, scheduler: type[Regular], *, gaps: bool, closes: bool
    ) -> None:
        """Copy a snapshot; `closes` is as for `ResourceManager.resume`."""
        self._original = original
        self._now = now
        self._applications = {each: then.copy for each, then in original.applications.items()}
        self.applications = {copy.number: copy for copy in self._applications.values()}
        self._running = {each.number: each for each in self._applications}
        self._nodes = {node: then.copy for node, then in original.nodes.items()}
        booked: dict[Container, Container] = {}
        for node in original.nodes.values():
            booked.update(self._copy_node(node))
        for application, of_it in original.applications.items():
            self._copy_containers(application, of_it, booked)
        self.system = QueuedSystem(self._model(scheduler, gaps))
        found = self.system.rebecs[0]
        assert isinstance(found, ResourceManager)
        self.manager = found
        queue = [self._applications[each] for each in original.queue]
        running = self._applications.values()
        self.manager.resume(running, queue, original.tasks, closes=closes)
        for application, then in original.applications.items():
            _resume_master(self._applications[application], then)
        self._to_come = self._messages()
        self._taken = 0
        self.system.sequence = len(self._to_come)

    def _copy_node(self, then: NodeThen) -> dict[Container, Container]:
        """Give a node what it has, but for containers that run; give copies of booked ones."""
        copy, kept = then.copy, then.reservation
        booked = {each: self._container(own) for each, own in then.booked.items()}
        for own in booked.values():
            own.lengthened = 0
            copy.booked[own] = None
        running = self._applications.keys()  # what has left is none of the copy's business
        copy.done = [self._container(each) for each in then.done if each.application in running]
        if kept is not None:
            whose = self._applications.get(kept.application, kept.application)
            copy.reservation = Reservation(whose, kept.task, kept.start)
        return booked

    def _copy_containers(
        self, application: Application, then: ApplicationThen, booked: dict[Container, Container]
    ) -> None:
        """Give an application its containers: those that may change are copies."""
        copy = then.copy
        copy.containers = application.containers[: then.containers]
        if then.master_runs:
            self._run(copy.containers[0])
        copy.allocated = [booked[each] for each in then.allocated]
        copy.acquired = [booked[each] for each in then.acquired]
        for own in (*copy.allocated, *copy.acquired):
            copy.containers[own.number - 1] = own

    def _container(self, then: Container) -> Container:
        return then.copied(self._applications.get(then.application), self._nodes[then.node])

    def _run(self, original: Container) -> Container:
        """Copy a container that runs."""
        own = self._container(original)
        own.finished = None
        own.node.running[own] = None
        own.application.containers[own.number - 1] = own
        return own

    def _model(self, scheduler: type[Regular], gaps: bool) -> Model:
        configuration = _known_of(self._original.configuration, gaps)
        nodes, applications = tuple(self._nodes.values()), tuple(self._applications.values())
        largest = max(node.size.memory for node in nodes)
        errors = Errors(configuration, scheduler.elastic, largest)
        arguments = (configuration, nodes, scheduler, Accounts(), errors, applications, False, None)
        beats = [None] * len(nodes)
        instances = instances_of(ResourceManager, arguments, nodes, beats, applications, errors)
        return Model("foreseen", tuple(instances))

    def _messages(self) -> list[Waiting]:
        """Give the messages of the original, last one first; tasks end when their durations say."""
        elasticity = self._original.configuration.elasticity
        messages = self._original.messages
        if elasticity.memory_error or elasticity.bump_error or elasticity.duration_error:
            messages = [
                (self._believed_end(message[5]), *message[1:])
                if message[4].name == _FINISHED
                else message
                for message in messages
            ]
        return sorted(messages, reverse=True)

    def _believed_end(self, about: tuple[int, int]) -> int:
        container = self._found(about)
        assert container.launched is not None
        return container.launched + container.duration

    def _found(self, about: tuple[int, int]) -> Container:
        """Find a container of the original by its application and its place in that."""
        number, place = about
        return self._running[number].containers[place - 1]

    def take_messages(self, before: float) -> None:
        """Take along the messages that arrive before a time, in their order."""
        to_come = self._to_come
        while to_come and to_come[-1][0] < before:
            message = to_come.pop()
            self._taken += 1
            if self._concerns(message):
                arrival, priority, _, _, server, arguments = message
                arrival = max(self._now, arrival)
                taken = arrival, priority, self._taken, self.manager, server, arguments
                self.system.take_over(taken)

    def _concerns(self, message: Waiting) -> bool:
        """Whether a message is taken along; a task that it ends runs here, too, then."""
        _, _, _, receiver, server, about = message
        if not isinstance(receiver, ResourceManager) or server.name == "submit" or not about:
            return False  # a look is about nothing
        if server.name == _FINISHED:
            self._run(self._found(about))
            return True
        return server.name == "node_heartbeat" or about[0] in self._running

    def place(self, application: Application, node: ClusterNode, memory: int) -> None:
        """Give an application of the original a container of a memory (MB) on a node."""
        own = self._applications[application]
        self.system.actor = self.manager
        self.system.now = self.manager._now = self._now
        scheduler = self.manager.scheduler
        assert isinstance(scheduler, Regular)
        scheduler.give(own, self._nodes[node], memory)
        self.manager.wake_node(self._nodes[node], self._now)


def _resume_master(copy: Application, then: ApplicationThen) -> None:
    """Let an AppMaster be as far as it was."""
    master, own = copy.rebec, copy.own
    copy.gone, copy.released, master.taken, master.holds_back = then.counts
    master.acquired = list(map(launch_of, copy.acquired))
    master.node = None if own is None else own.node.rebec


def _known_of(original: YarnConfiguration, gaps: bool) -> YarnConfiguration:
    """Give what schedulers can know of a configuration."""
    drawn = original.elasticity
    as_dss = original.quirks.errors_foreseen
    return replace(
        original,
        gaps=gaps,
        push_back=None,
        elasticity=replace(
            drawn,
            memory_error=InjectedError(),
            bump_error=InjectedError(),
            duration_error=drawn.duration_error if as_dss else InjectedError(),
        ),
    )


Placement = tuple[Application, ClusterNode, int]
"""A container to be given before the copy goes on: to whom, where, and how much memory (MB)."""


def look_ahead(
    manager: ResourceManager, now: int, until: int, placement: Placement | None = None
) -> Foresight:
    """Let a copy of a cluster go on from now to a time (ms), or until its applications have ended.

    It has the applications that run, and its scheduler is REGULAR, without gaps. Errors of memory,
    of bumps, and those of containers that run already are none that it knows of. What is copied is
    the cluster as it is now; the copy is made, and goes on, when somebody asks what is foreseen.
    """
    snapshot = Snapshot(manager)
    return Foresight(lambda: _GoingOn(snapshot, now, placement), until)


def play_out(
    manager: ResourceManager, now: int, scheduler: type[Regular]
) -> Mapping[int, Application]:
    """Let a copy of a cluster go on under a scheduler until the applications that run have ended.

    What it knows is as in `look_ahead`. Gives the applications by the numbers of their jobs. Raises
    StuckError when they never end.
    """
    configuration = manager.configuration
    gaps = configuration.gaps and not configuration.quirks.no_gaps_foreseen
    copy = CopiedCluster(Snapshot(manager), now, scheduler, gaps=gaps, closes=False)
    copy.take_messages(math.inf)
    serve(copy.system, copy.manager)
    return copy.applications


class _GoingOn:
    """A copy of a cluster that goes on by the heartbeats of its nodes; see `Future`."""

    def __init__(self, snapshot: Snapshot, now: int, placement: Placement | None) -> None:
        self._copy = copy = CopiedCluster(snapshot, now, Regular, gaps=False, closes=True)
        if placement is not None:
            copy.place(*placement)
        configuration = copy.manager.configuration
        if configuration.placement is not None:  # which asks nodes for what runs on them
            copy.take_messages(math.inf)
        self.applications: Mapping[int, Application] = copy.applications
        self.reached = now
        self.finishes = LastFinishes(configuration)
        self._step = configuration.node_heartbeat
        self._last_sent = copy.system.sequence
        self._looked_until: int | None = None

    def go_on(self, until: int) -> bool:
        """Go on by a heartbeat, to a time at the most; say whether there was anything to do.

        At that time itself only those messages count that were sent before looking ahead began.
        """
        copy = self._copy
        if copy.manager.closed or self._looked_until == until:
            return False
        reached = self.reached + self._step
        if reached < until:
            end = reached, 0, 0
        else:
            reached = self._looked_until = until
            end = until, LOWEST_PRIORITY, self._last_sent + 1
        copy.take_messages(reached + 1)
        serve(copy.system, copy.manager, end)
        self.reached = reached
        return True
