"""The cluster as rebecs: a client, a resource manager, and nodes; and fair start times.

G. Sabin, G. Kochhar and P. Sadayappan, "Job fairness in non-preemptive job scheduling" (ICPP 2004):
no job should be delayed by one that is submitted later. The fair start of a job is its start in
the schedule that the same policy makes of it and of what was submitted before. A job that starts
later than that has been treated unfairly.

    Client --submit--> ResourceManager --run--> ComputeNode --finished--> ResourceManager

The priorities resolve what happens at one time: all submissions first, then starts, then ends, and
a look at the queue last. Only times at which something happens cost anything.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from heapq import heapify, heappop, heappush
from typing import Any

from rebecsim.actors import (
    Instance,
    Int,
    Model,
    Rebec,
    RebecNamed,
    StatePart,
    known_rebec,
    state_variable,
)
from rebecsim.clusters.batch.machine import Job, Machine
from rebecsim.clusters.batch.policies.backfilling import Allocations, Backfilling
from rebecsim.clusters.batch.policies.orders import PolicySettings, QueueOrder
from rebecsim.clusters.batch.policies.policy import BatchPolicy
from rebecsim.clusters.kit.queued import in_turn

_END, _REFRESH, _WAKE = range(3)
"""What comes first at one time: the order of the messages of the resource manager."""


class Foresight(StatePart):
    """Looks ahead, on a copy of what a resource manager knows, from the submission of each job.

    Attributes:
        starts: fair starts by the index of the job, seconds.
    """

    def __init__(self, jobs: int) -> None:
        self.starts = [-1] * jobs
        self._ends: dict[int, tuple[int, int, int, Job]] = {}
        self._started = 0

    def note_start(self, job: Job, now: int) -> None:
        """Take note of a job that starts."""
        self._ends[job.index] = (now + job.run, _END, self._started, job)
        self._started += 1

    def note_end(self, job: Job) -> None:
        """Take note of a job that has ended."""
        del self._ends[job.index]

    def look(self, job: Job, now: int, backfilling: Backfilling, refresh: int, wake: int) -> None:
        """Note the fair start of a job that has just been submitted.

        The next refresh and the next wake are at these times, or there is none if they are over.
        """
        if job.index in self._ends:
            self.starts[job.index] = now
            return
        memo: dict[int, Any] = {id(backfilling.machine): backfilling.machine}
        scheduler, events = deepcopy((backfilling, list(self._ends.values())), memo)
        for time, kind in ((refresh, _REFRESH), (wake, _WAKE)):
            if time >= now:
                events.append((time, kind, self._started, job))
        heapify(events)
        self.starts[job.index] = _start_of(job.index, scheduler, events, self._started, wake)


def _start_of(
    wanted: int,
    scheduler: Backfilling,
    events: list[tuple[int, int, int, Job]],
    number: int,
    wake_at: int,
) -> int:
    """Go on until a job starts; give the time. Events have numbers up to this one."""
    order = scheduler.order
    while events:
        now, kind, _, job = heappop(events)
        if kind == _END:
            started = scheduler.finished(job, now)
        elif kind == _WAKE:
            started = scheduler.woken(now)
        else:
            started = scheduler.refreshed(now)
            if order.refresh is not None:
                number += 1
                heappush(events, (now + order.refresh, _REFRESH, number, job))
        for each in started:
            if each.index == wanted:
                return now
            order.started(each, now)
            number += 1
            heappush(events, (now + each.run, _END, number, each))
        wake = scheduler.wake
        if wake is not None and not now < wake_at <= wake:
            number += 1
            heappush(events, (wake, _WAKE, number, job))
            wake_at = wake
    raise RuntimeError("the policy never starts a job that no other job follows")


_UNBOUNDED = 2**31 - 1

_AT_A_TIME = 16  # jobs that are submitted together; more would make the heap of messages larger

MANAGER = "manager"


class Client(Rebec, queue_size=2):
    """Submits the jobs of a workload, some at a time, each for when its time will have come."""

    manager: ResourceManager = known_rebec()
    submitted: int = state_variable(Int)

    def __init__(self, jobs: Sequence[Job]) -> None:
        self.jobs = jobs
        self.proceed()

    @in_turn(1)
    def proceed(self) -> None:
        """Submit the next jobs, and wait for the time of the last one of them."""
        now, submit = self._now, self.manager.submit
        jobs = self.jobs[self.submitted : self.submitted + _AT_A_TIME]
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

    @in_turn(2)
    def run(self, job: Job) -> None:
        """Begin a job; the manager hears of its end."""
        self.manager.finished(job, after=job.run)


class ResourceManager(Rebec, queue_size=_UNBOUNDED):
    """Holds the queue, and starts what its policy says.

    Attributes:
        starts: when each job of the workload started, seconds; -1 for one that has not.
        foresight: finds their fair starts; None where these are not asked for.
    """

    waiting: int = state_variable(Int)
    running: int = state_variable(Int)

    def __init__(
        self,
        machine: Machine[Any],
        policy: BatchPolicy,
        settings: PolicySettings,
        jobs: int,
        looks_ahead: bool,
        *nodes: ComputeNode,
    ) -> None:
        self.machine = machine
        order = policy.order(settings)
        self.backfilling: Backfilling = policy.backfilling(order, Allocations(machine), settings)
        self.starts = [-1] * jobs
        self.foresight = Foresight(jobs) if looks_ahead else None
        self.nodes = nodes
        self._only_node = nodes[0] if len(nodes) == 1 else None
        self._wakes = type(self.backfilling).wake is not Backfilling.wake
        self._notes_starts = type(order).started is not QueueOrder.started
        self._lead = settings.clock_lead
        self._clock: int | None = None
        self._refresh_at = -1
        self._wake_at = -1

    @in_turn(3)
    def submit(self, job: Job) -> None:
        """Take a job into the queue."""
        now = self._now
        if self._clock is None:
            self._clock = now - self._lead
            self.backfilling.order.begins(self._clock)
        self.waiting += 1
        started = self.backfilling.submitted(job, now)
        if started or self._wakes:
            self._begin(started)
        period = self.backfilling.order.refresh
        if period is not None:
            self._plan_refresh(period)
        if self.foresight is not None:
            self.foresight.look(job, now, self.backfilling, self._refresh_at, self._wake_at)

    @in_turn(4)
    def finished(self, job: Job) -> None:
        """The nodes of a job are done with it."""
        self.running -= 1
        if self.foresight is not None:
            self.foresight.note_end(job)
        started = self.backfilling.finished(job, self._now)
        if started or self._wakes:
            self._begin(started)

    @in_turn(5)
    def refresh(self) -> None:
        """Sort the queue anew."""
        if self.waiting:
            self._begin(self.backfilling.refreshed(self._now))
        period = self.backfilling.order.refresh
        if self.waiting and period is not None:
            self.refresh(after=period)
            self._refresh_at = self._now + period

    @in_turn(6)
    def wake(self) -> None:
        """Start what has been waiting for this time."""
        self._begin(self.backfilling.woken(self._now))

    def _begin(self, jobs: list[Job]) -> None:
        """Send jobs to their nodes."""
        now, started, only_node = self._now, len(jobs), self._only_node
        for job in jobs:
            self.starts[job.index] = now
            if self._notes_starts:
                self.backfilling.order.started(job, now)
            if self.foresight is not None:
                self.foresight.note_start(job, now)
            node = only_node or self._first_node(job)
            node.run(job)
        self.waiting -= started
        self.running += started
        if self._wakes:
            wake = self.backfilling.wake
            if wake is not None and not now < self._wake_at <= wake:
                self.wake(after=wake - now)
                self._wake_at = wake

    def _first_node(self, job: Job) -> ComputeNode:
        _, amount = self.backfilling.allocations.given[job.index]
        return self.nodes[self.machine.first_node(amount)]

    def _plan_refresh(self, period: int) -> None:
        """While jobs wait, look at the multiples of the period on the scheduler's clock."""
        now, clock = self._now, self._clock
        assert clock is not None
        if self.waiting and self._refresh_at < now:
            wait = (clock - now) % period if now > clock else period
            self.refresh(after=wait)
            self._refresh_at = now + wait


def cluster_model(
    jobs: Sequence[Job],
    machine: Machine[Any],
    policy: BatchPolicy,
    settings: PolicySettings,
    *,
    fair_starts: bool = False,
) -> Model:
    """Make the model of a cluster that runs jobs, which come in the order of submission.

    With `fair_starts`, its manager looks ahead for each job.
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
                (machine, policy, settings, len(jobs), fair_starts, *map(RebecNamed, names)),
            ),
        ),
    )
