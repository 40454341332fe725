"""What is kept of schedules: a table with a row for each job."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from rebecsim.studies.rows import REPLICATION, Columns
from rebecsim.workloads import Schedule, Workload
from rebecsim.workloads.job import Integers

JOBS = "jobs"
"""The name of the table."""

_NUMBERS = ("job", "user", "queue", "processors", "memory", "submit", "start", "duration")

JOB_COLUMNS: dict[str, str] = {
    **dict.fromkeys((REPLICATION, *_NUMBERS), "int64"),
    "expected_end": "int64?",
    "capacity": "int64",
}
"""Times in seconds, memory in KB per processor; the capacity is that of the machine, in processors.
The expected end is null without a share."""

_FAIR_START = "fair_start"


def columns_of_jobs(with_fair_starts: bool) -> Mapping[str, str]:
    """Give the columns of the table, with fair starts (seconds) where they are looked for."""
    return JOB_COLUMNS | {_FAIR_START: "int64"} if with_fair_starts else JOB_COLUMNS


def job_columns(schedule: Schedule, expected_end: Integers | None, replication: int) -> Columns:
    """Give the rows of a schedule; `expected_end` has shape (jobs,)."""
    jobs = schedule.workload
    ends: Any = [None] * len(jobs) if expected_end is None else expected_end
    fair = {} if schedule.fair_start is None else {_FAIR_START: schedule.fair_start}
    return {
        REPLICATION: np.full(len(jobs), replication),
        "job": jobs.job,
        "user": jobs.user,
        "queue": jobs.queue,
        "processors": jobs.processors,
        "memory": jobs.memory // jobs.processors,
        "submit": jobs.submit,
        "start": schedule.start,
        "duration": schedule.duration,
        "expected_end": ends,
        "capacity": np.full(len(jobs), jobs.capacity),
        **fair,
    }


def schedule_of(table: pa.Table, policy: str) -> tuple[Schedule, Integers | None]:
    """Rebuild a schedule and its expected ends, from the rows of one replication.

    Of the jobs there is what was kept, the rest is unknown. Raises KeyError, ValueError or
    WorkloadError for a table that is none of a schedule.
    """
    column: Mapping[str, Integers] = {name: table.column(name).to_numpy() for name in _NUMBERS}
    ends = table.column("expected_end")
    jobs = Workload.of(
        column["submit"],
        column["duration"],
        column["processors"],
        capacity=int(table.column("capacity")[0].as_py()),
        job=column["job"],
        user=column["user"],
        queue=column["queue"],
        requested_memory=column["memory"],
    )
    fair = None
    if _FAIR_START in table.column_names:
        fair = table.column(_FAIR_START).to_numpy().astype(np.int64)
    start = column["start"].astype(np.int64)
    schedule = Schedule(jobs, start, policy=policy, fair_start=fair)
    return schedule, None if ends.null_count else ends.to_numpy()
