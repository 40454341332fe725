"""Answer SQL about the runs below a directory, by DuckDB on views of stored runs.

Cells of different kinds have different coordinates and columns. A view has all of them; where a run
lacks one, its rows hold null.

The views are described in `VIEWS`; tables of a kind, such as `jobs`, are views as well. Parts are
not loaded: DuckDB reads them through Arrow, of the columns, cells and rows that a query needs, a
batch at a time. Runs of plug-ins are read without them, by what their records say.

The SQL is a user's text, so it can do nothing but read the views: DuckDB has no access to files,
network, extensions and variables of this program, its settings are locked, and only statements
that read are taken.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any, TypeVar

import duckdb
import pyarrow as pa
import pyarrow.dataset as ds
from pyarrow import fs

from rebecsim.errors import UserError
from rebecsim.files import QUERY
from rebecsim.studies.cells import REPLICATION, Value, grouped
from rebecsim.studies.differences import PairDifference, pairwise_differences
from rebecsim.studies.estimates import Estimate, estimate
from rebecsim.studies.parts import WORDS
from rebecsim.studies.results import paired_moments
from rebecsim.studies.stored_runs import StoredRun
from rebecsim.studies.study import PlannedCell

Shown = TypeVar("Shown")

_TEXT, _WHOLE, _NUMBER = pa.string(), pa.int64(), pa.float64()


def _started(run: StoredRun) -> datetime | None:
    started = run.record["started"]
    return started and datetime.fromisoformat(started).astimezone(UTC).replace(tzinfo=None)


_RUNS: Mapping[str, tuple[pa.DataType, Callable[[StoredRun], object]]] = {
    "run": (_TEXT, lambda run: run.name),
    "kind": (_TEXT, lambda run: run.kind),
    "scenario": (_TEXT, lambda run: run.scenario.get("name")),
    "title": (_TEXT, lambda run: run.scenario.get("title") or run.scenario.get("name")),
    "policies": (pa.list_(_TEXT), lambda run: list(run.policies)),
    "cells": (_WHOLE, lambda run: len(run.cells)),
    "finished": (_WHOLE, lambda run: len(run.finished)),
    "replications": (_WHOLE, lambda run: run.replications),
    "seed": (_WHOLE, lambda run: run.scenario.get("seed")),
    "choice_law": (_TEXT, lambda run: run.scenario.get("choice_law")),
    "rebecsim": (_TEXT, lambda run: run.record["versions"]["rebecsim"]),
    "started": (pa.timestamp("s"), _started),
    "bytes": (_WHOLE, lambda run: run.size),
}
_DIFFERENCES: Mapping[str, tuple[pa.DataType, Callable[[PairDifference], object]]] = {
    "measure": (_TEXT, lambda pair: pair.metric.name),
    "first": (_TEXT, lambda pair: pair.first),
    "second": (_TEXT, lambda pair: pair.second),
    "difference": (_NUMBER, lambda pair: _defined(pair.estimate)),
    "difference_low": (_NUMBER, lambda pair: pair.estimate.low),
    "difference_high": (_NUMBER, lambda pair: pair.estimate.high),
    "p_value": (_NUMBER, lambda pair: pair.p_value),
    "holm_p_value": (_NUMBER, lambda pair: pair.adjusted_p_value),
    "shown": (pa.bool_(), lambda pair: pair.is_shown),
    "better": (_TEXT, lambda pair: pair.better),
    "runs": (_WHOLE, lambda pair: pair.runs),
}
"""Columns of views: their types, and what stands in them."""

_TYPES: Mapping[type, pa.DataType] = {int: _WHOLE, float: _NUMBER, str: _TEXT}


def kind_tables(runs: Sequence[StoredRun]) -> tuple[str, ...]:
    """Name the further tables that any of the runs has."""
    return tuple(dict.fromkeys(name for run in runs for name in _kept_tables(run)))


def view_of(name: str, runs: Sequence[StoredRun]) -> pa.Table | ds.Dataset:
    """Give a view over some runs, whose parts are undamaged."""
    match name:
        case "runs":
            rows: Iterable[Mapping[str, object]] = (_row(_RUNS, run) for run in runs)
        case "cells":
            rows = (row for run in runs for row in _cell_rows(run))
        case "differences":
            rows = (row for run in runs for row in _difference_rows(run))
        case _:
            return _dataset(name, runs)
    return pa.Table.from_pylist(list(rows), view_schema(name, runs))


def view_schema(name: str, runs: Sequence[StoredRun]) -> pa.Schema:
    """Give the columns of a view."""
    match name:
        case "runs":
            return pa.schema(_types(_RUNS))
        case "cells":
            measures = dict.fromkeys(each.name for run in runs for each in run.contents.measures)
            figures = [f"{measure}{end}" for measure in measures for end in ("", "_low", "_high")]
            return pa.schema(
                [
                    *_coordinates(runs),
                    ("finished", pa.bool_()),
                    ("replications", _WHOLE),
                    *((figure, _NUMBER) for figure in figures),
                    ("bytes", _WHOLE),
                ]
            )
        case "differences":
            separate = {each for run in runs for each in run.contents.separate}
            named = [each for each in _coordinates(runs) if each[0] in separate]
            return pa.schema([("run", _TEXT), *named, *_types(_DIFFERENCES)])
        case "replications":
            columns = {REPLICATION: "int64"}
            columns |= {n: kind for run in runs for n, kind in run.contents.columns.items()}
        case _:
            columns = {
                n: kind for run in runs for n, kind in run.contents.tables.get(name, {}).items()
            }
    return pa.schema([*_coordinates(runs), *((n, _plain(kind)) for n, kind in columns.items())])


def _plain(kind: str) -> pa.DataType:
    return _TEXT if kind == WORDS else pa.type_for_alias(kind.removesuffix("?"))


def _coordinates(runs: Sequence[StoredRun]) -> list[tuple[str, pa.DataType]]:
    """Run, cell and all coordinates; one that is a text somewhere is a text everywhere."""
    kinds: dict[str, set[type]] = {}
    for run in runs:
        for cell in run.cells:
            for name, value in _values(cell).items():
                kinds.setdefault(name, set()).add(type(value))
    found = [(name, _TEXT) for name in ("run", "cell", "policy")]
    for name, types in kinds.items():
        widest = next((each for each in (str, float) if each in types), int)
        found.append((name, _TYPES[widest]))
    return found


def _types(columns: Mapping[str, tuple[pa.DataType, Any]]) -> list[tuple[str, pa.DataType]]:
    return [(name, kind) for name, (kind, _) in columns.items()]


def _row(
    columns: Mapping[str, tuple[pa.DataType, Callable[[Shown], object]]], of: Shown
) -> dict[str, object]:
    return {name: value(of) for name, (_, value) in columns.items()}


def _defined(estimate: Estimate) -> float | None:
    return estimate.value if estimate.is_defined else None


def _cell_rows(run: StoredRun) -> Iterator[dict[str, object]]:
    """Every cell of a run, with its figures if it is finished."""
    finished = set(run.finished)
    for cell in run.cells:
        row: dict[str, object] = {**_named(run, cell), "finished": cell in finished}
        if cell in finished:
            row["bytes"] = run.results.part(cell).stat().st_size
            row["replications"] = run.replications_of(cell)
            row |= _figures(run, cell)
        yield row


def _figures(run: StoredRun, cell: PlannedCell) -> dict[str, object]:
    (moments,) = run.results.moments([cell])
    figures: dict[str, object] = {}
    for measure in run.contents.measures:
        found = estimate(measure, [moments], run.contents.level)
        figures[measure.name] = _defined(found)
        figures |= {f"{measure.name}_low": found.low, f"{measure.name}_high": found.high}
    return figures


def _difference_rows(run: StoredRun) -> Iterator[dict[str, object]]:
    """Every two policies of a run that is complete, in each measure."""
    if len(run.finished) < len(run.cells):
        return
    groups = grouped(run.cells, lambda each: each.cell.condition.only(run.contents.separate))
    measures, baseline = run.contents.measures, run.contents.baseline
    counters = sorted({name for each in measures for name in each.counters})
    for condition, cells in groups.items():
        paired = paired_moments(run.results, cells, counters)
        is_random = any(cell.is_random for cell in cells)
        for pair in pairwise_differences(
            measures, paired, run.contents.level, has_chance=is_random, baseline=baseline
        ):
            yield {"run": run.name, **dict(condition.coordinates), **_row(_DIFFERENCES, pair)}


def _dataset(name: str, runs: Sequence[StoredRun]) -> ds.Dataset:
    """All files of a table as one dataset; coordinates are constants of a file and cost nothing."""
    form, files = ds.ParquetFileFormat(), fs.LocalFileSystem()
    schema = view_schema(name, runs)
    folder = "parts" if name == "replications" else name
    parts = [
        form.make_fragment(str(path), files, _partition(_named(run, cell), schema))
        for run in runs
        for cell in run.finished
        if (path := run.results.table(folder, cell)).exists() or folder == "parts"
    ]
    return ds.FileSystemDataset(parts, schema, form, files)


def _named(run: StoredRun, cell: PlannedCell) -> dict[str, Value]:
    where = {"run": run.name, "cell": cell.name, "policy": cell.cell.policy}
    return {**where, **_values(cell)}


def _values(cell: PlannedCell) -> dict[str, Value]:
    """What a cell is, beside its policy: what that consists of, and its coordinates."""
    return {**cell.parameters, **dict(cell.cell.condition.coordinates)}


def _partition(coordinates: Mapping[str, Value], schema: pa.Schema) -> ds.Expression:
    expression = None
    for name, value in coordinates.items():
        kind = schema.field(name).type
        given = str(value) if pa.types.is_string(kind) else value
        equal = ds.field(name) == pa.scalar(given, kind)
        expression = equal if expression is None else expression & equal
    return expression


def _kept_tables(run: StoredRun) -> Iterator[str]:
    """Name the tables that a run has files of."""
    for name in run.contents.tables:
        if (run.results.directory / name).is_dir():
            yield name


VIEWS = MappingProxyType(
    {
        "runs": "a row for each run",
        "cells": "a row for each cell: its coordinates and, of finished ones, every measure with "
        "the ends of its interval (_low, _high)",
        "replications": "a row for each replication of the finished cells: what was counted",
        "differences": "a row for each measure and two policies of complete runs: the first less "
        "the second",
    }
)
"""The views that every run has, and their rows."""

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

Warn = Callable[[str], None]
"""Called with a line of text for each part that an answer leaves out."""

_log = logging.getLogger(__name__)


class QueryError(UserError):
    """SQL that cannot be answered; the text says why."""


@dataclass(frozen=True)
class QueryAnswer:
    """What a query found: the names of the columns, and the rows, which can be read once.

    Reading rows raises QueryError when a row cannot be computed.
    """

    columns: tuple[str, ...]
    rows: Iterator[tuple[Any, ...]]


def views(runs: Sequence[StoredRun]) -> dict[str, tuple[str, tuple[str, ...]]]:
    """Describe the views over these runs: name -> what a row is, and the columns."""
    kinds: dict[str, dict[str, None]] = {}
    for run in runs:
        for name in _kept_tables(run):
            kinds.setdefault(name, {})[run.kind] = None
    tables = {
        name: f"{', '.join(sorted(of))}: all replications of the finished cells"
        for name, of in kinds.items()
    }
    return {
        name: (what, tuple(view_schema(name, runs).names))
        for name, what in {**VIEWS, **tables}.items()
    }


def query(
    sql: str,
    runs: Sequence[StoredRun],
    warn: Warn = _log.warning,
    megabytes: int | None = None,
) -> QueryAnswer:
    """Answer one SQL statement that reads the views over these runs, in so many megabytes.

    Without a number, `limits.QUERY` holds. Of what a statement reads, runs with a damaged part are
    told to `warn` and left out.

    Raises QueryError when it is none or DuckDB refuses it, OSError when a part cannot be read.
    """
    _require_reading(sql)
    asked = sql.casefold()  # for some views all parts are read, which may take a while
    names = (*VIEWS, *kind_tables(runs))
    used = [name for name in names if name in asked]
    left = [run for run in runs if set(used) <= {"runs"} or _is_whole(run, used, warn)]
    connection = duckdb.connect(":memory:")
    try:
        for name in names:
            over = runs if name == "runs" else left
            connection.register(name, view_of(name, over if name in used else []))
        connection.execute(f"SET memory_limit = '{megabytes or QUERY.most:d}MB'")
        _lock(connection)
        connection.execute(sql)
        columns = tuple(column[0] for column in connection.description or ())
    except duckdb.Error as error:
        connection.close()
        raise _query_error(error, views(runs)) from error
    return QueryAnswer(columns, _rows(connection))


def _is_whole(run: StoredRun, used: Sequence[str], warn: Warn) -> bool:
    """Whether nothing of a run that is read is damaged."""
    tables = {name: columns for name, columns in run.contents.tables.items() if name in used}
    for cell in run.finished:
        if damage := run.results.damage(cell, tables):
            warn(
                f"{damage}; {run.name} is left out, `rebecsim compare` with --resume computes it "
                "again"
            )
            return False
    return True


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


def _query_error(
    error: duckdb.Error, known: Mapping[str, tuple[str, tuple[str, ...]]] | None = None
) -> QueryError:
    listed = (
        "; ".join(f"{name}: {', '.join(columns)}" for name, (_, columns) in known.items())
        if (known and isinstance(error, duckdb.ProgrammingError))
        else ""
    )
    hint = f"\nViews are {listed}" if listed else ""
    if isinstance(error, duckdb.OutOfMemoryException):
        hint = f"\nThe limit is {QUERY.most:,} MB. To raise it, set {QUERY.variable}"
    return QueryError(f"query: {error}{hint}")


def _require_reading(sql: str) -> None:
    """Raise QueryError unless the text is one statement that only reads."""
    try:
        sql.encode()
    except UnicodeEncodeError as error:
        raise QueryError("query: is not UTF-8 text") from error
    with closing(duckdb.connect(":memory:")) as connection:
        _lock(connection)
        try:
            statements = connection.extract_statements(sql)
        except duckdb.Error as error:
            raise _query_error(error) from error
    if len(statements) != 1:
        raise QueryError(f"query: there are {len(statements)} statements; give one SELECT")
    if (kind := statements[0].type.name) not in _READING:
        raise QueryError(f"query: {kind} is refused, because a query only reads; use SELECT")
