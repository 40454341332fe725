"""Node managers and AppMasters; what a resource manager knows of its cluster, and its accounts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, cast

from rebecsim.actors import Instance, Rebec, RebecNamed, StatePart, known_rebec, message_server
from rebecsim.clusters.yarn.configuration import DurationDraws, Errors
from rebecsim.clusters.yarn.containers import (
    Application,
    ClusterNode,
    Container,
    Launch,
    Reservation,
)
from rebecsim.errors import UserError

if TYPE_CHECKING:
    from rebecsim.clusters.yarn.configuration import YarnConfiguration
    from rebecsim.clusters.yarn.foresight import Foresight
    from rebecsim.clusters.yarn.rebecs import ResourceManager
    from rebecsim.clusters.yarn.schedulers.scheduler import ContainerScheduler

MANAGER = "manager"

_UNBOUNDED = 2**31 - 1
_AT_ONCE = 1


def launch_of(container: Container) -> Launch:
    """Give what an AppMaster hears of a container that it is given."""
    return (
        container.number,
        container.node.rebec,
        container.duration,
        container.lengthened,
        container.is_elastic,
    )


class NodeManager(Rebec, queue_size=_UNBOUNDED):
    """Runs containers on its node for as long as their tasks take."""

    manager: ResourceManager = known_rebec()

    def __init__(self, node: int, first_beat: int | None = None) -> None:
        if first_beat is not None:
            self.manager.node_heartbeat(node, after=first_beat)

    @message_server(priority=_AT_ONCE, global_priority=_AT_ONCE)
    def launch(self, application: int, container: int, time: int) -> None:
        """Begin a task; the resource manager hears of its end."""
        self.manager.finished(application, container, after=time)

    @message_server(priority=_AT_ONCE, global_priority=_AT_ONCE)
    def kill(self, application: int, container: int) -> None:
        """End a container before its task does, or before that begins."""
        self.manager.was_killed(application, container)

    @message_server(priority=_AT_ONCE, global_priority=_AT_ONCE)
    def stop(self, application: int) -> None:
        """End the container of an AppMaster that has nothing left to do."""
        self.manager.stopped(application)


class AppMaster(Rebec, queue_size=_UNBOUNDED):
    """Launches the containers that its application is given, and leaves when all have finished.

    Attributes:
        acquired: what it launches at its next heartbeat.
        taken: how many it has been given.
    """

    manager: ResourceManager = known_rebec()

    def __init__(self, number: int, errors: Errors) -> None:
        self.number = number
        self.errors = errors
        self.draws = DurationDraws()
        self.node: NodeManager | None = None
        self.acquired: list[Launch] = []
        self.taken = 0
        self.holds_back = False

    @message_server(priority=_AT_ONCE, global_priority=_AT_ONCE)
    def begin(self, node: NodeManager, asks: bool, holds_back: bool) -> None:
        """Begin on a node, with nothing; `asks` says whether tasks wait for containers.

        `holds_back` says whether there are others, which are asked for when those have ended.
        """
        self.node = node
        self.acquired, self.taken = [], 0
        self.holds_back = holds_back
        if not asks:
            self._go_on()

    def resume(self, application: Application) -> None:
        """Be as far as an application is."""
        own, self.acquired = application.own, list(map(launch_of, application.acquired))
        self.node = None if own is None else own.node.rebec
        if application.launched:
            self.taken = application.taken - len(application.allocated)
            self.holds_back = application.holds_back

    @message_server(priority=_AT_ONCE, global_priority=_AT_ONCE)
    def answer(self, given: list[Launch], ended: int, asks: bool) -> None:
        """Launch what was taken at the last heartbeat, and take what was given since.

        So many of all containers had `ended` by then; `asks` is as for `begin`.
        """
        number, errors, draws = self.number, self.errors, self.draws
        for each in self.acquired:
            each[1].launch(number, each[0], errors.time(number, each, draws))
        self.acquired = given
        self.taken += len(given)
        if not (self.taken > ended or asks or given):
            self._go_on()

    def _go_on(self) -> None:
        """Ask for what was held back; if that is nothing, leave."""
        if self.holds_back:
            self.holds_back = False
            self.manager.ask_for_late(self.number)
            return
        node = self.node
        assert node is not None
        node.stop(self.number)
        self.manager.leave(self.number)


_MOST_KILLS = 1000
"""Containers that are killed while no task ends, before that is taken for endless."""


class Killing(StatePart):
    """What is remembered between looks at what is to be killed.

    A run ends when there is nothing to be done, and there always is a look to be taken. So a look
    raises StuckError when nothing has happened for as long as the scheduler may need to kill, or
    when containers are killed again and again, and no task ends any more.
    """

    def __init__(self) -> None:
        self.quiet = self.ended = 0
        self.kills = 0  # since a task has ended

    def look(self, manager: ResourceManager, period: int) -> None:
        """Kill what is to be killed now; the next look is a period later (ms)."""
        if self.ended != manager.ended:
            self.ended, self.kills = manager.ended, 0
        for each in manager.scheduler.to_kill(manager.clock):
            self.kills += 1
            manager.kill(each)
        if self.kills > _MOST_KILLS:
            manager.stuck("containers are killed for ever")
        goes_on = manager.require_progress(self.quiet)
        self.quiet = 0 if goes_on else self.quiet + period


def instances_of(
    manager: type[ResourceManager],
    arguments: tuple[object, ...],
    nodes: Sequence[ClusterNode],
    first_beats: Sequence[int | None],
    applications: Sequence[Application],
    errors: Errors,
) -> list[Instance]:
    """Make the resource manager, of these arguments, the node managers, and the AppMasters."""
    node_names = [f"node_{each.size.number}" for each in nodes]
    master_names = [f"master_{each.number}" for each in applications]
    knows = (MANAGER,)
    rebecs = map(RebecNamed, (*node_names, *master_names))
    instances = [Instance(MANAGER, manager, (), (*arguments, *rebecs))]
    for name, node, beat in zip(node_names, nodes, first_beats, strict=True):
        instances.append(Instance(name, NodeManager, knows, (node.size.number, beat)))
    for name, each in zip(master_names, applications, strict=True):
        instances.append(Instance(name, AppMaster, knows, (each.number, errors)))
    return instances


class Accounts(StatePart):
    """Sums over a run, in MB * ms.

    Attributes:
        utilised: memory of containers that nodes have reported to have finished.
        kept: memory in use on reserved nodes when their reservations ended, for their time.
        kept_usable: that of nodes that had a core free then.
    """

    __slots__ = ("kept", "kept_usable", "utilised")

    def __init__(self) -> None:
        self.utilised = self.kept = self.kept_usable = 0

    def used(self, container: Container) -> None:
        """Add the memory of a container."""
        if container.finished is not None and container.launched is not None:
            self.utilised += (container.finished - container.launched) * container.memory

    def reserved(self, node: ClusterNode, time: int) -> None:
        """Add what a reservation has kept for a time (ms)."""
        amount = time * (node.size.memory - node.memory)
        self.kept += amount
        if node.cores:
            self.kept_usable += amount


class ClusterState(StatePart):
    """What the resource manager knows.

    Attributes:
        nodes: all, by number.
        applications: all of the trace, by number.
        running: those that have been submitted and have not left.
        dependents: those that are submitted when that of a number has left.
    """

    __slots__ = ("applications", "dependents", "nodes", "running", "scheduler")

    def __init__(
        self,
        nodes: Sequence[ClusterNode],
        applications: Iterable[Application],
        scheduler: ContainerScheduler,
    ) -> None:
        self.nodes = {each.size.number: each for each in nodes}
        self.applications = {each.number: each for each in applications}
        self.scheduler = scheduler
        self.running: dict[int, Application] = {}
        self.dependents: dict[int, list[Application]] = {}

    def expected(self) -> Iterator[Container | Application | ClusterNode]:
        """Give what the resource manager waits for a message of; see `message`.

        They come in the order of `due`, of one time in that of `sent`.
        """
        for node in self.nodes.values():
            for container in node.running:
                if not container.task.is_master:
                    yield container
        for application in self.running.values():
            if application.awake or application.leaving:
                yield application
        for node in self.nodes.values():
            if node.awake:
                yield node

    def copied(self) -> ClusterState:
        """Copy what goes on: nodes, and the applications that run. The scheduler is the same.

        Containers of tasks that run, of which nothing changes before they end, are not copied: who
        has the copy takes each over before it ends, by `own`. What has ended is not copied either.
        """
        running = [each.copied() for each in self.running.values()]
        nodes = [each.copied() for each in self.nodes.values()]
        copy = ClusterState(nodes, running, self.scheduler)
        copy.running.update(copy.applications)
        for node in nodes:
            node.booked = {copy.own(each): None for each in node.booked}
            own = [each for each in node.done if each.application.number in copy.running]
            node.done = list(map(copy.own, own))
            if (kept := node.reservation) is not None:
                whose = copy.running.get(kept.application.number, kept.application)
                node.reservation = Reservation(whose, kept.task, kept.start)
        for each in running:
            if each.launched and (master := each.own) is not None and master.finished is None:
                copy.own(master)
            each.allocated = [each.containers[own.number - 1] for own in each.allocated]
            each.acquired = [each.containers[own.number - 1] for own in each.acquired]
        return copy

    def own(self, container: Container) -> Container:
        """Give a container of this state in place of that of the one that it is a copy of."""
        application = self.applications[container.application.number]
        node = self.nodes[container.node.size.number]
        own = container.copied(application, node)
        application.containers[own.number - 1] = own
        if container in node.running:
            del node.running[container]
            node.running[own] = None
        return own


class Seer(StatePart):
    """What looks ahead when a job is submitted."""

    def __init__(self, configuration: YarnConfiguration) -> None:
        """Make one that has not looked yet."""

    def look(self, manager: ResourceManager) -> None:
        """Look ahead at once."""
        raise NotImplementedError

    def look_again(self, manager: ResourceManager) -> None:
        """Look ahead if something has happened."""
        raise NotImplementedError

    def look_with(
        self, manager: ResourceManager, application: Application, node: ClusterNode, memory: int
    ) -> Foresight:
        """Look ahead with one more container of this memory (MB)."""
        raise NotImplementedError


class Looking(Rebec, queue_size=_UNBOUNDED):
    """What a resource manager hears if its scheduler looks ahead.

    Attributes:
        seer: what does so; None: nothing.
    """

    seer: Seer | None = None

    @message_server
    def look_at_start(self) -> None:
        """Look ahead at a job that is submitted at time 0, when all others of that time are."""
        self._seer.look(self._manager)

    @message_server(priority=_AT_ONCE, global_priority=_AT_ONCE)
    def look(self) -> None:
        """Look ahead at once."""
        self._seer.look(self._manager)

    @message_server
    def look_again(self) -> None:
        """Look ahead if something has happened."""
        self._seer.look_again(self._manager)

    def look_with(self, application: Application, node: ClusterNode, memory: int) -> Foresight:
        """Look ahead with one more container of this memory (MB)."""
        return self._seer.look_with(self._manager, application, node, memory)

    @property
    def _seer(self) -> Seer:
        assert self.seer is not None
        return self.seer

    @property
    def _manager(self) -> ResourceManager:
        return cast("ResourceManager", self)


class StuckError(UserError):
    """Jobs wait for containers that no task will ever release.

    Attributes:
        applications: those of the jobs.
    """

    def __init__(
        self, applications: Sequence[Application], why: str = "no task runs that could end"
    ) -> None:
        self.applications = applications
        others = len(applications) - 1
        who = f"{applications[0].job.name} "
        who += f"and {others} others wait" if others else "waits"
        given = (container for each in applications for container in each.containers)
        holding = sum(container.finished is None for container in given)
        held = "1 container is" if holding == 1 else f"{holding} containers are"
        super().__init__(
            f"{who} for containers, and never {'get' if others else 'gets'} them: "
            f"{held} held, and {why}; "
            "smaller AppMasters, larger nodes or queues help, or assigning without reservations"
        )
