"""Read and write the Parquet files of a cell: a row for each replication, and further tables.

Each cell has a file `checksums/CELL.b2` in the format of b2sum, with paths from the results
directory, so that `b2sum --check checksums/*.b2` verifies a run without this package. A digest of
the whole file finds damage anywhere in it, the footer with its offsets and statistics included,
and a part that took the place of another; the page checksums of Parquet cover only the data. One
small file for each cell, rather than one list for the run, keeps the cost of a cell the same
however many there are.

Files grow by row groups, so that neither writing nor summing up holds more than one of them.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from rebecsim.files import created, digest_of, temporary_name, write_atomically
from rebecsim.studies.cells import REPLICATION, Cell, Coded, Column, Columns
from rebecsim.studies.moments import CellMoments

_LINE = re.compile(r"([0-9a-f]{128})  (.+)")


def read_checksums(path: Path) -> dict[str, str]:
    """Read a checksum file: path -> digest. Lines that are none are left out, as is a file that
    is not there: what has no checksum is not known to be whole.
    """
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except FileNotFoundError:
        return {}
    found = (_LINE.fullmatch(line) for line in lines)
    return {match[2]: match[1] for match in found if match}


def write_checksums(path: Path, digests: Mapping[str, str]) -> None:
    """Write a checksum file, atomically; entries for other paths stay. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    entries = {**read_checksums(path), **digests}
    text = "".join(f"{digest}  {name}\n" for name, digest in sorted(entries.items()))
    write_atomically(path, text.encode())


_ROWS_PER_GROUP = 2**16
"""Rows per row group. Tasks are much smaller; a row group for each would make the footer of ten
million replications larger than what is read at a time."""

_LARGEST = 1e60
"""The largest number of a column."""

WORDS = "words"
"""The type of a column of few words."""

_OUTCOME = "outcome"


def schema_of(columns: Mapping[str, str]) -> pa.Schema:
    """Give the schema of columns (column -> type by name, `?` at its end if it may be null).

    The column of replications comes first.
    """
    return pa.schema(
        [
            pa.field(name, _type(kind.removesuffix("?")), nullable=kind.endswith("?"))
            for name, kind in {REPLICATION: "int64", **columns}.items()
        ]
    )


def _type(kind: str) -> pa.DataType:
    return pa.dictionary(pa.int8(), pa.string()) if kind == WORDS else pa.type_for_alias(kind)


def table_of(columns: Columns, schema: pa.Schema) -> pa.Table:
    """Give columns as a table. Raises KeyError, TypeError or pa.ArrowException if they differ."""
    arrays = [_array(columns[field.name], field.type) for field in schema]
    return pa.Table.from_arrays(arrays, schema=schema)


def _array(column: Column, kind: pa.DataType) -> pa.Array:
    if isinstance(column, Coded):
        codes = _array(column.codes.astype(np.int8), pa.int8())
        return pa.DictionaryArray.from_arrays(codes, list(column.words))
    if isinstance(column, np.ndarray):
        if pa.types.is_dictionary(kind):
            column = column.tolist()
        elif column.dtype.kind in "iuf" and column.dtype == kind.to_pandas_dtype():
            # `pa.array` imports `numpy.ma` to see whether anything is masked.
            buffer = pa.py_buffer(np.ascontiguousarray(column))
            return pa.Array.from_buffers(kind, len(column), [None, buffer])
    return pa.array(column, kind)


class GrowingFile:
    """A Parquet file that grows by tables and gets its name when its block ends well.

    Its row groups have the same size however the rows arrive.
    """

    def __init__(self, path: Path, schema: pa.Schema) -> None:
        self._path = path
        self._temporary = temporary_name(path)
        self._pending = pa.Table.from_batches([], schema)  # `empty_table` imports pandas, if any
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            self._file = os.fdopen(created(self._temporary), "wb")
            self._writer = pq.ParquetWriter(self._file, schema, compression="zstd")
        except BaseException:  # interrupts too: the unfinished file is closed
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
        self._file.close()
        return digest_of(self._temporary)

    def _flush(self, rows: int) -> None:
        group = self._pending.slice(0, rows).combine_chunks()
        self._writer.write_table(group, row_group_size=rows)
        self._pending = self._pending.slice(rows)

    def __enter__(self) -> GrowingFile:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            with closing(self._file):
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


def columns_from(path: Path, names: Sequence[str]) -> pa.Table:
    """Read some columns of a part; raises as `row_groups`.

    `pq.read_table` would import what reads data sets of many files.
    """
    with pq.ParquetFile(path) as parquet:
        return parquet.read(list(names))


