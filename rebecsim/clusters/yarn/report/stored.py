"""Reading stored runs: for charts, and their jobs by queue or user."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any

import numpy as np
import pyarrow as pa

from rebecsim.clusters.kit.report import first_cells, read_table, values_of
from rebecsim.clusters.yarn.inputs import RunSetup
from rebecsim.clusters.yarn.tables import (
    JOBS,
    NODES,
    OCCUPANCY,
    QUEUE_JOBS,
    QUEUE_TABLES,
    QUEUE_WAITS,
    RESERVATIONS,
    TABLES,
    TASKS,
)
from rebecsim.errors import UserError
from rebecsim.report.groups import GroupAnswer, JobTimes, grouping, short_names
from rebecsim.studies.cells import Condition
from rebecsim.studies.plan import Plan
from rebecsim.studies.results import Results
from rebecsim.studies.study import PlannedCell
from rebecsim.workloads.container_jobs import ContainerJob

SECOND = 1000
"""Milliseconds."""


@dataclass(frozen=True, eq=False)
class StoredTables:
    """The tables of one run; see `tables.TABLES` for their columns.

    Attributes:
        scheduler: what it ran under.
        jobs, tasks, reservations, occupancy, nodes: without the column of the replication.
        queues: those of queues by name, if schedulers of files are compared. Older runs do not
            have that of waits.
    """

    scheduler: str
    jobs: pa.Table
    tasks: pa.Table
    reservations: pa.Table
    occupancy: pa.Table
    nodes: pa.Table
    queues: Mapping[str, pa.Table] = field(default_factory=dict)

    @property
    def memory(self) -> int:
        """The memory of the cluster (MB)."""
        return int(values_of(self.nodes, "memory").sum())


def last_end(shown: Sequence[StoredTables]) -> float:
    """Give when the last job of all runs ends (s)."""
    return max(float(values_of(each.jobs, "end").max()) for each in shown) / SECOND


def read_shown(plan: Plan, results: Results) -> Mapping[str, StoredTables]:
    """Read a run of each scheduler: of its first cell, the first replication.

    Jobs that one of them has refused are left out of all. Raises ResultsError for files that are
    missing or damaged.
    """
    further = tuple(QUEUE_TABLES) if plan.scenario.schedulers else ()
    shown: dict[str, StoredTables] = {}
    for cell in plan.cells:
        if cell.cell.policy not in shown:
            shown[cell.cell.policy] = _read(results, cell, further)
    return _of_all(shown)


def _of_all(shown: Mapping[str, StoredTables]) -> Mapping[str, StoredTables]:
    """Keep the jobs that all have run."""
    jobs = [values_of(each.jobs, "job") for each in shown.values()]
    common = reduce(np.intersect1d, jobs)
    if all(len(each) == len(common) for each in jobs):
        return shown
    return {
        name: replace(
            each, jobs=each.jobs.filter(pa.array(np.isin(values_of(each.jobs, "job"), common)))
        )
        for name, each in shown.items()
    }


def _read(results: Results, cell: PlannedCell, further: Sequence[str]) -> StoredTables:
    if not results.table(QUEUE_WAITS, cell).exists():
        further = [name for name in further if name != QUEUE_WAITS]
    names = (JOBS, TASKS, RESERVATIONS, OCCUPANCY, NODES, *further)
    columns = {**TABLES, **QUEUE_TABLES}
    results.require(cell, {name: columns[name] for name in names})
    read = [read_table(results, cell, name, first=True) for name in names]
    count = len(names) - len(further)
    queues = dict(zip(further, read[count:], strict=True))
    jobs, tasks, reservations, occupancy, nodes = read[:count]
    return StoredTables(cell.cell.policy, jobs, tasks, reservations, occupancy, nodes, queues)


def answers_of(plan: Plan, results: Results) -> dict[Condition, GroupAnswer]:
    """Compare the first runs of all schedulers under each condition; see `first_cells`.

    Raises ResultsError for files that are missing or damaged.
    """
    jobs = _traced(plan)
    names = {number: job.name for number, job in jobs.items()}
    of_files = bool(plan.scenario.schedulers)
    return {
        condition: answer_of_tables(
            {
                policy: _job_table(results, cell, None if of_files else jobs)
                for policy, cell in cells.items()
            },
            names,
            exact=not plan.has_chance,
        )
        for condition, cells in first_cells(plan).items()
    }


def _traced(plan: Plan) -> Mapping[int, ContainerJob]:
    """Give the jobs of the trace by number, where it is still there."""
    setup: RunSetup = plan.cells[0].setup
    try:
        return {job.number: job for job in setup.jobs(0)}
    except (OSError, UserError):
        return {}


def _job_table(
    results: Results, cell: PlannedCell, jobs: Mapping[int, ContainerJob] | None
) -> Mapping[str, Any]:
    """Read the columns of `queue_jobs`; with `jobs`, make them from those of jobs and tasks."""
    names = (QUEUE_JOBS,) if jobs is None else (JOBS, TASKS)
    results.require(cell, {name: {**TABLES, **QUEUE_TABLES}[name] for name in names})
    first, *others = (read_table(results, cell, name, first=True) for name in names)
    if jobs is None:
        columns: Mapping[str, Any] = first.to_pydict()
        return columns
    (tasks,) = others
    numbers = values_of(first, "job")
    order = np.argsort(numbers)
    place = order[np.searchsorted(numbers, values_of(tasks, "job"), sorter=order)]
    started = values_of(first, "end").copy()
    np.minimum.at(started, place, values_of(tasks, "launched"))
    known = [jobs.get(number) for number in numbers.tolist()]
    return {
        "job": numbers.tolist(),
        "queue": ["" if job is None else job.queue for job in known],
        "user": ["" if job is None else job.user for job in known],
        "refused": [""] * len(numbers),
        "submitted": values_of(first, "start").tolist(),
        "started": started.tolist(),
        "ended": values_of(first, "end").tolist(),
    }


def answer_of_tables(
    tables: Mapping[str, Mapping[str, Any]], names: Mapping[int, str], exact: bool
) -> GroupAnswer:
    """Compare runs by the columns of their tables `queue_jobs`; jobs have `names` by number."""
    first = next(iter(tables.values()))
    noun, groups = grouping(first["queue"], first["user"])
    if noun == "queue":
        called = short_names([each for table in tables.values() for each in table["queue"]])
    else:
        called = {each: each for each in groups.tolist() if each}
    return GroupAnswer(
        {
            name: _job_times(table, [called.get(each, "") for each in table[noun or "user"]], names)
            for name, table in tables.items()
        },
        noun,
        exact,
    )


def _job_times(
    table: Mapping[str, Any], groups: Sequence[str], names: Mapping[int, str]
) -> JobTimes:
    group = np.array(groups, dtype=str)
    ended = np.array([each is not None for each in table["ended"]], dtype=bool)
    refused = [bool(each) for each in table["refused"]]
    submitted, started, finished = (
        np.array([each or 0 for each in table[name]], dtype=np.float64) / SECOND
        for name in ("submitted", "started", "ended")
    )
    jobs = np.array([names.get(each, f"job_{each}") for each in table["job"]], dtype=str)
    return JobTimes(
        jobs[ended],
        group[ended],
        (started - submitted)[ended],
        (finished - submitted)[ended],
        dict(Counter(group[refused].tolist())),
    )
