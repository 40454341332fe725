"""SQL over the runs below a directory, answered by DuckDB.

Views, described in `VIEWS`: `runs`, `cells` and `replications`; of workload scenarios `schedules`
and `jobs`. Parts are not loaded: DuckDB reads them through Arrow, of the columns, cells and rows
that a query needs, a batch at a time.

The SQL is a user's text, so it can do nothing but read the views: DuckDB has no access to files,
network, extensions and variables of this program, its settings are locked, and only statements
that read are taken.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.dataset as ds
from pyarrow import fs

from rebecsim.errors import UserError
from rebecsim.experiments.plan import PlannedCell
from rebecsim.experiments.results_error import ResultsError
from rebecsim.experiments.store import StoredRun, StoredWorkloadRun
from rebecsim.experiments.workload_query import SCHEDULES_SCHEMA, job_rows, schedule_rows

__all__ = ["VIEWS", "Answer", "QueryError", "query"]

VIEWS = MappingProxyType(
    {
        "runs": "a row for each run: run, scenario, title, policies, cells, finished, "
        "replications (of each cell), seed, choice_law, rebecsim (version), started (UTC), bytes",
        "cells": "a row for each cell: run, cell, policy, arrivals, lengths, app_masters, "
        "finished, bytes",
        "replications": "a row for each replication of the finished cells: run, cell, policy, "
        "arrivals, lengths, app_masters, replication, a column for each counter, outcome",
        "schedules": "a row for each finished schedule of a workload scenario: run, cell, policy, "
        "load_factor, estimates, replication, a column for each metric",
        "jobs": "a row for each job of these schedules: run, cell, policy, load_factor, estimates, "
        "replication, job, user, queue, processors, memory (KB per processor), submit, start, "
        "duration, expected_end (s)",
    }
)
"""The views, and what is in them."""

_SANDBOX = (
    "SET temp_directory = ''",
    "SET autoinstall_known_extensions = false",
    "SET autoload_known_extensions = false",
    "SET python_enable_replacements = false",
    "SET enable_external_access = false",
    "SET lock_configuration = true",
)
_READING = frozenset({"SELECT", "EXPLAIN"})  # SELECT includes DESCRIBE, SHOW and SUMMARIZE
_ROWS_AT_A_TIME = 1_000

_RUNS_SCHEMA = pa.schema(
    [
        ("run", pa.string()),
        ("scenario", pa.string()),
        ("title", pa.string()),
        ("policies", pa.list_(pa.string())),
        ("cells", pa.int64()),
        ("finished", pa.int64()),
        ("replications", pa.int64()),
        ("seed", pa.int64()),
        ("choice_law", pa.string()),
        ("rebecsim", pa.string()),
        ("started", pa.timestamp("s")),
        ("bytes", pa.int64()),
    ]
)
_COORDINATES = (
    ("run", pa.string()),
    ("cell", pa.string()),
    ("policy", pa.string()),
    ("arrivals", pa.string()),
    ("lengths", pa.string()),
    ("app_masters", pa.int64()),
)
_CELLS_SCHEMA = pa.schema([*_COORDINATES, ("finished", pa.bool_()), ("bytes", pa.int64())])


class QueryError(UserError):
    """SQL that cannot be answered; the text says why."""


@dataclass(frozen=True)
class Answer:
    """What a query found: the names of the columns, and the rows, which can be read once.

    Reading rows raises QueryError when a row cannot be computed.
    """

    columns: tuple[str, ...]
    rows: Iterator[tuple[Any, ...]]


def query(sql: str, runs: Sequence[StoredRun | StoredWorkloadRun]) -> Answer:
    """Answer one SQL statement that reads the views over these runs.

    Raises QueryError when it is none or DuckDB refuses it, ResultsError when it mentions
    replications, schedules or jobs and a part of theirs is damaged, OSError when a part cannot be
    read.
    """
    _require_reading(sql)
    of_models = [run for run in runs if isinstance(run, StoredRun)]
    of_workloads = [run for run in runs if isinstance(run, StoredWorkloadRun)]
    asked = sql.casefold()  # for some views all parts are read, which may take a while
    if "replications" in asked:
        _require_undamaged(of_models)
    if "jobs" in asked:
        _require_undamaged(of_workloads)
    figures = schedule_rows(of_workloads) if "schedules" in asked else []
    connection = duckdb.connect(":memory:")
    try:
        connection.register("runs", pa.Table.from_pylist(list(map(_run_row, runs)), _RUNS_SCHEMA))
        connection.register("cells", pa.Table.from_pylist(_cell_rows(runs), _CELLS_SCHEMA))
        connection.register("replications", _replications(of_models))
        connection.register("schedules", pa.Table.from_pylist(figures, SCHEDULES_SCHEMA))
        connection.register("jobs", job_rows(of_workloads))
        _lock(connection)
        connection.execute(sql)
        columns = tuple(column[0] for column in connection.description or ())
    except duckdb.Error as error:
        connection.close()
        raise _query_error(error) from error
    return Answer(columns, _rows(connection))


def _rows(connection: duckdb.DuckDBPyConnection) -> Iterator[tuple[Any, ...]]:
    with closing(connection):
        try:
            while rows := connection.fetchmany(_ROWS_AT_A_TIME):
                yield from rows
        except duckdb.Error as error:
            raise _query_error(error) from error


def _lock(connection: duckdb.DuckDBPyConnection) -> None:
    for statement in _SANDBOX:
        connection.execute(statement)


def _query_error(error: duckdb.Error) -> QueryError:
    views = "; ".join(f"{name}: {content}" for name, content in VIEWS.items())
    hint = f"\nViews are {views}" if isinstance(error, duckdb.ProgrammingError) else ""
    return QueryError(f"query: {error}{hint}")


def _require_reading(sql: str) -> None:
    """Raise QueryError unless the text is one statement that only reads."""
    with closing(duckdb.connect(":memory:")) as connection:
        _lock(connection)
        try:
            statements = connection.extract_statements(sql)
        except duckdb.Error as error:
            raise _query_error(error) from error
    if len(statements) != 1:
        raise QueryError(f"query: there are {len(statements)} statements; give one SELECT")
    if (kind := statements[0].type.name) not in _READING:
        raise QueryError(f"query: {kind} is not for this store, which is only read; use SELECT")


def _require_undamaged(runs: Sequence[StoredRun] | Sequence[StoredWorkloadRun]) -> None:
    for run in runs:
        for damage in _damages(run):
            if damage:
                raise ResultsError(f"{damage}; `rebecsim compare` with --resume computes it again")


def _damages(run: StoredRun | StoredWorkloadRun) -> Iterator[str | None]:
    if isinstance(run, StoredRun):
        return (run.results.damage(cell) for cell in run.finished)
    return (run.results.damage(cell) for cell in run.finished)


def _run_row(run: StoredRun | StoredWorkloadRun) -> dict[str, object]:
    started = run.record["started"]
    return {
        "run": run.name,
        "scenario": run.scenario.name,
        "title": run.scenario.heading,
        "policies": list(run.scenario.policies),
        "cells": len(run.cells),
        "finished": len(run.finished),
        "replications": run.replications,
        "seed": run.scenario.seed,
        "choice_law": run.scenario.choice_law if isinstance(run, StoredRun) else None,
        "rebecsim": run.record["versions"]["rebecsim"],
        "started": started and datetime.fromisoformat(started).astimezone(UTC).replace(tzinfo=None),
        "bytes": run.size,
    }


def _cell_rows(runs: Sequence[StoredRun | StoredWorkloadRun]) -> list[dict[str, object]]:
    return [row for run in runs for row in _cells_of(run)]


def _cells_of(run: StoredRun | StoredWorkloadRun) -> Iterator[dict[str, object]]:
    """Every cell of a run, with the coordinates that it has."""
    if isinstance(run, StoredRun):
        finished = set(run.finished)
        for cell in run.cells:
            yield _coordinates(run, cell) | _file(run.results.part(cell), cell in finished)
        return
    done = set(run.finished)
    for schedule in run.cells:
        named = {"run": run.name, "cell": schedule.name, "policy": schedule.policy}
        yield named | _file(run.results.part(schedule), schedule in done)


def _file(part: Path, there: bool) -> dict[str, object]:
    return {"finished": there, "bytes": part.stat().st_size if there else None}


def _coordinates(run: StoredRun, cell: PlannedCell) -> dict[str, Any]:
    return {
        "run": run.name,
        "cell": cell.name,
        "policy": cell.cell.policy,
        "arrivals": cell.cell.arrivals,
        "lengths": cell.cell.lengths,
        "app_masters": cell.cell.app_masters,
    }


def _replications(runs: Sequence[StoredRun]) -> ds.Dataset:
    """All parts as one dataset; the coordinates are constants of each part and cost nothing.

    A counter that a run does not have is null in its rows.
    """
    form = ds.ParquetFileFormat()
    files = fs.LocalFileSystem()
    parts = [
        form.make_fragment(str(run.results.part(cell)), files, _partition(_coordinates(run, cell)))
        for run in runs
        for cell in run.finished
    ]
    counters = dict.fromkeys(name for run in runs for name in run.plan.counters)
    schema = pa.schema(
        [
            *_COORDINATES,
            ("replication", pa.int64()),
            *((name, pa.int32()) for name in counters),
            ("outcome", pa.string()),
        ]
    )
    return ds.FileSystemDataset(parts, schema, form, files)


def _partition(coordinates: dict[str, Any]) -> ds.Expression:
    types = dict(_COORDINATES)
    expression = None
    for name, value in coordinates.items():
        equal = ds.field(name) == pa.scalar(value, types[name])
        expression = equal if expression is None else expression & equal
    return expression
