"""Applications, their tasks and containers, and the nodes that these run on."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from copy import copy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from rebecsim.actors import Constant, StatePart
from rebecsim.clusters.yarn.penalties import Penalty
from rebecsim.clusters.yarn.queue_files.resources import Resources
from rebecsim.workloads.container_jobs import ContainerJob, NodeLabel, TaskKind

if TYPE_CHECKING:
    from rebecsim.clusters.yarn.launching import AppMaster, NodeManager

Kind = Literal["master"] | TaskKind

LEAST_MEMORY = 100
"""MB that a container has at least; memories are given in multiples of it."""


def hundreds(memory: int) -> int:
    """Round a memory up to a multiple of 100 MB."""
    return -(-memory // LEAST_MEMORY) * LEAST_MEMORY


@dataclass(frozen=True, slots=True, eq=False)
class Task(Constant):
    """What all tasks of a class of a job have in common. Memories are MB, durations milliseconds.

    Attributes:
        kind: what they are for.
        memory: what they ask for.
        cores: what they ask for.
        duration: in ideal memory.
        ideal: the memory that they need, which is less than they ask for if that is too much.
        penalty: how much longer they run in less; None: they do not.
        host: where they would rather run; see `Hosts`.
        priority: those of a smaller number are given containers first.
        is_master: whether this is an AppMaster.
    """

    kind: Kind
    memory: int
    cores: int
    duration: int
    ideal: int
    penalty: Penalty | None = None
    host: str = ""
    priority: int = 0
    is_master: bool = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "is_master", self.kind == "master")

    @property
    def least(self) -> int:
        """The least memory that one can be given: a tenth."""
        return hundreds(self.memory * 10 // 100)


class Decisions(StatePart):
    """How often a scheduler looked at the tasks of an application, and what came of it."""

    __slots__ = ("accepted", "elastic", "rejected", "reserved", "total")

    def __init__(self) -> None:
        self.total = self.accepted = self.rejected = self.reserved = self.elastic = 0

    def reject(self, times: int = 1) -> None:
        """Take note of looks that came to nothing."""
        self.total += times
        self.rejected += times


class Application(StatePart):
    """A job at work.

    Attributes:
        head: what tasks are given containers next; None: all tasks have theirs, or wait for maps.
        start: when it was submitted (ms).
        end: when its AppMaster had nothing more to do (ms), or None.
        consumption: MB of the containers that the resource manager knows it to have.
        consumed_cores: cores of these containers.
        containers: all that were allocated, the AppMaster's first.
        allocated: containers that the AppMaster has not heard of.
        acquired: those that it launches at its next heartbeat.
        released: how many have ended since its AppMaster's last heartbeat.
        gone: how many had before, which that counts as ended at its next one.
        launched: whether its AppMaster is.
        leaving: whether its AppMaster is done at its next heartbeat.
        awake: whether a heartbeat of its AppMaster is under way.
        beat: when the last one was (ms).
        due: when the next one is, if one is under way (ms).
        sent: the place of that message among all that the resource manager waits for.
        rank: what the queue has sorted it by; None: it is in no queue.
        missed: opportunities that it has let pass, to run nearer to where it would rather.
        missed_at: the number of the node that it has let pass last, and when (ms).
        before: how many of the containers are those of AppMasters that were killed.
        losses: containers that were killed, whose tasks are not asked for again yet.
        requests: how often what it asks for has changed.
        rebec: its AppMaster.
        refused: why it was not let in when it was submitted, or never ends; empty: it ends.
    """

    __slots__ = (
        "_held",
        "_late",
        "_left",
        "_served",
        "acquired",
        "allocated",
        "awake",
        "beat",
        "before",
        "bump_error",
        "consumed_cores",
        "consumption",
        "containers",
        "decisions",
        "due",
        "end",
        "gone",
        "head",
        "job",
        "launched",
        "leaving",
        "losses",
        "memory_error",
        "missed",
        "missed_at",
        "number",
        "rank",
        "rebec",
        "refused",
        "released",
        "requests",
        "sent",
        "start",
        "tasks",
    )

    def __init__(
        self, job: ContainerJob, tasks: Sequence[tuple[Task, int]], late: Collection[Kind] = ()
    ) -> None:
        """Make the application of a job; tasks of the late kinds wait until all others end."""
        self.job = job
        self.number = job.number
        self.tasks = tasks
        self._late = late
        self._held: list[tuple[Task, int]] = []
        self._left: list[tuple[Task, int]] = []
        self._served = 0  # of the first of them
        self.head: Task | None = None
        self.start = 0
        self.end: int | None = None
        self.consumption = self.consumed_cores = 0
        self.containers: list[Container] = []
        self.allocated: list[Container] = []
        self.acquired: list[Container] = []
        self.released = self.gone = 0
        self.launched = self.leaving = self.awake = False
        self.beat = self.due = self.sent = 0
        self.memory_error = 0
        self.bump_error = 0.0
        self.rank: tuple[Any, int, int, Application] | None = None
        self.missed = 0
        self.missed_at: tuple[int, int] | None = None
        self.before = 0
        self.losses: list[Container] = []
        self.requests = 0
        self.refused = ""
        self.decisions = Decisions()
        self.rebec: AppMaster
        self._begin()

    @property
    def taken(self) -> int:
        """How many containers it has been given beside that of its AppMaster."""
        return len(self.containers) - self.before - 1

    @property
    def first_task(self) -> Task | None:
        """The tasks that are given containers next, the AppMaster apart."""
        return next((task for task, _ in reversed(self._left) if not task.is_master), None)

    @property
    def left(self) -> list[tuple[Task, int]]:
        """What waits for containers, first come first, and how many of each."""
        left = self._left[::-1]
        if left:
            left[0] = (left[0][0], left[0][1] - self._served)
        return left

    @property
    def own(self) -> Container | None:
        """The container of its AppMaster, if that has one."""
        return self.containers[self.before] if len(self.containers) > self.before else None

    def bring_forward(self, place: int) -> None:
        """Let one of the tasks at a place of `left` be next; all others keep their order."""
        left = self.left
        task, count = left[place]
        left[place : place + 1] = [(task, count - 1)] if count > 1 else []
        left.insert(0, (task, 1))
        self._ask_for(left)

    def took(self, container: Container) -> None:
        """Take note of a container that a task of the first class gets."""
        self.containers.append(container)
        self.allocated.append(container)
        self.consumption += container.memory
        self.consumed_cores += container.task.cores
        self._served += 1
        self.requests += 1
        if self._served == self._left[-1][1]:
            del self._left[-1]
            self._served = 0
            self.head = self._left[-1][0] if self._left else None

    def ask_again(self) -> None:
        """Ask anew for containers of tasks that were killed, before whatever comes after them."""
        left = self.left
        for container in self.losses:
            place = next((at for at, (task, _) in enumerate(left) if task is container.task), None)
            if place is None:
                left.append((container.task, 1))
            else:
                left[place] = container.task, left[place][1] + 1
        self.losses.clear()
        order = {id(task): place for place, (task, _) in enumerate(self.tasks)}
        left.sort(key=lambda item: order[id(item[0])])
        self._ask_for(left)

    @property
    def holds_back(self) -> bool:
        """Whether some tasks are not asked for before all others have ended."""
        return bool(self._held)

    def ask_for_late(self) -> None:
        """Ask for the tasks that were held back."""
        self._ask_for(self._held)
        self._held = []

    def start_over(self) -> list[Container]:
        """Be as if just submitted, as the AppMaster is killed; give what it has and has to lose."""
        mine = [each for each in self.containers[self.before :] if each.finished is None]
        self.before = len(self.containers)
        self._begin()
        for each in (self.allocated, self.acquired, self.losses):
            each.clear()
        self.released = self.gone = 0
        self.launched = False
        return mine

    def _begin(self) -> None:
        """Ask for all tasks but the late ones."""
        late = self._late
        self._held = [each for each in self.tasks if each[0].kind in late]
        self._ask_for([each for each in self.tasks if each[0].kind not in late])

    def _ask_for(self, left: Sequence[tuple[Task, int]]) -> None:
        self._left = list(reversed(left))
        self._served = 0
        self.requests += 1
        self.head = left[0][0] if left else None

    @property
    def last_finish(self) -> int | None:
        """When its AppMaster's container, the last one, has ended (ms), or None."""
        return self.containers[0].finished

    @property
    def message(self) -> tuple[str, tuple[int, ...]]:
        """The message server that hears of its AppMaster next, and the arguments."""
        return "master_heartbeat" if self.awake else "left", (self.number,)

    def copied(self) -> Application:
        """Give another that is as far, with the same containers, and without errors or a rank."""
        own = copy(self)
        own._left = self._left[:]
        own.containers, own.losses = self.containers[:], self.losses[:]
        own.allocated, own.acquired = self.allocated[:], self.acquired[:]
        own.memory_error, own.bump_error, own.rank = 0, 0.0, None
        own.decisions = Decisions()
        return own


