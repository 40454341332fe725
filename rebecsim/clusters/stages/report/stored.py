"""Reading stored runs for charts. Times are seconds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from rebecsim.clusters.kit.stored import read_table, values_of
from rebecsim.clusters.stages.job import SECOND
from rebecsim.clusters.stages.tables import JOBS, TABLES, TASKS
from rebecsim.studies.cells import REPLICATION
from rebecsim.studies.plan import Plan
from rebecsim.studies.results import Results
from rebecsim.studies.study import PlannedCell

Seconds = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class StoredStages:
    """What became of jobs under a resource manager; all arrays have a place for each job.

    Attributes:
        manager: its name.
        start: when each job may start.
        deadline: by when it should have ended.
        end: when it did.
        alone: what it takes where all resources are free.
        first: the tasks of the first replication.
    """

    manager: str
    start: Seconds
    deadline: Seconds
    end: Seconds
    alone: Seconds
    first: TaskColumns

    @property
    def lateness(self) -> Seconds:
        """By how much each job ended after its deadline; negative: before."""
        return self.end - self.deadline

    @property
    def turnarounds(self) -> Seconds:
        """From the start of each job to its end, a row for each run."""
        spans: Seconds = self.end - self.start
        return spans.reshape(-1, len(self.first.ended))

    @property
    def laxity(self) -> Seconds:
        """What its deadline leaves each job beside what it takes alone."""
        return self.deadline - self.start - self.alone


@dataclass(frozen=True, eq=False)
class TaskColumns:
    """The tasks of a run.

    Attributes:
        job: its number.
        name: what the workflow calls the task.
        resource: where it ran.
        start: when it started.
        end: when it ended.
        deadlines: by when each job should have ended, by its number.
        ended: when each job ended, by its number.
    """

    job: NDArray[np.int64]
    name: NDArray[np.object_]
    resource: NDArray[np.int64]
    start: Seconds
    end: Seconds
    deadlines: Mapping[int, float]
    ended: Mapping[int, float]


def read_stages(plan: Plan, results: Results) -> list[StoredStages]:
    """Read the runs of each manager at the last load factor.

    Raises ResultsError for files that are missing or damaged.
    """
    cells = {cell.cell.policy: cell for cell in plan.cells}
    return [_read(results, cell) for cell in cells.values()]


def _read(results: Results, cell: PlannedCell) -> StoredStages:
    results.require(cell, {name: TABLES[name] for name in (JOBS, TASKS)})
    jobs = read_table(results, cell, JOBS)
    tasks = read_table(results, cell, TASKS, first=True)
    start, deadline, end, alone = (
        _seconds(jobs, name) for name in ("start", "deadline", "end", "alone")
    )
    mine = values_of(jobs, REPLICATION) == 0
    numbers = values_of(jobs, "job")[mine].tolist()
    first = TaskColumns(
        values_of(tasks, "job"),
        values_of(tasks, "name"),
        values_of(tasks, "resource"),
        _seconds(tasks, "start"),
        _seconds(tasks, "end"),
        dict(zip(numbers, deadline[mine].tolist(), strict=True)),
        dict(zip(numbers, end[mine].tolist(), strict=True)),
    )
    return StoredStages(cell.cell.policy, start, deadline, end, alone, first)


def _seconds(table: pa.Table, name: str) -> Seconds:
    return np.asarray(values_of(table, name) / SECOND, dtype=np.float64)
