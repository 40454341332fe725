"""What the controller remembers of a job from its submission to its end."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from rebecsim.actors import StatePart
from rebecsim.clusters.slurm.configuration import Qos
from rebecsim.clusters.slurm.jobs import Job
from rebecsim.clusters.slurm.machine import Need, Place

JobState = Literal["PENDING", "RUNNING", "SUSPENDED", "COMPLETING", "DONE"]

HELD = 0
"""The priority of a held job."""


class Entry(StatePart):
    """A job in the queue of one partition; jobs of several partitions have several.

    Attributes:
        record: the job.
        need: what it asks for there.
        fixed: the part of its priority that does not change.
        priority: the present one.
        key: entries are tried in the order of their keys.
        rank: which of the job's partitions it is; they are tried in this order.
        is_sized: whether its size is that of whole nodes, which are known once it has been tried.
        limit: the time limit that the job has there, seconds.
        problem: why the partition keeps it waiting for ever; None: that was not looked at yet.
        place: the partition.
    """

    __slots__ = (
        "fixed", "is_sized", "key", "limit", "need", "place", "priority", "problem", "rank",
        "record",
    )  # fmt: skip

    def __init__(self, record: Record, need: Need, fixed: float) -> None:
        self.record, self.need, self.fixed = record, need, fixed
        self.place: Place = need.place
        self.limit = 0
        self.problem: str | None = None
        self.priority = 0
        self.is_sized = False
        self.rank = 0
        self.key: tuple[int, ...] = ()


class Record(StatePart):
    """A job; times are seconds.

    Attributes:
        job: as submitted.
        index: its position among all jobs.
        association: number of its association; -1: none.
        qos: its quality of service; None: there is none.
        entries: its place in each of its partitions.
        submit: when it was submitted, or requeued.
        begin: when it became eligible; -1: it is not yet.
        accrue: since when it ages; -1: it does not.
        state: what it does.
        reason: the last reason for which it waited.
        limit: its time limit once it runs.
        start: when it started; -1: it has not.
        since: when it last began to run, at its start or after it had been suspended.
        planned: when it ends by its limit.
        expected: the start that backfill expects; -1: none.
        attempt: how often it has started.
        left: how long it will still run, of suspended and requeued jobs.
        total_cpus: how many CPUs it would have where it was last planned; 0: it was not.
        tres: what it has while it runs.
        entry: the one by which it runs.
    """

    __slots__ = (
        "accrue", "association", "attempt", "begin", "entries", "entry", "expected", "index", "job",
        "left", "limit", "planned", "qos", "reason", "since", "start", "state", "submit",
        "total_cpus", "tres",
    )  # fmt: skip

    def __init__(
        self, job: Job, index: int, association: int, qos: Qos | None, submit: int
    ) -> None:
        self.job, self.index, self.association, self.qos = job, index, association, qos
        self.entries: tuple[Entry, ...] = ()
        self.submit = submit
        self.begin = self.accrue = self.start = self.since = self.expected = self.planned = -1
        self.state: JobState = "PENDING"
        self.reason = "None"
        self.limit = self.total_cpus = 0
        self.attempt = 0
        self.left = job.run
        self.tres: Mapping[str, int] = {}
        self.entry: Entry | None = None

    @property
    def number(self) -> int:
        """Its number in the log."""
        return self.job.number

    def __str__(self) -> str:
        return str(self.job)
