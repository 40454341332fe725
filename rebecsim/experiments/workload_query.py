"""Schedules and their jobs as tables, for SQL."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds
from pyarrow import fs

from rebecsim.experiments.store import StoredWorkloadRun
from rebecsim.experiments.workload_metrics import SCHEDULE_METRICS
from rebecsim.experiments.workload_parts import SCHEDULE_SCHEMA
from rebecsim.experiments.workload_plan import ScheduleCell

__all__ = ["SCHEDULES_SCHEMA", "job_rows", "schedule_rows"]

_COORDINATES = (
    ("run", pa.string()),
    ("cell", pa.string()),
    ("policy", pa.string()),
    ("load_factor", pa.float64()),
    ("estimates", pa.string()),
    ("replication", pa.int64()),
)

SCHEDULES_SCHEMA = pa.schema(
    [*_COORDINATES, *((each.name, pa.float64()) for each in SCHEDULE_METRICS)]
)


def schedule_rows(runs: Sequence[StoredWorkloadRun]) -> list[dict[str, Any]]:
    """Give a row for each finished schedule, with its figures; those of users null without shares.

    Raises ResultsError for a part that is damaged.
    """
    rows = []
    for run in runs:
        for cell in run.finished:
            judged = run.results.read(cell)
            figures = {
                each.name: each.of(judged)
                for each in SCHEDULE_METRICS
                if judged.users is not None or not each.needs_share
            }
            rows.append(_coordinates(run, cell) | figures)
    return rows


def job_rows(runs: Sequence[StoredWorkloadRun]) -> ds.Dataset:
    """Give the jobs of all finished schedules as one dataset.

    The coordinates are constants of each part and cost nothing.
    """
    form = ds.ParquetFileFormat()
    files = fs.LocalFileSystem()
    parts = [
        form.make_fragment(str(run.results.part(cell)), files, _partition(_coordinates(run, cell)))
        for run in runs
        for cell in run.finished
    ]
    schema = pa.schema([*_COORDINATES, *((name, pa.int64()) for name in SCHEDULE_SCHEMA.names)])
    return ds.FileSystemDataset(parts, schema, form, files)


def _coordinates(run: StoredWorkloadRun, cell: ScheduleCell) -> dict[str, Any]:
    return {
        "run": run.name,
        "cell": cell.name,
        "policy": cell.policy,
        "load_factor": cell.load_factor,
        "estimates": cell.estimates,
        "replication": cell.replication,
    }


def _partition(coordinates: dict[str, Any]) -> ds.Expression:
    types = dict(_COORDINATES)
    expression = None
    for name, value in coordinates.items():
        equal = ds.field(name) == pa.scalar(value, types[name])
        expression = equal if expression is None else expression & equal
    return expression
