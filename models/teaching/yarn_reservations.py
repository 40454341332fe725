"""A cluster in the manner of YARN that reserves nodes, small enough to try all that it can do.

Two nodes and two jobs. A job is an AppMaster and two tasks, each in a container of its own; the
only resource is memory.

    ResourceManager: submit                            a job comes
    NodeManager --node_heartbeat--> ResourceManager    what has finished; what is free is given
    ResourceManager --allocated--> AppMaster           there is a container for it,
    AppMaster --launch--> NodeManager                  and it begins
    AppMaster --register--> ResourceManager            from now on tasks may be given, too
    NodeManager: finished                              a task ends
    ResourceManager --released--> AppMaster            so it hears that
    AppMaster --stop--> NodeManager                    there is nothing left to do
    AppMaster --left--> ResourceManager

The job that has the least memory is served first. If its next container does not fit into the node
that has sent a heartbeat, the node is reserved for it: nobody else gets anything there, until the
container fits or has been given by the other node. The planted fault is to forget the latter: with
`GIVES_UP = False`, a node goes on being reserved for a container that nobody wants any more.

`rebecsim.clusters.yarn` is this protocol with any number of nodes and jobs, and other schedulers.
"""

from __future__ import annotations

from rebecsim.actors import (
    Boolean,
    Byte,
    Instance,
    Model,
    Rebec,
    Reference,
    known_rebec,
    message_server,
    require,
    state_variable,
)

GIVES_UP = True
SECOND = 4  # when the second job comes

MEMORY = 3  # of a node
MASTER, TASK = 1, 2  # memory of the containers of AppMasters and tasks
TASKS = 2  # of a job
PERIOD = 2  # from heartbeat to heartbeat of a node
COUNTED = 3  # heartbeats of a reserved node; later ones are not counted

BOTH = range(2)  # nodes, and jobs
NOBODY = -1
NOT_YET = -1


def size(container: int) -> int:
    """Give the memory of a container; number 0 of a job is its AppMaster."""
    return TASK if container else MASTER


class ResourceManager(Rebec, queue_size=8):
    """Gives what a node has free when it sends a heartbeat, or reserves the node.

    Of each job: `given`, how many containers it has been given; `used`, the memory of those that
    have not been reported finished; whether its AppMaster has `registered`, and its `home`.
    Of each node: `free`, its memory; the job that it is `reserved` for, and whether `for_master`;
    `kept`, how many of its heartbeats since then came too early.
    """

    node0: NodeManager = known_rebec()
    node1: NodeManager = known_rebec()
    master0: AppMaster = known_rebec()
    master1: AppMaster = known_rebec()

    given: list[int] = state_variable(Byte[2])
    used: list[int] = state_variable(Byte[2])
    registered: list[bool] = state_variable(Boolean[2])
    home: list[int] = state_variable(Byte[2])
    free: list[int] = state_variable(Byte[2])
    reserved: list[int] = state_variable(Byte[2])
    for_master: list[bool] = state_variable(Boolean[2])
    kept: list[int] = state_variable(Byte[2])
    gives_up: bool = state_variable(Boolean)

    def __init__(self, gives_up: bool) -> None:
        self.gives_up = gives_up
        for node in BOTH:
            self.free[node] = MEMORY
            self.reserved[node] = NOBODY
        for job in BOTH:
            self.given[job] = NOT_YET
            self.submit(job, after=job * SECOND)

    @message_server
    def submit(self, job: int) -> None:
        """Take a job into the queue."""
        self.given[job] = 0

    @message_server
    def node_heartbeat(self, node: int, done0: int, done1: int) -> None:
        """Hear how many tasks of each job have finished on a node, and give what is free."""
        for job, done in enumerate((done0, done1)):
            if done:
                self.free[node] += done * TASK
                self.used[job] -= done * TASK
                self._master(job).released(done, after=1)
        if self.reserved[node] == NOBODY:
            self._scan(node)
        elif self._is_wanted(node):
            self._serve(node)
        elif self.gives_up:
            self._give_up(node)
            self._scan(node)
        else:
            self._keep(node)

    @message_server
    def register(self, job: int) -> None:
        """An AppMaster runs; its job may be given containers for tasks."""
        self.registered[job] = True

    @message_server
    def left(self, job: int) -> None:
        """An AppMaster has left, and its container is free."""
        self.free[self.home[job]] += MASTER
        self.used[job] -= MASTER

    def _scan(self, node: int) -> None:
        """Give a container to who has the least memory, or reserve the node for it."""
        job = self._first()
        if job != NOBODY:
            if self._fits(node, job):
                self._allocate(node, job)
            else:
                self.reserved[node] = job
                self.for_master[node] = self.given[job] == 0

    def _first(self) -> int:
        """Give the waiting job that has the least memory, or NOBODY."""
        first = NOBODY
        for job in BOTH:
            if self._is_waiting(job) and (first == NOBODY or self.used[job] < self.used[first]):
                first = job
        return first

    def _is_waiting(self, job: int) -> bool:
        """Whether a job can be given a container now."""
        given = self.given[job]
        return given == 0 or (given <= TASKS and self.registered[job])

    def _is_wanted(self, node: int) -> bool:
        """Whether the job that a node is reserved for still waits for such a container."""
        given = self.given[self.reserved[node]]
        return given == 0 if self.for_master[node] else given <= TASKS

    def _serve(self, node: int) -> None:
        """Give the container that a node is reserved for, if it fits by now."""
        job = self.reserved[node]
        if self._fits(node, job):
            self._give_up(node)
            self._allocate(node, job)
        else:
            self._keep(node)

    def _keep(self, node: int) -> None:
        self.kept[node] = min(self.kept[node] + 1, COUNTED)

    def _give_up(self, node: int) -> None:
        """Keep a node for nobody any more."""
        self.reserved[node] = NOBODY
        self.for_master[node] = False
        self.kept[node] = 0

    def _fits(self, node: int, job: int) -> bool:
        return size(self.given[job]) <= self.free[node]

    def _allocate(self, node: int, job: int) -> None:
        """Give a job its next container; the AppMaster hears of it when it asks next."""
        container = self.given[job]
        self.given[job] += 1
        self.used[job] += size(container)
        self.free[node] -= size(container)
        require(self.free[node] >= 0, "memory is never negative")
        if container == 0:
            self.home[job] = node
        self._master(job).allocated(container, (self.node0, self.node1)[node], after=1)

    def _master(self, job: int) -> AppMaster:
        return (self.master0, self.master1)[job]


