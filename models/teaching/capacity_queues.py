"""Hadoop's Capacity Scheduler with two nodes and two queues, small enough to try all it can do.

Each node has two slots; each queue is sure of two of the four. The first queue may have three, the
second no more than its two. Users u and v submit jobs to the first queue, w to the second one.

    JobTracker: submit                             a job comes, and waits to be initialised
    JobTracker: poll                               as many jobs as a queue may have are initialised
    TaskTracker --heartbeat--> JobTracker          what has ended; a free slot is given
    JobTracker --launch--> TaskTracker             a task begins
    TaskTracker: finished                          a task ends

At a heartbeat the queue goes first that has the smaller part of its capacity. Its jobs are asked in
their order, but a user gets no more than a limit, which depends on how many want something.

There are two planted faults. With `UP_TO_MAXIMUM = False` a queue is refused a slot only when it is
beyond its maximum. With `LEAST_FIRST = False` queues are asked in the order of their names.

`rebecsim.clusters.mapreduce.schedulers.capacity` is this scheduler with any number of queues, nodes
and jobs, and all its parameters.
"""

from __future__ import annotations

from rebecsim.actors import (
    Boolean,
    Byte,
    Instance,
    Model,
    Rebec,
    known_rebec,
    message_server,
    require,
    state_variable,
)

UP_TO_MAXIMUM = True
LEAST_FIRST = True

SLOTS = 2  # of a node
CAPACITY = 2  # slots that each queue is sure of
MAXIMUM = (3, 2)  # slots that each queue may have
FACTOR = 1  # how many times the capacity of its queue a user may have
PERCENT = 50  # of the queue that a user can have, however many others want something
INITIALISED = 2  # jobs of a queue that are initialised at a time

QUEUE = (0, 0, 0, 1)  # of each job
USER = (0, 1, 0, 2)
TASKS = (3, 2, 1, 2)
COMES = (0, 0, 0, 3)

PERIOD = 2  # from heartbeat to heartbeat of a node
POLL = 4  # from one initialisation of jobs to the next

BOTH = range(2)  # nodes, and queues
JOBS = range(4)
USERS = range(3)
ABSENT, WAITS, READY, DONE = range(4)  # states of a job
NOBODY = -1


