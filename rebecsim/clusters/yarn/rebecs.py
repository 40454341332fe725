"""The cluster as rebecs: a resource manager, node managers, and an AppMaster for each application.

The last two are in `launching`.

    ResourceManager: submit               a job's time has come
    ResourceManager: node_heartbeat       it hears what has ended on a node, and gives what is free
    ResourceManager: master_heartbeat     it hears of an AppMaster, and answers if that has to act
        --answer--> AppMaster             that takes what was given, and launches what it had taken
        --launch--> NodeManager           a task begins in a container
        --finished--> ResourceManager     it ends
    AppMaster --leave--> ResourceManager  there is nothing left to do
              --stop--> NodeManager --stopped--> ResourceManager

Each rebec changes its own state only. What the resource manager knows of nodes, applications and
containers is one value, `ClusterState`; messages name these by their numbers.

Nodes and AppMasters have heartbeats with a period, each at its own phase. The resource manager
waits for those only that can matter. One that has nothing to say and nothing to hear sleeps; the
first heartbeat after something has happened comes a number of periods after the last one. Nodes
tell of ends at once, and what they tell counts from their next heartbeat on.

Messages of one time are served in the order of sending; what follows at once from a heartbeat goes
before all others.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from rebecsim.actors import message_server
from rebecsim.clusters.yarn.configuration import Errors, YarnConfiguration
from rebecsim.clusters.yarn.containers import Application, ClusterNode, Container, Reservation
from rebecsim.clusters.yarn.launching import (
    ClusterState,
    Killing,
    Looking,
    Seer,
    StuckError,
    launch_of,
)

if TYPE_CHECKING:
    from rebecsim.clusters.yarn.launching import Accounts
    from rebecsim.clusters.yarn.schedulers.scheduler import ContainerScheduler

_UNBOUNDED = 2**31 - 1
_AT_ONCE = 1

SECOND = 1000
"""Of milliseconds; see `Quirks`."""


class ResourceManager(Looking, queue_size=_UNBOUNDED):
    """Hears the heartbeats of nodes, and gives what they have free as its scheduler says.

    Attributes:
        state: what it knows.
        changed: whether a container has been launched or has ended since this was last asked.
        launching: how often it is looked whether an AppMaster has a container (ms).
        unfinished: applications that have not left; the cluster closes when there are none.
        tasks: that have a container and have not finished.
        ended: how many have, without being killed.
        clock: the time of what it has heard last, be that in a message of its own or a call.
        drawn: as for `Errors.submitted`.
        sent: how many messages that it waits for were sent, if it `notes` them to look ahead.
    """

    def __init__(
        self,
        configuration: YarnConfiguration,
        nodes: Sequence[ClusterNode],
        scheduler_class: type[ContainerScheduler],
        accounts: Accounts,
        errors: Errors,
        applications: Sequence[Application],
        submits: bool,
        seer: type[Seer] | None,
        *rebecs: Any,
    ) -> None:
        """Make one for nodes and applications; `rebecs` are their managers and AppMasters.

        `submits` says that applications are submitted, each in its time; see `resume`. A `seer`
        looks ahead when they are.
        """
        for node, rebec in zip(nodes, rebecs, strict=False):
            node.rebec = rebec
        for application, rebec in zip(applications, rebecs[len(nodes) :], strict=True):
            application.rebec = rebec
        self.configuration = configuration
        self._node_period = configuration.node_heartbeat
        self._master_period = configuration.master_heartbeat
        self.launching = SECOND if configuration.quirks.one_second else self._master_period
        scheduler = scheduler_class(configuration, nodes, self)
        self.state = ClusterState(nodes, applications, scheduler)
        self._reserves = configuration.reservations
        self._rouses = not scheduler.rouses
        self._wakes = self._rouses and not configuration.quirks.asleep
        self.accounts = accounts
        self.errors = errors
        self._in_vain = self.unfinished = 0
        self.changed = self.closed = False
        self.clock = self.sent = self.drawn = 0
        self.seer = None if seer is None else seer(configuration)
        self.notes = seer is not None
        self._looks_always = not configuration.quirks.unlooked
        self._ideal_is_full = configuration.quirks.full_is_ideal
        self.tasks = self.ended = 0
        self.killing = Killing()
        self._to_come = 0  # jobs whose time has not come
        if not submits:
            return
        for node in nodes:
            node.awake = True
        for application in applications:
            self.unfinished += 1
            job = application.job
            if job.start is None:
                self.state.dependents.setdefault(job.after or 0, []).append(application)
            else:
                self._to_come += 1
                self.submit(application.number, after=job.start)

    @property
    def scheduler(self) -> ContainerScheduler:
        """What shares the cluster."""
        return self.state.scheduler

    @property
    def nodes(self) -> Collection[ClusterNode]:
        """What it knows of nodes."""
        return self.state.nodes.values()

    @property
    def running(self) -> dict[int, Application]:
        """The applications that have been submitted and have not left, by number."""
        return self.state.running

    def resume(
        self, state: ClusterState, queue: Iterable[Application], tasks: int, *, closes: bool
    ) -> None:
        """Go on with a state, that of another manager, whose queue has these applications.

        `tasks` is as for `ResourceManager`; `closes` says that it need not end by itself.
        """
        self._to_come, self.tasks = int(closes), tasks
        state.scheduler, self.state = self.state.scheduler, state
        self.unfinished = len(state.running)
        for application in queue:
            state.scheduler.submitted(application)
        for application in state.running.values():
            application.rebec.resume(application)

    @message_server
    def submit(self, number: int) -> None:
        """Take an application into the queue; its AppMaster is launched in time."""
        state = self.state
        application, scheduler = state.applications[number], state.scheduler
        self.clock = now = self._now
        self._to_come -= 1
        application.start = now
        application.beat = now
        application.refused = scheduler.refusal(application)
        if application.refused:
            self._gone(application)
            return
        state.running[number] = application
        self.drawn = self.errors.submitted(application, self.drawn)
        scheduler.submitted(application)
        application.awake = True
        if self.notes:
            self._note(application, now + self.launching)
        self.master_heartbeat(number, after=self.launching)
        self.wake_nodes(now)
        if self.seer is not None and (application.job.start is not None or self._looks_always):
            (self.look if now else self.look_at_start)()

    @message_server
    def node_heartbeat(self, number: int) -> None:
        """Hear what has finished on a node, and give what is free."""
        if self.closed:
            return
        state = self.state
        node, scheduler = state.nodes[number], state.scheduler
        self.clock = now = self._now
        node.awake = False
        node.beat = now
        if node.done:
            self._settle(node, now)
        useful = scheduler.schedule(node, now)
        if self._rouses:
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
        elif not useful:
            return
        if not node.awake:  # what was given may have woken all nodes, this one too
            node.awake = True
            if self.notes:
                self._note(node, now + self._node_period)
            self.node_heartbeat(number, after=self._node_period)

    @message_server
    def master_heartbeat(self, number: int) -> None:
        """Hear of an AppMaster, and tell it what it has been given, and what has ended."""
        application, now = self.state.applications[number], self._now
        application.awake = False
        application.beat = now
        if not application.launched:
            self._begin(application, now)
            return
        if application.leaving:
            if self.notes:
                self._note(application, now)
            self.left(number)
            return
        launched, taken = application.acquired, application.allocated
        for container in launched:
            self.wake_node(container.node, now)
            self._launched(container)
        application.acquired, application.allocated = taken, []
        if application.losses:
            application.ask_again()
            self._asks_anew(application)
        gone, ended = application.gone, application.released
        if taken or ended:
            self._await(application, self._master_period)
            application.gone, application.released = gone + ended, 0
        asks = application.head is not None
        if launched or taken or not (asks or application.taken > gone):
            if self.notes:
                for container in launched:
                    self.sent = container.sent = self.sent + 1
            application.rebec.answer([launch_of(each) for each in taken], gone, asks)

    def _begin(self, application: Application, now: int) -> None:
        """Launch an AppMaster in the first container; now its application may be given others."""
        own = application.own
        if own is None:
            self.require_progress()
            self._await(application, self.launching)
            return
        application.allocated = []
        self.wake_node(own.node, now)
        self._launched(own)
        application.launched = True
        self.clock = now
        self.scheduler.began(application)
        self.wake_nodes(now)
        asks = application.head is not None
        application.rebec.begin(own.node.rebec, asks, application.holds_back)

    def _launched(self, container: Container) -> None:
        container.launched = self._now
        del container.node.booked[container]
        container.node.running[container] = None
        self.changed = True

    def _await(self, application: Application, period: int) -> None:
        """Wait for the next heartbeat of an AppMaster."""
        application.awake = True
        wait = (application.beat - self._now) % period or period
        if self.notes:
            self._note(application, self._now + wait)
        self.master_heartbeat(application.number, after=wait)

    def _note(self, about: Application | ClusterNode, due: int) -> None:
        """Note when the message about somebody is due (ms), and its place among those sent."""
        about.due = due
        self.sent = about.sent = self.sent + 1

    def _asks_anew(self, application: Application) -> None:
        """Take note that an application asks for what it has lost, or what had to wait."""
        self.clock = now = self._now
        self.scheduler.asks_again(application)
        self.wake_nodes(now)

    @message_server(priority=_AT_ONCE, global_priority=_AT_ONCE)
    def ask_for_late(self, number: int) -> None:
        """Give an application also what its AppMaster has held back."""
        application = self.state.applications[number]
        application.ask_for_late()
        self._asks_anew(application)

    @message_server(priority=_AT_ONCE, global_priority=_AT_ONCE)
    def leave(self, number: int) -> None:
        """Expect an AppMaster, which is done, to leave at its next heartbeat."""
        application = self.state.applications[number]
        application.leaving = True
        self._await(application, self._master_period)

    @message_server
    def left(self, number: int) -> None:
        """An AppMaster has left; who waits for its job is submitted."""
        self.clock = self._now
        application = self.state.running.pop(number)
        self.scheduler.left(application)
        self._gone(application)

    def _gone(self, application: Application) -> None:
        application.end = self._now
        self.unfinished -= 1
        for waiting in self.state.dependents.pop(application.number, ()):
            self._to_come += 1
            self.submit(waiting.number)
        if not self.unfinished:
            self.closed = True

    @message_server
    def finished(self, number: int, place: int) -> None:
        """The task of an application's container has ended, unless it was killed before."""
        container = self.state.applications[number].containers[place - 1]
        if container.killed:
            return
        self.tasks -= 1
        self.ended += 1
        self._end(container)

    @message_server(priority=_AT_ONCE, global_priority=_AT_ONCE)
    def was_killed(self, number: int, place: int) -> None:
        """A container has ended before its task, or before that began."""
        container = self.state.applications[number].containers[place - 1]
        if container in container.node.booked:
            self._launched(container)
        if not container.task.is_master:
            self.tasks -= 1
        self._end(container)

    @message_server(priority=_AT_ONCE, global_priority=_AT_ONCE)
    def stopped(self, number: int) -> None:
        """An AppMaster that had nothing left to do has ended."""
        own = self.state.applications[number].own
        assert own is not None
        self._end(own)

    def _end(self, container: Container) -> None:
        """Take a container that has ended from its node, which tells of it at its heartbeat."""
        node, now = container.node, self._now
        container.finished = now
        node.memory += container.memory
        node.cores += container.task.cores
        del node.running[container]
        node.done.append(container)
        self._in_vain = 0
        self.changed = True
        if not node.awake:
            self._wake_node(node, now)

    def wake_node(self, node: ClusterNode, now: int) -> None:
        """Let a node send its next heartbeat, as something has happened on it."""
        self._in_vain = 0
        self._wake_node(node, now)

    def _wake_node(self, node: ClusterNode, now: int) -> None:
        if not node.awake:
            node.awake = True
            period = self._node_period
            wait = (node.beat - now) % period or period
            if self.notes:
                self._note(node, now + wait)
            self.node_heartbeat(node.size.number, after=wait)

    def wake_nodes(self, now: int) -> None:
        """Let all nodes send their next heartbeats, unless the scheduler wakes those it needs."""
        self._in_vain = 0
        if self._rouses:
            for node in self.state.nodes.values():
                if not node.awake:
                    self._wake_node(node, now)

    def wake_master(self, application: Application, now: int) -> None:
        """Let an AppMaster send its next heartbeat."""
        if not application.awake:
            application.awake = True
            period = self._master_period
            wait = (application.beat - now) % period or period
            if self.notes:
                self._note(application, now + wait)
            self.master_heartbeat(application.number, after=wait)

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
        if (placement := self.state.scheduler.placement) is not None:
            placement.placed(container)
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
            each.node.rebec.kill(each.application.number, each.number)

    @message_server
    def preempt(self, period: int) -> None:
        """Kill what the scheduler chooses; it is asked with a period (ms)."""
        if not self.closed:
            self.clock = self._now
            self.killing.look(self, period)
            self.preempt(period, after=period)

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
            self.stuck("no task runs that could end")
        return False

    def stuck(self, why: str) -> NoReturn:
        """Raise StuckError: those that run wait in vain."""
        raise StuckError(list(self.running.values()), why)

    def reserve(self, application: Application, node: ClusterNode) -> None:
        """Keep a node for the application's next task."""
        assert application.head is not None
        self._in_vain = 0
        node.reservation = Reservation(application, application.head, self._now)
        node.reservations.append(node.reservation)

    def give_up(self, node: ClusterNode, reservation: Reservation) -> None:
        """Release the reservation of a node."""
        reservation.end = self.clock
        node.reservation = None
        self.accounts.reserved(node, self.clock - reservation.start)

    def _settle(self, node: ClusterNode, now: int) -> None:
        """Take note of what has finished on a node."""
        scheduler, accounts = self.state.scheduler, self.accounts
        for container in node.done:
            application = container.application
            application.consumption -= container.memory
            application.consumed_cores -= container.task.cores
            scheduler.released(container)
            accounts.used(container)
            if not container.task.is_master and container.number > application.before:
                self.wake_master(application, now)
                application.released += 1
                if container.killed:
                    application.losses.append(container)
        node.done.clear()
