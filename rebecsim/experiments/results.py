"""The results of a comparison on disk: one directory, one Parquet part for each cell.

    OUT/run.json            the scenario, the seed, the versions of what computed it
    OUT/parts/CELL.parquet  one row per replication: its number, the counters, how it ended
    OUT/traces/CELL.parquet one row per message served, where traces were asked for
    OUT/checksums/CELL.b2   the checksums of these files, in the format of b2sum
    OUT/.lock               held by the process that is writing

Parts and traces are written under a temporary name, their checksums are written, then they are
renamed, the part last. So a part that is there is whole and has its checksum, and whatever was
killed left nothing but temporary files, which the next writer removes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from rebecsim.experiments.checksums import digest_of, read_checksums, write_checksums
from rebecsim.experiments.moments import CellMoments
from rebecsim.experiments.parts import (
    TRACE_SCHEMA,
    GrowingFile,
    footer_fault,
    part_moments,
    part_rows,
    part_schema,
    part_table,
    row_groups,
    rows_fault,
    trace_table,
)
from rebecsim.experiments.plan import Plan, PlannedCell
from rebecsim.experiments.record import (
    new_record,
    read_record,
    recorded_scenario,
    require_same_run,
    versions,
    write_record,
)
from rebecsim.experiments.results_error import ResultsError
from rebecsim.experiments.run_directory import RECORD, make_run, writing
from rebecsim.experiments.scenario import Scenario
from rebecsim.files import reason_of
from rebecsim.simulate import Batch

__all__ = ["Results", "ResultsError", "versions"]


@dataclass(frozen=True)
class Results:
    """A results directory. Make one with `create`, go on with one with `resume`."""

    directory: Path

    # --- the directory -------------------------------------------------------------------------

    @classmethod
    def create(cls, directory: Path, scenario: Scenario) -> Results:
        """Make a new results directory. Raises ResultsError if one is there or cannot be made."""
        make_run(directory, new_record(scenario))
        return cls(directory)

    @classmethod
    def resume(cls, directory: Path, scenario: Scenario) -> Results:
        """Open the directory of a run of the same scenario.

        Raises ResultsError when there is none, when it is of another scenario, or when it was
        computed by other versions, whose results might differ.
        """
        results = cls(directory)
        require_same_run(results._record, results.record(), scenario)
        return results

    def record(self) -> dict[str, Any]:
        """Read what was recorded of the run. Raises ResultsError if there is no run here."""
        return read_record(self._record)

    def note_engine(self, engine: str) -> None:
        """Record that an engine has run replications of this run. Raises ResultsError."""
        record = self.record()
        if engine in record["engines"]:
            return
        record["engines"] = sorted({*record["engines"], engine})
        try:
            write_record(self._record, record)
        except OSError as error:
            raise ResultsError(f"{self._record}: cannot be written: {reason_of(error)}") from error

    def scenario(self) -> Scenario:
        """Rebuild the scenario of the run from its record. Raises ResultsError."""
        return recorded_scenario(self._record, self.record())

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Be the only process that writes here, and remove what killed ones left.

        Raises ResultsError when another process is writing, or the directory cannot be written.
        """
        with writing(self.directory):
            yield

    @property
    def _record(self) -> Path:
        return self.directory / RECORD

    @property
    def _parts(self) -> Path:
        return self.directory / "parts"

    # --- parts ---------------------------------------------------------------------------------

    def part(self, cell: PlannedCell) -> Path:
        """Give the path of a cell's part."""
        return self._parts / f"{cell.name}.parquet"

    def trace(self, cell: PlannedCell) -> Path:
        """Give the path of a cell's traces."""
        return self.directory / "traces" / f"{cell.name}.parquet"

    def checksums(self, cell: PlannedCell) -> Path:
        """Give the path of the checksums of a cell's part and traces."""
        return self.directory / "checksums" / f"{cell.name}.b2"

    def is_complete(self, cell: PlannedCell, replications: int | None, trace: bool = False) -> bool:
        """Whether a cell's part is there, undamaged and of that many replications (None: any)."""
        there = self.part(cell).exists() and (not trace or self.trace(cell).exists())
        return there and self.damage(cell, replications, trace) is None

    def damage(
        self, cell: PlannedCell, replications: int | None = None, trace: bool = False
    ) -> str | None:
        """Say which file of a cell is damaged and how; None when those that are there are not.

        Args:
            cell: whose files.
            replications: how many the part must hold, where that is known.
            trace: whether to look at the traces too.
        """
        files = [(self.part(cell), part_schema(cell.counters), replications)]
        if trace:
            files.append((self.trace(cell), TRACE_SCHEMA, None))
        for path, schema, rows in files:
            try:
                fault = self._fault(cell, path, schema, rows)
            except FileNotFoundError:
                continue
            except OSError as error:
                fault = error.strerror or str(error)
            if fault is not None:
                return f"part {path} is damaged: {fault}"
        return None

    def _fault(
        self, cell: PlannedCell, path: Path, schema: pa.Schema, rows: int | None
    ) -> str | None:
        digest = digest_of(path)
        recorded = read_checksums(self.checksums(cell)).get(self._relative(path))
        if recorded is None and self.record()["format"] > 1:
            return "its checksum is missing"
        if recorded not in (None, digest):
            # The reason why it cannot be read says more than that it differs.
            return footer_fault(path, schema, rows) or "it is not what was written (checksum)"
        fault = footer_fault(path, schema, rows)
        if fault is None and recorded is None and path == self.part(cell):
            return rows_fault(path)
        return fault

    def _relative(self, path: Path) -> str:
        return path.relative_to(self.directory).as_posix()

    def replications(self, cell: PlannedCell) -> int:
        """How many replications an undamaged part holds; 0 when there is none."""
        if not self.is_complete(cell, None):
            return 0
        return part_rows(self.part(cell))

    def write(
        self, cell: PlannedCell, batches: Iterable[Batch], trace: bool = False, keep: bool = False
    ) -> None:
        """Write a cell's part, and its traces, from batches in the order of replications.

        With `keep` the batches come behind the replications that the part holds already.
        Raises ResultsError when they cannot be written; what was there before is then still there.
        """
        try:
            self._write(cell, batches, trace, keep)
        except OSError as error:
            raise ResultsError(
                f"{self.part(cell)}: cannot be written: {reason_of(error)}"
            ) from error

    def _write(self, cell: PlannedCell, batches: Iterable[Batch], trace: bool, keep: bool) -> None:
        with ExitStack() as stack:
            # Leaving the block goes backwards: the part gets its name last.
            part = stack.enter_context(GrowingFile(self.part(cell), part_schema(cell.counters)))
            traces = None
            if trace:
                traces = stack.enter_context(GrowingFile(self.trace(cell), TRACE_SCHEMA))
            if keep:
                for table in row_groups(self.part(cell)):
                    part.write(table)
            for batch in batches:
                part.write(part_table(batch, cell.counters))
                if traces is not None:
                    traces.write(trace_table(batch))
            digests = {self._relative(self.part(cell)): part.finish()}
            if traces is not None:
                digests[self._relative(self.trace(cell))] = traces.finish()
            write_checksums(self.checksums(cell), digests)

    def moments(self, plan: Plan, first: int | None = None) -> list[CellMoments]:
        """Sum up every cell, or the `first` replications of each, a row group at a time.

        Raises ResultsError for a part that is missing or damaged.
        """
        return [self._moments(cell, first) for cell in plan.cells]

    def _moments(self, cell: PlannedCell, first: int | None = None) -> CellMoments:
        path = self.part(cell)
        if not path.exists():
            raise ResultsError(
                f"{self.directory}: the run is not complete, {self._relative(path)} is missing; "
                "finish it by `rebecsim compare` with --resume"
            )
        if damage := self.damage(cell):
            raise ResultsError(f"{damage}; `rebecsim compare` with --resume computes it again")
        try:
            total = part_moments(path, cell, first)
        except (OSError, pa.ArrowException) as error:
            raise ResultsError(f"{path}: cannot be read: {error}; remove it and resume") from error
        if total is None:
            raise ResultsError(f"{path}: holds no replications; remove it and resume")
        return total