class JobTracker(Rebec, queue_size=10):
    """Gives the slots of nodes to the tasks of jobs.

    Of each job: its `state`; how many tasks are `left` to be given a slot, and how many it has been
    given that have not been reported to have ended, `running`.
    """

    node0: TaskTracker = known_rebec()
    node1: TaskTracker = known_rebec()

    state: list[int] = state_variable(Byte[4])
    left: list[int] = state_variable(Byte[4])
    running: list[int] = state_variable(Byte[4])
    up_to_maximum: bool = state_variable(Boolean)
    least_first: bool = state_variable(Boolean)

    def __init__(self, up_to_maximum: bool, least_first: bool) -> None:
        self.up_to_maximum = up_to_maximum
        self.least_first = least_first
        for job in JOBS:
            self.submit(job, after=COMES[job])
        self.poll(after=1)

    @message_server
    def submit(self, job: int) -> None:
        """Let a job wait to be initialised."""
        self.state[job] = WAITS
        self.left[job] = TASKS[job]

    @message_server
    def poll(self) -> None:
        """Initialise jobs in their order, as many as each queue may have."""
        for job in JOBS:
            if self.state[job] == WAITS and self._initialised(QUEUE[job]) < INITIALISED:
                self.state[job] = READY
        self.poll(after=POLL)

    @message_server
    def node_heartbeat(
        self, node: int, free: int, done0: int, done1: int, done2: int, done3: int
    ) -> None:
        """Hear how many slots of a node are free, and how many tasks of each job have ended."""
        for job, done in enumerate((done0, done1, done2, done3)):
            self.running[job] -= done
            if self.state[job] == READY and self.left[job] == 0 and self.running[job] == 0:
                self.state[job] = DONE
        if free:
            self._give(node)

    def _give(self, node: int) -> None:
        """Give one slot to the first job that may have it, of the first queue that has one."""
        first = 1 if self.least_first and self._has(1) < self._has(0) else 0
        for queue in (first, 1 - first):
            job = self._job_of(queue)
            if job != NOBODY:
                require(
                    self._has(queue) < CAPACITY
                    or self._has(1 - queue) >= CAPACITY
                    or self._job_of(1 - queue) == NOBODY,
                    "a queue under its capacity goes before one that is not",
                )
                self.left[job] -= 1
                self.running[job] += 1
                (self.node0, self.node1)[node].launch(job)
                return

    def _job_of(self, queue: int) -> int:
        """Give the first job of a queue that may have a slot, or NOBODY."""
        has = self._has(queue)
        if has >= MAXIMUM[queue] if self.up_to_maximum else has > MAXIMUM[queue]:
            return NOBODY
        for job in JOBS:
            if QUEUE[job] == queue and self._wants(job) and self._may(USER[job], queue):
                return job
        return NOBODY

    def _may(self, user: int, queue: int) -> bool:
        """Whether a user is under the limit of the moment."""
        return self._has_user(user) < self._user_limit(queue)

    def _user_limit(self, queue: int) -> int:
        """Give how many slots of a queue one user may have now."""
        shared = CAPACITY if self._has(queue) < CAPACITY else self._has(queue) + 1
        users = sum(self._is_active(user, queue) for user in USERS)
        equal = -(-shared // max(1, users))
        return min(max(equal, -(-PERCENT * shared // 100)), CAPACITY * FACTOR)

    def _is_active(self, user: int, queue: int) -> bool:
        """Whether a user has a job in a queue that wants a slot."""
        return any(USER[job] == user and QUEUE[job] == queue and self._wants(job) for job in JOBS)

    def _wants(self, job: int) -> bool:
        return self.state[job] == READY and self.left[job] > 0

    def _initialised(self, queue: int) -> int:
        return sum(QUEUE[job] == queue and self.state[job] == READY for job in JOBS)

    def _has(self, queue: int) -> int:
        """Give how many slots a queue has."""
        return sum(self.running[job] for job in JOBS if QUEUE[job] == queue)

    def _has_user(self, user: int) -> int:
        return sum(self.running[job] for job in JOBS if USER[job] == user)


class TaskTracker(Rebec, queue_size=6):
    """Runs tasks on its node, and reports which have ended.

    `busy` counts the slots of tasks that run, `done` the tasks of each job to be reported.
    """

    tracker: JobTracker = known_rebec()

    number: int = state_variable(Byte)
    busy: int = state_variable(Byte)
    done: list[int] = state_variable(Byte[4])

    def __init__(self, number: int) -> None:
        self.number = number
        self.heartbeat(after=number + 1)

    @message_server
    def heartbeat(self) -> None:
        """Report to the JobTracker."""
        self.tracker.node_heartbeat(
            self.number,
            SLOTS - self.busy,
            self.done[0],
            self.done[1],
            self.done[2],
            self.done[3],
        )
        for job in JOBS:
            self.done[job] = 0
        self.heartbeat(after=PERIOD)

    @message_server
    def launch(self, job: int) -> None:
        """Begin a task; it takes one time unit or three."""
        self.busy += 1
        require(self.busy <= SLOTS, "no node runs more tasks than it has slots")
        self.finished(job, after=self.choose(1, 3, site=1))

    @message_server
    def finished(self, job: int) -> None:
        """End a task."""
        self.busy -= 1
        self.done[job] += 1


model = Model(
    "capacity_queues",
    (
        Instance(
            "tracker",
            JobTracker,
            knows=["node0", "node1"],
            arguments=[UP_TO_MAXIMUM, LEAST_FIRST],
        ),
        Instance("node0", TaskTracker, knows=["tracker"], arguments=[0]),
        Instance("node1", TaskTracker, knows=["tracker"], arguments=[1]),
    ),
)
