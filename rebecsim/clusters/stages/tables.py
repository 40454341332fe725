"""Stored tables of runs: jobs, tasks and decisions.

Times are milliseconds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rebecsim.clusters.stages.cluster import FinishedStages
from rebecsim.clusters.stages.job import TaskKey
from rebecsim.clusters.stages.laxity import sample_run
from rebecsim.studies.cells import REPLICATION

JOBS, TASKS, DECISIONS = "jobs", "tasks", "decisions"

_WHOLE = "int64"

TABLES: Mapping[str, Mapping[str, str]] = {
    JOBS: {
        REPLICATION: _WHOLE,
        "job": _WHOLE,
        "family": "string",
        **dict.fromkeys(("arrival", "start", "deadline", "end", "tasks"), _WHOLE),
        **dict.fromkeys(("work", "alone"), _WHOLE),
    },
    TASKS: {
        REPLICATION: _WHOLE,
        **dict.fromkeys(("job", "task", "phase"), _WHOLE),
        "name": "string",
        **dict.fromkeys(("resource", "start", "end"), _WHOLE),
    },
    DECISIONS: {
        REPLICATION: _WHOLE,
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
    """Give a row for each decision; what it took by the wall clock is not kept."""
    rows = [
        tuple(getattr(made, name) for name in TABLES[DECISIONS] if name != REPLICATION)
        for made in run.decisions
    ]
    return _columns(DECISIONS, rows)


def tables_of(run: FinishedStages) -> dict[str, dict[str, Any]]:
    """Give all tables of a run, without the column of its replication."""
    return {JOBS: job_table(run), TASKS: task_table(run), DECISIONS: decision_table(run)}


def _columns(table: str, rows: Sequence[tuple[Any, ...]]) -> dict[str, Any]:
    names = [name for name in TABLES[table] if name != REPLICATION]
    found: dict[str, Any] = {name: [row[place] for row in rows] for place, name in enumerate(names)}
    for name, kind in TABLES[table].items():
        if kind == _WHOLE and name != REPLICATION:
            found[name] = np.array(found[name], dtype=np.int64)
    return found
