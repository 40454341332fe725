"""The state of the JobTracker."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count, repeat
from random import Random

from rebecsim.actors import StatePart
from rebecsim.clusters.mapreduce.attempts import Attempt, AttemptKey
from rebecsim.clusters.mapreduce.cluster_state import (
    ClusterPlan,
    JobRun,
    QueueTriggers,
    SlotBeats,
    TrackerStatus,
)
from rebecsim.clusters.mapreduce.configuration import ClusterTable
from rebecsim.clusters.mapreduce.job import MILLISECOND, JobInProgress, MapReduceJob, TrackerSlots
from rebecsim.clusters.mapreduce.schedulers.scheduler import SchedulerFactory
from rebecsim.clusters.mapreduce.speculation import BackupRule, backup_rule


class JobTrackerState(StatePart):
    """What the JobTracker knows, its scheduler included.

    Attributes:
        scheduler: what gives slots to tasks.
        nodes: the TaskTrackers, in the order of their numbers.
        runs: all jobs, by number, in the order in which they were given.
        active: jobs that have been submitted and have not ended.
        attempts: by key, in the order of their launch.
        backups: how many run now, of maps and of reduces.
        wanted: how many maps, and how many reduces, a scheduler could give slots now.
        live: attempts that hold slots.
        resting: TaskTrackers that have no reason to send heartbeats.
        starving: maps that wait for a node with their split.
        followers: jobs that are submitted after others, by the numbers of these.
        triggers: changes of settings that wait for conditions.
        unfinished: jobs that have not ended and were not rejected.
        to_come: submissions and changes that are under way.
        last: when something was submitted or changed, began or ended, or a node came back
            (microseconds).
        speculation: what finds tasks for backups; None: nothing does.
    """

    def __init__(
        self,
        plan: ClusterPlan,
        jobs: Sequence[MapReduceJob],
        scheduler: SchedulerFactory,
    ) -> None:
        configuration = plan.configuration
        self.nodes = tracker_statuses(plan)
        self.scheduler = scheduler([node.slots for node in self.nodes])
        self.runs = {job.number: JobRun(job) for job in jobs}
        self.active: dict[JobInProgress, JobRun] = {}
        self.attempts: dict[AttemptKey, Attempt] = {}
        self.backups = [0, 0]
        self.wanted = [0, 0]
        self.live = 0
        self.resting: dict[TrackerStatus, None] = dict.fromkeys(self.nodes)
        self.starving: list[Attempt] = []
        self.followers: dict[int, list[JobRun]] = {}
        for run in self.runs.values():
            if run.job.after is not None:
                self.followers.setdefault(run.job.after, []).append(run)
        self.triggers = QueueTriggers(configuration.changes)
        self.unfinished = len(jobs)
        self.to_come = sum(job.after is None for job in jobs)
        self.last = 0
        self.speculation: BackupRule | None = None
        if configuration.speculation is not None:
            self.speculation = backup_rule(configuration.speculation, plan, self)

    def tidy(self) -> None:
        """Normalise the state: drop insertion orders and values without effect.

        Exploration then merges states that differ only in these.
        """
        self.attempts = dict(sorted(self.attempts.items()))
        self.resting = dict.fromkeys(sorted(self.resting, key=lambda node: node.number))
        for run in self.active.values():
            run.outputs = dict(sorted(run.outputs.items()))
            run.missing = dict(sorted(run.missing.items()))
            for attempts in run.attempts:
                attempts.sort(key=lambda each: each.key)
            run.live = dict(sorted(run.live[0].items())), dict(sorted(run.live[1].items()))
            if run.progress is not None:
                run.progress.tidy()
        if self.speculation is not None:
            self.speculation.tidy()


def tracker_statuses(plan: ClusterPlan) -> list[TrackerStatus]:
    """Make the initial state of the TaskTrackers, with random first heartbeats."""
    draws = Random(f"{plan.seed} heartbeats")
    found = []
    for number, (rack, of) in enumerate(zip(plan.racks, plan.classes, strict=True)):
        slots = TrackerSlots(number, rack, of.map_slots, of.reduce_slots)
        found.append(TrackerStatus(slots, _slot_beats(slots, plan.configuration.cluster, draws)))
    return found


def _slot_beats(slots: TrackerSlots, cluster: ClusterTable, draws: Random) -> SlotBeats:
    """Draw the first heartbeat of a node, or of each of its slots."""
    most = cluster.first_heartbeats * MILLISECOND
    firsts: Iterator[int] = (int(draws.random() * most) for _ in count())
    if cluster.heartbeats_of == "node":
        firsts = repeat(next(firsts))
    return SlotBeats(cluster.beat, slots.slots, firsts)
