"""The results of a comparison on disk: one directory, one Parquet part for each cell.

    OUT/run.json            the scenario, the seed, the versions of what computed it
    OUT/parts/CELL.parquet  one row per replication: its number, the counters, how it ended
    OUT/traces/CELL.parquet one row per message served, where traces were asked for

Parts and traces are written under a temporary name and renamed when they are complete, so a
file that is there is whole.
"""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from rebecsim.errors import UserError
from rebecsim.experiments.files import write_atomically
from rebecsim.experiments.moments import CellMoments
from rebecsim.experiments.plan import COUNTERS, Plan, PlannedCell
from rebecsim.experiments.scenario import Scenario
from rebecsim.simulate import OUTCOMES, Batch

__all__ = ["Results", "ResultsError", "versions"]

_FORMAT = 1
_PACKAGES = ("rebecsim", "numpy", "scipy", "jinja2", "lark", "pyarrow")

_PART_SCHEMA = pa.schema(
    [
        pa.field("replication", pa.int64(), nullable=False),
        *(pa.field(name, pa.int32(), nullable=False) for name in COUNTERS),
        pa.field("outcome", pa.dictionary(pa.int8(), pa.string()), nullable=False),
    ]
)
_TRACE_SCHEMA = pa.schema(
    [
        pa.field("replication", pa.int64(), nullable=False),
        pa.field("step", pa.int32(), nullable=False),
        pa.field("time", pa.int64(), nullable=False),
        pa.field("finished", pa.int64(), nullable=False),
        pa.field("rebec", pa.string(), nullable=False),
        pa.field("server", pa.string(), nullable=False),
        pa.field("sender", pa.string(), nullable=False),
        pa.field("arrival", pa.int64(), nullable=False),
        pa.field("deadline", pa.int64()),
        pa.field("arguments", pa.string(), nullable=False),
        pa.field("choices", pa.string(), nullable=False),
        pa.field("changed", pa.string(), nullable=False),
    ]
)


class ResultsError(UserError):
    """A results directory that cannot be used as asked; the text says why and what to do."""


def versions() -> dict[str, str]:
    """Give the versions of Python and of the packages that results depend on."""
    found = {"python": platform.python_version()}
    for package in _PACKAGES:
        found[package] = metadata.version(package)
    return found


