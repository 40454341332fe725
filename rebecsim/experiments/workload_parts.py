"""What is kept of a schedule: a Parquet file with a row for each job."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from rebecsim.workloads import Schedule, Workload
from rebecsim.workloads.job import Integers

__all__ = ["SCHEDULE_SCHEMA", "schedule_of", "schedule_table"]

SCHEDULE_SCHEMA = pa.schema(
    [
        *(
            pa.field(name, pa.int64(), nullable=False)
            for name in (
                "job",
                "user",
                "queue",
                "processors",
                "memory",
                "submit",
                "start",
                "duration",
            )
        ),
        pa.field("expected_end", pa.int64()),
    ]
)
"""Times in seconds, memory in KB per processor. The expected end is null without a share."""

_CAPACITY = b"rebecsim.capacity"


def schedule_table(schedule: Schedule, expected_end: Integers | None) -> pa.Table:
    """Give the rows of a schedule; the processors of the machine are in its metadata.

    `expected_end` has shape (jobs,).
    """
    jobs = schedule.workload
    columns: list[NDArray[np.int64] | pa.Array] = [
        jobs.job,
        jobs.user,
        jobs.queue,
        jobs.processors,
        jobs.memory // jobs.processors,
        jobs.submit,
        schedule.start,
        schedule.duration,
        pa.nulls(len(jobs), pa.int64()) if expected_end is None else expected_end,
    ]
    schema = SCHEDULE_SCHEMA.with_metadata({_CAPACITY: str(jobs.capacity).encode()})
    return pa.Table.from_arrays([pa.array(column) for column in columns], schema=schema)


def schedule_of(table: pa.Table, policy: str) -> tuple[Schedule, Integers | None]:
    """Rebuild a schedule and its expected ends.

    Of the jobs there is what was kept, the rest is unknown. Raises KeyError, ValueError or
    WorkloadError for a table that is none of a schedule.
    """
    column: Mapping[str, Integers] = {
        name: table.column(name).to_numpy()
        for name in SCHEDULE_SCHEMA.names
        if name != "expected_end"
    }
    ends = table.column("expected_end")
    capacity = (table.schema.metadata or {})[_CAPACITY]
    jobs = Workload.of(
        column["submit"],
        column["duration"],
        column["processors"],
        capacity=int(capacity),
        job=column["job"],
        user=column["user"],
        queue=column["queue"],
        requested_memory=column["memory"],
    )
    schedule = Schedule(jobs, column["start"].astype(np.int64), policy=policy)
    return schedule, None if ends.null_count else ends.to_numpy()
