"""The cluster as rebecs: users, a controller, and nodes.

    Users --submit--> Controller --run--> ComputeNode --finished--> Controller

What happens in one second goes in the order of the priorities below: ends of jobs, released nodes,
the main scheduler, submissions, backfill. The clocks of the controller only tick where a pass could
make something of it; their phases are kept.
"""

from __future__ import annotations

from collections.abc import Sequence

from rebecsim.actors import (
    Instance,
    Int,
    Model,
    Rebec,
    RebecNamed,
    known_rebec,
    state_variable,
)
from rebecsim.clusters.kit.queued import in_turn
from rebecsim.clusters.slurm.backfill import backfill
from rebecsim.clusters.slurm.configuration import NodeChange
from rebecsim.clusters.slurm.jobs import Job
from rebecsim.clusters.slurm.machine import Machine
from rebecsim.clusters.slurm.main_pass import Started, main_pass, start_at_submission
from rebecsim.clusters.slurm.occupancy import Allocation
from rebecsim.clusters.slurm.preemption import Victim, requeue, resumable, suspend, switched
from rebecsim.clusters.slurm.records import Record
from rebecsim.clusters.slurm.runs import RunState
from rebecsim.clusters.slurm.scheduler import SlurmScheduler

_UNBOUNDED = 2**31 - 1

_AT_A_TIME = 16  # jobs that are submitted together; more would make the heap of messages larger

CONTROLLER = "controller"

TIMEOUT_PERIOD = 30
"""Within so long after its limit a job is found to be over it, seconds."""


_IDLE_LIMITED = 1000
"""After so many periods in which nothing runs, jobs at a limit of decaying usage wait for ever."""


class Users(Rebec, queue_size=2):
    """Submit the jobs, some at a time, each for when its time will have come."""

    controller: Controller = known_rebec()
    submitted: int = state_variable(Int)

    def __init__(self, jobs: Sequence[Job]) -> None:
        self.jobs = jobs
        self.proceed()

    @in_turn(1)
    def proceed(self) -> None:
        """Submit the next jobs, and wait for the time of the last one of them."""
        now, first = self._now, self.submitted
        jobs = self.jobs[first : first + _AT_A_TIME]
        for place, job in enumerate(jobs):
            self.controller.submit(job, first + place, after=job.submit - now)
        self.submitted += len(jobs)
        if jobs:
            self.proceed(after=jobs[-1].submit - now)


class ComputeNode(Rebec, queue_size=_UNBOUNDED):
    """Runs jobs for as long as they run. The first node of a job speaks for all."""

    controller: Controller = known_rebec()

    @in_turn(3)
    def run(self, job: Job, attempt: int, seconds: int) -> None:
        """Begin a job; the controller hears of its end."""
        self.controller.finished(job, attempt, after=seconds)


