"""The cluster as rebecs: a resource manager, node managers, and an AppMaster for each application.

    Client --submit--> ResourceManager
    NodeManager --node_heartbeat--> ResourceManager    what has finished; what is free is given
    AppMaster: heartbeat                               what was given to it is taken and launched
    AppMaster --launch--> NodeManager                  a task begins in a container
    NodeManager: finished                              it ends
    AppMaster --stop--> NodeManager                    there is nothing left to do
    AppMaster --left--> ResourceManager

Nodes and AppMasters send heartbeats with a period, each at its own phase. Here only those are sent
that can matter: who has nothing to say and nothing to hear is asleep, and woken for the next
heartbeat that it would have sent: the first time after now that is a number of periods from its
last one.

Messages of one time are served in the order of sending; a launch and a stop before all others.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Protocol

from rebecsim.actors import Rebec, known_rebec, message_server
from rebecsim.clusters.kit.queued import Waiting, under_way
from rebecsim.clusters.yarn.configuration import YarnConfiguration
from rebecsim.clusters.yarn.containers import Application, ClusterNode, Container, Reservation
from rebecsim.clusters.yarn.durations import Errors
from rebecsim.clusters.yarn.records import Accounts
from rebecsim.errors import UserError

if TYPE_CHECKING:
    from rebecsim.clusters.yarn.schedulers.scheduler import ContainerScheduler

_UNBOUNDED = 2**31 - 1
_AT_ONCE = 1

SECOND = 1000
"""Of milliseconds; see `Quirks`."""


class Seer(Protocol):
    """A rebec that looks ahead when a job is submitted."""

    def look(self) -> None:
        """Look ahead at once."""

    def look_at_start(self) -> None:
        """Look ahead when all jobs of time 0 have been submitted."""


class StuckError(UserError):
    """Jobs wait for containers that nobody will ever give up.

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


class NodeManager(Rebec, queue_size=_UNBOUNDED):
    """Runs containers on its node."""

    manager: ResourceManager = known_rebec()

    def __init__(self, node: ClusterNode, first_beat: int | None = None) -> None:
        self.node = node
        node.manager = self
        if first_beat is not None:
            node.awake = True
            self.manager.node_heartbeat(node, after=first_beat)

    @message_server(priority=_AT_ONCE, global_priority=_AT_ONCE)
    def launch(self, container: Container) -> None:
        """Begin the task of a container."""
        node, now = self.node, self._now
        container.launched = now
        del node.booked[container]
        node.running[container] = None
        self.manager.changed = True
        if not container.task.is_master:
            error = self.manager.errors.launched(container)
            self.finished(container, after=max(container.duration + error, 0))

    @message_server
    def finished(self, container: Container) -> None:
        """End the task of a container, unless it was killed."""
        if container.killed:
            return
        self.manager.tasks -= 1
        self.manager.ended += 1
        self._end(container)

    @message_server(priority=_AT_ONCE, global_priority=_AT_ONCE)
    def kill(self, container: Container) -> None:
        """End a container before its task does, or before that begins."""
        if container in self.node.booked:
            del self.node.booked[container]
            self.node.running[container] = None
            container.launched = self._now
        if not container.task.is_master:
            self.manager.tasks -= 1
        self._end(container)

    @message_server(priority=_AT_ONCE, global_priority=_AT_ONCE)
    def stop(self, container: Container) -> None:
        """End the container of an AppMaster that has nothing left to do."""
        self._end(container)

    def _end(self, container: Container) -> None:
        node = self.node
        container.finished = self._now
        node.memory += container.memory
        node.cores += container.task.cores
        del node.running[container]
        node.done.append(container)
        self.manager.wake_node(node, self._now)
        self.manager.changed = True


class AppMaster(Rebec, queue_size=_UNBOUNDED):
    """Launches the containers that its application is given, and leaves when all have finished."""

    manager: ResourceManager = known_rebec()

    def __init__(self, application: Application, period: int) -> None:
        self.application = application
        self.period = period
        application.master = self

    @message_server
    def heartbeat(self) -> None:
        """Launch what was taken at the last heartbeat, and take what was given since."""
        application, now = self.application, self._now
        application.awake = False
        application.beat = now
        if not application.launched:
            if application.own is None:
                self.manager.require_progress()
                self.sleep(self.manager.launching)
                return
            self._begin()
        if application.leaving:
            self.manager.left(application)
            return
        for container in application.acquired:
            self.manager.wake_node(container.node, now)
            container.node.manager.launch(container)
        application.alive -= len(application.finished)
        taken, ended = application.allocated, application.released
        application.acquired, application.finished = taken, ended
        application.allocated, application.released = [], []
        if application.losses:
            application.ask_again()
            self.manager.asks_anew(application, now)
        if application.alive > 1 or application.head is not None or taken:
            if taken or ended:
                self.sleep(self.period)
        elif application.holds_back:
            application.ask_for_late()
            self.manager.asks_anew(application, now)
        else:
            own = application.own
            assert own is not None
            own.node.manager.stop(own)
            application.leaving = True
            self.sleep(self.period)

    def _begin(self) -> None:
        """Launch the AppMaster itself, in the first container; now it may be given others."""
        application = self.application
        application.allocated = []
        own = application.own
        assert own is not None
        self.manager.wake_node(own.node, self._now)
        own.node.manager.launch(own)
        application.launched = True
        self.manager.began(application, self._now)

    def sleep(self, period: int) -> None:
        """Send the next heartbeat."""
        application, now = self.application, self._now
        application.awake = True
        self.heartbeat(after=(application.beat - now) % period or period)


