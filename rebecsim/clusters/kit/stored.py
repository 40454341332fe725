"""Reading the tables that the runs of a cell have left."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from rebecsim.studies.cells import REPLICATION
from rebecsim.studies.record import ResultsError
from rebecsim.studies.results import Results
from rebecsim.studies.study import PlannedCell


def read_table(results: Results, cell: PlannedCell, name: str, *, first: bool = False) -> pa.Table:
    """Read a table of all runs of a cell, or of the first one, without its replication then.

    Raises ResultsError for a file that cannot be read.
    """
    path = results.table(name, cell)
    try:
        table = pq.read_table(path, filters=[(REPLICATION, "=", 0)] if first else None)
    except (OSError, KeyError, ValueError, pa.ArrowException) as error:
        raise ResultsError(f"{path}: cannot be read: {error}; remove it and resume") from error
    return table.drop_columns([REPLICATION]) if first else table


def values_of(table: pa.Table, name: str) -> NDArray[Any]:
    """Give a column as an array, of shape (rows,)."""
    return np.asarray(table.column(name).to_numpy())
