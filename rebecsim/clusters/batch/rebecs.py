"""The cluster as rebecs: a client, a resource manager, and nodes.

    Client --submit--> ResourceManager --run--> ComputeNode --finished--> ResourceManager

The priorities resolve what happens at one time: all submissions first, then starts, then ends, and
a look at the queue last. Only times at which something happens cost anything.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

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
from rebecsim.clusters.batch.job import Job
from rebecsim.clusters.batch.machine import Machine
from rebecsim.clusters.batch.policies.allocations import Allocations
from rebecsim.clusters.batch.policies.backfilling import Backfilling
from rebecsim.clusters.batch.policies.policy import BatchPolicy
from rebecsim.clusters.batch.policies.settings import PolicySettings

_UNBOUNDED = 2**31 - 1

MANAGER = "manager"


class Client(Rebec, queue_size=2):
    """Submits the jobs of a workload when their time has come."""

    manager: ResourceManager = known_rebec()
    submitted: int = state_variable(Int)

    def __init__(self, jobs: Iterable[Job]) -> None:
        self._jobs = iter(jobs)
        self._next = next(self._jobs, None)
        if self._next is not None:
            self.proceed(after=self._next.submit)

    @message_server
    def proceed(self) -> None:
        """Submit everything that is due, and wait for the next time."""
        job, now = self._next, self._now
        while job is not None and job.submit == now:
            self.manager.submit(job)
            self.submitted += 1
            job = next(self._jobs, None)
        self._next = job
        if job is not None:
            self.proceed(after=job.submit - now)


class ComputeNode(Rebec, queue_size=_UNBOUNDED):
    """Runs its part of a job for as long as the job runs; pooled processors are one node."""

    manager: ResourceManager = known_rebec()

    @message_server
    def run(self, job: Job, processors: int) -> None:
        """Begin a job; the manager hears of its end."""
        self.manager.finished(job, after=job.run)


class ResourceManager(Rebec, queue_size=_UNBOUNDED):
    """Holds the queue, and starts what its policy says."""

    waiting: int = state_variable(Int)
    running: int = state_variable(Int)

    def __init__(
        self,
        machine: Machine,
        policy: BatchPolicy,
        settings: PolicySettings,
        starts: NDArray[np.int64],
        *nodes: ComputeNode,
    ) -> None:
        self.machine = machine
        self.order = policy.order(settings)
        allocations = Allocations(machine)
        self.backfilling: Backfilling = policy.backfilling(self.order, allocations, settings)
        self.starts = starts
        self.nodes = nodes
        self._parts: dict[int, int] = {}  # parts that still run, of jobs on several nodes
        self._lead = settings.clock_lead
        self._clock = 0
        self._refresh_at = -1
        self._wake_at = -1

    @message_server(priority=1)
    def submit(self, job: Job) -> None:
        """Take a job into the queue."""
        now = self._now
        if job.index == 0:
            self._clock = now - self._lead
            self.order.begins(self._clock)
        self.waiting += 1
        self._begin(self.backfilling.submitted(job, now))
        self._plan_refresh()

    @message_server(priority=2)
    def finished(self, job: Job) -> None:
        """A node is done with its part of a job."""
        left = self._parts.get(job.index)
        if left is not None:
            if left > 1:
                self._parts[job.index] = left - 1
                return
            del self._parts[job.index]
        self.running -= 1
        self._begin(self.backfilling.finished(job, self._now))

    @message_server(priority=3)
    def refresh(self) -> None:
        """Sort the queue anew."""
        if self.waiting:
            self._begin(self.backfilling.refreshed(self._now))
        if self.waiting and self.order.refresh is not None:
            self.refresh(after=self.order.refresh)
            self._refresh_at = self._now + self.order.refresh

    @message_server(priority=4)
    def wake(self) -> None:
        """Start what has been waiting for this time."""
        self._begin(self.backfilling.woken(self._now))

    def _begin(self, jobs: list[Job]) -> None:
        """Send jobs to their nodes."""
        now = self._now
        for job in jobs:
            self.starts[job.index] = now
            nodes = self.machine.nodes(job.amount)
            if len(nodes) > 1:
                self._parts[job.index] = len(nodes)
            for node, processors in nodes:
                self.nodes[node].run(job, processors)
        self.waiting -= len(jobs)
        self.running += len(jobs)
        wake = self.backfilling.wake
        if wake is not None and not now < self._wake_at <= wake:
            self.wake(after=wake - now)
            self._wake_at = wake

    def _plan_refresh(self) -> None:
        """While jobs wait, look at the multiples of the period on the scheduler's clock."""
        now, period = self._now, self.order.refresh
        if period is not None and self.waiting and self._refresh_at < now:
            wait = (self._clock - now) % period if now > self._clock else period
            self.refresh(after=wait)
            self._refresh_at = now + wait


def cluster_model(
    jobs: Iterable[Job],
    machine: Machine,
    policy: BatchPolicy,
    settings: PolicySettings,
    starts: NDArray[np.int64],
) -> Model:
    """Make the model of a cluster; the manager writes down in `starts` when each job starts.

    `jobs` come in the order of submission; `starts` has a place for each, shape (jobs,), seconds.
    """
    names = [f"node{number}" for number in range(machine.node_count)]
    return Model(
        "cluster",
        (
            Instance("client", Client, (MANAGER,), (jobs,), priority=1),
            *(Instance(name, ComputeNode, (MANAGER,), priority=2) for name in names),
            Instance(
                MANAGER,
                ResourceManager,
                (),
                (machine, policy, settings, starts, *map(RebecNamed, names)),
                priority=3,
            ),
        ),
    )