def part_rows(path: Path) -> int:
    """Give the number of replications in a part. Raises as `row_groups`."""
    with pq.ParquetFile(path) as parquet:
        return int(parquet.metadata.num_rows)


def require_summable(columns: Mapping[str, NDArray[Any]]) -> None:
    """Raise ValueError for numbers whose squares might not be added up: none that is counted."""
    for name, column in columns.items():
        if column.dtype.kind == "f" and not (np.abs(column) <= _LARGEST).all():
            raise ValueError(f"column {name} has a number that is not finite, or is too large")


def part_moments(path: Path, cell: Cell, first: int | None = None) -> CellMoments | None:
    """Sum up a part, or its `first` rows, a row group at a time; None when it has no rows.

    Raises as `row_groups`, and ValueError as `require_summable`.
    """
    total: CellMoments | None = None
    for table in row_groups(path):
        if first is not None:
            table = table.slice(0, first - (0 if total is None else total.replications))
            if not len(table):
                break
        outcomes: Mapping[str, int] = {}
        if _OUTCOME in table.column_names:
            outcomes = _counted(table.column(_OUTCOME))
        columns = {
            name: table.column(name).to_numpy()
            for name in table.column_names
            if name not in (REPLICATION, _OUTCOME)
        }
        require_summable(columns)
        some = CellMoments.from_columns(cell, columns, outcomes)
        total = some if total is None else total.merged(some)
    return total


def _counted(column: pa.ChunkedArray) -> Counter[str]:
    """Count the words of a column."""
    found: Counter[str] = Counter()
    if not pa.types.is_dictionary(column.type):  # a plug-in may have it as text
        column = column.dictionary_encode()
    for chunk in column.chunks:
        words = chunk.dictionary.to_pylist()
        numbers = np.bincount(chunk.indices.to_numpy(), minlength=len(words))
        found.update(dict(zip(words, numbers.tolist(), strict=True)))
    return found


def content_digest(path: Path) -> str:
    """Give a digest of the rows of a part, whatever its row groups and encodings.

    Raises as `row_groups`.
    """
    columns: dict[str, hashlib.blake2b] = {}
    for table in row_groups(path):
        for name in table.column_names:
            column = table.column(name)
            if pa.types.is_dictionary(column.type):
                column = column.cast(pa.string())
            digest = columns.setdefault(name, hashlib.blake2b())
            if pa.types.is_string(column.type):
                digest.update("\n".join(column.fill_null("").to_pylist()).encode() + b"\n")
            else:
                digest.update(column.to_numpy().tobytes())
    whole = hashlib.blake2b()
    for name, digest in columns.items():
        whole.update(f"{name}\n".encode() + digest.digest())
    return whole.hexdigest()


@dataclass(frozen=True)
class ColumnsOfFile:
    """The columns that a file has: these in this order, or if `needed` is given, some of them.

    Of a stored run it is known which columns any of its parts has, and which ones all have.
    """

    schema: pa.Schema
    needed: frozenset[str] | None = None

    def fault(self, found: pa.Schema) -> str | None:
        """Say what is wrong with the columns that a file has; None if nothing is."""
        names, expected = found.names, self.schema
        if self.needed is not None and self.needed <= set(names) and len(set(names)) == len(names):
            expected = pa.schema([expected.field(each) for each in names if each in expected.names])
        if found.equals(expected):
            return None
        if names == expected.names:
            return "its columns are not of the types of this version"
        return f"its columns are {', '.join(names)}, not {', '.join(expected.names)}"


def footer_fault(path: Path, columns: ColumnsOfFile | None) -> str | None:
    """Say what is wrong with the footer of a Parquet file: its columns, where these are known, or
    that its row groups are larger than any that is written. None if nothing is.

    Raises OSError when it cannot be read.
    """
    try:
        with pq.ParquetFile(path) as parquet:
            found, about = parquet.schema_arrow, parquet.metadata
            groups = [about.row_group(number) for number in range(about.num_row_groups)]
    except UnicodeDecodeError:
        return "the names of its columns are not text"
    except pa.ArrowException as error:
        return _sentence(error)
    if any(group.num_rows > _ROWS_PER_GROUP for group in groups):
        return f"it has more than {_ROWS_PER_GROUP:,} rows in a row group"
    return None if columns is None else columns.fault(found)


def rows_fault(path: Path) -> str | None:
    """Say what is wrong with the rows of a part: they cannot be read, or replications are missing.

    For parts without a checksum. Raises OSError when the file cannot be read.
    """
    expected = 0
    try:
        for table in row_groups(path):
            table.validate(full=True)
            numbers = table.column(REPLICATION).to_numpy()
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
