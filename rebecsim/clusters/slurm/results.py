"""What became of jobs, as arrays and figures: waits by user, account, partition and QOS."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rebecsim.clusters.kit.measures import (
    Lane,
    Timeline,
    bounded_slowdowns,
    figures_of,
    mean,
    measure,
    measures_of,
    median,
    of_jobs,
    percentile_95,
)
from rebecsim.clusters.slurm.configuration import Cluster
from rebecsim.clusters.slurm.machine import Integers
from rebecsim.clusters.slurm.run import ReplayedJobs
from rebecsim.report.groups import GroupAnswer, JobTimes

_HOUR = 3600

By = Literal["user", "account", "partition", "qos"]
"""How jobs are grouped."""

JOBS = "jobs"
"""The name of the stored table."""

JOB_COLUMNS: dict[str, str] = {
    **dict.fromkeys(("job", "submit", "eligible", "start", "end", "cpus", "nodes"), "int64"),
    **dict.fromkeys(
        ("user", "account", "partition", "qos", "state", "scheduler", "reason"), "string"
    ),
}
"""A row for each stretch in which a job ran, or for a job that never did (start -1); seconds."""


class JudgedRun:
    """The outcome of a run with its figures, in the order of tables.

    Attributes:
        outcome: what became of the jobs.
        cluster: on which they ran.
        last: of each job that ran, the last stretch, by the number of the job.
    """

    def __init__(self, outcome: ReplayedJobs, cluster: Cluster) -> None:
        self.outcome, self.cluster = outcome, cluster
        self.last = {each.position: each for each in outcome.runs if each.start >= 0}
        self._order = sorted(self.last)

    @cached_property
    def waits(self) -> Integers:
        """From submission to the last start, seconds, shape (jobs that ran,)."""
        jobs = self.outcome.jobs
        return np.array([self.last[n].start - jobs[n].submit for n in self._order], np.int64)

    @cached_property
    def durations(self) -> Integers:
        """From submission to the end, seconds, shape (jobs that ran,)."""
        jobs = self.outcome.jobs
        return np.array([self.last[n].end - jobs[n].submit for n in self._order], np.int64)

    @cached_property
    def slowdowns(self) -> np.ndarray:
        """Bounded slowdowns, shape (jobs that ran,)."""
        return bounded_slowdowns(self.durations, self.durations - self.waits)

    mean_wait = of_jobs(
        "waits", mean, "Mean wait", "s", "From submission to start, mean over the jobs.", decimals=0
    )
    median_wait = of_jobs(
        "waits", median, "Median wait", "s", "Half of the jobs waited at most so long.", decimals=0
    )
    p95_wait = of_jobs(
        "waits",
        percentile_95,
        "95th percentile of wait",
        "s",
        "95 % of the jobs waited at most so long.",
        decimals=0,
    )
    mean_bounded_slowdown = of_jobs(
        "slowdowns",
        mean,
        "Bounded slowdown",
        "",
        "Response time over run time, at least 1, with run times below 10 s counted as 10 s.",
    )

    @measure("Utilisation", "%", "higher")
    def utilisation(self) -> float:
        """Share of the CPUs that jobs had, from the first submission to the last end."""
        runs = [each for each in self.outcome.runs if each.start >= 0]
        if not runs:
            return 0.0
        used = sum(sum(each.cpus) * (each.end - each.start) for each in runs)
        span = max(each.end for each in runs) - self.outcome.jobs[0].submit
        return 100 * used / max(span * sum(each.cpus for each in self.cluster.nodes), 1)

    @measure("Makespan", "h")
    def makespan(self) -> float:
        """From the first submission to the last end."""
        ends = [each.end for each in self.last.values()]
        return (max(ends) - self.outcome.jobs[0].submit) / _HOUR if ends else 0.0

    @measure("Started by backfill", "%", "neither")
    def backfilled(self) -> float:
        """Share of the jobs that ran which the backfill scheduler started."""
        count = sum(each.by == "SchedBackfill" for each in self.last.values())
        return 100 * count / max(len(self.last), 1)

    @measure("Preempted", "jobs", decimals=0)
    def preempted(self) -> float:
        """How often a job was cancelled or requeued for another one."""
        return float(sum(each.state == "PREEMPTED" for each in self.outcome.runs))

    @measure("Never started", "jobs", decimals=0)
    def never_started(self) -> float:
        """Jobs that were refused, cancelled while they waited, or wait for ever."""
        return float(len(self.outcome.jobs) - len(self.last))

    def table(self) -> dict[str, list[object]]:
        """Give the rows of the stored table, by column."""
        jobs, runs = self.outcome.jobs, self.outcome.runs
        return {
            "job": [jobs[each.position].number for each in runs],
            "submit": [jobs[each.position].submit for each in runs],
            "eligible": [each.eligible for each in runs],
            "start": [each.start for each in runs],
            "end": [each.end for each in runs],
            "cpus": [sum(each.cpus) for each in runs],
            "nodes": [len(each.nodes) for each in runs],
            "user": [jobs[each.position].user for each in runs],
            "account": [jobs[each.position].account for each in runs],
            "partition": [
                self.outcome.places[n] if (n := each.place) >= 0 else "" for each in runs
            ],
            "qos": [jobs[each.position].qos for each in runs],
            "state": [each.state for each in runs],
            "scheduler": [each.by for each in runs],
            "reason": [each.reason for each in runs],
        }

    def timeline(self) -> Timeline:
        """Give who had how many CPUs of which node when; jobs by number, coloured by user."""
        rows = [
            (each.position, node, each.start, each.end, cpus)
            for each in self.outcome.runs
            for node, cpus in zip(each.nodes, each.cpus, strict=True)
            if cpus
        ]
        table = np.array(rows, np.int64).reshape(-1, 5)
        position, node, start, end, cpus = table.T
        jobs = self.outcome.jobs
        return Timeline(
            [Lane(each.name, each.cpus) for each in self.cluster.nodes],
            np.array([jobs[each].number for each in position.tolist()]),
            np.array([jobs[each].user for each in position.tolist()], dtype=str),
            node,
            start,
            end,
            cpus,
            np.zeros(len(rows), bool),
        )


SLURM_MEASURES = measures_of(JudgedRun)
"""All figures, in the order of tables."""


def run_figures(judged: JudgedRun) -> dict[str, float]:
    """Compute the figures of a run, by their names; there are none where no job ran."""
    if not judged.last:
        return {each.metric.name: float("nan") for each in SLURM_MEASURES}
    return figures_of(SLURM_MEASURES, judged, ())


def times_of(columns: Mapping[str, Sequence[object] | NDArray[Any]], by: By) -> JobTimes:
    """Give the waits of the jobs that ran, of columns of the stored table, in order of submission.

    Of each job its last stretch counts.
    """
    names = ("job", "submit", "start", "end", by)
    job, submit, start, end, group = (np.asarray(columns[name]) for name in names)
    last = {number: row for row, number in enumerate(job.tolist()) if start[row] >= 0}
    rows = np.array(list(last.values()), np.int64)
    rows = rows[np.lexsort((job[rows], submit[rows]))]
    nobody = "default" if by == "qos" else "none"
    return JobTimes(
        job[rows].astype(str),
        np.array([each or nobody for each in group[rows].tolist()], dtype=str),
        (start - submit)[rows] / 1.0,
        (end - submit)[rows] / 1.0,
    )


def answer_of(runs: Mapping[str, JudgedRun], by: By) -> GroupAnswer:
    """Compare runs of the same jobs; the first one is what the others are compared with."""
    times = {name: times_of(each.table(), by) for name, each in runs.items()}
    is_split = any(len(set(each.group.tolist())) > 1 for each in times.values())
    return GroupAnswer(times, by if is_split else "", exact=True)