Launch = tuple[int, "NodeManager", int, int, bool]
"""What an AppMaster knows of a container: its number, its node, how long its task should take
(ms), how much of that is `lengthened`, and whether it is elastic."""

Locality = Literal["node", "rack", "any"]
"""On the node where a task would rather run, in the rack of that, or elsewhere."""


class Container(StatePart):
    """Memory and cores of a node, for one task.

    Attributes:
        number: its place among those of its application, from 1 on; the AppMaster has the first.
        memory: MB that it was given.
        is_elastic: whether that is not all that would be right; see `Quirks.full_is_ideal`.
        duration: how long the task takes in it, but for errors of durations (ms).
        lengthened: how much of that comes from errors of memory and bump (ms).
        scheduled: when it was allocated (ms).
        launched: when its task began (ms), or None.
        finished: when its task ended (ms), or None.
        locality: how near its node is to where the task prefers to run, or None.
        killed: whether it was ended so that someone else has its place.
        sent: as of an application, of the message that its task ends.
    """

    __slots__ = (
        "application",
        "duration",
        "finished",
        "is_elastic",
        "killed",
        "launched",
        "lengthened",
        "locality",
        "memory",
        "node",
        "number",
        "scheduled",
        "sent",
        "task",
    )

    def __init__(
        self,
        application: Application,
        task: Task,
        node: ClusterNode,
        memory: int,
        is_elastic: bool = False,
    ) -> None:
        self.application = application
        self.task = task
        self.node = node
        self.memory = memory
        self.is_elastic = is_elastic
        self.number = len(application.containers) + 1
        self.duration = task.duration
        self.lengthened = 0
        self.scheduled = 0
        self.launched: int | None = None
        self.finished: int | None = None
        self.locality: Locality | None = None
        self.killed = False
        self.sent = 0

    @property
    def due(self) -> int:
        """When its task should end (ms), if it is launched."""
        return (self.launched or 0) + self.duration

    @property
    def size(self) -> Resources:
        """What it takes of its node."""
        return Resources(self.memory, self.task.cores)

    def expected_end(self, heartbeat: int) -> int:
        """Give when the task should end; one that waits starts a heartbeat after allocation."""
        start = self.scheduled + heartbeat if self.launched is None else self.launched
        return start + self.duration

    @property
    def message(self) -> tuple[str, tuple[int, ...]]:
        """The message server that hears of the end of its task, and the arguments."""
        return "finished", (self.application.number, self.number)

    def copied(self, application: Application, node: ClusterNode) -> Container:
        """Give another of an application like this one's, on a node like this one's."""
        own = object.__new__(Container)
        own.application = application
        own.task = self.task
        own.node = node
        own.memory = self.memory
        own.is_elastic = self.is_elastic
        own.number = self.number
        own.duration = self.duration
        own.lengthened = 0
        own.scheduled = self.scheduled
        own.launched = self.launched
        own.finished = self.finished
        own.locality = self.locality
        own.killed = self.killed
        own.sent = self.sent
        return own


