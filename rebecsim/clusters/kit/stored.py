"""Reading the tables that the runs of a cell have left."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rebecsim.studies.cells import REPLICATION
from rebecsim.studies.record import ResultsError
from rebecsim.studies.study import PlannedCell

if TYPE_CHECKING:
    import pyarrow as pa

    from rebecsim.studies.results import Results


def read_table(results: Results, cell: PlannedCell, name: str, *, first: bool = False) -> pa.Table:
    """Read a table of all runs of a cell, or of the first one, without its replication then.

    Raises ResultsError for a file that cannot be read.
    """
    import pyarrow as pa  # not where runs are only printed, as by commands of the light core
    import pyarrow.parquet as pq

    path = results.table(name, cell)
    try:
        table = pq.read_table(path, filters=[(REPLICATION, "=", 0)] if first else None)
    except (OSError, KeyError, ValueError, pa.ArrowException) as error:
        raise ResultsError(f"{path}: cannot be read: {error}; remove it and resume") from error
    return table.drop_columns([REPLICATION]) if first else table


def values_of(table: pa.Table, name: str) -> NDArray[Any]:
    """Give a column as an array, of shape (rows,)."""
    return np.asarray(table.column(name).to_numpy())
