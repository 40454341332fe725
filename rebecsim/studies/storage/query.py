"""SQL over the runs below a directory, answered by DuckDB.

The views are described in `VIEWS`; tables of a kind, such as `jobs`, are views as well. Parts are
not loaded: DuckDB reads them through Arrow, of the columns, cells and rows that a query needs, a
batch at a time. Runs of plug-ins are read without them, by what their records say.

The SQL is a user's text, so it can do nothing but read the views: DuckDB has no access to files,
network, extensions and variables of this program, its settings are locked, and only statements
that read are taken.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import duckdb

from rebecsim.errors import UserError
from rebecsim.limits import QUERY
from rebecsim.studies.storage.store import StoredRun
from rebecsim.studies.storage.views import kind_tables, view_of, view_schema

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
    tables = {
        name: f"the {name.replace('_', ' ')} of every replication of the finished cells"
        for name in kind_tables(runs)
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
