"""Schedules of a run on disk, as they were made."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from rebecsim.clusters.batch.job_table import JOBS, schedule_of
from rebecsim.clusters.batch.measures import JudgedSchedule, judge
from rebecsim.studies.rows import REPLICATION
from rebecsim.studies.storage.results import Results
from rebecsim.studies.storage.results_error import ResultsError
from rebecsim.studies.study import PlannedCell
from rebecsim.workloads import WorkloadError


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