@dataclass(frozen=True)
class Results:
    """A results directory. Make one with `create`, go on with one with `resume`."""

    directory: Path

    # --- the directory -------------------------------------------------------------------------

    @classmethod
    def create(cls, directory: Path, scenario: Scenario) -> Results:
        """Make a new results directory. Raises ResultsError if one is there or cannot be made."""
        results = cls(directory)
        if results._record.exists():
            raise ResultsError(
                f"{directory}: holds the results of a run already; "
                "go on with it by --resume, or choose another directory"
            )
        try:
            results._parts.mkdir(parents=True, exist_ok=True)
            results._write_record(scenario)
        except OSError as error:
            raise ResultsError(f"{directory}: cannot be written: {error.strerror}") from error
        return results

    @classmethod
    def resume(cls, directory: Path, scenario: Scenario) -> Results:
        """Open the directory of a run of the same scenario.

        Raises ResultsError when there is none, when it is of another scenario, or when it was
        computed by other versions, whose results might differ.
        """
        results = cls(directory)
        record = results.record()
        if record["scenario"] != scenario.model_dump(mode="json"):
            raise ResultsError(
                f"{directory}: holds a run of another scenario, seed or number of replications; "
                "resume it with the same ones, or choose another directory"
            )
        if record["versions"]["rebecsim"] != versions()["rebecsim"]:
            raise ResultsError(
                f"{directory}: was begun by rebecsim {record['versions']['rebecsim']}, this is "
                f"{versions()['rebecsim']}; choose another directory"
            )
        return results

    def record(self) -> dict[str, Any]:
        """Read what was recorded of the run. Raises ResultsError if there is no run here."""
        try:
            record: dict[str, Any] = json.loads(self._record.read_text(encoding="utf-8"))
        except FileNotFoundError as error:
            raise ResultsError(f"{self.directory}: there is no run here to go on with") from error
        except (OSError, ValueError) as error:
            raise ResultsError(f"{self._record}: cannot be read: {error}") from error
        if record.get("format") != _FORMAT:
            raise ResultsError(f"{self._record}: is not of format {_FORMAT}")
        return record

    @property
    def _record(self) -> Path:
        return self.directory / "run.json"

    @property
    def _parts(self) -> Path:
        return self.directory / "parts"

    def _write_record(self, scenario: Scenario) -> None:
        record = {
            "format": _FORMAT,
            "scenario": scenario.model_dump(mode="json"),
            "versions": versions(),
        }
        write_atomically(self._record, (json.dumps(record, indent=2) + "\n").encode())

    # --- parts ---------------------------------------------------------------------------------

    def part(self, cell: PlannedCell) -> Path:
        """Give the path of a cell's part."""
        return self._parts / f"{cell.name}.parquet"

    def trace(self, cell: PlannedCell) -> Path:
        """Give the path of a cell's traces."""
        return self.directory / "traces" / f"{cell.name}.parquet"

    def is_complete(self, cell: PlannedCell, replications: int, trace: bool = False) -> bool:
        """Whether a cell's part is there, readable and of that many replications."""
        if trace and not self.trace(cell).exists():
            return False
        try:
            parquet = pq.ParquetFile(self.part(cell))
        except (OSError, pa.ArrowInvalid):
            return False
        with parquet:
            return bool(
                parquet.metadata.num_rows == replications
                and parquet.schema_arrow.names == _PART_SCHEMA.names
            )

    def write(self, cell: PlannedCell, batches: Iterable[Batch], trace: bool = False) -> None:
        """Write a cell's part, and its traces, from batches in the order of replications."""
        with _ParquetParts(self.part(cell), _PART_SCHEMA) as part:
            if not trace:
                for batch in batches:
                    part.write(_part_table(batch))
                return
            with _ParquetParts(self.trace(cell), _TRACE_SCHEMA) as traces:
                for batch in batches:
                    part.write(_part_table(batch))
                    traces.write(_trace_table(batch))

    def moments(self, plan: Plan) -> list[CellMoments]:
        """Sum up every cell, a row group at a time.

        Raises ResultsError for a part that is missing or damaged.
        """
        return [self._moments(cell) for cell in plan.cells]

    def _moments(self, cell: PlannedCell) -> CellMoments:
        path = self.part(cell)
        total: CellMoments | None = None
        try:
            with pq.ParquetFile(path) as parquet:
                for group in range(parquet.num_row_groups):
                    some = _table_moments(cell, parquet.read_row_group(group))
                    total = some if total is None else total.merged(some)
        except (OSError, pa.ArrowException) as error:
            raise ResultsError(f"{path}: cannot be read: {error}; remove it and resume") from error
        if total is None:
            raise ResultsError(f"{path}: holds no replications; remove it and resume")
        return total


class _ParquetParts:
    """A Parquet file that grows by row groups and gets its name when it is complete."""

    def __init__(self, path: Path, schema: pa.Schema) -> None:
        self._path = path
        self._temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
        path.parent.mkdir(parents=True, exist_ok=True)
        self._writer = pq.ParquetWriter(self._temporary, schema, compression="zstd")

    def write(self, table: pa.Table) -> None:
        self._writer.write_table(table)

    def __enter__(self) -> _ParquetParts:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._writer.close()
        if kind is None:
            self._temporary.replace(self._path)
        else:
            self._temporary.unlink(missing_ok=True)


def _part_table(batch: Batch) -> pa.Table:
    count = len(batch.outcomes)
    outcomes = pa.DictionaryArray.from_arrays(batch.outcomes.astype(np.int8), list(OUTCOMES))
    counters = [batch.columns[variable] for variable in COUNTERS.values()]
    numbers = np.arange(batch.first, batch.first + count, dtype=np.int64)
    return pa.Table.from_arrays([pa.array(numbers), *counters, outcomes], schema=_PART_SCHEMA)


def _trace_table(batch: Batch) -> pa.Table:
    rows = [
        event.row(batch.first + place)
        for place, events in enumerate(batch.events)
        for event in events
    ]
    return pa.Table.from_pylist(rows, schema=_TRACE_SCHEMA)


def _table_moments(cell: PlannedCell, table: pa.Table) -> CellMoments:
    columns = {name: table.column(name).to_numpy() for name in COUNTERS}
    counted = table.column("outcome").value_counts().to_pylist()
    outcomes = {entry["values"]: entry["counts"] for entry in counted}
    return CellMoments.from_columns(cell.cell, columns, outcomes)
