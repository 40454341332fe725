"""The stored table of schedules, with a row for each job, and the schedules read from it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from rebecsim.clusters.batch.measures import JudgedSchedule, judge
from rebecsim.studies.cells import REPLICATION, Columns
from rebecsim.studies.record import ResultsError
from rebecsim.studies.results import Results
from rebecsim.studies.study import PlannedCell
from rebecsim.workloads import Schedule, Workload, WorkloadError
from rebecsim.workloads.logs import Named, labels_of
from rebecsim.workloads.workload import Integers

JOBS = "jobs"
"""The name of the table."""

_NUMBERS = ("job", "user", "queue", "processors", "memory", "submit", "start", "duration")

NAMES: Mapping[str, Named] = {"user_name": "user", "queue_name": "queue"}
"""Columns of names, which runs of earlier versions lack, and the columns of their numbers."""

JOB_COLUMNS: dict[str, str] = {
    **dict.fromkeys((REPLICATION, *_NUMBERS), "int64"),
    "expected_end": "int64?",
    "capacity": "int64",
    **dict.fromkeys(NAMES, "string"),
}
"""Times in seconds, memory in KB per processor; the capacity is that of the machine, in processors.
The expected end is null without a share. A name is that of the log, or the number as text."""

_FAIR_START = "fair_start"


def columns_of_jobs(with_fair_starts: bool) -> Mapping[str, str]:
    """Give the columns of the table, with fair starts (seconds) where they are looked for."""
    return JOB_COLUMNS | {_FAIR_START: "int64"} if with_fair_starts else JOB_COLUMNS


def job_columns(schedule: Schedule, expected_end: Integers | None) -> Columns:
    """Give the rows of a schedule; `expected_end` has shape (jobs,)."""
    jobs = schedule.workload
    ends: Any = [None] * len(jobs) if expected_end is None else expected_end
    fair = {} if schedule.fair_start is None else {_FAIR_START: schedule.fair_start}
    return {
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
        **{name: _names(jobs, column) for name, column in NAMES.items()},
        **fair,
    }


def _names(jobs: Workload, column: Named) -> NDArray[np.object_]:
    """Return what to call the user or queue of each job."""
    labels = labels_of(jobs, column)
    _, row = np.unique(getattr(jobs, column), return_inverse=True)
    return np.array(list(labels.values()), dtype=object)[row]


def _header(table: pa.Table) -> dict[str, str]:
    """Return the lines of a log's header that name the users and queues of a table."""
    header = {}
    for name, column in NAMES.items():
        if name in table.column_names:
            pairs = table.select([column, name]).group_by([column, name]).aggregate([])
            numbers, names = pairs.column(column).to_pylist(), pairs.column(name).to_pylist()
            header[column.capitalize()] = "\n".join(
                f"{number} {label}"
                for number, label in zip(numbers, names, strict=True)
                if label != str(number)
            )
    return header


def schedule_of(table: pa.Table, policy: str) -> tuple[Schedule, Integers | None]:
    """Rebuild a schedule and its expected ends, from the rows of one replication.

    The workload has the columns that were stored, and the names in its header. Raises KeyError,
    ValueError or WorkloadError for a table that is none of a schedule.
    """
    column: Mapping[str, Integers] = {name: table.column(name).to_numpy() for name in _NUMBERS}
    ends = table.column("expected_end")
    jobs = Workload.of(
        column["submit"],
        column["duration"],
        column["processors"],
        capacity=int(table.column("capacity")[0].as_py()),
        header=_header(table),
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


def read_schedules(results: Results, cell: PlannedCell) -> Iterator[JudgedSchedule]:
    """Read the schedules of a cell, in the order of replications, and compute their figures.

    Raises ResultsError for files that are missing or damaged.
    """
    results.require(cell, {JOBS: results.record()["tables"][JOBS]})
    path = results.table(JOBS, cell)
    try:
        table = pq.read_table(path)
        numbers = table.column(REPLICATION).to_numpy()
        ends = np.append(np.flatnonzero(np.diff(numbers)) + 1, len(numbers)).tolist()
        for begin, end in zip([0, *ends], ends, strict=False):
            yield judge(*schedule_of(table.slice(begin, end - begin), cell.cell.policy))
    except (OSError, KeyError, ValueError, pa.ArrowException, WorkloadError) as error:
        raise ResultsError(f"{path}: cannot be read: {error}; remove it and resume") from error
