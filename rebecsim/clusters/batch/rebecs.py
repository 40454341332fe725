"""The cluster as rebecs: a client, a resource manager, and nodes.

    Client --submit--> ResourceManager --run--> ComputeNode --finished--> ResourceManager

The priorities resolve what happens at one time: all submissions first, then starts, then ends, and
a look at the queue last. Only times at which something happens cost anything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import islice
from typing import Any

from rebecsim.actors import (
    Instance,
    Int,
    Model,
    Rebec,
    RebecNamed,
    known_rebec,
    message_server,
    state_variable,
)
from rebecsim.clusters.batch.fair_starts import Foresight
from rebecsim.clusters.batch.job import Job
from rebecsim.clusters.batch.machine import Machine
from rebecsim.clusters.batch.policies.allocations import Allocations
from rebecsim.clusters.batch.policies.backfilling import Backfilling
from rebecsim.clusters.batch.policies.orders import QueueOrder
from rebecsim.clusters.batch.policies.policy import BatchPolicy
from rebecsim.clusters.batch.policies.settings import PolicySettings

_UNBOUNDED = 2**31 - 1

_AT_A_TIME = 16  # jobs that are submitted together; more would make the heap of messages larger

MANAGER = "manager"


def _in_turn(place: int) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Make a message server; of those of one time the one with the lowest place goes first."""
    return message_server(priority=place, global_priority=place)


class Client(Rebec, queue_size=2):
    """Submits the jobs of a workload, some at a time, each for when its time will have come."""

    manager: ResourceManager = known_rebec()
    submitted: int = state_variable(Int)

    def __init__(self, jobs: Iterable[Job]) -> None:
        self._jobs = iter(jobs)
        self.proceed()

    @_in_turn(1)
    def proceed(self) -> None:
        """Submit the next jobs, and wait for the time of the last one of them."""
        now, submit = self._now, self.manager.submit
        jobs = list(islice(self._jobs, _AT_A_TIME))
        for job in jobs:
            submit(job, after=job.submit - now)
        self.submitted += len(jobs)
        if jobs:
            self.proceed(after=jobs[-1].submit - now)


class ComputeNode(Rebec, queue_size=_UNBOUNDED):
    """Runs jobs for as long as they run; pooled processors are one node.

    Of the nodes of a job the first one hears of it, and speaks for all, as in batch systems.
    """

    manager: ResourceManager = known_rebec()

    @_in_turn(2)
    def run(self, job: Job) -> None:
        """Begin a job; the manager hears of its end."""
        self.manager.finished(job, after=job.run)


class ResourceManager(Rebec, queue_size=_UNBOUNDED):
    """Holds the queue, and starts what its policy says."""

    waiting: int = state_variable(Int)
    running: int = state_variable(Int)

    def __init__(
        self,
        machine: Machine[Any],
        policy: BatchPolicy,
        settings: PolicySettings,
        starts: list[int],
        foresight: Foresight | None,
        *nodes: ComputeNode,
    ) -> None:
        self.machine = machine
        self.order = policy.order(settings)
        allocations = Allocations(machine)
        self.backfilling: Backfilling = policy.backfilling(self.order, allocations, settings)
        self.starts = starts
        self.foresight = foresight
        self.nodes = nodes
        self._only_node = nodes[0] if len(nodes) == 1 else None
        self._wakes = type(self.backfilling).wake is not Backfilling.wake
        self._notes_starts = type(self.order).started is not QueueOrder.started
        self._lead = settings.clock_lead
        self._clock = 0
        self._refresh_at = -1
        self._wake_at = -1

    @_in_turn(3)
    def submit(self, job: Job) -> None:
        """Take a job into the queue."""
        now = self._now
        if job.index == 0:
            self._clock = now - self._lead
            self.order.begins(self._clock)
        self.waiting += 1
        started = self.backfilling.submitted(job, now)
        if started or self._wakes:
            self._begin(started)
        if self.order.refresh is not None:
            self._plan_refresh(self.order.refresh)
        if self.foresight is not None:
            self.foresight.look(job, now, self.backfilling, self._refresh_at, self._wake_at)

    @_in_turn(4)
    def finished(self, job: Job) -> None:
        """The nodes of a job are done with it."""
        self.running -= 1
        if self.foresight is not None:
            self.foresight.note_end(job)
        started = self.backfilling.finished(job, self._now)
        if started or self._wakes:
            self._begin(started)

    @_in_turn(5)
    def refresh(self) -> None:
        """Sort the queue anew."""
        if self.waiting:
            self._begin(self.backfilling.refreshed(self._now))
        if self.waiting and self.order.refresh is not None:
            self.refresh(after=self.order.refresh)
            self._refresh_at = self._now + self.order.refresh

    @_in_turn(6)
    def wake(self) -> None:
        """Start what has been waiting for this time."""
        self._begin(self.backfilling.woken(self._now))

    def _begin(self, jobs: list[Job]) -> None:
        """Send jobs to their nodes."""
        now, started, only_node = self._now, len(jobs), self._only_node
        for job in jobs:
            self.starts[job.index] = now
            if self._notes_starts:
                self.order.started(job, now)
            if self.foresight is not None:
                self.foresight.note_start(job, now)
            node = only_node or self.nodes[self.machine.first_node(job.amount)]
            node.run(job)
        self.waiting -= started
        self.running += started
        if self._wakes:
            wake = self.backfilling.wake
            if wake is not None and not now < self._wake_at <= wake:
                self.wake(after=wake - now)
                self._wake_at = wake

    def _plan_refresh(self, period: int) -> None:
        """While jobs wait, look at the multiples of the period on the scheduler's clock."""
        now = self._now
        if self.waiting and self._refresh_at < now:
            wait = (self._clock - now) % period if now > self._clock else period
            self.refresh(after=wait)
            self._refresh_at = now + wait


def cluster_model(
    jobs: Iterable[Job],
    machine: Machine[Any],
    policy: BatchPolicy,
    settings: PolicySettings,
    starts: list[int],
    foresight: Foresight | None = None,
) -> Model:
    """Make the model of a cluster; the manager writes down in `starts` when each job starts.

    `jobs` come in the order of submission; `starts` has a place for each, in seconds. With
    `foresight`, it has their fair starts afterwards.
    """
    names = [f"node{number}" for number in range(machine.node_count)]
    return Model(
        "cluster",
        (
            Instance("client", Client, (MANAGER,), (jobs,)),
            *(Instance(name, ComputeNode, (MANAGER,)) for name in names),
            Instance(
                MANAGER,
                ResourceManager,
                (),
                (machine, policy, settings, starts, foresight, *map(RebecNamed, names)),
            ),
        ),
    )