class ResourceManager(Rebec, queue_size=_UNBOUNDED):
    """Hears the heartbeats of nodes, and gives what they have free as its scheduler says.

    Attributes:
        changed: whether a container has been launched or has ended since this was last asked.
        launching: how often it is looked whether an AppMaster has a container (ms).
        unfinished: applications that have not left; the cluster closes when there are none.
        tasks: that have a container and have not finished.
        ended: how many have, without being killed.
        clock: the time of what it has heard last, be that in a message of its own or a call.
    """

    def __init__(
        self,
        configuration: YarnConfiguration,
        nodes: Sequence[ClusterNode],
        scheduler_class: type[ContainerScheduler],
        accounts: Accounts,
        applications: Iterable[Application] = (),
        seer: Seer | None = None,
    ) -> None:
        self.configuration = configuration
        self._node_period = configuration.node_heartbeat
        self._master_period = configuration.master_heartbeat
        self.launching = SECOND if configuration.quirks.one_second else self._master_period
        self.nodes = nodes
        self.scheduler = scheduler_class(configuration, nodes, self)
        self._placement = self.scheduler.placement
        self._reserves = configuration.reservations
        self._rouses = not self.scheduler.rouses
        self._wakes = self._rouses and not configuration.quirks.asleep
        self._in_vain = 0
        self.accounts = accounts
        largest = max(node.size.memory for node in nodes)
        self.errors = Errors(configuration, scheduler_class.elastic, largest)
        self.running: dict[int, Application] = {}
        self.dependents: dict[int, list[Application]] = {}
        self.unfinished = 0
        self.changed = False
        self.closed = False
        self.clock = 0
        self.seer = seer
        self._looks_always = not configuration.quirks.unlooked
        self._ideal_is_full = configuration.quirks.full_is_ideal
        self.tasks = self.ended = 0
        self._to_come = 0  # jobs whose time has not come
        for application in applications:
            self.unfinished += 1
            job = application.job
            if job.start is None:
                self.dependents.setdefault(job.after or 0, []).append(application)
            else:
                self._to_come += 1
                self.submit(application, after=job.start)

    def resume(
        self,
        running: Iterable[Application],
        queue: Iterable[Application],
        tasks: int,
        *,
        closes: bool,
    ) -> None:
        """Take over applications that have been submitted, and those of them in the queue.

        `tasks` is as for `ResourceManager`; `closes` says that whoever resumes it closes it in
        time, so that it need not end by itself.
        """
        self._to_come = int(closes)
        self.tasks = tasks
        for application in running:
            self.running[application.number] = application
        self.unfinished = len(self.running)
        for application in queue:
            self.scheduler.submitted(application)

    def messages(self) -> list[Waiting]:
        """Give the messages that are under way."""
        return under_way(self._system)

    @message_server
    def submit(self, application: Application) -> None:
        """Take an application into the queue; its AppMaster is launched in time."""
        self.clock = now = self._now
        self._to_come -= 1
        application.start = now
        application.beat = now
        application.refused = self.scheduler.refusal(application)
        if application.refused:
            self._gone(application)
            return
        self.running[application.number] = application
        self.errors.submitted(application)
        self.scheduler.submitted(application)
        application.awake = True
        application.master.heartbeat(after=self.launching)
        self.wake_nodes(now)
        if self.seer is not None and (application.job.start is not None or self._looks_always):
            if now:
                self.seer.look()
            else:
                self.seer.look_at_start()

    @message_server
    def node_heartbeat(self, node: ClusterNode) -> None:
        """Hear what has finished on a node, and give what is free."""
        if self.closed:
            return
        self.clock = now = self._now
        node.awake = False
        node.beat = now
        if node.done:
            self._settle(node, now)
        scheduler = self.scheduler
        useful = scheduler.schedule(node, now)
        if not self._rouses:
            if useful and not node.awake:
                node.awake = True
                self.node_heartbeat(node, after=self._node_period)
            return
        first = scheduler.first
        last_head, node.last_head = node.last_head, None
        if first is None or not (useful or self._reserves):
            return
        if not useful:
            if node.reservation is not None:
                return
            node.last_head = first.number
            if last_head == first.number:
                return
        if not node.awake:  # what was given may have woken all nodes, this one too
            node.awake = True
            self.node_heartbeat(node, after=self._node_period)

    @message_server
    def left(self, application: Application) -> None:
        """An AppMaster has left; who waits for its job is submitted."""
        self.clock = self._now
        del self.running[application.number]
        self.scheduler.left(application)
        self._gone(application)

    def _gone(self, application: Application) -> None:
        application.end = self._now
        self.unfinished -= 1
        for waiting in self.dependents.pop(application.number, ()):
            self._to_come += 1
            self.submit(waiting)
        if not self.unfinished:
            self.closed = True

    @message_server
    def close(self) -> None:
        """Do nothing any more."""
        self.closed = True

    def wake_node(self, node: ClusterNode, now: int) -> None:
        """Let a node send its next heartbeat, as something has happened on it."""
        self._in_vain = 0
        self._wake_node(node, now)

    def _wake_node(self, node: ClusterNode, now: int) -> None:
        if not node.awake:
            node.awake = True
            period = self._node_period
            self.node_heartbeat(node, after=(node.beat - now) % period or period)

    def wake_nodes(self, now: int) -> None:
        """Let all nodes send their next heartbeats, unless the scheduler wakes those it needs."""
        self._in_vain = 0
        if self._rouses:
            for node in self.nodes:
                if not node.awake:
                    self.wake_node(node, now)

    def wake_master(self, application: Application, now: int) -> None:
        """Let an AppMaster send its next heartbeat."""
        if not application.awake:
            application.awake = True
            period = self._master_period
            application.master.heartbeat(after=(application.beat - now) % period or period)

    def allocate(self, application: Application, node: ClusterNode, memory: int) -> None:
        """Give the application's next task a container of this memory (MB) on a node."""
        task = application.head
        assert task is not None
        full = task.ideal if self._ideal_is_full else task.memory
        container = Container(application, task, node, memory, memory != full)
        container.scheduled = self._now
        self._in_vain = 0
        self.errors.allocated(container)
        application.took(container)
        application.decisions.elastic += container.is_elastic
        node.memory -= memory
        node.cores -= task.cores
        node.booked[container] = None
        if self._placement is not None:
            self._placement.placed(container)
        if not task.is_master:
            self.tasks += 1
            if self._wakes and application.head is not task:
                self.wake_nodes(self._now)
        self.wake_master(application, self._now)

    def wake(self, node: ClusterNode) -> None:
        """Let a node send its next heartbeat, as it may be given something now.

        That alone is no progress, see `hopes`.
        """
        self._wake_node(node, self.clock)

    def hopes(self) -> bool:
        """Whether a heartbeat in vain is worth another one, as it may count for something.

        It is as long as anything else can happen. If not, there is an end to it, so that a cluster
        in which nothing can happen any more comes to rest, and is found to be stuck.
        """
        if self.tasks or self._to_come:
            return True
        self._in_vain += 1
        return self._in_vain < 10 * len(self.nodes) + 1000

    def began(self, application: Application, now: int) -> None:
        """Hear that an AppMaster is launched, and asks for containers of tasks."""
        self.clock = now
        self.scheduler.began(application)
        self.wake_nodes(now)

    def asks_anew(self, application: Application, now: int) -> None:
        """Hear that an application asks for more: what it has lost, or what had to wait."""
        self.clock = now
        self.scheduler.asks_again(application)
        self.wake_nodes(now)

    def kill(self, container: Container) -> None:
        """End a container before its task does; with an AppMaster, all that it has ends.

        One that has ended, or has been told to, has nothing to lose: its AppMaster took it along.
        """
        if container.killed or container.finished is not None:
            return
        application = container.application
        lost = [container]
        if container.task.is_master:
            lost = [each for each in application.start_over() if not each.killed]
            self.scheduler.starts_over(application)
            self.wake_master(application, self.clock)
        for each in lost:
            each.killed = True
            each.node.manager.kill(each)

    def require_progress(self, quiet: int = 0) -> bool:
        """Raise StuckError if nothing can happen but that AppMasters wait for containers.

        `quiet` is how long that has been so (ms): a scheduler that kills may still do so. Gives
        whether something else can happen.
        """
        if self.tasks or self._to_come or any(node.awake for node in self.nodes):
            return True
        running = self.running.values()
        if any(each.leaving or (each.launched and each.awake) for each in running):
            return True
        patience = self.scheduler.patience
        if patience is None or quiet > patience:
            raise StuckError(list(running))
        return False

    def reserve(self, application: Application, node: ClusterNode) -> None:
        """Keep a node for the application's next task."""
        assert application.head is not None
        self._in_vain = 0
        node.reservation = Reservation(application, application.head, self._now)
        node.reservations.append(node.reservation)

    def give_up(self, node: ClusterNode, reservation: Reservation) -> None:
        """Keep a node for nobody any more."""
        reservation.end = self.clock
        node.reservation = None
        self.accounts.reserved(node, self.clock - reservation.start)

    def _settle(self, node: ClusterNode, now: int) -> None:
        """Take note of what has finished on a node."""
        for container in node.done:
            application = container.application
            application.consumption -= container.memory
            application.consumed_cores -= container.task.cores
            self.scheduler.released(container)
            self.accounts.used(container)
            if not container.task.is_master and container.number > application.before:
                self.wake_master(application, now)
                application.released.append(container)
                if container.killed:
                    application.losses.append(container)
        node.done.clear()
