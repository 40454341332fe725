"""Measures of a run, and its stored tables of jobs, tasks and decisions.

Times are milliseconds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rebecsim.clusters.kit.measures import (
    figures_of,
    mean,
    mean_tardiness,
    measure,
    measures_of,
    number_late,
    of_jobs,
    percent_late,
)
from rebecsim.clusters.stages.cluster import FinishedStages
from rebecsim.clusters.stages.job import SECOND, TaskKey
from rebecsim.clusters.stages.laxity import sample_run
from rebecsim.metrics import Metric

_BATCH = 5


def mser_warm_up(values: NDArray[np.float64]) -> int:
    """Return the length of the warm-up by MSER-5, in values.

    White (1997): of the means of batches of 5, drop the first so that the variance of the rest,
    divided by their number, is least. Searches the first half.
    """
    batches = values[: len(values) // _BATCH * _BATCH].reshape(-1, _BATCH).mean(axis=1)
    count = len(batches)
    if count < 2:
        return 0
    cuts = range(most_warm_up(len(values)) // _BATCH + 1)
    errors = [batches[cut:].var() / (count - cut) for cut in cuts]
    return int(np.argmin(errors)) * _BATCH


def most_warm_up(count: int) -> int:
    """Return the longest warm-up that MSER-5 can find; the run is too short if it does."""
    return count // _BATCH // 2 * _BATCH


@dataclass(frozen=True)
class MeasuredStages:
    """A run and its measures, in the order of tables.

    Attributes:
        run: the run.
        warm_up: share of the first jobs that do not count, or the rule that finds it.
    """

    run: FinishedStages
    warm_up: float | Literal["mser5"] = 0.0

    @cached_property
    def all_turnarounds(self) -> NDArray[np.float64]:
        """From the earliest start to the end of each job (s), shape (jobs,)."""
        completed = self.run.completed
        spans = [completed[job.number] - job.start for job in self.run.jobs]
        return np.array(spans, dtype=np.float64) / SECOND

    @cached_property
    def first(self) -> int:
        """Index of the first job that counts."""
        if self.warm_up == "mser5":
            return mser_warm_up(self.all_turnarounds)
        return int(float(self.warm_up) * len(self.run.jobs))

    @cached_property
    def turnarounds(self) -> NDArray[np.float64]:
        """Turnarounds of the jobs that count (s)."""
        return self.all_turnarounds[self.first :]

    @cached_property
    def lateness(self) -> NDArray[np.float64]:
        """Lateness of the jobs that count (s): end less deadline."""
        jobs, completed = self.run.jobs[self.first :], self.run.completed
        spans = [completed[job.number] - job.deadline for job in jobs]
        return np.array(spans, dtype=np.float64) / SECOND

    def per_job(self, name: str) -> float:
        """Return the sum of a column of decisions, divided by the number of jobs."""
        return float(sum(getattr(each, name) for each in self.run.decisions) / len(self.run.jobs))

    late = of_jobs(
        *("lateness", percent_late, "Late jobs", "%"),
        "Jobs that ended after their deadlines, of all jobs that count: P.",
        decimals=3,
    )
    turnaround = of_jobs(
        *("turnarounds", mean, "Turnaround", "s"),
        "From the earliest start of a job to its end, mean over the jobs that count: T.",
        decimals=2,
    )
    late_jobs = of_jobs(
        *("lateness", number_late, "Number of late jobs", "jobs"),
        "The same as late, as a number: N.",
    )
    tardiness = of_jobs(
        *("lateness", mean_tardiness, "Tardiness", "s"),
        "By how much a job ended after its deadline, 0 if before; mean over the jobs that count.",
        decimals=2,
    )

    @measure("Completion of all jobs", "s")
    def completion(self) -> float:
        """From the first arrival until the last job ended: C."""
        first = min(job.arrival for job in self.run.jobs)
        return (max(self.run.completed.values()) - first) / SECOND

    @measure("Slots used", "%", "neither")
    def utilisation(self) -> float:
        """Share of all slots that ran tasks, until the last job ended."""
        slots = sum(each.slots + each.map_slots + each.reduce_slots for each in self.run.resources)
        work = sum(each.end - each.start for each in self.run.ran.values()) / SECOND
        return 100 * work / (slots * self.completion)

    @measure("Tasks moved", "tasks per job", "neither", decimals=2)
    def moved(self) -> float:
        """How often planned tasks were moved, for each job."""
        return self.per_job("moved")

    @measure("Decision time charged", "ms per job")
    def charged(self) -> float:
        """How long the resource manager was busy in simulated time, for each job."""
        return self.per_job("charged")

    @measure("Decisions cut short", "per job", decimals=3)
    def limited(self) -> float:
        """Decisions that reached a time limit and used the best schedule found so far."""
        return self.per_job("limited")

    @measure("Processing time", "ms per job", decimals=3, needs="clock")
    def processing(self) -> float:
        """What decisions took by the wall clock, for each job: O. Not repeatable; kept where
        decisions are measured.
        """
        return 1000 * self.per_job("clock")

    @measure("Processing time of all jobs", "s", decimals=3, needs="clock")
    def batch_processing(self) -> float:
        """What all decisions of a run took together by the wall clock: PO of closed problems. As
        processing, not repeatable.
        """
        return sum(made.clock for made in self.run.decisions)


STAGES_MEASURES = measures_of(MeasuredStages)
"""All figures, in the order of tables."""

CLOCK_FIGURES = tuple(each.metric.name for each in STAGES_MEASURES if each.needs)
"""The names of those of the wall clock, which are not repeatable."""

SEARCHED = Metric(
    "searched",
    "Decisions searched",
    "decisions",
    "neither",
    {"searched_decisions": 1},
    {"searched_decisions": 1, "unsearched_decisions": 1},
    note="Decisions for which a solver searched, of managers that have one. Where rules_first "
    "leaves nothing to improve, or there is too much to search, none does.",
)
"""Of managers without a solver it is undefined."""


def _search_counters(measured: MeasuredStages, *, can_search: bool) -> dict[str, float]:
    """Count the decisions that a solver searched, and all decisions."""
    made = measured.run.decisions
    searched = sum(each.work.searched > 0 for each in made)
    other = len(made) - searched if can_search else 0
    return {"searched_decisions": float(searched), "unsearched_decisions": float(other)}


def run_figures(
    measured: MeasuredStages, *, with_clock: bool, can_search: bool
) -> dict[str, float]:
    """Compute the measures of a run; `can_search` tells whether the manager has a solver."""
    figures = figures_of(STAGES_MEASURES, measured, ["clock"] if with_clock else [])
    return figures | _search_counters(measured, can_search=can_search)


JOBS, TASKS, DECISIONS = "jobs", "tasks", "decisions"

_WHOLE = "int64"

TABLES: Mapping[str, Mapping[str, str]] = {
    JOBS: {
        "job": _WHOLE,
        "family": "string",
        **dict.fromkeys(("arrival", "start", "deadline", "end", "tasks"), _WHOLE),
        **dict.fromkeys(("work", "alone"), _WHOLE),
    },
    TASKS: {
        **dict.fromkeys(("job", "task", "phase"), _WHOLE),
        "name": "string",
        **dict.fromkeys(("resource", "start", "end"), _WHOLE),
    },
    DECISIONS: {
        **dict.fromkeys(("began", "made", "jobs", "tasks", "placed", "moved", "charged"), _WHOLE),
        "limited": "bool",
    },
}
"""The columns of each table: `work` is the sum of the tasks, `alone` what the job takes where all
resources are free."""


def job_table(run: FinishedStages) -> dict[str, Any]:
    """Give a row for each job."""
    rows = [
        (
            job.number,
            job.family,
            job.arrival,
            job.start,
            job.deadline,
            run.completed[job.number],
            len(job.real_tasks),
            sum(task.duration for task in job.real_tasks),
            sample_run(job, run.resources).duration,
        )
        for job in run.jobs
    ]
    return _columns(JOBS, rows)


def task_table(run: FinishedStages) -> dict[str, Any]:
    """Give a row for each task but dummies, with where and when it ran."""
    rows = []
    for job in run.jobs:
        for task in job.real_tasks:
            ran = run.ran[TaskKey(job.number, task.number)]
            row = job.number, task.number, task.phase, task.name
            rows.append((*row, ran.resource, ran.start, ran.end))
    return _columns(TASKS, rows)


def decision_table(run: FinishedStages) -> dict[str, Any]:
    """Make a row for each decision, without its wall-clock time."""
    rows = [tuple(getattr(made, name) for name in TABLES[DECISIONS]) for made in run.decisions]
    return _columns(DECISIONS, rows)


def tables_of(run: FinishedStages) -> dict[str, dict[str, Any]]:
    """Give all tables of a run, without the column of its replication."""
    return {JOBS: job_table(run), TASKS: task_table(run), DECISIONS: decision_table(run)}


def _columns(table: str, rows: Sequence[tuple[Any, ...]]) -> dict[str, Any]:
    found: dict[str, Any] = {
        name: [row[place] for row in rows] for place, name in enumerate(TABLES[table])
    }
    for name, kind in TABLES[table].items():
        if kind == _WHOLE:
            found[name] = np.array(found[name], dtype=np.int64)
    return found
