"""The JobTracker, and the client that submits jobs to it, as rebecs.

    Client --submit--> JobTracker
    JobTracker --launch--> TaskTracker         attempts begin
    JobTracker --fetch--> TaskTracker          a map has ended, whose output a reduce is to fetch
    TaskTracker --serve--> Device              a step of an attempt; bytes: --transfer--> Switch
    Device, Switch --served--> TaskTracker     it is done
    TaskTracker --ended--> JobTracker          an attempt has ended; it acts at the next heartbeat
    heartbeat                                  what has ended; free slots are given
    JobTracker --kill--> TaskTracker           an attempt is not needed any more
    TaskTracker: fail, recover                 its node stops working, and works again
    TaskTracker --failed, expire, restarted--> JobTracker

    TaskTracker --progressed, fetched--> JobTracker    for backups, and after failures

Each of them changes only its own state; messages hold what never changes, and call attempts by
their keys.

TaskTrackers are in `tasktracker`, devices in `devices`. TaskTrackers send heartbeats with a period,
each at its own phase; or each of their slots does (see `SlotBeats`). Idle TaskTrackers send none.
When there is work again, they resume at the next heartbeat that they would have sent. The
JobTracker knows these times, and sends itself the heartbeats.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING

from rebecsim.actors import Rebec, known_rebec
from rebecsim.clusters.mapreduce.attempts import (
    Attempt,
    AttemptKey,
    AttemptOutcome,
    MapOutput,
    StepProgress,
    TaskOrder,
)
from rebecsim.clusters.mapreduce.cluster_state import (
    ClusterPlan,
    JobRun,
    TrackerStatus,
    place_blocks,
)
from rebecsim.clusters.mapreduce.configuration import ChangeTable
from rebecsim.clusters.mapreduce.devices import UNBOUNDED, at_once, first_of_all
from rebecsim.clusters.mapreduce.job import JobInProgress, MapReduceJob, SlotKind
from rebecsim.clusters.mapreduce.jobtracker_state import JobTrackerState
from rebecsim.clusters.mapreduce.requirements import StuckJobsError
from rebecsim.clusters.mapreduce.schedulers.scheduler import Assignment, SchedulerFactory

if TYPE_CHECKING:
    from rebecsim.clusters.mapreduce.tasktracker import TaskTracker

MAP, REDUCE = SlotKind.MAP, SlotKind.REDUCE

_MOST_TRIES = 200
"""Attempts of one task: where so many are of no use, none ever is."""


class Client(Rebec, queue_size=UNBOUNDED):
    """Submits jobs at their arrival times."""

    jobtracker: JobTracker = known_rebec()

    def __init__(self, jobs: Sequence[MapReduceJob]) -> None:
        for job in jobs:
            if job.after is None:
                self.jobtracker.submit(job, after=job.submit)


class JobTracker(Rebec, queue_size=UNBOUNDED):
    """Answers heartbeats of TaskTrackers with the tasks that its scheduler assigns.

    Attributes:
        state: its state.
        closed: whether all jobs have ended or were rejected.
    """

    def __init__(
        self,
        plan: ClusterPlan,
        jobs: Sequence[MapReduceJob],
        scheduler: SchedulerFactory,
        *trackers: TaskTracker,
    ) -> None:
        self.plan = plan
        self.trackers = trackers
        self.state = state = JobTrackerState(plan, jobs, scheduler)
        self.closed = not jobs
        if state.scheduler.poll_interval is not None:
            self.poll(after=state.scheduler.poll_interval)
        for change in plan.configuration.changes:
            if change.when is None:
                state.to_come += 1
                self.change(change, after=change.time)

    # --- what happens ----------------------------------------------------------------------------

    @at_once
    def submit(self, job: MapReduceJob) -> None:
        """Take a job, unless the scheduler rejects it."""
        plan, state = self.plan, self.state
        run = state.runs[job.number]
        if job.after is not None:
            run.job = job = replace(job, submit=self._now)
        draws = Random(f"{plan.seed} {job.number} blocks")
        hosts = place_blocks(job.maps, plan.racks, plan.configuration.cluster, draws)
        slow_start = plan.configuration.cluster.slow_start
        run.progress = JobInProgress(job, hosts, plan.racks, slow_start)
        run.progress.speculator = state.speculation
        state.to_come -= 1
        state.last = self._now
        run.rejected = state.scheduler.submit(run.progress, self._now)
        if run.rejected is not None:
            self._leave(run)
            return
        state.active[run.progress] = run
        state.triggers.add(job.queue, (1, 0, 0))
        self._count(run)
        self._something_happened()

    @at_once
    def heartbeat(self, number: int) -> None:
        """Record ended attempts of a node, and launch the tasks assigned to its free slots."""
        state = self.state
        node = state.nodes[number]
        if node.next_beat != self._now:  # another one came before it
            return
        node.next_beat = None
        state.resting.pop(node, None)
        if self.closed or not node.works:
            return
        self._hear(node)
        slots = node.slots
        if not (slots.free(MAP) or slots.free(REDUCE)):
            return
        if self._could_be_given(node):
            scheduler = state.scheduler
            given = scheduler.assign(slots, self._now)
            orders = tuple([self._launch(assignment, node) for assignment in given])
            if orders:
                self.trackers[number].launch(orders)
            if not (slots.free(MAP) or slots.free(REDUCE)):
                return
            if given or scheduler.withheld or state.speculation is not None:
                self._wake(node)
                return
        state.resting[node] = None

    @first_of_all
    def ended(self, key: AttemptKey, outcome: AttemptOutcome, output: MapOutput | None) -> None:
        """Record the end of an attempt, to act at the next heartbeat of its node, or at once."""
        attempt = self.state.attempts[key]
        attempt.end = self._now
        attempt.outcome = outcome
        attempt.output = output
        node = attempt.node
        node.ended.append(attempt)
        if self.plan.configuration.cluster.reports == "at_once":
            self.told(node.number)
        self._wake(node)

    @first_of_all
    def progressed(self, key: AttemptKey, progress: StepProgress) -> None:
        """Record the progress of an attempt."""
        attempt = self.state.attempts.get(key)
        if attempt is not None:
            attempt.progress = progress

    @first_of_all
    def fetched(self, key: AttemptKey, number: int) -> None:
        """Record that a reduce has the output of a map."""
        attempt = self.state.attempts.get(key)
        if attempt is not None:
            attempt.fetched[number] = True

    @at_once
    def told(self, number: int) -> None:
        """Record ended attempts of a node that reports without waiting for its heartbeat."""
        node = self.state.nodes[number]
        if not self.closed and node.works:
            self._hear(node)

    @at_once
    def poll(self) -> None:
        """Run the scheduler's periodic work."""
        if self.closed:
            return
        scheduler = self.state.scheduler
        for preempted in scheduler.poll(self._now):
            run = self.state.active[preempted.job]
            self._kill(run.live[preempted.kind][preempted.number][-1])
        assert scheduler.poll_interval is not None
        self.poll(after=scheduler.poll_interval)
        self._something_happened()

    @at_once
    def change(self, change: ChangeTable) -> None:
        """Change the scheduler's parameters."""
        state = self.state
        state.to_come -= 1
        state.last = self._now
        state.scheduler.change(change.settings, self._now)
        self._something_happened()

    def _wake(self, node: TrackerStatus) -> None:
        """Schedule a node's next heartbeat, unless an earlier one is under way."""
        now = self._now
        after = node.until_beat(now, self._asked_for())
        if after is None:
            self.state.resting[node] = None
        elif node.next_beat is None or now + after < node.next_beat:
            node.next_beat = now + after
            self.heartbeat(node.number, after=after)

    def _asked_for(self) -> Sequence[SlotKind]:
        """Return the kinds with tasks that may be assigned."""
        state = self.state
        return [kind for kind in SlotKind if state.wanted[kind] or state.speculation is not None]

    def _kill(self, attempt: Attempt) -> None:
        """Kill an attempt."""
        self.trackers[attempt.node.number].kill(attempt.key)

    def _hear(self, node: TrackerStatus) -> None:
        """Record the ended attempts of a node."""
        if node.ended:
            for attempt in node.ended:
                self._settle(attempt)
            node.ended.clear()
            self._something_happened()

    def _could_be_given(self, node: TrackerStatus) -> bool:
        """Whether a task waits for a slot that is free here."""
        state, slots = self.state, node.slots
        maps, reduces = state.wanted
        if state.speculation is not None and state.live > len(state.starving):
            return True
        return bool((maps and slots.free(MAP)) or (reduces and slots.free(REDUCE)))

    def _something_happened(self) -> None:
        """Wake all idle nodes, so that they ask again."""
        resting = self.state.resting
        for node in [node for node in resting if self._could_be_given(node)]:
            del resting[node]
            self._wake(node)

    def _count(self, run: JobRun) -> None:
        """Update the counts of waiting tasks after a job has changed."""
        state = self.state
        maps, reduces = run.wants()
        state.wanted[MAP] += maps - run.wanted[0]
        state.wanted[REDUCE] += reduces - run.wanted[1]
        state.triggers.add(run.job.queue, (0, maps - run.wanted[0], reduces - run.wanted[1]))
        run.wanted = maps, reduces
        self._trigger()

    def _trigger(self) -> None:
        """Apply changes whose conditions have become true."""
        for change in self.state.triggers.due():
            self.state.to_come += 1
            self.change(change)

    # --- attempts begin and end ------------------------------------------------------------------

    def _launch(self, assignment: Assignment, node: TrackerStatus) -> TaskOrder:
        """Record a new attempt on a node; return the order for its TaskTracker."""
        now, state = self._now, self.state
        run = state.active[assignment.job]
        kind, number = assignment.kind, assignment.number
        earlier = run.tries[kind][number]
        if earlier == _MOST_TRIES:
            raise StuckJobsError(
                [run.job.name],
                f"a {kind.name.lower()} of it has had {earlier} attempts, and none succeeded: "
                "nodes fail too often (failures.mean_time_between), or other jobs take its slots",
            )
        run.tries[kind][number] += 1
        attempt = Attempt(run, assignment, earlier, node, now)
        state.last = now
        state.live += 1
        state.backups[kind] += attempt.is_backup
        state.attempts[attempt.key] = attempt
        if state.speculation is not None:
            run.attempts[kind].append(attempt)
        run.live[kind].setdefault(number, []).append(attempt)
        node.slots.busy[kind] += 1
        attempt.slot_beat = node.beats.fill(kind, now)
        order = self._map_order(attempt) if kind is MAP else self._reduce_order(attempt)
        self._count(run)
        return order

    def _map_order(self, attempt: Attempt) -> TaskOrder:
        """Make the order of a map, with the nodes that have its split."""
        run, nodes = attempt.run, self.state.nodes
        assert run.progress is not None
        if run.first_map is None:
            run.first_map = self._now
        hosts = run.progress.hosts[attempt.number]
        working = tuple([host for host in hosts if nodes[host].works]) or hosts
        return TaskOrder(run.job, MAP, attempt.number, attempt.earlier, hosts, working)

    def _reduce_order(self, attempt: Attempt) -> TaskOrder:
        """Make the order of a reduce, with the outputs that it can fetch."""
        run = attempt.run
        if run.first_reduce is None:
            run.first_reduce = self._now
        outputs = tuple([each.output for each in run.outputs.values() if each.output is not None])
        return TaskOrder(run.job, REDUCE, attempt.number, attempt.earlier, outputs=outputs)

    def _settle(self, attempt: Attempt) -> None:
        """Record the outcome of an attempt."""
        run, kind, number = attempt.run, attempt.kind, attempt.number
        progress = run.progress
        assert progress is not None
        self._free_slot(attempt)
        others = run.live[kind].get(number, ())
        waits_again = False
        if run.done[kind][number]:
            if attempt.outcome is AttemptOutcome.SUCCEEDED:  # after another one
                attempt.outcome = AttemptOutcome.KILLED
        elif attempt.outcome is AttemptOutcome.SUCCEEDED:
            self._finish(attempt, others)
        elif not others:
            progress.wait_again(kind, number)
            waits_again = True
        self._count(run)
        scheduler = self.state.scheduler
        scheduler.ended(progress, kind, number)
        if waits_again:
            scheduler.waits_again(progress, kind, number)
            if kind is REDUCE:
                self._run_missing_again(run)
        if run.end is not None and not any(progress.running):
            del self.state.active[progress]
            scheduler.completed(progress)
            self._leave(run)

    def _free_slot(self, attempt: Attempt) -> None:
        """Free the slot of an attempt."""
        state, run, kind, number = self.state, attempt.run, attempt.kind, attempt.number
        assert run.progress is not None
        attempt.reported = state.last = self._now
        state.live -= 1
        state.backups[kind] -= attempt.is_backup
        attempt.node.slots.busy[kind] -= 1
        attempt.node.beats.empty(kind, attempt.slot_beat)
        run.progress.attempt_ended(kind)
        live = run.live[kind][number]
        live.remove(attempt)
        if not live:
            del run.live[kind][number]

    def _finish(self, attempt: Attempt, others: Sequence[Attempt]) -> None:
        """Record the end of a task: kill its other attempts, and offer its output to reduces."""
        run, now = attempt.run, self._now
        progress = run.progress
        assert progress is not None
        run.done[attempt.kind][attempt.number] = True
        progress.finish(attempt.kind)
        for other in others:
            self._kill(other)
        if attempt.kind is MAP:
            run.outputs[attempt.number] = attempt
            for reduces in run.live[REDUCE].values():
                for reduce in reduces:
                    self.trackers[reduce.node.number].fetch(reduce.key, attempt.output)
            if progress.finished[MAP] == run.job.maps:
                run.maps_end = now
        if progress.is_done:
            run.end = now

    def _leave(self, run: JobRun) -> None:
        """Finish a job, and start the clock of jobs after it; close after the last one."""
        state = self.state
        if run.rejected is None:
            state.triggers.add(run.job.queue, (-1, 0, 0))
            self._trigger()
        for follower in state.followers.pop(run.job.number, ()):
            state.to_come += 1
            self.submit(follower.job, after=follower.job.submit)
        state.unfinished -= 1
        self.closed = not state.unfinished

    # --- nodes fail ------------------------------------------------------------------------------

    @first_of_all
    def failed(self, number: int) -> None:
        """Record a failure of a node, which takes effect when its heartbeats have expired."""
        state = self.state
        node = state.nodes[number]
        node.works = False
        node.outages += 1
        for attempt in node.ended:
            attempt.outcome = AttemptOutcome.LOST
        node.ended.clear()
        for run in state.active.values():
            for attempt in _on(node, run):
                if attempt.end is None:
                    attempt.end = self._now
                    attempt.outcome = AttemptOutcome.LOST

    @at_once
    def expire(self, number: int, outage: int) -> None:
        """Declare a node lost after its heartbeats have expired."""
        node = self.state.nodes[number]
        if not node.works and node.outages == outage and not self.closed:
            self._lose(node)

    @at_once
    def restarted(self, number: int) -> None:
        """Readmit a node; its tasks from before are lost."""
        state = self.state
        node = state.nodes[number]
        node.works = True
        state.last = self._now
        if self.closed:
            return
        if node.slots.alive:
            self._lose(node)
        node.slots.alive = True
        state.scheduler.trackers_changed()
        for attempt in state.starving:
            self.trackers[attempt.node.number].read_elsewhere(attempt.key)
        state.starving.clear()
        self._wake(node)
        self._something_happened()

    @at_once
    def starve(self, key: AttemptKey) -> None:
        """Make a map wait until a node with its split recovers."""
        self.state.starving.append(self.state.attempts[key])

    def _lose(self, node: TrackerStatus) -> None:
        """Run again the tasks of a lost node, and maps whose lost output is still needed."""
        node.slots.alive = False
        for run in list(self.state.active.values()):
            lost = _on(node, run)
            for number, attempt in list(run.outputs.items()):
                if attempt.is_lost:
                    del run.outputs[number]
                    run.missing[number] = attempt
            for attempt in lost:
                self._settle(attempt)
            if run.end is None:
                self._run_missing_again(run)
        self.state.scheduler.trackers_changed()
        self._something_happened()

    def _run_missing_again(self, run: JobRun) -> None:
        """Queue maps with lost output again, if a reduce still needs it."""
        progress = run.progress
        assert progress is not None
        if progress.waiting(REDUCE):
            needed = set(run.missing)
        else:
            reduces = [each for attempts in run.live[REDUCE].values() for each in attempts]
            needed = {
                number
                for number in run.missing
                if any(number not in each.fetched for each in reduces)
            }
        for number in sorted(needed):
            run.missing.pop(number).outcome = AttemptOutcome.OUTPUT_LOST
            run.done[MAP][number] = False
            progress.lose(number)
            self.state.scheduler.waits_again(progress, MAP, number)
        self._count(run)


def _on(node: TrackerStatus, run: JobRun) -> list[Attempt]:
    """Give the attempts of a job that hold slots of a node."""
    return [
        attempt
        for live in run.live
        for attempts in live.values()
        for attempt in attempts
        if attempt.node is node
    ]