class Controller(Rebec, queue_size=_UNBOUNDED):
    """Slurm's controller.

    Attributes:
        scheduler: what it knows.
        starts: when each job started last, seconds; -1: it has not.
        waiting: how many jobs wait.
    """

    waiting: int = state_variable(Int)

    def __init__(
        self, scheduler: SlurmScheduler, jobs: int, base: int, *nodes: ComputeNode
    ) -> None:
        self.scheduler, self.nodes = scheduler, nodes
        cluster = scheduler.machine.cluster
        self.starts = [-1] * jobs
        self.ended = 0
        clock = cluster.clock
        self._base = base
        self._main_at = self._backfill_at = self._period_at = self._wake_at = self._turn_at = -1
        self._last_main = base - cluster.main.batch_sched_delay
        first = base if clock.backfill_start is None else clock.backfill_start
        self._last_backfill = first - cluster.backfilling.bf_interval
        self._seen_main = self._seen_backfill = 0
        self._asked = False
        self._idle_periods = 0
        started = base if clock.priority_start is None else clock.priority_start
        self._phase = started
        has_usage_limits = len(scheduler.usage.kinds) > 2 or scheduler.limits.enforces
        self._has_periods = not scheduler.priorities.is_basic or has_usage_limits
        for change in cluster.changes:
            self.change(change, after=max(change.time, 0))
        edge = scheduler.reservations.next_edge(0)
        if edge is not None:
            self._wake_at = edge
            self.wake(after=edge)

    # What happens

    @in_turn(2)
    def change(self, change: NodeChange) -> None:
        """Take a node down, drain it, or bring it back."""
        scheduler = self.scheduler
        node = scheduler.machine.number[change.node]
        scheduler.occupancy.set_state(node, change.state)
        if change.state == "DOWN":
            for record in list(scheduler.running.values()):
                if node in scheduler.occupancy.given[record.number].nodes:
                    self._stop(record, "NODE_FAIL", again=scheduler.is_requeued(record))
        scheduler.changed += 1
        self._ask()

    @in_turn(4)
    def finished(self, job: Job, attempt: int) -> None:
        """The nodes of a job are done with it."""
        record = self._running(job, attempt)
        if record is not None:
            state: RunState = "FAILED" if job.extras.fails else "COMPLETED"
            self._stop(record, "TIMEOUT" if record.left > self._now - record.since else state)

    @in_turn(4)
    def preempted(self, job: Job, attempt: int, again: bool) -> None:
        """The time of grace of a preempted job is over."""
        record = self._running(job, attempt)
        if record is not None:
            self._stop(record, "PREEMPTED", again=again)

    @in_turn(4)
    def run_out(self, job: Job, attempt: int) -> None:
        """A running job is found to be over the usage that its QOS or association may have."""
        record = self._running(job, attempt)
        if record is not None:
            self._stop(record, "TIMEOUT")

    @in_turn(5)
    def release(self, job: Job, given: Allocation) -> None:
        """The nodes of an ended job may take others."""
        self._released(job, given)

    @in_turn(6)
    def period(self) -> None:
        """End a period of the priority plug-in."""
        self._write_terms()
        if self._period_at != self._now:
            return
        scheduler = self.scheduler
        scheduler.period(self._now)
        if scheduler.limits.kills:
            for record in list(scheduler.running.values()):
                assert record.entry is not None
                if scheduler.limits.has_run_out(record, record.entry.place.spec.qos):
                    self.run_out(record.job, record.attempt, after=TIMEOUT_PERIOD)
        self._plan_period()
        self._plan()

    @in_turn(6)
    def take_turns(self) -> None:
        """End a time slice of jobs that share cores."""
        if self._turn_at == self._now and self.scheduler.gang is not None:
            self._turn_at = -1
            self.scheduler.gang.take_turns()
            self._switch()

    @in_turn(7)
    def wake(self) -> None:
        """See which jobs have become eligible: by time, or as a reservation begins or ends."""
        if self._wake_at != self._now:
            return
        scheduler = self.scheduler
        if scheduler.reservations.all:
            scheduler.changed += 1
            scheduler.occupancy.freed += 1
        self._admit(timed=True)
        self._plan_wake()
        self._ask()

    @in_turn(8)
    def main(self) -> None:
        """Make a pass of the main scheduler."""
        now = self._now
        self._write_terms()
        if self._main_at != now:
            return
        self._main_at = -1
        parameters = self.scheduler.machine.cluster.main
        is_full = (now - self._base) % parameters.sched_interval == 0
        self._seen_main = self.scheduler.changed
        self._asked, self._last_main = False, now
        self._begin(main_pass(self.scheduler, now, full=is_full))
        self._plan()

    @in_turn(9)
    def submit(self, job: Job, position: int) -> None:
        """Take a job into the queue."""
        now, scheduler = self._now, self.scheduler
        record, refusal = scheduler.record(job, position, now)
        if refusal:
            scheduler.refuse(record, now, refusal)
            self.ended += 1
            return
        if self._has_periods and self._period_at < now:
            self._catch_up()
        self.scheduler.records[job.number] = record
        self.waiting += 1
        scheduler.submit(record, now)
        extras = job.extras
        gone = extras.withdrawn
        if extras.deadline is not None:
            least = extras.deadline - (extras.min_time or record.limit)
            gone = least if gone is None else min(gone, least)
        if gone is not None:
            self.withdraw(job, after=max(gone - now, 0))
        if record.state == "PENDING" and record.number not in scheduler.waiting.asleep:
            if not job.batch:
                self._begin(start_at_submission(scheduler, record, now))
            if record.state == "PENDING":
                self._ask()
        elif record.state == "PENDING":
            self._plan_wake()
        self._idle_periods = 0
        self._plan_period()
        self._plan()

    @in_turn(9)
    def withdraw(self, job: Job) -> None:
        """The user cancels a job that waits, or its deadline cannot be met any more."""
        record = self.scheduler.records.get(job.number)
        if record is not None and record.state == "PENDING":
            self.scheduler.withdraw(record, self._now)
            self._forget(record)
            self._admit(timed=False)
            self._ask()

    @in_turn(10)
    def backfill(self) -> None:
        """Make a cycle of backfill."""
        self._write_terms()
        if self._backfill_at != self._now:
            return
        self._backfill_at = -1
        self._last_backfill = self._now
        self._seen_backfill = self.scheduler.changed
        self._begin(backfill(self.scheduler, self._now))
        self._plan()

    # What it does

    def _write_terms(self) -> None:
        """Write down the priorities of waiting jobs, if it is time for that."""
        scheduler, journal = self.scheduler, self.scheduler.journal
        if journal.at is None or self._now < journal.at:
            return
        for each in scheduler.queue.ordered():
            terms = scheduler.priorities.terms(each.record, each.need, journal.at)
            journal.terms.append((each.record.number, each.priority, terms))
        journal.at = None

    def _begin(self, started: Started) -> None:
        """Send jobs to their nodes, and have others leave."""
        scheduler, now = self.scheduler, self._now
        for record in started.jobs:
            self.starts[record.index] = now
            self.waiting -= 1
            if record.state == "RUNNING":  # else another one of the same pass has preempted it
                self._send(record)
        for victim in started.victims:
            self._preempt(victim)
        self._switch()
        if started.jobs:
            self._plan_period()
            if scheduler.waiting.asleep:
                self._admit(timed=False)
                self._plan_wake()

    def _send(self, record: Record) -> None:
        """Have the nodes of a job run it for what is left of it."""
        scheduler, now = self.scheduler, self._now
        cluster = scheduler.machine.cluster
        assert record.entry is not None
        over = record.entry.place.spec.over_time_limit
        over = cluster.over_time_limit if over is None else over
        seconds = min(record.left, record.planned - now + over + TIMEOUT_PERIOD)
        own = scheduler.reservations.by_name.get(record.job.request.reservation)
        if own is not None and "FLEX" not in own.flags:
            ends = [end for _, end in scheduler.reservations.windows(own, now, now + 1)]
            seconds = min([seconds, *(end - now for end in ends)])
        first = int(scheduler.occupancy.given[record.number].nodes[0])
        self.nodes[first].run(record.job, record.attempt, max(seconds, 0))

    def _running(self, job: Job, attempt: int) -> Record | None:
        """Give a job, if it has not started anew or ended since."""
        record = self.scheduler.records.get(job.number)
        is_same = record is not None and (record.attempt, record.state) == (attempt, "RUNNING")
        return record if is_same else None

    def _stop(self, record: Record, state: RunState, *, again: bool = False) -> None:
        """Take back what a job had; `again` puts it into the queue anew."""
        given = self.scheduler.end(record, self._now, state, again=again)
        self._after_end(record, given, again=again)

    def _after_end(self, record: Record, given: Allocation, *, again: bool) -> None:
        """Forget a job that has ended for good, and have its nodes released."""
        scheduler = self.scheduler
        delay = scheduler.machine.cluster.clock.release
        if not again:
            self._forget(record)
        scheduler.occupancy.complete(given)
        if delay:
            self.release(record.job, given, after=delay)
        else:
            self._released(record.job, given)

    def _released(self, job: Job, given: Allocation) -> None:
        """See who may go on without a job whose nodes are back."""
        scheduler = self.scheduler
        requeued = scheduler.release(job, given, self._now)
        if requeued is not None:
            self.waiting += 1
            requeue(scheduler, requeued, self._now)
        self._switch()
        if scheduler.waiting.asleep:
            self._admit(timed=False)
            self._plan_wake()
        self._after_release()

    def _forget(self, record: Record) -> None:
        self.scheduler.records.pop(record.number, None)
        self.scheduler.kills_until.pop(record.number, None)
        self.ended += 1
        self.waiting -= record.start < 0

    def _preempt(self, victim: Victim) -> None:
        record, now = victim.record, self._now
        if victim.given is not None:
            self.scheduler.occupancy.release(victim.given)
            self._after_end(record, victim.given, again=victim.again)
        elif victim.mode == "SUSPEND":
            if record.state == "RUNNING":
                suspend(self.scheduler, record, now)
                self._ask()
        else:
            self.preempted(record.job, record.attempt, victim.again, after=victim.end - now)

    def _switch(self) -> None:
        """Let suspended jobs go on that can, stop others, and plan when it is another's turn."""
        scheduler, now = self.scheduler, self._now
        for record in resumable(scheduler, now):
            self._send(record)
        if scheduler.gang is None:
            return
        go_on, gone = switched(scheduler, now)
        for record in go_on:
            self._send(record)
        for victim in gone:
            self._preempt(victim)
        length = scheduler.machine.cluster.preemption.time_slice
        if scheduler.gang.waits and self._turn_at <= now and length:
            self._turn_at = now + length - (now - self._base) % length
            self.take_turns(after=self._turn_at - now)

    def _admit(self, *, timed: bool) -> None:
        """Put jobs into the queue that have become eligible."""
        scheduler = self.scheduler
        for record in scheduler.ready(self._now, timed=timed):
            if record.reason != "BadConstraints":
                scheduler.make_eligible(record, self._now)
                self._ask()
        if scheduler.machine.cluster.main.kill_invalid_depend:
            for record in list(scheduler.waiting.asleep.values()):
                if record.reason == "DependencyNeverSatisfied":
                    scheduler.withdraw(record, self._now)
                    self._forget(record)

    # Its clocks

    def _after_release(self) -> None:
        if self.scheduler.machine.cluster.clock.asks_at_end:
            self._ask()
        elif self.scheduler.queue.entries:
            self._at_main(self._now)
        self._plan()

    def _ask(self) -> None:
        """Ask for a pass of the main scheduler, which comes soon."""
        self._asked = True
        self._plan()

    def _at_main(self, time: int) -> None:
        if not self._now <= self._main_at <= time:
            self._main_at = time
            self.main(after=time - self._now)

    def _plan(self) -> None:
        """Plan the next pass and the next cycle, if they could make something of what there is."""
        scheduler, now = self.scheduler, self._now
        if not scheduler.queue.entries:
            return
        cluster = scheduler.machine.cluster
        if scheduler.changed != self._seen_main:
            interval = cluster.main.sched_interval
            passed = now - self._base
            full = now + interval - passed % interval
            last = max(self._last_main, full - interval)
            if self._asked:
                full = min(full, max(now + 1, last + cluster.main.batch_sched_delay))
            self._at_main(full)
        if cluster.backfill and scheduler.changed != self._seen_backfill:
            interval = cluster.backfilling.bf_interval
            time = max(self._last_backfill + interval, now)
            if (
                interval > 0
                and not now <= self._backfill_at <= time
                and (time > now or self._last_backfill != now)
            ):
                self._backfill_at = time
                self.backfill(after=time - now)

    def _plan_period(self) -> None:
        """Plan the end of the period, while anything waits or runs."""
        scheduler, now = self.scheduler, self._now
        if scheduler.running:
            self._idle_periods = 0
        elif self._idle_periods >= (_IDLE_LIMITED if len(scheduler.usage.kinds) > 2 else 2):
            return  # what waits now, waits for nothing that a period could change
        busy = scheduler.queue or scheduler.running
        if self._has_periods and busy and self._period_at <= now:
            self._idle_periods += 1
            length = scheduler.machine.cluster.priority.calc_period
            self._period_at = now + length - (now - self._phase) % length
            self.period(after=self._period_at - now)

    def _catch_up(self) -> None:
        """Let usage decay up to the last period that was passed over as nothing ran or waited."""
        length = self.scheduler.machine.cluster.priority.calc_period
        last = self._now - (self._now - self._phase) % length
        usage = self.scheduler.usage
        if not usage.began or last > usage.last:
            self.scheduler.period(last)

    def _plan_wake(self) -> None:
        """Plan the next look at jobs that wait for a time, and at the edges of reservations."""
        scheduler, now = self.scheduler, self._now
        times = [scheduler.waiting.next_time(now) if scheduler.waiting.asleep else None]
        if scheduler.reservations.all:
            times.append(scheduler.reservations.next_edge(now))
        time = min((each for each in times if each is not None), default=None)
        if time is not None and not now < self._wake_at <= time:
            self._wake_at = time
            self.wake(after=time - now)


def cluster_model(
    jobs: Sequence[Job], scheduler: SlurmScheduler, controller: type[Controller] = Controller
) -> Model:
    """Make the model of a cluster that runs jobs, which come in the order of submission."""
    machine: Machine = scheduler.machine
    base = jobs[0].submit if jobs else 0
    names = list(machine.names)
    return Model(
        "cluster",
        (
            Instance("users", Users, (CONTROLLER,), (jobs,)),
            *(Instance(name, ComputeNode, (CONTROLLER,)) for name in names),
            Instance(
                CONTROLLER,
                controller,
                (),
                (scheduler, len(jobs), base, *map(RebecNamed, names)),
            ),
        ),
    )
