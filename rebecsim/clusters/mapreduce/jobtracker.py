"""The JobTracker, and the client that submits jobs to it, as rebecs.

    Client --submit--> JobTracker
    TaskTracker --heartbeat--> JobTracker      what has ended; free slots are given
    JobTracker --launch--> TaskTracker         an attempt begins
    JobTracker --fetch--> TaskTracker          a map has ended, whose output a reduce is to fetch
    TaskTracker --serve--> Device              a step of an attempt; bytes: --transfer--> Switch
    Device, Switch --served--> TaskTracker     it is done
    JobTracker --kill--> TaskTracker           an attempt is not needed any more
    TaskTracker: fail, recover                 its node stops working, and works again
    TaskTracker --restarted--> JobTracker

TaskTrackers are in `tasktracker`, devices in `devices`. TaskTrackers send heartbeats with a period,
each at its own phase; or each of their slots does (see `SlotBeats`). Idle TaskTrackers send none.
When there is work again, they resume at the next heartbeat that they would have sent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from random import Random

from rebecsim.actors import Rebec, known_rebec
from rebecsim.clusters.mapreduce.attempts import (
    Attempt,
    AttemptOutcome,
    Shuffle,
    TaskDraws,
    map_only_steps,
    map_output,
    map_steps,
    reduce_start,
)
from rebecsim.clusters.mapreduce.cluster_state import (
    JobRun,
    MapReduceCluster,
    QueueTriggers,
    WorkerNode,
    locality_of,
    place_blocks,
    replica_for,
)
from rebecsim.clusters.mapreduce.configuration import SECOND, TimedChange
from rebecsim.clusters.mapreduce.devices import UNBOUNDED, Switch, at_once
from rebecsim.clusters.mapreduce.job import JobInProgress, SlotKind
from rebecsim.clusters.mapreduce.records import uses_until
from rebecsim.clusters.mapreduce.requirements import StuckJobsError
from rebecsim.clusters.mapreduce.schedulers.scheduler import Assignment, TaskScheduler
from rebecsim.clusters.mapreduce.speculation import backup_rule

MAP, REDUCE = SlotKind.MAP, SlotKind.REDUCE

_PATIENCE, _POLLS = 600 * SECOND, 100
"""For how long, and beside for how many polls, nothing is ever waited for in vain."""

_MOST_TRIES = 200
"""Attempts of one task: where so many are of no use, none ever is."""


class Client(Rebec, queue_size=UNBOUNDED):
    """Submits jobs when it is their time."""

    jobtracker: JobTracker = known_rebec()

    def __init__(self, runs: Sequence[JobRun]) -> None:
        for run in runs:
            if run.job.after is None:
                self.jobtracker.submit(run, after=run.job.submit)


class JobTracker(Rebec, queue_size=UNBOUNDED):
    """Hears the heartbeats of TaskTrackers, and launches what its scheduler gives free slots.

    Attributes:
        unfinished: jobs that have not ended and were not rejected; it closes without any.
        closed: whether there are none.
    """

    switch: Switch = known_rebec()

    def __init__(
        self, cluster: MapReduceCluster, runs: Sequence[JobRun], scheduler: TaskScheduler
    ) -> None:
        configuration = cluster.configuration
        self.cluster = cluster
        self.scheduler = scheduler
        self.unfinished = len(runs)
        self.closed = not runs
        self._runs: dict[JobInProgress, JobRun] = {}
        self._wanted = [0, 0]
        self._live = 0  # attempts that hold slots
        self._resting: dict[WorkerNode, None] = dict.fromkeys(cluster.nodes)
        self._starving: list[Attempt] = []
        self._followers: dict[int, list[JobRun]] = {}
        for run in runs:
            if run.job.after is not None:
                self._followers.setdefault(run.job.after, []).append(run)
        first = sum(run.job.after is None for run in runs)
        timed = [each for each in configuration.changes if each.when is None]
        self._triggers = QueueTriggers(configuration.changes)
        self._to_come = first + len(timed)
        self._last = 0  # when something was submitted or changed, began or ended
        self._speculation = (
            None
            if configuration.speculation is None
            else backup_rule(configuration.speculation, cluster, self._runs)
        )
        self._seen: tuple[object, ...] = ()
        self._patience = _PATIENCE + _POLLS * (scheduler.poll_interval or 0)
        self.watch(after=self._patience)
        if scheduler.poll_interval is not None:
            self.poll(after=scheduler.poll_interval)
        for change in timed:
            self.change(change, after=change.at)

    # --- what happens ----------------------------------------------------------------------------

    @at_once
    def submit(self, run: JobRun) -> None:
        """Take a job, unless the scheduler rejects it."""
        cluster = self.cluster
        if run.job.after is not None:
            run.job = replace(run.job, submit=self._now)
        job = run.job
        files = cluster.configuration.files
        draws = Random(f"{cluster.seed} {job.number} blocks")
        hosts = place_blocks(job.maps, cluster.racks, files, draws)
        slow_start = cluster.configuration.hadoop.slow_start
        run.progress = JobInProgress(job, hosts, cluster.racks, slow_start)
        run.progress.speculator = self._speculation
        self._to_come -= 1
        self._last = self._now
        run.rejected = self.scheduler.submit(run.progress, self._now)
        if run.rejected is not None:
            self._leave(run)
            return
        self._runs[run.progress] = run
        self._triggers.add(job.queue, (1, 0, 0))
        self._count(run)
        self._something_happened()

    @at_once
    def heartbeat(self, node: WorkerNode) -> None:
        """Hear what has ended on a node, and launch what is given its free slots."""
        if node.next_beat != self._now:  # another one came before it
            return
        node.next_beat = None
        self._resting.pop(node, None)
        if self.closed or not node.works:
            return
        self._hear(node)
        slots = node.slots
        if not (slots.free(MAP) or slots.free(REDUCE)):
            return
        if self._could_be_given(node):
            given = self.scheduler.assign(slots, self._now)
            for assignment in given:
                self._launch(assignment, node)
            if not (slots.free(MAP) or slots.free(REDUCE)):
                return
            if given or self.scheduler.withheld or self._speculation is not None:
                self.wake(node, self._now)
                return
        self._resting[node] = None

    @at_once
    def told(self, node: WorkerNode) -> None:
        """Hear what has ended on a node that does not wait for its heartbeat to say so."""
        if not self.closed and node.works:
            self._hear(node)

    @at_once
    def poll(self) -> None:
        """Let the scheduler do what it does now and then."""
        if self.closed:
            return
        for preempted in self.scheduler.poll(self._now):
            run = self._runs[preempted.job]
            attempt = run.live[preempted.kind][preempted.number][-1]
            attempt.node.tracker.kill(attempt)
        assert self.scheduler.poll_interval is not None
        self.poll(after=self.scheduler.poll_interval)
        self._something_happened()

    @at_once
    def change(self, change: TimedChange) -> None:
        """Let the scheduler go on with other parameters."""
        self._to_come -= 1
        self._last = self._now
        self.scheduler.change(change.parameters, self._now)
        self._something_happened()

    def wake(self, node: WorkerNode, now: int) -> None:
        """Let a node send its next heartbeat, unless an earlier one is under way."""
        after = node.until_beat(now, self._asked_for())
        if after is None:
            self._resting[node] = None
        elif node.next_beat is None or now + after < node.next_beat:
            node.next_beat = now + after
            self.heartbeat(node, after=after)

    def _asked_for(self) -> Sequence[SlotKind]:
        """Give the kinds of which something may be given."""
        return [kind for kind in SlotKind if self._wanted[kind] or self._speculation is not None]

    def _hear(self, node: WorkerNode) -> None:
        """Take note of what has ended on a node."""
        if node.ended:
            for attempt in node.ended:
                self._settle(attempt)
            node.ended.clear()
            self._something_happened()

    def _could_be_given(self, node: WorkerNode) -> bool:
        """Whether something waits for a slot of a kind that is free here."""
        slots, (maps, reduces) = node.slots, self._wanted
        if self._speculation is not None and self._live > len(self._starving):
            return True
        return bool((maps and slots.free(MAP)) or (reduces and slots.free(REDUCE)))

    @at_once
    def watch(self) -> None:
        """Raise StuckJobsError if nothing has happened since the last look, nor will."""
        if self.closed:
            return
        use = uses_until(self._now, self.cluster, self.switch)
        seen, self._seen = self._seen, (self._last, *use[1:])
        if seen == self._seen and not self._to_come and not self.cluster.repairs:
            raise self.stuck()
        self.watch(after=self._patience)

    def stuck(self) -> StuckJobsError:
        """Say which jobs wait for what will never happen, and why."""
        names = [run.job.name for run in self._runs.values() if run.end is None]
        if self._starving:
            attempt = self._starving[0]
            why = (
                f"all replicas of a split of {attempt.run.job.name} are on nodes that have failed "
                "and never work again; failures.outages should end, or files.replication be more"
            )
        elif not any(node.works for node in self.cluster.nodes):
            why = "all nodes have failed and never work again"
        else:
            why = "the scheduler gives them no slots, though nothing runs; see its limits"
        return StuckJobsError(names, why)

    def _something_happened(self) -> None:
        """Let all nodes ask again that were given nothing."""
        for node in [node for node in self._resting if self._could_be_given(node)]:
            del self._resting[node]
            self.wake(node, self._now)

    def _count(self, run: JobRun) -> None:
        """Bring up to date how much waits, after a job has changed."""
        maps, reduces = run.wants()
        self._wanted[MAP] += maps - run.wanted[0]
        self._wanted[REDUCE] += reduces - run.wanted[1]
        self._triggers.add(run.job.queue, (0, maps - run.wanted[0], reduces - run.wanted[1]))
        run.wanted = maps, reduces
        self._trigger()

    def _trigger(self) -> None:
        """Change settings whose condition has become true."""
        for change in self._triggers.due():
            self._to_come += 1
            self.change(change)

    # --- attempts begin and end ------------------------------------------------------------------

    def _launch(self, assignment: Assignment, node: WorkerNode) -> None:
        """Begin an attempt on a node."""
        now, cluster = self._now, self.cluster
        run = self._runs[assignment.job]
        kind, number = assignment.kind, assignment.number
        variation = cluster.configuration.variation
        earlier = run.tries[kind][number]
        if earlier == _MOST_TRIES:
            raise StuckJobsError(
                [run.job.name],
                f"a {kind.name.lower()} of it has had {earlier} attempts, and none succeeded: "
                "nodes fail too often (failures.mean_time_between), or other jobs take its slots",
            )
        run.tries[kind][number] += 1
        draws = TaskDraws(cluster.seed, run.job.number, kind, number, earlier, variation)
        attempt = Attempt(run, kind, number, earlier, node, draws, now)
        attempt.locality = assignment.locality
        attempt.is_backup = assignment.speculative
        self._last = now
        self._live += 1
        cluster.backups[kind] += attempt.is_backup
        cluster.attempts.append(attempt)
        run.attempts[kind].append(attempt)
        run.live[kind].setdefault(number, []).append(attempt)
        node.slots.busy[kind] += 1
        attempt.slot_beat = node.beats.fill(kind, now)
        if kind is MAP:
            self._prepare_map(attempt)
        else:
            self._prepare_reduce(attempt)
        self._count(run)
        node.tracker.launch(attempt)

    def _prepare_map(self, attempt: Attempt) -> None:
        """Find out what a map is going to do, and which replica it reads."""
        run, cluster = attempt.run, self.cluster
        job, progress, draws = run.job, run.progress, attempt.draws
        assert progress is not None
        if run.first_map is None:
            run.first_map = self._now
        hosts = [
            host for host in progress.hosts[attempt.number] if cluster.nodes[host].works
        ] or progress.hosts[attempt.number]
        chosen = replica_for(hosts, attempt.node.number, cluster.racks, draws.source)
        assert chosen is not None
        attempt.source = cluster.nodes[chosen]
        if attempt.locality is None:
            attempt.locality = locality_of(chosen, attempt.node.number, cluster.racks)
        is_local = attempt.source is attempt.node
        split, rates = job.splits[attempt.number], attempt.node.rates
        if not job.reduces:
            attempt.steps = map_only_steps(split, job.costs, is_local, rates, draws.jitter)
            return
        buffer = cluster.configuration.hadoop.sort_buffer
        attempt.steps = map_steps(split, job.costs, buffer, is_local, rates, draws.jitter)
        attempt.output = map_output(split, job.costs) / job.reduces
        attempt.read_factor = draws.jitter()

    def _prepare_reduce(self, attempt: Attempt) -> None:
        """Find out what a reduce is going to do first, and what it can fetch."""
        run = attempt.run
        if run.first_reduce is None:
            run.first_reduce = self._now
        attempt.factors = attempt.draws.reduce_factors()
        attempt.steps = reduce_start(run.job.costs, attempt.factors)
        attempt.shuffle = Shuffle()
        attempt.shuffle.waiting.extend(run.outputs.values())

    def _settle(self, attempt: Attempt) -> None:
        """Take note of how an attempt has ended."""
        run, kind, number = attempt.run, attempt.kind, attempt.number
        progress = run.progress
        assert progress is not None
        self._free_slot(attempt)
        others = run.live[kind].get(number, ())
        waits_again = False
        if number in run.done[kind]:
            if attempt.outcome is AttemptOutcome.SUCCEEDED:  # after another one
                attempt.outcome = AttemptOutcome.KILLED
        elif attempt.outcome is AttemptOutcome.SUCCEEDED:
            self._finish(attempt, others)
        elif not others:
            progress.wait_again(kind, number)
            waits_again = True
        self._count(run)
        self.scheduler.ended(progress, kind, number)
        if waits_again:
            self.scheduler.waits_again(progress, kind, number)
            if kind is REDUCE:
                self._run_missing_again(run)
        if run.end is not None and not any(progress.running):
            del self._runs[progress]
            self.scheduler.completed(progress)
            self._leave(run)

    def _free_slot(self, attempt: Attempt) -> None:
        """Take note that an attempt holds its slot no more."""
        run, kind, number = attempt.run, attempt.kind, attempt.number
        assert run.progress is not None
        attempt.reported = self._last = self._now
        self._live -= 1
        self.cluster.backups[kind] -= attempt.is_backup
        attempt.node.slots.busy[kind] -= 1
        attempt.node.beats.empty(kind, attempt.slot_beat)
        run.progress.attempt_ended(kind)
        live = run.live[kind][number]
        live.remove(attempt)
        if not live:
            del run.live[kind][number]

    def _finish(self, attempt: Attempt, others: Sequence[Attempt]) -> None:
        """Take note that a task has ended: its other attempts are killed, its output fetched."""
        run, now = attempt.run, self._now
        progress = run.progress
        assert progress is not None
        run.done[attempt.kind].add(attempt.number)
        progress.finish(attempt.kind)
        for other in others:
            other.node.tracker.kill(other)
        if attempt.kind is MAP:
            run.outputs[attempt.number] = attempt
            for reduces in run.live[REDUCE].values():
                for reduce in reduces:
                    reduce.node.tracker.fetch(reduce, attempt)
            if progress.finished[MAP] == run.job.maps:
                run.maps_end = now
        if progress.is_done:
            run.end = now

    def _leave(self, run: JobRun) -> None:
        """Take note that a job is done with, and await those after it; close after the last one."""
        if run.rejected is None:
            self._triggers.add(run.job.queue, (-1, 0, 0))
            self._trigger()
        for follower in self._followers.pop(run.job.number, ()):
            self._to_come += 1
            self.submit(follower, after=follower.job.submit)
        self.unfinished -= 1
        self.closed = not self.unfinished

    # --- nodes fail ------------------------------------------------------------------------------

    @at_once
    def expire(self, node: WorkerNode, outage: int) -> None:
        """Take a node for lost that has not sent heartbeats for long."""
        if not node.works and node.outages == outage and not self.closed:
            self._lose(node)

    @at_once
    def restarted(self, node: WorkerNode) -> None:
        """Take a node back, without anything that ran there before."""
        if self.closed:
            return
        if node.slots.alive:
            self._lose(node)
        node.slots.alive = True
        self.scheduler.trackers_changed()
        for attempt in self._starving:
            attempt.node.tracker.read_elsewhere(attempt)
        self._starving.clear()
        self.wake(node, self._now)
        self._something_happened()

    @at_once
    def starve(self, attempt: Attempt) -> None:
        """Let a map wait until a node with its split works again."""
        self._starving.append(attempt)

    def _lose(self, node: WorkerNode) -> None:
        """Run again what ran on a node, and maps whose output it has lost and somebody needs."""
        node.slots.alive = False
        for run in list(self._runs.values()):
            lost = [
                attempt
                for live in run.live
                for attempts in live.values()
                for attempt in attempts
                if attempt.node is node
            ]
            for number, attempt in list(run.outputs.items()):
                if attempt.is_lost:
                    del run.outputs[number]
                    run.missing[number] = attempt
            for attempt in lost:
                self._settle(attempt)
            if run.end is None:
                self._run_missing_again(run)
        self.scheduler.trackers_changed()
        self._something_happened()

    def _run_missing_again(self, run: JobRun) -> None:
        """Let maps wait again whose output is lost, if a reduce has yet to fetch it."""
        progress = run.progress
        assert progress is not None
        if progress.waiting(REDUCE):
            needed = set(run.missing)
        else:
            shuffles = [
                attempt.shuffle
                for attempts in run.live[REDUCE].values()
                for attempt in attempts
                if attempt.shuffle is not None
            ]
            needed = {
                number
                for number in run.missing
                if any(number not in shuffle.got for shuffle in shuffles)
            }
        for number in sorted(needed):
            run.missing.pop(number).outcome = AttemptOutcome.OUTPUT_LOST
            run.done[MAP].discard(number)
            progress.lose(number)
            self.scheduler.waits_again(progress, MAP, number)
        self._count(run)