class NodeManager(Rebec, queue_size=6):
    """Runs containers on its node, and reports which tasks have finished.

    `used` is the memory of those that run, `done` counts the tasks of each job to report.
    """

    manager: ResourceManager = known_rebec()

    number: int = state_variable(Byte)
    used: int = state_variable(Byte)
    done: list[int] = state_variable(Byte[2])

    def __init__(self, number: int) -> None:
        self.number = number
        self.heartbeat(after=number)

    @message_server
    def heartbeat(self) -> None:
        """Report to the resource manager."""
        self.manager.node_heartbeat(self.number, self.done[0], self.done[1])
        for job in BOTH:
            self.done[job] = 0
        self.heartbeat(after=PERIOD)

    @message_server
    def launch(self, job: int, container: int) -> None:
        """Begin a container; a task takes one time unit or three."""
        self.used += size(container)
        require(self.used <= MEMORY, "no node uses more memory than it has")
        if container:
            self.finished(job, after=self.choose(1, 3, site=1))

    @message_server
    def finished(self, job: int) -> None:
        """End a task."""
        self.used -= TASK
        self.done[job] += 1

    @message_server
    def stop(self) -> None:
        """End an AppMaster."""
        self.used -= MASTER


class AppMaster(Rebec, queue_size=4):
    """Launches the containers that its job is given, and leaves when all tasks have finished."""

    manager: ResourceManager = known_rebec()

    job: int = state_variable(Byte)
    home: NodeManager = state_variable(Reference)
    launched: list[bool] = state_variable(Boolean[TASKS + 1])
    ended: int = state_variable(Byte)

    def __init__(self, job: int) -> None:
        self.job = job

    @message_server
    def allocated(self, container: int, node: NodeManager) -> None:
        """Launch a container; the first one is for the AppMaster itself."""
        require(not self.launched[container], "no container is launched twice")
        self.launched[container] = True
        node.launch(self.job, container)
        if container == 0:
            self.home = node
            self.manager.register(self.job)

    @message_server
    def released(self, done: int) -> None:
        """Hear that tasks have finished; leave after the last one."""
        self.ended += done
        if self.ended == TASKS:
            self.home.stop()
            self.manager.left(self.job, after=1)


model = Model(
    "yarn_reservations",
    (
        Instance(
            "manager",
            ResourceManager,
            knows=["node0", "node1", "master0", "master1"],
            arguments=[GIVES_UP],
        ),
        Instance("node0", NodeManager, knows=["manager"], arguments=[0]),
        Instance("node1", NodeManager, knows=["manager"], arguments=[1]),
        Instance("master0", AppMaster, knows=["manager"], arguments=[0]),
        Instance("master1", AppMaster, knows=["manager"], arguments=[1]),
    ),
)
