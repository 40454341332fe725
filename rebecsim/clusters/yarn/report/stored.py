"""Runs as they are kept: what pictures are drawn of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from rebecsim.clusters.yarn.tables import JOBS, NODES, OCCUPANCY, RESERVATIONS, TABLES, TASKS
from rebecsim.studies.plan import Plan
from rebecsim.studies.rows import REPLICATION
from rebecsim.studies.storage.results import Results
from rebecsim.studies.storage.results_error import ResultsError
from rebecsim.studies.study import PlannedCell


@dataclass(frozen=True, eq=False)
class StoredTables:
    """The tables of one run; see `tables.TABLES` for their columns.

    Attributes:
        scheduler: what it ran under.
        jobs, tasks, reservations, occupancy, nodes: without the column of the replication.
    """

    scheduler: str
    jobs: pa.Table
    tasks: pa.Table
    reservations: pa.Table
    occupancy: pa.Table
    nodes: pa.Table


def read_shown(plan: Plan, results: Results) -> Mapping[str, StoredTables]:
    """Read a run of each scheduler: of its first cell, the first replication.

    Raises ResultsError for files that are missing or damaged.
    """
    shown: dict[str, StoredTables] = {}
    for cell in plan.cells:
        if cell.cell.policy not in shown:
            shown[cell.cell.policy] = _read(results, cell)
    return shown


def _read(results: Results, cell: PlannedCell) -> StoredTables:
    names = (JOBS, TASKS, RESERVATIONS, OCCUPANCY, NODES)
    results.require(cell, {name: TABLES[name] for name in names})
    read = []
    for name in names:
        path = results.table(name, cell)
        try:
            table = pq.read_table(path, filters=[(REPLICATION, "=", 0)])
        except (OSError, KeyError, ValueError, pa.ArrowException) as error:
            raise ResultsError(f"{path}: cannot be read: {error}; remove it and resume") from error
        read.append(table.drop_columns([REPLICATION]))
    return StoredTables(cell.cell.policy, *read)


def values_of(table: pa.Table, name: str) -> NDArray[Any]:
    """Give a column as an array, of shape (rows,)."""
    return np.asarray(table.column(name).to_numpy())
