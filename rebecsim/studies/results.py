"""Keep the results of a run on disk: one directory, one Parquet part for each cell.

Paired moments are computed from the parts in bounded memory.

    OUT/run.json             the scenario, the seed, the versions of what computed it; what there is
    OUT/parts/CELL.parquet   one row per replication: its number, what was counted, how it ended
    OUT/TABLE/CELL.parquet   further tables of a kind: messages served (`traces`), `jobs`
    OUT/checksums/CELL.b2    the checksums of these files, in the format of b2sum
    OUT/.lock                held by the process that is writing

Files are written under a temporary name, their checksums are written, then they are renamed, the
part last. So a part that exists is whole and has its checksum. A killed process leaves only
temporary files, which the next writer removes.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, closing
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from rebecsim.files import digest_of, reason_of
from rebecsim.studies.cells import REPLICATION, Condition, Rows, grouped
from rebecsim.studies.moments import (
    CellMoments,
    PairedMoments,
    RunBatch,
    UnpairedRunsError,
    pair_up,
)
from rebecsim.studies.parts import (
    ColumnsOfFile,
    GrowingFile,
    footer_fault,
    part_moments,
    part_rows,
    read_checksums,
    require_summable,
    row_groups,
    rows_fault,
    schema_of,
    table_of,
    write_checksums,
)
from rebecsim.studies.plan import Plan
from rebecsim.studies.record import (
    ResultsError,
    described,
    new_record,
    read_record,
    require_same_run,
    write_record,
)
from rebecsim.studies.run_directory import RECORD, make_run, require_plain, writing
from rebecsim.studies.study import PlannedCell

_log = logging.getLogger(__name__)

Tables = Mapping[str, Mapping[str, str]]
"""Further tables of each cell: name -> column -> type."""


@dataclass(frozen=True)
class Results:
    """A results directory. Make one with `create`, continue one with `resume`.

    Attributes:
        directory: where it is.
        recorded: which columns its parts have, as the record of a stored run says.
    """

    directory: Path
    recorded: ColumnsOfFile | None = field(default=None, compare=False)

    # --- the directory -------------------------------------------------------------------------

    @classmethod
    def create(cls, directory: Path, plan: Plan) -> Results:
        """Make a new results directory. Raises ResultsError if one is there or cannot be made."""
        make_run(directory, new_record(plan))
        return cls(directory)

    @classmethod
    def resume(cls, directory: Path, plan: Plan) -> Results:
        """Open the directory of a run of the same scenario, or make one where there is no record.

        The run may have had fewer replications; it has those of the plan from now on.

        Raises ResultsError when it is of another scenario, or when it was computed by other
        versions or from other inputs, whose results might differ.
        """
        results = cls(directory)
        if not os.path.lexists(results._record):
            return cls.create(directory, plan)
        require_plain(directory)
        record = results.record()
        require_same_run(results._record, record, plan)
        wanted = plan.scenario.replications
        if record["scenario"].get("replications", wanted) != wanted:
            record["scenario"]["replications"] = wanted
            results._write_record(record | described(plan))
        return results

    @classmethod
    def open(cls, directory: Path, plan: Plan, resume: bool) -> Results:
        """Make a new results directory, or continue one."""
        return (cls.resume if resume else cls.create)(directory, plan)

    def record(self) -> dict[str, Any]:
        """Read what was recorded of the run. Raises ResultsError if there is no run here."""
        return read_record(self._record)

    @cached_property
    def is_search(self) -> bool:
        """Whether cells have as many runs as a search gave them, and not all the same."""
        return self.record().get("search") is not None

    def note_engine(self, engine: str | None) -> None:
        """Record that an engine has run replications of this run. Raises ResultsError."""
        if engine is None or engine in self._engines:
            return
        record = self.record()
        record["engines"] = sorted({*record["engines"], engine})
        self._write_record(record)
        self._engines.add(engine)

    @cached_property
    def _engines(self) -> set[str]:
        return set(self.record()["engines"])

    def writing(self, warn: Callable[[str], None] = _log.warning) -> AbstractContextManager[None]:
        """Be the only process that writes here, and remove what killed ones left.

        A file system without locks is told to `warn`. Raises ResultsError when another process is
        writing, or the directory cannot be written.
        """
        return writing(self.directory, warn)

    @property
    def _record(self) -> Path:
        return self.directory / RECORD

    def _write_record(self, record: Mapping[str, Any]) -> None:
        try:
            write_record(self._record, record)
        except OSError as error:
            raise ResultsError(f"{self._record}: cannot be written: {reason_of(error)}") from error

    # --- parts ---------------------------------------------------------------------------------

    def part(self, cell: PlannedCell) -> Path:
        """Give the path of a cell's part."""
        return self.table("parts", cell)

    def table(self, name: str, cell: PlannedCell) -> Path:
        """Give the path of a further table of a cell."""
        return self.directory / name / f"{cell.name}.parquet"

    def checksums(self, cell: PlannedCell) -> Path:
        """Give the path of the checksums of a cell's files."""
        return self.directory / "checksums" / f"{cell.name}.b2"

    def is_complete(self, cell: PlannedCell, tables: Tables | None = None) -> bool:
        """Whether a cell's part, and its tables, are there and undamaged."""
        files = [self.part(cell), *(self.table(name, cell) for name in tables or ())]
        return all(file.exists() for file in files) and self.damage(cell, tables) is None

    def damage(self, cell: PlannedCell, tables: Tables | None = None) -> str | None:
        """Say which file of a cell is damaged and how; None when those that are there are not.

        `tables` are those to be looked at beside the part.
        """
        files = [(self.part(cell), self._part_columns(cell))]
        files += [
            (self.table(name, cell), ColumnsOfFile(schema_of(columns)))
            for name, columns in (tables or {}).items()
        ]
        for path, expected in files:
            try:
                fault = self._fault(cell, path, expected)
            except FileNotFoundError:
                continue
            except OSError as error:
                fault = error.strerror or str(error)
            if fault is not None:
                return f"part {path} is damaged: {fault}"
        return None

    def _part_columns(self, cell: PlannedCell) -> ColumnsOfFile | None:
        if cell.columns is None:  # a cell of a stored run
            return self.recorded
        return ColumnsOfFile(schema_of(cell.columns))

    def _fault(self, cell: PlannedCell, path: Path, columns: ColumnsOfFile | None) -> str | None:
        digest = digest_of(path)
        recorded = read_checksums(self.checksums(cell)).get(self._relative(path))
        if recorded is None and self.record()["format"] > 1:
            return "its checksum is missing"
        fault = footer_fault(path, columns)
        if recorded not in (None, digest):
            # The reason why it cannot be read says more than that it differs.
            return fault or "its checksum differs from the one recorded"
        if fault is None and path == self.part(cell):
            if not part_rows(path):
                return "it holds no replications"
            return rows_fault(path) if recorded is None else None
        return fault

    def _relative(self, path: Path) -> str:
        return path.relative_to(self.directory).as_posix()

    def replications(self, cell: PlannedCell, tables: Tables | None = None) -> int:
        """How many replications an undamaged part holds; 0 when there is none."""
        return part_rows(self.part(cell)) if self.is_complete(cell, tables) else 0

    def write(
        self,
        cell: PlannedCell,
        rows: Iterable[Rows],
        tables: Tables | None = None,
        keep: bool = False,
    ) -> None:
        """Write a cell's part, and its tables, from rows in the order of replications.

        With `keep` they come behind the replications that the part holds already.
        Raises ResultsError when they cannot be written; what was there before is then still there.
        """
        try:
            self._write(cell, rows, tables or {}, keep)
        except OSError as error:
            raise ResultsError(
                f"{self.part(cell)}: cannot be written: {reason_of(error)}"
            ) from error

    def _write(self, cell: PlannedCell, rows: Iterable[Rows], tables: Tables, keep: bool) -> None:
        assert cell.columns is not None  # it is of a plan
        schemas = {"parts": schema_of(cell.columns)}
        schemas |= {name: schema_of(columns) for name, columns in tables.items()}
        with ExitStack() as stack:
            # Leaving the block goes backwards: the part gets its name last.
            files = {
                name: stack.enter_context(GrowingFile(self.table(name, cell), schema))
                for name, schema in schemas.items()
            }
            number = part_rows(self.part(cell)) if keep else 0
            for name, file in files.items() if keep else ():
                for table in row_groups(self.table(name, cell)):
                    file.write(table)
            for some in rows:
                numbers = np.arange(number, number + len(some), dtype=np.int64)
                number += len(some)
                files["parts"].write(
                    table_of({REPLICATION: numbers, **some.columns}, schemas["parts"])
                )
                for name in tables:
                    files[name].write(table_of(some.tables[name], schemas[name]))
            digests = {
                self._relative(self.table(name, cell)): file.finish()
                for name, file in files.items()
            }
            write_checksums(self.checksums(cell), digests)

    # --- what is in them -----------------------------------------------------------------------

    def moments(
        self, cells: Plan | Sequence[PlannedCell], first: int | None = None
    ) -> list[CellMoments]:
        """Sum up every cell, or the `first` replications of each, a row group at a time.

        Raises ResultsError for a part that is missing or damaged.
        """
        chosen = cells.cells if isinstance(cells, Plan) else cells
        return [self._moments(cell, first) for cell in chosen]

    def _moments(self, cell: PlannedCell, first: int | None = None) -> CellMoments:
        path = self.part(cell)
        self.require(cell)
        try:
            total = part_moments(path, cell.cell, first)
        except (OSError, ValueError, pa.ArrowException) as error:
            raise ResultsError(f"{path}: cannot be read: {error}; remove it and resume") from error
        if total is None:
            raise ResultsError(f"{path}: holds no replications; remove it and resume")
        return replace(total, is_random=cell.is_random)

    def require(self, cell: PlannedCell, tables: Tables | None = None) -> None:
        """Raise ResultsError for files of a cell that are missing or damaged."""
        for name in ("parts", *(tables or ())):
            path = self.table(name, cell)
            if not path.exists():
                raise ResultsError(
                    f"{self.directory}: the run is not complete, {self._relative(path)} is "
                    "missing; finish it by `rebecsim compare` with --resume"
                )
        if damage := self.damage(cell, tables):
            raise ResultsError(f"{damage}; `rebecsim compare` with --resume computes it again")