ANY_CORES = 2**40
"""What a node has where cores do not count."""


@dataclass(frozen=True, slots=True)
class NodeSize(Constant):
    """A node: its name, its place among all from 1 on, MB and cores, its rack and labels."""

    name: str
    number: int
    memory: int
    cores: int
    rack: str = "default-rack"
    labels: tuple[NodeLabel, ...] = ()
    total: Resources = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "total", Resources(self.memory, self.cores))


class Reservation(StatePart):
    """A node is kept for the next task of an application. Times are milliseconds."""

    __slots__ = ("application", "end", "start", "task")

    def __init__(self, application: Application, task: Task, start: int) -> None:
        self.application = application
        self.task = task
        self.start = start
        self.end: int | None = None


class ClusterNode(StatePart):
    """What is known of a node: its resources, its containers, and when its heartbeats are.

    Attributes:
        memory: MB that are free.
        cores: that are free.
        booked: containers that are allocated and not launched, in the order of allocation.
        running: containers that have been launched.
        done: containers that have finished since the last heartbeat.
        awake: whether a heartbeat is under way.
        beat: when the last one was, which fixes when others may be.
        due: when the next one is, if one is under way (ms).
        sent: as of an application.
        last_head: the number of the job that was first in the queue at the last heartbeat that was
            only followed by another to look at the queue again.
        rebec: its node manager.
    """

    __slots__ = (
        "awake",
        "beat",
        "booked",
        "cores",
        "done",
        "due",
        "last_head",
        "memory",
        "rebec",
        "reservation",
        "reservations",
        "running",
        "sent",
        "size",
    )

    def __init__(self, size: NodeSize) -> None:
        self.size = size
        self.memory = size.memory
        self.cores = size.cores
        self.booked: dict[Container, None] = {}
        self.running: dict[Container, None] = {}
        self.done: list[Container] = []
        self.awake = False
        self.beat = self.due = self.sent = 0
        self.last_head: int | None = None
        self.reservation: Reservation | None = None
        self.reservations: list[Reservation] = []
        self.rebec: NodeManager

    @property
    def total(self) -> Resources:
        """What it has."""
        return self.size.total

    @property
    def free(self) -> Resources:
        """What it has free."""
        return Resources(self.memory, self.cores)

    @property
    def message(self) -> tuple[str, tuple[int, ...]]:
        """The message server that hears of it next, and the arguments."""
        return "node_heartbeat", (self.size.number,)

    def copied(self) -> ClusterNode:
        """Give another that is as this one, with the same containers."""
        own = copy(self)
        own.booked, own.running, own.done = self.booked.copy(), self.running.copy(), self.done[:]
        own.reservations = []
        return own
