"""The results of a workload scenario on disk: one directory, one Parquet part for each schedule.

    OUT/run.json            the scenario, the seed, versions, the checksum of the log
    OUT/parts/CELL.parquet  one row per job: what it is, when it started, when it might have ended
    OUT/checksums/CELL.b2   the checksum of the part, in the format of b2sum
    OUT/.lock               held by the process that is writing

As in `results`, a part that is there is whole and has its checksum.
"""

from __future__ import annotations

import json
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import ValidationError

from rebecsim.experiments.checksums import digest_of, read_checksums, write_checksums
from rebecsim.experiments.parts import GrowingFile, footer_fault
from rebecsim.experiments.record import new_record, read_record, versions
from rebecsim.experiments.results_error import ResultsError
from rebecsim.experiments.run_directory import RECORD, make_run, writing
from rebecsim.experiments.workload_metrics import JudgedSchedule, judge
from rebecsim.experiments.workload_parts import SCHEDULE_SCHEMA, schedule_of
from rebecsim.experiments.workload_plan import ScheduleCell, WorkloadPlan, stored_cells
from rebecsim.experiments.workload_scenario import WorkloadScenario
from rebecsim.files import reason_of
from rebecsim.workloads import WorkloadError

__all__ = ["WorkloadResults", "is_workload_record"]


def is_workload_record(record: dict[str, Any]) -> bool:
    """Whether a record is of a workload scenario."""
    return "workload" in record["scenario"]


@dataclass(frozen=True)
class WorkloadResults:
    """A directory of schedules. Make one with `create`, go on with one with `resume`."""

    directory: Path

    @classmethod
    def create(cls, directory: Path, plan: WorkloadPlan) -> WorkloadResults:
        """Make a new directory. Raises ResultsError if one is there or cannot be made."""
        make_run(directory, new_record(plan.scenario) | {"log_blake2b": plan.log_digest()})
        return cls(directory)

    @classmethod
    def resume(cls, directory: Path, plan: WorkloadPlan) -> WorkloadResults:
        """Open the directory of a run of the same scenario.

        Raises ResultsError when there is none, when it is of another scenario, when the log has
        changed since, or when it was computed by another version, whose results might differ.
        """
        results = cls(directory)
        record = results.record()
        if results.scenario(record) != plan.scenario:
            raise ResultsError(
                f"{directory}: holds a run of another scenario, seed or number of replications; "
                "resume it with the same ones, or choose another directory"
            )
        if record.get("log_blake2b") != plan.log_digest():
            raise ResultsError(
                f"{directory}: {plan.loaded.log} is not the log that this run was begun with, its "
                "checksum is another; put that one back, or choose another directory"
            )
        theirs, ours = record["versions"]["rebecsim"], versions()["rebecsim"]
        if theirs != ours:
            raise ResultsError(
                f"{directory}: was begun by rebecsim {theirs}, this is {ours}; "
                "choose another directory"
            )
        return results

    def record(self) -> dict[str, Any]:
        """Read what was recorded of the run.

        Raises ResultsError if there is none here, or one of another kind of scenario.
        """
        record = read_record(self.directory / RECORD)
        if not is_workload_record(record):
            raise ResultsError(f"{self.directory}: holds no run of a workload scenario")
        return record

    def scenario(self, record: dict[str, Any] | None = None) -> WorkloadScenario:
        """Rebuild the scenario from the record. Raises ResultsError."""
        found = (record or self.record())["scenario"]
        try:
            return WorkloadScenario.model_validate_json(json.dumps(found))
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            place = ".".join(map(str, first["loc"])) or "scenario"
            raise ResultsError(
                f"{self.directory / RECORD}: holds no valid scenario: {place}: {first['msg']}; a "
                "run that was made with a plug-in can be read with that plug-in only"
            ) from error

    def cells(self) -> tuple[ScheduleCell, ...]:
        """Give the cells of the run, complete or not. Raises ResultsError."""
        return stored_cells(self.scenario())

    # --- parts ---------------------------------------------------------------------------------

    def part(self, cell: ScheduleCell) -> Path:
        """Give the path of a cell's part."""
        return self.directory / "parts" / f"{cell.name}.parquet"

    def is_complete(self, cell: ScheduleCell) -> bool:
        """Whether a cell's part is there and undamaged."""
        return self.part(cell).exists() and self.damage(cell) is None

    def damage(self, cell: ScheduleCell) -> str | None:
        """Say how the part of a cell is damaged; None when it is not, or not there."""
        path = self.part(cell)
        try:
            fault = self._fault(cell, path)
        except FileNotFoundError:
            return None
        except OSError as error:
            fault = error.strerror or str(error)
        return fault and f"part {path} is damaged: {fault}"

    def _fault(self, cell: ScheduleCell, path: Path) -> str | None:
        digest = digest_of(path)
        recorded = read_checksums(self._checksums(cell)).get(self._relative(path))
        if recorded is None:
            return "its checksum is missing"
        fault = footer_fault(path, SCHEDULE_SCHEMA)
        if fault is None and recorded != digest:
            return "it is not what was written (checksum)"
        return fault

    def write(self, cell: ScheduleCell, table: pa.Table) -> None:
        """Write the part of a cell. Raises ResultsError; what was there before is then still there.

        To be called within `writing`.
        """
        path = self.part(cell)
        try:
            with GrowingFile(path, table.schema) as part:
                part.write(table)
                digest = part.finish()
                write_checksums(self._checksums(cell), {self._relative(path): digest})
        except OSError as error:
            raise ResultsError(f"{path}: cannot be written: {reason_of(error)}") from error

    def writing(self) -> AbstractContextManager[None]:
        """Be the only process that writes here while a block runs; see `run_directory.writing`."""
        return writing(self.directory)

    def read(self, cell: ScheduleCell) -> JudgedSchedule:
        """Read the schedule of a cell and compute its figures.

        Raises ResultsError for a part that is missing or damaged.
        """
        path = self.part(cell)
        if not path.exists():
            raise ResultsError(
                f"{self.directory}: the run is not complete, {self._relative(path)} is missing; "
                "finish it by `rebecsim compare` with --resume"
            )
        if damage := self.damage(cell):
            raise ResultsError(f"{damage}; `rebecsim compare` with --resume computes it again")
        try:
            return judge(*schedule_of(pq.read_table(path), cell.policy))
        except (OSError, KeyError, ValueError, pa.ArrowException, WorkloadError) as error:
            raise ResultsError(f"{path}: cannot be read: {error}; remove it and resume") from error

    def _checksums(self, cell: ScheduleCell) -> Path:
        return self.directory / "checksums" / f"{cell.name}.b2"

    def _relative(self, path: Path) -> str:
        return path.relative_to(self.directory).as_posix()