_ROWS_AT_A_TIME = 65_536


def paired_moments(
    results: Results, cells: Sequence[PlannedCell], counters: Sequence[str]
) -> list[PairedMoments]:
    """Sum up the runs of all policies in pairs: one entry for each condition.

    However long and however cut the parts are, a few batches of rows are in memory at a time.

    Args:
        results: holds these cells.
        cells: those of all policies.
        counters: what to read; see `Metric.counters`.

    Returns:
        The moments; none of conditions with fewer than two policies, and none of a search, which
        compares its candidates itself.

    Raises:
        ResultsError: for a part that is missing, damaged, lacks a counter or has other
            replications than the parts of the other policies.
    """
    if results.is_search:
        return []
    return [
        _paired(results, condition, group, counters)
        for condition, group in grouped(cells, lambda each: each.cell.condition).items()
        if len(group) > 1
    ]


def _paired(
    results: Results,
    condition: Condition,
    cells: Sequence[PlannedCell],
    counters: Sequence[str],
) -> PairedMoments:
    columns = [REPLICATION, *counters]
    with ExitStack() as open_parts:
        runs = {
            planned.cell.policy: open_parts.enter_context(
                closing(_batches(results.part(planned), columns))
            )
            for planned in cells
        }
        try:
            return pair_up(condition, runs)
        except UnpairedRunsError as error:
            raise ResultsError(
                f"{results.directory}: the runs of the policies cannot be paired: {error}; "
                "resume the comparison so that every cell is complete"
            ) from error


def _batches(path: Path, columns: list[str]) -> Generator[RunBatch, None, None]:
    try:
        with pq.ParquetFile(path) as parquet:
            missing = sorted(set(columns) - set(parquet.schema_arrow.names))
            if missing:
                raise ResultsError(f"{path}: has no column {', '.join(missing)}")
            for batch in parquet.iter_batches(_ROWS_AT_A_TIME, columns=columns):
                numbers = {name: batch.column(name).to_numpy() for name in columns}
                require_summable(numbers)
                yield numbers
    except (OSError, ValueError, pa.ArrowException) as error:
        raise ResultsError(f"{path}: cannot be read: {error}; remove it and resume") from error
