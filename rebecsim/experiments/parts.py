"""Parquet files of a cell: its part with a row for each replication, and its traces.

Files grow by row groups, so that neither writing nor summing up holds more than one of them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from rebecsim.experiments.checksums import digest_of
from rebecsim.experiments.moments import CellMoments
from rebecsim.experiments.plan import PlannedCell
from rebecsim.files import temporary_name
from rebecsim.simulate import OUTCOMES, Batch

__all__ = [
    "TRACE_SCHEMA",
    "GrowingFile",
    "content_digest",
    "footer_fault",
    "part_moments",
    "part_rows",
    "part_schema",
    "part_table",
    "row_groups",
    "rows_fault",
    "trace_table",
]

_ROWS_PER_GROUP = 2**16
"""Rows per row group. Tasks are much smaller; a row group for each would make the footer of ten
million replications larger than what is read at a time."""

TRACE_SCHEMA = pa.schema(
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


def part_schema(counters: Mapping[str, str]) -> pa.Schema:
    """Give the columns of a part with these counters (column -> state variable)."""
    return pa.schema(
        [
            pa.field("replication", pa.int64(), nullable=False),
            *(pa.field(name, pa.int32(), nullable=False) for name in counters),
            pa.field("outcome", pa.dictionary(pa.int8(), pa.string()), nullable=False),
        ]
    )


def part_table(batch: Batch, counters: Mapping[str, str]) -> pa.Table:
    """Give the rows of a part for a batch."""
    count = len(batch.outcomes)
    outcomes = pa.DictionaryArray.from_arrays(batch.outcomes.astype(np.int8), list(OUTCOMES))
    columns = [batch.columns[variable] for variable in counters.values()]
    numbers = np.arange(batch.first, batch.first + count, dtype=np.int64)
    schema = part_schema(counters)
    return pa.Table.from_arrays([pa.array(numbers), *columns, outcomes], schema=schema)


def trace_table(batch: Batch) -> pa.Table:
    """Give the messages served in a batch, a row for each."""
    rows = [
        event.row(batch.first + place)
        for place, events in enumerate(batch.events)
        for event in events
    ]
    return pa.Table.from_pylist(rows, schema=TRACE_SCHEMA)


class GrowingFile:
    """A Parquet file that grows by tables and gets its name when its block ends well.

    Its row groups have the same size however the rows arrive.
    """

    def __init__(self, path: Path, schema: pa.Schema) -> None:
        self._path = path
        self._temporary = temporary_name(path)
        self._pending = schema.empty_table()
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            self._writer = pq.ParquetWriter(self._temporary, schema, compression="zstd")
        except BaseException:  # an interrupt, too
            self._temporary.unlink(missing_ok=True)
            raise

    def write(self, table: pa.Table) -> None:
        """Append rows."""
        self._pending = pa.concat_tables([self._pending, table])
        while len(self._pending) >= _ROWS_PER_GROUP:
            self._flush(_ROWS_PER_GROUP)

    def finish(self) -> str:
        """Complete the file and give its digest; the name follows at the end of the block."""
        if len(self._pending):
            self._flush(len(self._pending))
        self._writer.close()
        return digest_of(self._temporary)

    def _flush(self, rows: int) -> None:
        group = self._pending.slice(0, rows).combine_chunks()
        self._writer.write_table(group, row_group_size=rows)
        self._pending = self._pending.slice(rows)

    def __enter__(self) -> GrowingFile:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            self._writer.close()
            if kind is None:
                self._temporary.replace(self._path)
        finally:
            self._temporary.unlink(missing_ok=True)


def row_groups(path: Path) -> Iterator[pa.Table]:
    """Read a part a row group at a time. Raises OSError or pa.ArrowException when damaged."""
    with pq.ParquetFile(path) as parquet:
        for group in range(parquet.num_row_groups):
            yield parquet.read_row_group(group)


def part_rows(path: Path) -> int:
    """Give the number of replications in a part. Raises as `row_groups`."""
    with pq.ParquetFile(path) as parquet:
        return int(parquet.metadata.num_rows)


def part_moments(path: Path, cell: PlannedCell, first: int | None = None) -> CellMoments | None:
    """Sum up a part, or its `first` rows, a row group at a time; None when it has no rows.

    Raises as `row_groups`.
    """
    total: CellMoments | None = None
    for table in row_groups(path):
        if first is not None:
            table = table.slice(0, first - (0 if total is None else total.replications))
            if not len(table):
                break
        columns = {name: table.column(name).to_numpy() for name in cell.counters}
        counted = table.column("outcome").value_counts().to_pylist()
        outcomes = {entry["values"]: entry["counts"] for entry in counted}
        some = CellMoments.from_columns(cell.cell, columns, outcomes)
        total = some if total is None else total.merged(some)
    return total


def content_digest(path: Path) -> str:
    """Give a digest of the rows of a part, whatever its row groups and encodings.

    Raises as `row_groups`.
    """
    columns: dict[str, hashlib.blake2b] = {}
    for table in row_groups(path):
        for name in table.column_names:
            column = table.column(name)
            if name == "outcome":
                column = pc.index_in(column.cast(pa.string()), pa.array(list(OUTCOMES)))
            values = column.to_numpy().astype("<i8")
            columns.setdefault(name, hashlib.blake2b()).update(values.tobytes())
    whole = hashlib.blake2b()
    for name, digest in columns.items():
        whole.update(f"{name}\n".encode() + digest.digest())
    return whole.hexdigest()


def footer_fault(path: Path, schema: pa.Schema, replications: int | None = None) -> str | None:
    """Say what is wrong with the columns, or the number of rows, of a Parquet file; None if
    nothing is. Raises OSError when it cannot be read.
    """
    try:
        with pq.ParquetFile(path) as parquet:
            found, rows = parquet.schema_arrow, parquet.metadata.num_rows
    except pa.ArrowException as error:
        return _sentence(error)
    if not found.equals(schema):
        if found.names == schema.names:
            return "its columns are not of the types of this version"
        return f"its columns are {', '.join(found.names)}, not {', '.join(schema.names)}"
    if replications is not None and rows != replications:
        return f"it holds {rows} replications, not {replications}"
    return None


def rows_fault(path: Path) -> str | None:
    """Say what is wrong with the rows of a part: they cannot be read, or replications are missing.

    For parts without a checksum. Raises OSError when the file cannot be read.
    """
    expected = 0
    try:
        for table in row_groups(path):
            table.validate(full=True)
            numbers = table.column("replication").to_numpy()
            if not np.array_equal(numbers, np.arange(expected, expected + len(numbers))):
                return f"its replications are not numbered from 0 (after {expected} rows)"
            expected += len(numbers)
    except (pa.ArrowException, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        return _sentence(error)
    return None


def _sentence(error: Exception) -> str:
    """The first line of an error of Arrow, as a part of a sentence."""
    return str(error).partition("\n")[0].rstrip(".")
