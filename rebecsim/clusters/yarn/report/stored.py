"""Reading stored runs for charts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce

import numpy as np
import pyarrow as pa

from rebecsim.clusters.kit.report import read_table, values_of
from rebecsim.clusters.yarn.queue_tables import QUEUE_TABLES, QUEUE_WAITS
from rebecsim.clusters.yarn.tables import JOBS, NODES, OCCUPANCY, RESERVATIONS, TABLES, TASKS
from rebecsim.studies.plan import Plan
from rebecsim.studies.storage.results import Results
from rebecsim.studies.study import PlannedCell

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
